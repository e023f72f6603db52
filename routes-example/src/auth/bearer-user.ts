import { ApiError, type Request } from 'twinroute'
import type { Identity } from 'twinroute/auth'

const SCHEME = 'Bearer '

/** Who the request's bearer token speaks for, on paths that are open to everybody; undefined without a valid token. */
export function bearerUser(request: Request): Identity | undefined {
  const header = request.get('authorization')
  if (!header?.startsWith(SCHEME)) return undefined
  try {
    return request.services.tokens.verifyAccess(header.slice(SCHEME.length))
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
