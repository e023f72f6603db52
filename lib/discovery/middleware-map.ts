import type { Middleware, MiddlewareMap } from '../contract/middleware.js'
import type { BootProblem } from '../errors/boot-error.js'
import { describeType } from '../errors/describe-type.js'
import { formatPattern, parsePath } from './pattern.js'

/** The second half of a sentence about a list, and what to do. */
export interface WrongEntry {
  message: string
  fix: string
}

/** The functions of a list of middleware, and what in it is not middleware. */
export function checkMiddlewareList(value: unknown): { middleware: readonly Middleware[]; wrong: WrongEntry[] } {
  if (!Array.isArray(value)) {
    const fix = typeof value === 'function' ? 'Put it into an array' : 'Give an array of middleware functions'
    return { middleware: [], wrong: [{ message: `is ${describeType(value)} instead of an array`, fix }] }
  }
  const list: readonly unknown[] = value
  const wrong = list.flatMap((entry, index) => checkEntry(entry, index) ?? [])
  return { middleware: Object.freeze(list.filter(isMiddleware)), wrong }
}

// Express calls a function of four parameters only with errors; among middleware it would get the wrong arguments.
const ERROR_MIDDLEWARE_LENGTH = 4

function isMiddleware(value: unknown): value is Middleware {
  return typeof value === 'function' && value.length < ERROR_MIDDLEWARE_LENGTH
}

function checkEntry(entry: unknown, index: number): WrongEntry | undefined {
  if (isMiddleware(entry)) return undefined
  if (typeof entry === 'function') {
    const message = `holds an error handler (four parameters) at index ${index}`
    return { message, fix: 'Give error handlers to the errorHandler option or to app.use()' }
  }
  const message = `holds ${describeType(entry)} at index ${index}`
  if (Array.isArray(entry)) return { message, fix: 'Spread the inner array: [...list]' }
  if (entry === undefined) return { message, fix: 'Check the import: that name is not exported there' }
  return { message, fix: 'Give functions (request, response, next)' }
}

/**
 * Checks a middleware map: what its keys and values must be, and that no two keys mean the same prefix.
 * @param map prefix to list of middleware
 * @param files the file the map stands in, for the problems
 * @returns a frozen copy of the map, and every problem found
 */
export function checkMiddlewareMap(
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
