import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ContextFunction, GraphqlContext } from '../contract/graphql.js'
import { isProduction, type Mode } from '../contract/mode.js'
import type { Request, Response } from '../contract/request.js'
import { bearerToken } from '../auth/authenticate.js'
import { checkOptions, hasMethods, isFunction, type OptionRules } from '../options/rules.js'
import { thenOrNow } from '../options/values.js'
import { SetupError } from './setup-error.js'

/** A user to try an API with. */
const FIXED_USER = { id: '1', name: 'Example User', email: 'user@example.com', role: 'user' }

interface BasicContextOptions {
  user?: object
}

const BASIC_RULES: OptionRules<BasicContextOptions> = {
  user: { expected: 'an object', accepts: (value) => typeof value === 'object' && value !== null }
}

/**
 * The basic form, for first steps and demonstrations: everybody who sends an `Authorization` header, whatever it holds,
 * is the given user, and everybody else is null. Production refuses to boot with it.
 *
 * @throws TypeError naming a wrong or unknown option
 */
export function basicContext(options: BasicContextOptions = {}): ContextFunction {
  checkOptions('basicContext', options, BASIC_RULES)
  const { user = FIXED_USER } = options
  const context = ({ headers }: FastifyRequest): object => ({
    user: headers.authorization === undefined ? null : user
  })
  return Object.assign(context, { developmentOnly: true })
}

/** Checks a token and returns its identity; null or a throw makes `user` null. A token service's `verifyAccess` is one. */
export type VerifyToken = (token: string) => unknown

export interface BearerContextOptions {
  verify: VerifyToken | { verifyAccess: VerifyToken }
}

const BEARER_RULES: OptionRules<BearerContextOptions> = {
  verify: {
    expected: 'a function, or an object with verifyAccess such as a token service',
    accepts: (value) => isFunction(value) || hasMethods('verifyAccess')(value),
    required: true
  }
}

/**
 * The authenticated form: the header must begin with `Bearer `, and `user` is the identity of the token, or null. Claims
 * with a `userId` become `{ id, role }`; any other identity becomes `user` unchanged. An invalid token or a repeated
 * header gives `user: null`. A 5xx error from `verify` fails the request, so that an outage logs no user out.
 *
 * @throws TypeError naming a wrong or unknown option
 */
export function bearerContext(options: BearerContextOptions): ContextFunction {
  checkOptions('bearerContext', options, BEARER_RULES)
  const { verify } = options
  const check: VerifyToken = typeof verify === 'function' ? verify : (token) => verify.verifyAccess(token)
  return async ({ raw }) => {
    const token = bearerToken(raw)
    if (!token) return { user: null }
    try {
      return { user: toUser(await check(token)) }
    } catch (error) {
      if (Number((error as { statusCode?: unknown } | null)?.statusCode) >= 500) throw error
      return { user: null }
    }
  }
}

function toUser(identity: unknown): unknown {
  if (typeof identity !== 'object' || identity === null) return null
  if (!('userId' in identity)) return identity
  const { userId, role } = identity as { userId: unknown; role?: unknown }
  return { id: userId, role }
}

/** Makes the context of each request: a new object, so that what the app's function returns may be shared. */
export function createContextFactory(
  own: ContextFunction | undefined,
  mode: Mode
): (request: FastifyRequest, reply: FastifyReply) => GraphqlContext | Promise<GraphqlContext> {
  if (own?.developmentOnly === true && isProduction(mode)) {
    throw new SetupError(
      'GRAPHQL_CONTEXT_DEVELOPMENT_ONLY',
      'basicContext accepts any Authorization header: use bearerContext in production'
    )
  }
  return (request, reply) => {
    const base: GraphqlContext = {
      user: userOn(request.raw) ?? userOn(request) ?? null,
      requestId: request.id,
      request: request.raw as Request,
      response: reply.raw as Response
    }
    if (own === undefined) return base
    // not by spreading: what the engine adds to such an object makes it slow, 9 µs a request
    return thenOrNow(own(request, reply), (given) => Object.assign(base, given))
  }
}

/** Whom authentication middleware, or a Fastify plugin, has found. */
function userOn(request: object): unknown {
  return (request as { user?: unknown }).user
}
