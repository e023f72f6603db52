import { fileURLToPath } from 'node:url'

const MAX_WRITTEN = 60

/** The path of a place that an option gives as a path or a file URL; a file URL may also be text. */
export function toFilePath(place: string | URL): string {
  return place instanceof URL || place.startsWith('file:') ? fileURLToPath(place) : place
}

/** The type of a value for a message: `null`, `an array`, `a string`. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A value for a message about options, as one would write it; long ones and what JSON cannot hold by their type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'number') return String(value) // JSON writes NaN as null
  const text = typeof value === 'function' ? undefined : writtenOut(value)
  return text === undefined || text.length > MAX_WRITTEN ? describeType(value) : text
}

function writtenOut(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined
  } catch {
    return undefined // a BigInt or a circle
  }
}

/** An object with named members: no array, no null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a middleware or handler has returned something to wait for: a promise, or what behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
}

/** The same, where the type of a promise is known. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return isThenable(value)
}

/** Goes on with a value at once, and with that of a promise when it has come: what can be synchronous stays so. */
export function thenOrNow<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value) // what only behaves like a promise may return nothing
}
