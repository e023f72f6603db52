import type { Request } from '../contract/request.js'

const SCHEME = 'Bearer '
const HEADER = 'authorization'

/**
 * The token of the Authorization header; undefined when there is none or its scheme is not exactly `Bearer `.
 * Two such headers give no valid token: Node keeps the first, and a proxy in front may have looked at the second.
 */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.authorization
  if (header === undefined || !header.startsWith(SCHEME)) return undefined
  return isRepeated(request.rawHeaders) ? '' : header.slice(SCHEME.length)
}

/** Raw headers are names and values in turn. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === HEADER.length && name.toLowerCase() === HEADER) found++
  }
  return found > 1
}
