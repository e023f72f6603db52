import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { RouteManifest } from '../contract/manifest.js'
import { resolveMode, type Mode } from '../contract/mode.js'
import type { Binder } from '../middleware/bind.js'
import type { BoundRoute } from '../middleware/report.js'
import { adoptServer } from '../express/link-request.js'
import type { createNotFoundEntry } from '../dispatch/not-found.js'
import { routerOptionsOf } from '../patterns/read-path.js'
import { createRuntime, type Runtime } from '../dispatch/runtime.js'

/** File routes of one registration. */
export interface RegisteredRoutes {
  manifest: RouteManifest
  binder: Binder
  /** Of the registration: in front of the base route, in Fastify's syntax. */
  prefix: string
}

interface RoutedServer {
  runtime: Runtime
  routes: RegisteredRoutes[]
  /** Routes from no file that the middleware map guards, by pattern. */
  others: Map<string, BoundRoute>
  notFoundPrefixes: Set<string>
  /** The chains of an app's own map for what no route matches; they run before those of later registrations. */
  notFoundEntry: NotFoundEntry | undefined
}

export type NotFoundEntry = ReturnType<typeof createNotFoundEntry>

/** One Express side per server, however many times `fileRoutes` is registered on it. */
const servers = new WeakMap<object, RoutedServer>()

export interface RuntimeSettings {
  mode: Mode | undefined
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

/** The runtime of a server: that of `createApp`, or one made for the host on first use. */
export function runtimeOf(fastify: FastifyInstance, { mode, handlerTimeout }: RuntimeSettings): Runtime {
  const known = servers.get(fastify.server)
  if (known !== undefined) return known.runtime
  const runtime = createRuntime({
    mode: resolveMode(mode),
    kind: 'host',
    route: (req, res) => fastify.routing(req, res),
    handlerTimeout
  })
  adoptServer(fastify.server as Server, runtime.express)
  runtime.stack.setPathReading(routerOptionsOf(fastify))
  fastify.addHook('preClose', async () => runtime.express.openSignals.abort())
  return keepRuntime(fastify, runtime)
}

export function keepRuntime(fastify: FastifyInstance, runtime: Runtime): Runtime {
  servers.set(fastify.server, {
    runtime,
    routes: [],
    others: new Map(),
    notFoundPrefixes: new Set(),
    notFoundEntry: undefined
  })
  return runtime
}

/** Remembers the routes of a registration. */
export function keepRoutes(fastify: FastifyInstance, routes: RegisteredRoutes): void {
  servers.get(fastify.server)?.routes.push(routes)
}

/** All file routes of a server, in the order of their registration. */
export function routesOf(fastify: FastifyInstance): readonly RegisteredRoutes[] {
  return servers.get(fastify.server)?.routes ?? []
}

/** Whether the server is that of an app, whose map guards everything on it. */
export function isApp(fastify: FastifyInstance): boolean {
  return servers.get(fastify.server)?.runtime.kind === 'app'
}

export function keepNotFoundEntry(fastify: FastifyInstance, entry: NotFoundEntry): void {
  const server = servers.get(fastify.server)
  if (server !== undefined) server.notFoundEntry = entry
}

export function notFoundEntryOf(fastify: FastifyInstance): NotFoundEntry | undefined {
  return servers.get(fastify.server)?.notFoundEntry
}

/** A prefix has one not-found handler; true for the first registration that asks. */
export function claimNotFound(fastify: FastifyInstance, prefix: string): boolean {
  const prefixes = servers.get(fastify.server)?.notFoundPrefixes
  if (prefixes === undefined || prefixes.has(prefix)) return false
  prefixes.add(prefix)
  return true
}

/** Fastify registers a path once per method; in the report it is one route. */
export function keepOtherRoute(fastify: FastifyInstance, route: BoundRoute): void {
  const others = servers.get(fastify.server)?.others
  const methods = new Set([...(others?.get(route.pattern)?.methods ?? []), ...(route.methods ?? [])])
  others?.set(route.pattern, { ...route, methods: [...methods] })
}

export function otherRoutesOf(fastify: FastifyInstance): readonly BoundRoute[] {
  return [...(servers.get(fastify.server)?.others.values() ?? [])]
}
