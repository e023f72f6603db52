import type { Middleware } from 'twinroute'
import { authenticate, requireRole, type TokenService } from 'twinroute/auth'
import { rateLimit, type RedisClient } from 'twinroute/http'
import { describeMiddleware } from 'twinroute/openapi'
import type { UserService } from '../users/user-service.js'

/** The middleware that depends on how the application is configured. */
export interface Guards {
  signedIn: Middleware
  currentUser: Middleware
  loginLimit: Middleware
}

export interface GuardParts {
  tokens: TokenService
  users: UserService
  loginRateLimit: boolean
  redis: RedisClient | undefined
  redisPrefix: string
  onError: (error: unknown) => void
}

export function createGuards({ tokens, users, loginRateLimit, redis, redisPrefix, onError }: GuardParts): Guards {
  return {
    signedIn: authenticate({ form: 'flat', tokens, onError }),
    currentUser: authenticate({ form: 'nested', tokens, findUser: (userId) => users.find(userId) }),
    loginLimit: loginRateLimit ? limitLogins(redis, redisPrefix) : passOn
  }
}

/** Five attempts per client in fifteen minutes, counted together by all instances that share a Redis. */
function limitLogins(redis: RedisClient | undefined, prefix: string): Middleware {
  return rateLimit({ keyPrefix: `${prefix}:login`, ...(redis && { redis }) })
}

const passOn: Middleware = (_request, _response, next) => next()

// Modules are loaded once, applications are made with different settings: these look theirs up in the request. So they say
// themselves what the document of the API is to tell of them.

const NO_TOKEN = 'The token is missing, expired or invalid'

/** Flat form: `request.user` is `{ userId, role }`, from the token alone. */
export const signedIn: Middleware = (request, response, next) =>
  request.services.guards.signedIn(request, response, next)
describeMiddleware(signedIn, {
  security: 'bearer',
  responses: { 401: NO_TOKEN, 500: 'The token could not be checked' },
  form: 'flat'
})

/** Nested form: `request.user` is the user's record. */
export const currentUser: Middleware = (request, response, next) =>
  request.services.guards.currentUser(request, response, next)
describeMiddleware(currentUser, { security: 'bearer', responses: { 401: NO_TOKEN }, form: 'nested' })

/** Does nothing unless `LOGIN_RATE_LIMIT=on`. */
export const loginLimit: Middleware = (request, response, next) =>
  request.services.guards.loginLimit(request, response, next)
describeMiddleware(loginLimit, { responses: { 429: 'Too many attempts' }, form: 'flat' })

/** Runs after {@link signedIn}. */
export const adminOnly: Middleware = requireRole(['admin'], { form: 'flat' })
