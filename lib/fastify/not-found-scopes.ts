import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { isUnguarded, UNGUARDED } from '../contract/instance-state.js'
import { keepUnmatched, refusalOf } from '../link/refusal.js'
import { FAILING, isWaiting, kAnswered, type LinkedResponse } from '../link/state.js'
import { createNotFoundEntry, type NotFoundOptions, createNotFoundHandler } from '../dispatch/not-found.js'
import { skipBodyParsers } from '../body/await-body.js'
import type { MethodClaims } from './method-claims.js'
import { keepNotFoundEntry, notFoundEntryOf, type NotFoundEntry } from './server-state.js'
import { replaceMethod } from './replace-method.js'

export interface NotFoundScopeOptions extends NotFoundOptions {
  /** In Fastify's syntax; empty for the whole app. */
  base: string
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/** Requests below a base route that no route matches: the chain of their prefix first, then the answer. */
export function notFoundScope(
  fastify: FastifyInstance,
  { base, answer, ...options }: NotFoundScopeOptions
): FastifyPluginAsync {
  const before = notFoundEntryOf(fastify)
  const enter = createNotFoundEntry(options)
  if (base === '') keepNotFoundEntry(fastify, enter)
  return async function answersNotFound(scope) {
    skipBodyParsers(scope)
    if (before !== undefined) scope.addHook('onRequest', before)
    scope.addHook('onRequest', enter)
    const guarded = { config: { ...UNGUARDED } } // by the hooks above
    scope.setNotFoundHandler(guarded as object, timed(answer, options))
  }
}

/** A not-found handler of the user's has as much time as any handler. */
function timed(
  answer: (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown,
  { runtime, handlerTimeout }: Pick<NotFoundOptions, 'runtime' | 'handlerTimeout'>
) {
  const deadline = runtime.deadlineOf(handlerTimeout)
  return function answerInTime(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply): unknown {
    const result: unknown = answer.call(this, request, reply)
    const response = reply.raw as LinkedResponse
    if (isWaiting(response)) deadline?.watch(response)
    return result
  }
}

type Answer = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * What no route of the app matches: 405, or 204 for OPTIONS, where a route file has the path, else the chain of its prefix, then
 * 404 in the app's error shape. Fastify takes one not-found handler for the root; `app.setNotFoundHandler(handler)` still works
 * and replaces the last step. Those that plugins set for their own prefix are guarded as well.
 *
 * @returns the scope that answers, to be registered last, as the routes are
 */
export function installNotFound(
  app: FastifyInstance,
  options: Required<NotFoundOptions>,
  claims: MethodClaims
): FastifyPluginAsync {
  const byDefault: Answer = createNotFoundHandler(options.runtime)
  let answer = byDefault
  let last: FastifyInstance | undefined
  replaceMethod(app, 'setNotFoundHandler', (scope, given, setNotFoundHandler) => {
    if (isBelow(app, scope)) claims.addNotFound(scope.prefix)
    if (scope === last || isBelow(app, scope))
      return setNotFoundHandler(...guardAnswer(given, notFoundEntryOf(app), options))
    answer = answerOf(app, scope, given[0])
    return scope
  })
  keepUnmatched(app.server, {
    refusingRoute: options.refusedMethods.lookup,
    callNotFound(reply) {
      // it would fail as well, and nothing fails twice
      const isFailing = answer === byDefault && (reply.raw as LinkedResponse)[kAnswered] === FAILING
      return isFailing ? undefined : sendResult(reply, () => answer.call(app, reply.request, reply))
    }
  })
  const scope = notFoundScope(app, {
    ...options,
    base: '',
    answer(request, reply) {
      const refusal = refusalOf(request)
      return refusal === undefined ? answer.call(app, request, reply) : refusal.answer(request, reply)
    }
  })
  return async function answersNotFound(instance, given) {
    last = instance
    await scope(instance, given)
  }
}

/** Sends what a handler returns. */
function sendResult(reply: FastifyReply, answer: () => unknown): FastifyReply {
  const send = (payload: unknown): void => {
    if (payload !== undefined && !reply.sent) reply.send(payload)
  }
  new Promise((resolve) => resolve(answer())).then(send, send)
  return reply
}

/** A scope with a prefix, which may have a not-found handler of its own. */
function isBelow(app: FastifyInstance, scope: FastifyInstance): boolean {
  return scope.prefix !== app.prefix
}

function answerOf(app: FastifyInstance, scope: FastifyInstance, handler: unknown): Answer {
  if (scope !== app) throw new Error('The not-found handler of an app is set on the app, or in a scope with a prefix')
  if (typeof handler === 'function') return handler as Answer
  throw new TypeError(
    'On an app, setNotFoundHandler takes a handler; hooks go to addHook, guards into the middleware map'
  )
}

/**
 * Fastify runs the hooks of a plugin before its not-found handler, and those of the options behind them. An onRequest hook
 * there is not in Fastify's documentation; test/joint.test.ts asserts that it runs.
 */
function guardAnswer(given: readonly unknown[], enter: NotFoundEntry | undefined, times: NotFoundOptions): unknown[] {
  const [first, second] = given
  const options = (typeof first === 'object' && first !== null ? first : {}) as NotFoundHooks
  const handler = typeof first === 'function' ? first : second
  if (enter === undefined || isUnguarded(options)) return [...given]
  const answer = typeof handler === 'function' ? timed(handler as Answer, times) : handler
  return [{ ...options, onRequest: [enter, ...[options.onRequest ?? []].flat()] }, answer]
}

interface NotFoundHooks {
  config?: object
  onRequest?: unknown
}
