import {
  type Handler,
  ROUTE_METHODS,
  isRouteMethod,
  type RouteMethod,
  type RouteConfig,
  type RouteMiddleware,
  type RouteModule
} from '../contract/route-module.js'
import type { Middleware } from '../contract/middleware.js'
import { CONFIG_RULES } from '../options/routes-options.js'
import { follows } from '../options/rules.js'
import { isRecord, describeType } from '../options/values.js'
import { displayPath, type BootProblem, type BootProblemCode } from '../errors/boot-error.js'

type Exports = Readonly<Record<string, unknown>>
type Report = (code: BootProblemCode, message: string, fix: string) => void
type Invalid = (message: string, fix: string) => void

/** A route module, or what is wrong with its exports. */
export type CheckedModule = { module: RouteModule } | { problems: readonly BootProblem[] }

const OTHER_EXPORTS = ['middleware', 'config']

/** Checks the exports of a route file. Names that begin with `_` are the file's own. */
export function checkRouteModule(file: string, exports: Exports): CheckedModule {
  const problems: BootProblem[] = []
  const report: Report = (code, message, fix) => {
    problems.push({ code, message: `${displayPath(file)} ${message}`, files: [file], fix })
  }
  const handlers = checkHandlers(exports, report)
  const middleware = checkMiddleware(exports, report)
  const config = checkConfig(exports['config'], report)
  return problems.length > 0 ? { problems } : { module: { handlers, middleware, config } }
}

function checkHandlers(exports: Exports, report: Report): Partial<Record<RouteMethod, Handler>> {
  const handlers: Partial<Record<RouteMethod, Handler>> = {}
  // `__esModule` and `module.exports` are marks that compilers and Node leave.
  const names = Object.keys(exports).filter((name) => !name.startsWith('_') && name !== 'module.exports')
  for (const name of names) {
    const value = exports[name]
    if (name === 'default') reportDefault(report)
    else if (!isRouteMethod(name)) reportUnknown(name, report)
    else if (isHandler(value)) handlers[name] = value
    else report('ROUTE_EXPORT_NOT_FUNCTION', `exports ${name} as ${describeType(value)}`, 'Export a function')
  }
  if (names.length === 0) {
    report('ROUTE_EMPTY', 'exports no method', `Export at least one of ${ROUTE_METHODS.join(', ')}`)
  } else if (names.every((name) => OTHER_EXPORTS.includes(name))) {
    report('ROUTE_EMPTY', `exports ${names.join(' and ')}, but no method`, 'Export a method: export function GET() {}')
  }
  return handlers
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function'
}

function reportDefault(report: Report): void {
  report('ROUTE_EXPORT_DEFAULT', 'has a default export', 'Export one function per method: export function GET() {}')
}

function reportUnknown(name: string, report: Report): void {
  if (OTHER_EXPORTS.includes(name)) return
  report('ROUTE_EXPORT_UNKNOWN', `exports ${name}, which is not a method`, adviseName(name))
}

function adviseName(name: string): string {
  const meant = suggest(name)
  if (meant !== undefined) return `Did you mean ${meant}?`
  const near = findNear(name)
  if (near !== undefined) return `Did you mean ${near}? If not, let the name begin with _`
  return `A route file exports ${ROUTE_METHODS.join(', ')}, middleware and config; let other names begin with _`
}

const SHORTEST_HINT = 3

/** `get`, `Delete` and `DEL`, `middlewares`: other case, or one the beginning of the other. */
function suggest(name: string): string | undefined {
  const lower = name.toLowerCase()
  return [...ROUTE_METHODS, ...OTHER_EXPORTS].find((known) => {
    const other = known.toLowerCase()
    if (lower === other) return true
    return lower.length >= SHORTEST_HINT && (lower.startsWith(other) || other.startsWith(lower))
  })
}

/** `GTE`, `PSOT`, `DELTE`, `midleware`: one letter more or less, or two in the wrong order. Methods only in capitals. */
function findNear(name: string): string | undefined {
  const known = name === name.toUpperCase() ? ROUTE_METHODS : OTHER_EXPORTS
  return known.find((one) => isOneSlip(name, one) || isOneSlip(one, name))
}

/** Whether a text becomes another when one letter is removed, or changes places with the next. */
function isOneSlip(text: string, other: string): boolean {
  return text.split('').some((letter, at) => {
    const before = text.slice(0, at)
    const after = text.slice(at + 1)
    return other === before + after || other === before + after.slice(0, 1) + letter + after.slice(1)
  })
}

function checkMiddleware(exports: Exports, report: Report): RouteMiddleware {
  const value = exports['middleware']
  const invalid: Invalid = (message, fix) => report('ROUTE_MIDDLEWARE_INVALID', message, fix)
  if (value === undefined) return []
  if (Array.isArray(value)) return checkList(value, 'middleware', invalid)
  if (typeof value !== 'object' || value === null) {
    invalid(`exports middleware as ${describeType(value)}`, 'Export an array, or an object of arrays by method')
    return []
  }
  const byMethod: Partial<Record<RouteMethod, readonly Middleware[]>> = {}
  for (const [method, list] of Object.entries(value)) {
    if (!isRouteMethod(method)) {
      const meant = suggest(method)
      const known = `Use ${ROUTE_METHODS.join(', ')}`
      invalid(`has middleware for ${method}, which is not a method`, meant ? `Did you mean ${meant}?` : known)
    } else if (exports[method] === undefined) {
      invalid(`has middleware for ${method}, but does not export it`, `Export ${method}, or remove its middleware`)
    } else byMethod[method] = checkList(list, `middleware.${method}`, invalid)
  }
  return byMethod
}

function checkList(value: unknown, name: string, invalid: Invalid): readonly Middleware[] {
  const { middleware, wrong } = checkMiddlewareList(value)
  for (const { message, fix } of wrong) invalid(`exports ${name}, which ${message}`, fix)
  return middleware
}

function checkConfig(value: unknown, report: Report): RouteConfig {
  const invalid: Invalid = (message, fix) => report('ROUTE_CONFIG_INVALID', message, fix)
  if (value === undefined) return {}
  if (!isRecord(value)) {
    invalid(`exports config as ${describeType(value)}`, `Export an object with ${Object.keys(CONFIG_RULES).join(', ')}`)
    return {}
  }
  for (const [key, setting] of Object.entries(value)) {
    if (!isConfigKey(key)) {
      invalid(`has config.${key}, which does not exist`, `Use ${Object.keys(CONFIG_RULES).join(', ')}`)
    } else if (setting !== undefined && !follows(CONFIG_RULES[key], setting)) {
      invalid(`has config.${key} ${nameValue(setting)}`, `Give ${CONFIG_RULES[key].expected}`)
    }
  }
  return { ...value }
}

function isConfigKey(key: string): key is keyof RouteConfig {
  return Object.hasOwn(CONFIG_RULES, key)
}

function nameValue(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : describeType(value)
}

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
