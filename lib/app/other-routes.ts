import type { FastifyInstance, RouteOptions, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RouteManifest } from '../contract/manifest.js'
import { fileRouteOf, isUnguarded } from '../contract/instance-state.js'
import { parseFastifyPath } from '../patterns/pattern.js'
import { createChainHook, type HookedRoute, type HookOptions } from '../dispatch/pass-chain.js'
import { keepOtherRoute } from '../fastify/server-state.js'
import type { Runtime } from '../dispatch/runtime.js'
import type { LinkedResponse } from '../link/state.js'

interface GuardOptions extends HookOptions {
  /** The app's own file routes, which run their chains themselves. */
  manifest: RouteManifest
}

/**
 * The middleware map guards every route of the app, also those of plugins (`/graphql`, a second `fileRoutes`) and of
 * `app.get()`: each has its chain bound when it is registered.
 */
export function guardOtherRoutes(app: FastifyInstance, runtime: Runtime, options: GuardOptions): void {
  const files = new Set<unknown>(options.manifest.routes)
  app.addHook('onRoute', (route: RouteOptions & { prefix?: string }) => {
    if (isUnguarded(route) || files.has(fileRouteOf(route))) return
    const hooked = toHooked(route)
    if (fileRouteOf(route) === undefined)
      keepOtherRoute(app, { pattern: route.url, segments: hooked.segments, methods: [route.method].flat() })
    const hook = createChainHook(runtime, hooked, options)
    if (hook === null) return
    route.onRequest = [hook, ...onRequestHooksOf(route)]
  })
}

/** Of a route file the segments are known. */
function toHooked(route: RouteOptions & { prefix?: string }): HookedRoute {
  const file = fileRouteOf(route)
  if (file === undefined) return { segments: parseFastifyPath(route.url), from: 'plugin' }
  const mount = parseFastifyPath(route.prefix ?? '')
  if (mount.at(-1)?.kind === 'rest') return { segments: mount, from: 'plugin' }
  return { segments: [...mount, ...file.segments], from: 'mounted file' }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/** The hooks a route was registered with, which may be one or a list. */
function onRequestHooksOf({ onRequest }: RouteOptions): Hook[] {
  return onRequest === undefined ? [] : ([onRequest].flat() as Hook[])
}

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
    if (fileRouteOf(route) !== undefined || route.handlerTimeout !== undefined) return
    route.onRequest = [...onRequestHooksOf(route), wait]
  })
}
