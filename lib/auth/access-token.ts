import type { KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { invalidToken, tokenExpired } from './token-error.js'

/** Who a token speaks for; `request.user` of the flat form. */
export interface Identity {
  userId: string
  role: string
}

/** Pinned: the algorithm is ours to choose, never the token's. */
const ALGORITHM = 'HS256'

/** Signs claims with a lifetime in seconds. */
export function signToken(claims: object, key: KeyObject, lifetime: number): string {
  return jwt.sign(claims, key, { algorithm: ALGORITHM, expiresIn: lifetime })
}

/**
 * The claims of a token that is well signed, not expired and has an expiry.
 *
 * @throws ApiError 401 `TOKEN_EXPIRED` or `INVALID_TOKEN`
 */
export function verifyToken(token: string, key: KeyObject): Record<string, unknown> {
  let claims: string | jwt.JwtPayload
  try {
    claims = jwt.verify(token, key, { algorithms: [ALGORITHM] })
  } catch (cause) {
    if (cause instanceof jwt.TokenExpiredError) throw tokenExpired(cause)
    // any error: a garbled payload fails as it is parsed, before its signature is looked at, with a SyntaxError
    throw invalidToken(cause)
  }
  if (typeof claims === 'string' || !Number.isFinite(claims.exp)) throw invalidToken('no expiry')
  return claims
}

/** The identity in an access token's claims; a refresh token's are refused. */
export function accessIdentity({ userId, role, type }: Record<string, unknown>): Identity {
  if (type !== undefined && type !== 'access') throw invalidToken('no access token')
  if (typeof userId !== 'string' || userId === '') throw invalidToken('no userId')
  if (typeof role !== 'string') throw invalidToken('no role')
  return { userId, role }
}
