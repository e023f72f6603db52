import type { Middleware } from '../contract/middleware.js'
import { addDescription } from '../contract/middleware-description.js'
import { checkOptions, FUNCTION, hasMethods, type OptionRule, type OptionRules } from '../options/rules.js'
import type { Identity } from './tokens.js'
import { ERROR_FORM, answerRefusal, type Refusal, isExpiry, isTokenError } from './auth-errors.js'
import type { IncomingHttpHeaders } from 'node:http'

/** Checks access tokens: a token service, or any function of that shape. Throws an ApiError 401 for a token it refuses. */
export interface AccessVerifier {
  verifyAccess(token: string): Identity | Promise<Identity>
}

export interface FlatAuthentication {
  form: 'flat'
  tokens: AccessVerifier
  /** Called with the reason of a 500 `AUTH_ERROR`. Default: `process.emitWarning`. */
  onError?: (error: unknown) => void
}

export interface NestedAuthentication<User> {
  form: 'nested'
  tokens: AccessVerifier
  /** The user's record; null or undefined when the user no longer exists. A failure goes to `next`. */
  findUser: (userId: string) => User | null | undefined | Promise<User | null | undefined>
}

const NO_TOKEN: Refusal = { status: 401, code: 'NO_TOKEN', message: 'No token provided' }
const TOKEN_EXPIRED: Refusal = { status: 401, code: 'TOKEN_EXPIRED', message: 'Token has expired' }
const AUTH_ERROR: Refusal = { status: 500, code: 'AUTH_ERROR', message: 'Authentication failed' }
const UNAUTHORIZED: Refusal = { status: 401, code: 'UNAUTHORIZED', message: 'Authentication required' }
const INVALID_TOKEN: Refusal = { status: 401, code: 'INVALID_TOKEN', message: 'Invalid token' }

const TOKENS: OptionRule = {
  expected: 'an object with verifyAccess, such as a token service',
  accepts: hasMethods('verifyAccess'),
  required: true
}
const FLAT_RULES: OptionRules<FlatAuthentication> = {
  form: ERROR_FORM,
  tokens: TOKENS,
  onError: FUNCTION
}
const NESTED_RULES: OptionRules<NestedAuthentication<unknown>> = {
  form: ERROR_FORM,
  tokens: TOKENS,
  findUser: { ...FUNCTION, required: true }
}

/**
 * Middleware that accepts `Authorization: Bearer <access token>` and nothing else.
 *
 * Flat form: sets `request.user` to `{ userId, role }`; answers 401 `NO_TOKEN`, `TOKEN_EXPIRED` or `INVALID_TOKEN`, and
 * 500 `AUTH_ERROR` when checking fails. Nested form: sets `request.user` to the user's record; answers 401 `UNAUTHORIZED`
 * without a token and `INVALID_TOKEN` for one that is bad, expired or of a user who is gone.
 *
 * @throws TypeError naming a wrong or unknown option
 */
export function authenticate<User>(options: FlatAuthentication | NestedAuthentication<User>): Middleware {
  checkOptions<FlatAuthentication | NestedAuthentication<User>>('authenticate', options, rulesOf(options?.form))
  const check = options.form === 'flat' ? authenticateFlat(options) : authenticateNested(options)
  return addDescription(check, {
    security: 'bearer',
    // the nested form throws what fails
    responses: { 401: NO_VALID_TOKEN, ...(options.form === 'flat' && { 500: 'The token could not be checked' }) },
    form: options.form
  })
}

const NO_VALID_TOKEN = 'The token is missing, expired or invalid'

function rulesOf(form: unknown): Readonly<Record<string, OptionRule>> {
  if (form === 'flat') return FLAT_RULES
  return form === 'nested' ? NESTED_RULES : { ...NESTED_RULES, ...FLAT_RULES } // to find the form wrong, first of all
}

function authenticateFlat({ tokens, onError = warn }: FlatAuthentication): Middleware {
  return async function authenticate(request, response, next) {
    const token = bearerToken(request)
    if (token === undefined) return answerRefusal(request, response, 'flat', NO_TOKEN)
    if (token === '') return answerRefusal(request, response, 'flat', INVALID_TOKEN)
    try {
      const { userId, role } = await tokens.verifyAccess(token)
      request.user = { userId, role }
    } catch (error) {
      if (isTokenError(error))
        return answerRefusal(request, response, 'flat', isExpiry(error) ? TOKEN_EXPIRED : INVALID_TOKEN)
      onError(error)
      return answerRefusal(request, response, 'flat', AUTH_ERROR)
    }
    next()
  }
}

function authenticateNested<User>({ tokens, findUser }: NestedAuthentication<User>): Middleware {
  return async function authenticate(request, response, next) {
    const token = bearerToken(request)
    if (token === undefined) return answerRefusal(request, response, 'nested', UNAUTHORIZED)
    if (token === '') return answerRefusal(request, response, 'nested', INVALID_TOKEN)
    let user: User | null | undefined
    try {
      const { userId } = await tokens.verifyAccess(token)
      user = await findUser(userId)
    } catch (error) {
      if (isTokenError(error)) answerRefusal(request, response, 'nested', INVALID_TOKEN)
      else next(error)
      return
    }
    if (user == null) return answerRefusal(request, response, 'nested', INVALID_TOKEN)
    request.user = user
    next()
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

const SCHEME = 'Bearer '
const HEADER = 'authorization'

/** What every kind of request has: Express's, Node's of HTTP/1 and HTTP/2. */
export interface WithHeaders {
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

/**
 * The token of the Authorization header; undefined when there is none or its scheme is not exactly `Bearer `, and empty,
 * which no token is, when the header is repeated: Node keeps the first, and a proxy in front may have checked the second.
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
