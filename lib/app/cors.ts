import fastifyCors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { CorsOptions } from '../contract/options.js'
import { checkValue, isText, objectOf, SWITCH } from '../options/rules.js'

export type CorsHook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** What route files can export; an origin that is let in may use all of it unless `methods` says less. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/**
 * `expressOptions.enableCors` as an onRequest hook. It comes before everything else, so that its headers are on every
 * answer (of a guard, of an error, raw ones) and a preflight is answered without running middleware or handlers.
 *
 * Origins of `cookieOrigins` are echoed, with credentials if those are on; with `allowAnyOrigin` the others get `*`, which
 * never comes with credentials; else nothing is granted. `Vary: Origin` is on every answer.
 */
export function createCorsHook(options: CorsOptions): CorsHook {
  const policyOf = createPolicies(options)
  const addHeaders = hookOf((request, done) => {
    done(null, { ...policyOf(request.headers.origin), preflight: isPreflight(request) })
  })
  return function applyCors(request, reply, done) {
    addHeaders(request, reply, (error?: Error) => {
      if (error !== undefined) done(error)
      else if (isPreflight(request) && !answersItself(request)) reply.code(204).send() // of an origin without a grant
      else done()
    })
  }
}

function createPolicies({ allowAnyOrigin, cookieOrigins, credentials, methods, headers }: CorsOptions) {
  const known = new Set(cookieOrigins)
  const allowed = { methods: methods ?? METHODS, ...(headers !== undefined && { allowedHeaders: headers }) }
  const others: FastifyCorsOptions = { ...allowed, origin: allowAnyOrigin === true && '*' }
  return (origin: string | undefined): FastifyCorsOptions => {
    if (origin === undefined || !known.has(origin)) return others
    return { ...allowed, origin, credentials: credentials === true }
  }
}

/**
 * The hook of @fastify/cors. The plugin would also add a route `OPTIONS *`, which would take all unmatched paths from the
 * chains of their prefixes, and its hook would not run for malformed paths, which Fastify shows to no hook.
 */
function hookOf(delegator: FastifyCorsOptionsDelegateCallback): CorsHook {
  let hook: CorsHook | undefined
  const instance = Object.create(null, {
    addHook: { value: (_name: string, added: CorsHook) => (hook = added) },
    decorateRequest: { value: ignore },
    options: { value: ignore }
  }) as FastifyInstance
  fastifyCors(instance, { delegator }, ignore)
  if (hook === undefined) throw new Error('@fastify/cors has added no hook')
  return hook
}

function ignore(): void {}

/** An OPTIONS request of the Fetch standard's; any other is the application's. */
function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** A route that leaves CORS the headers only, such as `/graphql`. */
function answersItself({ routeOptions }: FastifyRequest): boolean {
  const { cors } = routeOptions.config as { cors?: FastifyCorsOptions }
  return cors?.preflightContinue === true
}

/** `https://app.example:8443`, also of other schemes (`capacitor://localhost`). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*\\]+$/

/** Comma-separated tokens (RFC 9110, section 5.6.2), which are what methods and header names are. */
const LIST = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

export const CORS = objectOf<CorsOptions>({
  allowAnyOrigin: SWITCH,
  cookieOrigins: { expected: 'an array of origins', accepts: Array.isArray },
  credentials: SWITCH,
  methods: { expected: 'a list such as "GET, POST"', accepts: isTokenList },
  headers: { expected: 'a list such as "Content-Type, Authorization"', accepts: isTokenList }
})

/**
 * Origins are compared as whole strings, so that one spelt otherwise than browsers do would never match.
 * @throws TypeError naming the first wrong one and how it is spelt
 */
export function checkOrigins(owner: string, origins: readonly unknown[] = []): void {
  for (const [index, origin] of origins.entries()) {
    const expected = `an origin as browsers send it, such as "${spelling(origin) ?? 'https://app.example'}"`
    const rule = { expected, accepts: isOrigin, required: true }
    checkValue(owner, `expressOptions.enableCors.cookieOrigins[${index}]`, origin, rule)
  }
}

function isOrigin(origin: unknown): boolean {
  if (!isText(origin) || !ORIGIN.test(origin)) return false
  return [undefined, origin].includes(spelling(origin))
}

/** How a browser writes the origin of a URL: no path, no default port, lower case. Undefined where it has none. */
function spelling(origin: unknown): string | undefined {
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  return url === undefined || url.origin === 'null' ? undefined : url.origin
}

function isTokenList(value: unknown): boolean {
  return isText(value) && LIST.test(value)
}
