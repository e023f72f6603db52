import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { kUnguarded } from '../contract/middleware.js'
import { isWaiting, type LinkedResponse } from '../link/state.js'
import { createNotFoundEntry, type NotFoundOptions } from '../dispatch/not-found.js'
import { leaveBodiesAlone } from '../body/wait.js'
import { keepNotFoundEntry, notFoundEntryOf } from './registrations.js'

export interface NotFoundAnswer extends NotFoundOptions {
  /** In Fastify's syntax; empty for the whole app. */
  base: string
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/** Requests below a base route that no route matches: the chain of their prefix first, then the answer. */
export function notFoundScope(
  fastify: FastifyInstance,
  { base, answer, ...options }: NotFoundAnswer
): FastifyPluginAsync {
  const before = notFoundEntryOf(fastify)
  const enter = createNotFoundEntry(options)
  if (base === '') keepNotFoundEntry(fastify, enter)
  return async function answersNotFound(scope) {
    leaveBodiesAlone(scope)
    if (before !== undefined) scope.addHook('onRequest', before)
    scope.addHook('onRequest', enter)
    const guarded = { config: { [kUnguarded]: true } } // by the hooks above
    scope.setNotFoundHandler(guarded as object, timed(answer, options))
  }
}

/** A not-found handler of the user's has as much time as any handler. */
export function timed(
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
