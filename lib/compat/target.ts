import { ApiError, NotFoundError, ValidationError } from '../errors/api-error.js'

const MAX_URL = 8192
const MAX_QUERY_PAIRS = 1000
/** Shorter urls cannot hold more pairs than allowed: each needs two characters. */
const SHORT_URL = 2 * MAX_QUERY_PAIRS
const SLASH = 47
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/

/**
 * Request targets no route may see: over 8 KB (414), in absolute form (`GET http://host/path`, which the router would
 * match as the path), or with more than 1 000 query pairs (400). Undefined for all others.
 */
export function refusedTarget(url: string): ApiError | undefined {
  if (url.length > SHORT_URL) return refusedLongTarget(url)
  return url.charCodeAt(0) === SLASH || url === '*' ? undefined : malformedTarget()
}

function refusedLongTarget(url: string): ApiError | undefined {
  if (url.length > MAX_URL) {
    return new ApiError(414, 'URI_TOO_LONG', `Request target is longer than ${MAX_URL} characters`)
  }
  if (url.charCodeAt(0) !== SLASH) return malformedTarget()
  return countPairs(url) > MAX_QUERY_PAIRS
    ? new ValidationError(`Query has more than ${MAX_QUERY_PAIRS} parameters`)
    : undefined
}

function countPairs(url: string): number {
  let pairs = 1
  for (let at = url.indexOf('&'); at !== -1; at = url.indexOf('&', at + 1)) pairs++
  return pairs
}

function malformedTarget(): ApiError {
  return new ValidationError('Request target is malformed')
}

/** Unmatched paths are looked at as text, since no parameter holds what they hide. */
export function hasForbiddenCharacters(url: string): boolean {
  const path = url.split('?', 1)[0] as string
  return FORBIDDEN.test(path) || /%(?:[01][\da-f]|7f|5c)/i.test(path)
}

/** Values no handler may see: control characters and backslashes are 400, an empty one means that the route did not match. */
export function refusedParams(params: unknown): ApiError | undefined {
  const values = params as Record<string, string>
  for (const name in values) {
    const value = values[name] as string
    if (value === '') return new NotFoundError('Route')
    if (FORBIDDEN.test(value)) return malformedTarget()
  }
  return undefined
}
