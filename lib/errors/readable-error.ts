import { types } from 'node:util'
import { errorHeaders, isSendable } from './error-headers.js'
import { readProperty } from './read-property.js'
import { cutMessage } from './cut-text.js'
import { fieldProblems } from './field-problems.js'
import type { FastifyReply } from 'fastify'

interface Log {
  error(fields: object, message: string): void
}

/** The error as Fastify's error handlers take it; what is thrown may be anything, even a value that throws when it is read. */
export function toError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : wrapThrown(thrown)
  } catch {
    return new Error('Rejected with a value that cannot be read')
  }
}

/** What was thrown, for `next` and callbacks alike, which take a falsy value for no error. */
export function asFailure(thrown: unknown): unknown {
  return thrown || toError(thrown)
}

/** The same where nothing may throw when the error is read. */
export function toReadableError(thrown: unknown): Error {
  return readableError(toError(thrown))
}

/**
 * What was thrown, for Express's final handler, which takes any value and reads the same of it: a copy of what can be read
 * when something cannot.
 */
export function readableThrown(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown
  try {
    if (typeof thrown === 'function') return String(thrown)
    if (!types.isProxy(thrown) && !(thrown instanceof Error) && isPrintable(thrown) && hasPlainHeaders(thrown))
      return thrown
  } catch {
    // as below
  }
  return toReadableError(thrown)
}

/** Logs an error, whatever it is: a logger reads all of it, and throws what its getters throw. */
export function logError(log: Log, { err, ...fields }: { err: unknown; [field: string]: unknown }, text: string): void {
  log.error({ err: toReadableError(err), ...fields }, text)
}

function wrapThrown(thrown: unknown): Error {
  const error = new Error(messageOf(thrown), { cause: thrown })
  const status = readProperty(thrown, 'statusCode') ?? readProperty(thrown, 'status')
  return status === undefined ? error : Object.assign(error, { status, statusCode: status })
}

function messageOf(thrown: unknown): string {
  if (thrown === undefined || thrown === null || thrown === false) return 'Rejected without a reason'
  const message = readProperty(thrown, 'message')
  return typeof message === 'string' ? message : String(thrown)
}

function isPrintable(thrown: object): boolean {
  const { stack, status, statusCode } = thrown as Record<string, unknown>
  void [status, statusCode]
  return stack ? typeof stack === 'string' : typeof String(thrown) === 'string'
}

/** What error handlers and loggers read of an error. */
const READ = [
  'name',
  'message',
  'stack',
  'code',
  'status',
  'statusCode',
  'expose',
  'validation',
  'constructor'
] as const
/** What a copy takes over beside the message. */
const KEPT = ['name', 'stack', 'code', 'status', 'statusCode', 'expose', 'details', 'issues', 'validation'] as const
const MAX_DEPTH = 8
/** How many errors one may hold, as causes and members, and still be checked. */
const MAX_ERRORS = 100

/**
 * The error itself, or a copy of what can be read of it when something cannot: a getter that throws, a proxy, a frozen
 * error (loggers mark what they write), a status that is no number, headers node would not send, a chain of causes
 * without end. Error handlers and loggers read all of this where nothing would catch what it throws.
 */
function readableError(error: Error): Error {
  return isReadable(error, 0, { left: MAX_ERRORS }) && hasPlainHeaders(error) ? error : copyOf(error)
}

function isReadable(error: object, depth: number, budget: { left: number }): boolean {
  if (depth > MAX_DEPTH || budget.left-- <= 0 || types.isProxy(error)) return false
  try {
    if (!Object.isExtensible(error)) return false
    const members = error as Record<string, unknown>
    for (const name of READ) void members[name]
    if (!isTextOrMissing(members['message']) || !isTextOrMissing(members['stack']) || !isTextOrMissing(members['name']))
      return false
    if (!isStatus(members['status']) || !isStatus(members['statusCode'])) return false
    if (typeof members['cause'] === 'function') return false // loggers call it
    for (const key in members) void members[key]
    return errorsIn(members).every((inner) => isReadable(inner, depth + 1, budget))
  } catch {
    return false
  }
}

/** Other errors that a logger would go into. */
function errorsIn(members: Record<string, unknown>): object[] {
  const { errors } = members
  const inner: unknown[] = [members['cause'], ...(Array.isArray(errors) ? (errors as unknown[]) : [])]
  for (const key in members) inner.push(members[key])
  return inner.filter((value): value is object => typeof value === 'object' && value !== null && isErrorLike(value))
}

function isErrorLike(value: object): boolean {
  return types.isProxy(value) || value instanceof Error || typeof Reflect.get(value, 'message') === 'string'
}

function isTextOrMissing(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

/** Error handlers compare it with numbers. */
function isStatus(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'string'
}

/** Whether the headers an error asks for can be read and sent, if it has any. */
function hasPlainHeaders(error: object): boolean {
  try {
    const { headers } = error as { headers?: unknown }
    if (headers === undefined || headers === null) return true
    if (typeof headers !== 'object' || types.isProxy(headers)) return false
    return headers instanceof Headers || Object.entries(headers).every(([name, value]) => isSendable(name, value))
  } catch {
    return false
  }
}

function copyOf(error: Error): Error {
  const message = readProperty(error, 'message')
  const copy = new Error(typeof message === 'string' ? message : 'An error whose message cannot be read')
  copy.stack = `${copy.name}: ${copy.message}`
  for (const name of KEPT) {
    const value = readProperty(error, name)
    if (isFit(name, value)) Object.defineProperty(copy, name, { value, writable: true, configurable: true })
  }
  if (readProperty(error, 'headers') !== undefined) Object.assign(copy, { headers: errorHeaders(error) })
  try {
    Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object) // it is still an error of its class
  } catch {
    return copy
  }
  return isReadable(copy, 0, { left: 1 }) ? copy : Object.setPrototypeOf(copy, Error.prototype)
}

function isFit(name: (typeof KEPT)[number], value: unknown): boolean {
  if (value === undefined) return false
  if (name === 'name' || name === 'stack') return typeof value === 'string'
  return !name.startsWith('status') || isStatus(value)
}

/**
 * An error as Fastify's own handler may send and log it: it would do so whole, and an error of a schema library lists every
 * mistake of a body, in its message, its stack and its issues.
 */
export function shortenError(error: Error): Error {
  const issues = readProperty(error, 'issues')
  const message = readProperty(error, 'message')
  const isLong = typeof message === 'string' && cutMessage(message) !== message
  if (!isLong && !Array.isArray(issues)) return error
  const members: PropertyDescriptorMap = {}
  if (Array.isArray(issues)) members['issues'] = { value: fieldProblems(issues) }
  if (isLong) {
    const stack = String(readProperty(error, 'stack'))
    const frames = stack.slice(stack.indexOf(message) + message.length)
    members['message'] = { value: cutMessage(message) }
    members['stack'] = { value: cutMessage(`${error.name}: ${cutMessage(message)}${frames}`) }
  }
  return Object.create(error, members) as Error
}

/** What a log line says of a request. Middleware may have set the method and the url to anything, also to no text. */
export function loggedRequest({ request }: FastifyReply): { method: string; url: string } {
  return { method: textIn(request.raw, 'method'), url: textIn(request.raw, 'url') }
}

function textIn(request: object, name: string): string {
  const value = readProperty(request, name)
  return typeof value === 'string' ? value : `(a value of type ${typeof value})`
}
