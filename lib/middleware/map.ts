import type { Segment } from '../contract/manifest.js'
import type { Middleware, MiddlewareMap } from '../contract/middleware.js'
import { type BootProblem, BootError, displayPath } from '../errors/boot-error.js'
import { describeType, isRecord } from '../options/values.js'
import { checkMiddlewareList, type WrongEntry } from '../discovery/check-route-module.js'
import { formatPattern, parsePath, splitMethod } from '../patterns/pattern.js'
import { importProblem } from '../discovery/load-module.js'
import type { LoadedModule } from '../discovery/jiti-loader.js'
import { builtDirectory } from '../discovery/built-routes.js'
import { findMiddlewareFiles } from '../discovery/scan.js'

/** One key of the middleware map, parsed, with its list. */
export interface MapEntry {
  /** As written. */
  key: string
  segments: readonly Segment[]
  middleware: readonly Middleware[]
}

/**
 * Parses a middleware map, and checks what its keys and values must be, and that no two keys mean the same prefix.
 * @param map prefix to list of middleware
 * @param files the file the map comes from, for the problems
 * @returns the entries whose key is a prefix, in the order of the map, and every problem found
 */
export function parseMiddlewareMap(
  map: Readonly<Record<string, unknown>>,
  files: readonly string[] = []
): { entries: readonly MapEntry[]; problems: BootProblem[] } {
  const prefixes = new Map<string, string>()
  const parsed = Object.entries(map).map(([key, value]) => {
    const { middleware, wrong } = checkMiddlewareList(value)
    const { segments, problem } = parseKey(key, prefixes)
    const problems = [...(problem === undefined ? [] : [problem]), ...wrong.map((entry) => wrongList(key, entry))]
    return { key, segments, middleware, problems: problems.map((found) => ({ ...found, files })) }
  })
  return {
    entries: parsed.flatMap(({ key, segments, middleware }) =>
      segments === undefined ? [] : { key, segments, middleware }
    ),
    problems: parsed.flatMap(({ problems }) => problems)
  }
}

function wrongList(key: string, { message, fix }: WrongEntry): Omit<BootProblem, 'files'> {
  const sentence = `The list of ${JSON.stringify(key)} in the middleware map ${message}`
  return { code: 'MIDDLEWARE_VALUE_INVALID', message: sentence, fix }
}

type Problem = Omit<BootProblem, 'files'>

/** The segments of a key, or what is wrong with it; `prefixes` has the keys before it, by what they mean. */
function parseKey(key: string, prefixes: Map<string, string>): { segments?: readonly Segment[]; problem?: Problem } {
  const parsed = parsePrefix(key)
  if ('wrong' in parsed) {
    const message = `The key ${JSON.stringify(key)} of the middleware map ${parsed.wrong}`
    return { problem: { code: 'MIDDLEWARE_KEY_INVALID', message, fix: parsed.fix } }
  }
  const { segments } = parsed
  const prefix = formatPattern(segments, 'blank')
  const other = prefixes.get(prefix)
  prefixes.set(prefix, key)
  return other === undefined ? { segments } : { segments, problem: sameKey(other, key) }
}

function sameKey(one: string, other: string): Problem {
  const message = `The keys ${JSON.stringify(one)} and ${JSON.stringify(other)} of the middleware map mean the same prefix`
  const fix = 'Put both lists under one key, in the order they should run'
  return { code: 'MIDDLEWARE_KEY_TWICE', message, fix }
}

function parsePrefix(key: string): ReturnType<typeof parsePath> {
  const named = splitMethod(key)
  if (named !== undefined) {
    const { method, rest } = named
    const fix = `Write "${rest}" for all methods, or export middleware = { ${method}: [...] } from the route file`
    return { wrong: 'names a method', fix }
  }
  const parsed = parsePath(key)
  if ('wrong' in parsed || !parsed.segments.some((segment) => segment.kind === 'rest')) return parsed
  return { wrong: 'holds a rest segment', fix: 'Leave it out: a prefix covers everything below it' }
}

/**
 * Checks and freezes a map of path prefix to middleware; exported as `middleware` from the middleware file.
 *
 * A key is a path prefix: `/api/admin` and `/api/admin/` both cover `/api/admin` and everything below it, never
 * `/api/administrator`. It may hold `[name]`. The middleware of all prefixes that cover a route runs, the shortest
 * prefix first; an empty array makes its prefix public: what broader prefixes ask for does not run below it.
 *
 * @throws BootError naming every key that is not a prefix and every value that is not a list of middleware
 * @throws TypeError when `map` is not an object
 */
export function createMiddleware(map: MiddlewareMap): MiddlewareMap {
  if (!isRecord(map)) {
    throw new TypeError(`createMiddleware takes a map of path prefix to middleware; it was given ${describeType(map)}`)
  }
  const { entries, problems } = parseMiddlewareMap(map)
  if (problems.length > 0) throw new BootError(problems)
  return Object.freeze(Object.fromEntries(entries.map(({ key, middleware }) => [key, middleware])))
}

interface FindOptions {
  apiDir: string
  given: MiddlewareMap | undefined
  problems: BootProblem[]
}

/** The one middleware file in `apiDir` or beside it. Not looked for when the map was given as an option. */
export function findMiddlewareFile({ apiDir, given, problems }: FindOptions): string | undefined {
  if (given !== undefined) return undefined
  const files = builtDirectory(apiDir)?.middlewareFiles ?? findMiddlewareFiles(apiDir)
  if (files.length < 2) return files[0]
  problems.push({
    code: 'MIDDLEWARE_FILE_TWICE',
    message: `${files.length} middleware files were found in apiDir and beside it`,
    files,
    fix: 'Keep one, or give the map as the option middleware'
  })
  return undefined
}

interface ChooseOptions {
  file: string | undefined
  given: MiddlewareMap | undefined
  modules: ReadonlyMap<string, LoadedModule>
  problems: BootProblem[]
}

/** The parsed map: the given one, the file's export, or an empty one. */
export function chooseMiddleware({ file, given, modules, problems }: ChooseOptions): readonly MapEntry[] {
  const map = given ?? (file === undefined ? {} : readExport(file, modules.get(file), problems))
  const parsed = parseMiddlewareMap(map, file === undefined ? [] : [file])
  problems.push(...parsed.problems)
  return parsed.entries
}

function readExport(
  file: string,
  loaded: LoadedModule | undefined,
  problems: BootProblem[]
): Readonly<Record<string, unknown>> {
  if (loaded === undefined) return {}
  if ('error' in loaded) {
    problems.push(...importProblems(file, loaded.error))
    return {}
  }
  const map: unknown = loaded.exports['middleware']
  if (isRecord(map)) return map
  problems.push({
    code: 'MIDDLEWARE_FILE_INVALID',
    message:
      map === undefined
        ? `${displayPath(file)} exports no middleware`
        : `${displayPath(file)} exports middleware as ${describeType(map)}`,
    files: [file],
    fix: 'Write: export const middleware = createMiddleware({ "/api/admin/": [authenticate] })'
  })
  return {}
}

/** What `createMiddleware` threw inside the file is listed problem by problem, with the file's name added. */
function importProblems(file: string, cause: unknown): readonly BootProblem[] {
  if (cause instanceof BootError) {
    return cause.problems.map((problem) => ({ ...problem, files: problem.files.length === 0 ? [file] : problem.files }))
  }
  const fix = 'Fix the error; without its middleware the application does not start'
  return [{ code: 'MIDDLEWARE_IMPORT_FAILED', ...importProblem(file, cause, fix) }]
}
