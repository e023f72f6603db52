import type { Middleware } from '../contract/middleware.js'
import { describeType } from './values.js'

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
