import type { IncomingHttpHeaders } from 'node:http'

const SCHEME = 'Bearer '
const HEADER = 'authorization'

/** What every kind of request has: Express's, Node's of HTTP/1 and HTTP/2. */
export interface WithHeaders {
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

/**
 * The token of the Authorization header; undefined when there is none or its scheme is not exactly `Bearer `, and empty,
 * which no token is, when the header is repeated: Node keeps the first, and a proxy in front may have looked at the second.
 * The one reader of this header, for REST and GraphQL alike.
 */
export function bearerToken({ headers, rawHeaders }: WithHeaders): string | undefined {
  const header: unknown = headers.authorization
  if (header === undefined) return undefined
  if (typeof header !== 'string') return ''
  if (!header.startsWith(SCHEME)) return undefined
  return isRepeated(rawHeaders) ? '' : header.slice(SCHEME.length)
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
