import type { FastifyInstance } from 'fastify'
import type { ManifestRoute, Segment } from '../contract/manifest.js'
import type { Middleware } from '../contract/middleware.js'
import type { Binder } from '../middleware/bind.js'
import { mayNotRun, ownMiddleware } from '../middleware/chain.js'
import { parseFastifyPath } from '../patterns/pattern.js'
import { isApp, routesOf } from './server-state.js'

/** One middleware in front of a route. */
export interface RouteGuard {
  readonly middleware: Middleware
  /** Whether it runs for every request of the route; else each request decides. */
  readonly isCertain: boolean
}

/** A route file as it is served. */
export interface ServedRoute {
  readonly route: ManifestRoute
  /** In front of the base route, in Fastify's syntax. */
  readonly mount: string
  /** All that runs before a method, in its order. */
  guardsOf(method: string): readonly RouteGuard[]
}

/** All route files of a server with what runs before them. */
export function servedRoutes(fastify: FastifyInstance): ServedRoute[] {
  const registrations = routesOf(fastify)
  const [app] = isApp(fastify) ? registrations : []
  return registrations.flatMap((registered) => {
    const { manifest, binder, prefix: mount } = registered
    const outer = app === undefined || app === registered ? undefined : app.binder
    return manifest.routes.map((route) => {
      const around = outer === undefined ? [] : guardsIn(outer, [...parseFastifyPath(mount), ...route.segments])
      const bound = [...around, ...guardsIn(binder, route.segments)]
      const guardsOf = (method: string): RouteGuard[] => [
        ...bound,
        ...ownMiddleware(route.module, method).map((middleware) => ({ middleware, isCertain: true }))
      ]
      return { route, mount, guardsOf }
    })
  })
}

/** What the middleware map of an app has in front of a route that is no file. */
export function guardsOfPath(fastify: FastifyInstance, path: string): RouteGuard[] {
  const [app] = isApp(fastify) ? routesOf(fastify) : []
  return app === undefined ? [] : guardsIn(app.binder, parseFastifyPath(path))
}

function guardsIn(binder: Binder, segments: readonly Segment[]): RouteGuard[] {
  return binder
    .chainFor(segments)
    .steps.flatMap((step) => step.middleware.map((middleware) => ({ middleware, isCertain: !mayNotRun(step) })))
}
