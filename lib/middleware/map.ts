import type { MiddlewareMap } from '../contract/middleware.js'
import { type BootProblem, BootError, displayPath } from '../errors/boot-error.js'
import { describeType } from '../options/values.js'
import { checkMiddlewareList, type WrongEntry } from '../discovery/route-module.js'
import { formatPattern, parsePath } from '../patterns/pattern.js'
import { adviseImport } from '../discovery/load-module.js'
import type { LoadedModule } from '../discovery/jiti-loader.js'
import { findMiddlewareFiles } from '../discovery/scan.js'

/**
 * Checks a middleware map: what its keys and values must be, and that no two keys mean the same prefix.
 * @param map prefix to list of middleware
 * @param files the file the map stands in, for the problems
 * @returns a frozen copy of the map, and every problem found
 */
function checkMiddlewareMap(
  map: Readonly<Record<string, unknown>>,
  files: readonly string[] = []
): { map: MiddlewareMap; problems: BootProblem[] } {
  const prefixes = new Map<string, string>()
  const checked = Object.entries(map).map(([key, value]) => {
    const { middleware, wrong } = checkMiddlewareList(value)
    const problems = [...checkKey(key, prefixes), ...wrong.map((entry) => wrongValue(key, entry))]
    return { key, middleware, problems: problems.map((problem) => ({ ...problem, files })) }
  })
  return {
    map: Object.freeze(Object.fromEntries(checked.map(({ key, middleware }) => [key, middleware]))),
    problems: checked.flatMap(({ problems }) => problems)
  }
}

function wrongValue(key: string, { message, fix }: WrongEntry): Omit<BootProblem, 'files'> {
  const sentence = `The list of ${JSON.stringify(key)} in the middleware map ${message}`
  return { code: 'MIDDLEWARE_VALUE_INVALID', message: sentence, fix }
}

function checkKey(key: string, prefixes: Map<string, string>): Omit<BootProblem, 'files'>[] {
  const parsed = parsePrefix(key)
  if ('wrong' in parsed) {
    const message = `The key ${JSON.stringify(key)} of the middleware map ${parsed.wrong}`
    return [{ code: 'MIDDLEWARE_KEY_INVALID', message, fix: parsed.fix }]
  }
  const prefix = formatPattern(parsed.segments, 'blank')
  const other = prefixes.get(prefix)
  prefixes.set(prefix, key)
  if (other === undefined) return []
  const keys = `${JSON.stringify(other)} and ${JSON.stringify(key)}`
  const message = `The keys ${keys} of the middleware map mean the same prefix`
  return [{ code: 'MIDDLEWARE_KEY_TWICE', message, fix: 'Put both lists under one key, in the order they should run' }]
}

/** A key of the middleware map as segments, or what is wrong with it. */
export function parsePrefix(key: string): ReturnType<typeof parsePath> {
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
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    throw new TypeError(`createMiddleware takes a map of path prefix to middleware; it was given ${describeType(map)}`)
  }
  const checked = checkMiddlewareMap(map)
  if (checked.problems.length > 0) throw new BootError(checked.problems)
  return checked.map
}

/** The middleware map of the application, and the file it came from, if it came from one. */
export interface ChosenMiddleware {
  map: MiddlewareMap
  file: string | undefined
}

interface FindOptions {
  apiDir: string
  given: MiddlewareMap | undefined
  problems: BootProblem[]
}

/** The one middleware file in `apiDir` or beside it. Not looked for when the map was given as an option. */
export function findMiddlewareFile({ apiDir, given, problems }: FindOptions): string | undefined {
  if (given !== undefined) return undefined
  const files = findMiddlewareFiles(apiDir)
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

/** The checked map: the given one, the file's export, or an empty one. */
export function chooseMiddleware({ file, given, modules, problems }: ChooseOptions): ChosenMiddleware {
  const map = given ?? (file === undefined ? {} : readExport(file, modules.get(file), problems))
  const checked = checkMiddlewareMap(map, file === undefined ? [] : [file])
  problems.push(...checked.problems)
  return { map: checked.map, file }
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
  if (isMap(map)) return map
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

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What `createMiddleware` threw inside the file is listed problem by problem, with the file's name added. */
function importProblems(file: string, cause: unknown): readonly BootProblem[] {
  if (cause instanceof BootError) {
    return cause.problems.map((problem) => ({ ...problem, files: problem.files.length === 0 ? [file] : problem.files }))
  }
  return [
    {
      code: 'MIDDLEWARE_IMPORT_FAILED',
      message: `${displayPath(file)} cannot be imported`,
      files: [file],
      fix: adviseImport(file, cause, 'Mend the error; without its middleware the application does not start'),
      cause
    }
  ]
}
