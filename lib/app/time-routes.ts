import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import type { LinkedResponse } from '../link/state.js'
import type { Runtime } from '../dispatch/runtime.js'
import { fileOf } from './reserve-paths.js'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/**
 * The handler timeout of the app for routes that are not files: those of plugins (`/graphql` too) and of `app.get()`. The wait
 * begins behind all onRequest hooks and ends when the head leaves. A route with a `handlerTimeout` of Fastify's keeps that.
 */
export function timeOtherRoutes(app: FastifyInstance, runtime: Runtime, handlerTimeout: number): void {
  const deadline = runtime.deadlineOf(handlerTimeout)
  if (deadline === undefined) return
  const wait: Hook = (_request, reply, done) => {
    deadline.watch(reply.raw as LinkedResponse)
    done()
  }
  app.addHook('onRoute', (route: RouteOptions) => {
    if (fileOf(route) !== undefined || route.handlerTimeout !== undefined) return
    const own = route.onRequest as Hook | Hook[] | undefined
    route.onRequest = [...(own === undefined ? [] : [own].flat()), wait]
  })
}
