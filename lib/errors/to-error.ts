import { types } from 'node:util'
import { hasPlainHeaders, readableError } from './readable-error.js'
import { readProperty } from './thrown.js'

interface Log {
  error(fields: object, message: string): void
}

/** The error as Fastify's error handlers take it; what is thrown may be anything, even what cannot be looked at. */
export function toError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : wrap(thrown)
  } catch {
    return new Error('Rejected with a value that cannot be read')
  }
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

function wrap(thrown: unknown): Error {
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
