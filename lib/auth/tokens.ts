import { isProduction, resolveMode, type Mode } from '../contract/mode.js'
import {
  checkOptions,
  FUNCTION,
  hasMethods,
  isWhole,
  MODE,
  TEXT,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { loadTokenKeys, type SecretOptions } from './secrets.js'
import { invalidToken, tokenExpired } from './auth-errors.js'
import type { KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface TokenServiceOptions extends SecretOptions {
  /** Default: `NODE_ENV`, then `development`. */
  mode?: Mode
  /** Seconds an access token is valid. Default 900 (15 minutes). */
  accessLifetime?: number
  /** Seconds a refresh token is valid. Default 604 800 (7 days). */
  refreshLifetime?: number
  /** Where refresh tokens are kept. Without one the service issues and checks access tokens only. */
  store?: RefreshTokenStore
}

/** Issues and checks tokens: JWTs signed with HS256. */
export interface TokenService {
  /** Seconds an access token issued at login should be valid: 3600, in production 900. */
  readonly loginLifetime: number
  /** An access token with the claims `userId`, `role` and `type: 'access'`. `lifetime` in seconds. */
  generateAccessToken(identity: Identity, options?: { lifetime?: number }): string
  /** A refresh token with the claims `userId` and `type: 'refresh'`, stored as the user's only one. */
  generateRefreshToken(userId: string): Promise<string>
  /**
   * A new access token for the bearer of a valid refresh token that equals the stored one.
   * Rejects with 401 "Invalid refresh token" for any failure; `cause` has the reason.
   */
  refresh(token: string): Promise<string>
  /** Clears the user's refresh token. */
  revoke(userId: string): Promise<void>
  /** Whom an access token speaks for. Throws an ApiError 401: `TOKEN_EXPIRED` or `INVALID_TOKEN`. */
  verifyAccess(token: string): Identity
}

const SECONDS: OptionRule = { expected: 'a whole number of seconds, at least 1', accepts: isWhole(1) }
const SECRET: OptionRule = { ...TEXT, secret: true }
const RULES: OptionRules<TokenServiceOptions> = {
  mode: MODE,
  accessLifetime: SECONDS,
  refreshLifetime: SECONDS,
  accessSecret: SECRET,
  refreshSecret: SECRET,
  store: { expected: 'an object with save, read and clear', accepts: hasMethods('save', 'read', 'clear') },
  onWarning: FUNCTION
}

/**
 * A token service. Make one at boot: its keys are prepared once.
 *
 * @throws TypeError naming a wrong or unknown option
 * @throws Error with code `TOKEN_SECRET_MISSING` in production without secrets
 */
export function createTokenService(options: TokenServiceOptions = {}): TokenService {
  checkOptions('createTokenService', options, RULES)
  const { accessLifetime = 15 * MINUTE, refreshLifetime = 7 * DAY } = options
  const mode = resolveMode(options.mode)
  const keys = loadTokenKeys(options, mode)

  function generateAccessToken({ userId, role }: Identity, { lifetime = accessLifetime } = {}): string {
    return signToken({ userId, role, type: 'access' }, keys.access, lifetime)
  }

  return {
    loginLifetime: isProduction(mode) ? 15 * MINUTE : HOUR,
    generateAccessToken,
    async generateRefreshToken(userId) {
      const store = requireStore(options)
      const token = signToken({ userId, type: 'refresh' }, keys.refresh, refreshLifetime)
      await store.save(userId, token)
      return token
    },
    async refresh(token) {
      const store = requireStore(options)
      try {
        return generateAccessToken(await refreshIdentity(verifyToken(token, keys.refresh), token, store))
      } catch (cause) {
        throw invalidToken(cause, 'Invalid refresh token')
      }
    },
    async revoke(userId) {
      await requireStore(options).clear(userId)
    },
    verifyAccess(token) {
      return accessIdentity(verifyToken(token, keys.access))
    }
  }
}

async function refreshIdentity(
  { userId, type }: Record<string, unknown>,
  token: string,
  store: RefreshTokenStore
): Promise<Identity> {
  if (type !== 'refresh' || typeof userId !== 'string') throw new Error('not a refresh token')
  const record = await store.read(userId)
  // a plain comparison: the sender of a well-signed token has all of it already
  if (record?.refreshToken !== token) throw new Error('not the stored token')
  return { userId, role: record.role }
}

function requireStore({ store }: TokenServiceOptions): RefreshTokenStore {
  if (store === undefined)
    throw new TypeError('createTokenService was given no store for refresh tokens: give it the option store')
  return store
}

/** Who a token speaks for; `request.user` of the flat form. */
export interface Identity {
  userId: string
  role: string
}

/** Pinned: the algorithm is ours to choose, never the token's. */
const ALGORITHM = 'HS256'

/** Signs claims with a lifetime in seconds. */
function signToken(claims: object, key: KeyObject, lifetime: number): string {
  return jwt.sign(claims, key, { algorithm: ALGORITHM, expiresIn: lifetime })
}

/**
 * The claims of a token that is well signed, not expired and has an expiry.
 *
 * @throws ApiError 401 `TOKEN_EXPIRED` or `INVALID_TOKEN`
 */
function verifyToken(token: string, key: KeyObject): Record<string, unknown> {
  let claims: string | jwt.JwtPayload
  try {
    claims = jwt.verify(token, key, { algorithms: [ALGORITHM] })
  } catch (cause) {
    if (cause instanceof jwt.TokenExpiredError) throw tokenExpired(cause)
    // any error: a garbled payload fails as it is parsed, before its signature is checked, with a SyntaxError
    throw invalidToken(cause)
  }
  if (typeof claims === 'string' || !Number.isFinite(claims.exp)) throw invalidToken('no expiry')
  return claims
}

/** The identity in an access token's claims; a refresh token's are refused. */
function accessIdentity({ userId, role, type }: Record<string, unknown>): Identity {
  if (type !== undefined && type !== 'access') throw invalidToken('no access token')
  if (typeof userId !== 'string' || userId === '') throw invalidToken('no userId')
  if (typeof role !== 'string') throw invalidToken('no role')
  return { userId, role }
}

/** What the store returns for a user: a user record, or these two fields of one. */
export interface RefreshRecord {
  /** The one refresh token that is valid for the user; null when there is none. */
  refreshToken: string | null | undefined
  /** The role for new access tokens. */
  role: string
}

/** Where refresh tokens are kept, usually the table of users. All three may be async. */
export interface RefreshTokenStore {
  /** Replaces the user's token: an older one is no longer accepted. */
  save(userId: string, token: string): unknown
  /** The user's record, or null or undefined when there is no such user. */
  read(userId: string): RefreshRecord | null | undefined | Promise<RefreshRecord | null | undefined>
  /** Removes the user's token. */
  clear(userId: string): unknown
}
