import { createSecretKey, type KeyObject } from 'node:crypto'
import { isProduction, type Mode } from '../contract/mode.js'

export interface SecretOptions {
  /** Signs access tokens. Default: the environment's `JWT_SECRET`. */
  accessSecret?: string
  /** Signs refresh tokens. Default: the environment's `REFRESH_TOKEN_SECRET`. */
  refreshSecret?: string
  /** Called for secrets that are too weak. Default: `process.emitWarning`. */
  onWarning?: (message: string) => void
}

/** Keys, not strings: jsonwebtoken tries to read a string as a public key first, on every call. */
export interface TokenKeys {
  access: KeyObject
  refresh: KeyObject
}

/** As long as the digest of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32
/** Known to everybody who reads this file, so never used in production. */
const DEVELOPMENT_SECRETS = {
  access: 'twinroute-development-access-secret-known-to-all',
  refresh: 'twinroute-development-refresh-secret-known-to-all'
}
const KNOWN_MODES = new Set(['development', 'test'])

/**
 * The keys of the token service.
 *
 * @throws Error with code `TOKEN_SECRET_MISSING` in production when a secret is neither given nor in the environment
 */
export function loadTokenKeys(options: SecretOptions, mode: Mode): TokenKeys {
  const { onWarning = emitWarning } = options
  const access = options.accessSecret || process.env.JWT_SECRET
  const refresh = options.refreshSecret || process.env.REFRESH_TOKEN_SECRET
  if (!access || !refresh) refuseFallback({ JWT_SECRET: access, REFRESH_TOKEN_SECRET: refresh }, mode, onWarning)
  const secrets = { access: access || DEVELOPMENT_SECRETS.access, refresh: refresh || DEVELOPMENT_SECRETS.refresh }
  warnOfWeakness(secrets, onWarning)
  return { access: createSecretKey(secrets.access, 'utf8'), refresh: createSecretKey(secrets.refresh, 'utf8') }
}

function refuseFallback(
  secrets: Record<string, string | undefined>,
  mode: Mode,
  onWarning: (message: string) => void
): void {
  const missing = Object.keys(secrets).filter((name) => !secrets[name])
  const message = `${missing.join(' and ')} not set`
  if (isProduction(mode)) {
    const fix = 'Set them to random text of at least 32 bytes, each its own: openssl rand -base64 48'
    throw Object.assign(new Error(`${message}: tokens anybody can sign must not be used in production. ${fix}`), {
      code: 'TOKEN_SECRET_MISSING',
      fix
    })
  }
  if (!KNOWN_MODES.has(mode)) onWarning(`${message}: mode "${mode}" uses the development secrets, which are public`)
}

function warnOfWeakness({ access, refresh }: { access: string; refresh: string }, onWarning: (text: string) => void) {
  if (access === refresh) onWarning('JWT_SECRET and REFRESH_TOKEN_SECRET are equal; give each its own')
  for (const [name, secret] of Object.entries({ JWT_SECRET: access, REFRESH_TOKEN_SECRET: refresh })) {
    const size = Buffer.byteLength(secret)
    if (size < MIN_SECRET_BYTES) onWarning(`${name} has ${size} bytes; use at least ${MIN_SECRET_BYTES}`)
  }
}

function emitWarning(message: string): void {
  process.emitWarning(message, { code: 'TWINROUTE_WEAK_SECRET' })
}
