import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createNotFoundHandler, type NotFoundOptions } from '../dispatch/not-found.js'
import { registerNotFound } from '../plugins/register-not-found.js'

type Answer = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * What no route of the app matches: the chain of its prefix, then 404 in the app's error shape. Fastify takes one not-found
 * handler for the root; `app.setNotFoundHandler(handler)` still works and replaces the last step.
 */
export async function installNotFound(app: FastifyInstance, options: NotFoundOptions): Promise<void> {
  let answer: Answer = createNotFoundHandler(options.runtime)
  await registerNotFound(app, { ...options, base: '', answer: (request, reply) => answer.call(app, request, reply) })
  const setNotFoundHandler = app.setNotFoundHandler
  app.setNotFoundHandler = function (this: FastifyInstance, ...given: unknown[]) {
    const [handler] = given
    if (this !== app) return Reflect.apply(setNotFoundHandler, this, given) as FastifyInstance
    if (typeof handler !== 'function') {
      throw new TypeError(
        'On an app, setNotFoundHandler takes a handler; hooks go to addHook, guards into the middleware map'
      )
    }
    answer = handler as Answer
    return this
  } as FastifyInstance['setNotFoundHandler']
}
