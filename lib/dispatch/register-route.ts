import type { FastifyInstance, RouteOptions } from 'fastify'
import type { RouteState } from '../contract/instance-state.js'
import type { ManifestRoute } from '../contract/manifest.js'
import type { Middleware } from '../contract/middleware.js'
import { isRouteMethod, type RouteModule } from '../contract/route-module.js'
import type { Binder } from '../middleware/bind.js'
import { ownMiddleware, type BoundChain } from '../middleware/chain.js'
import type { ChainRunner } from '../middleware/run-chain.js'
import { paramReader, type ParamReading } from '../patterns/read-path.js'
import { createChain } from './pass-chain.js'
import { createBareHandler, createEntry, createHandler } from './file-route-hooks.js'
import { needsHook, type MethodPlan, createHandlers, type MethodTable } from './methods.js'
import { createPathGuard } from './guard-path.js'
import type { Runtime } from './runtime.js'
import { withDefinition } from './run-typed-handler.js'
import type { RouteDefaults } from '../options/defaults.js'

export interface RouteContext {
  runtime: Runtime
  binder: Binder
  defaults: RouteDefaults
  /** How paths are read; its depth is that of the Fastify prefix in front of the base route. */
  reading: ParamReading
}

/** A route file as it is given to Fastify, but for the path and the methods. */
export interface PreparedRoute {
  route: ManifestRoute
  /** For those who ask what the route's limit is. */
  bodyLimit: number
  onRequest: ReturnType<typeof createEntry> | undefined
  handler: ReturnType<typeof createHandler>
}

/** What a route file does with each method the server accepts. */
export function prepareRoute(route: ManifestRoute, methods: readonly string[], context: RouteContext): PreparedRoute {
  const { runtime } = context
  const table = planTable(route, methods, context)
  const hasHook = Object.values(table).some(needsHook)
  const isBare = !hasHook && (runtime.kind === 'host' || route.params.length > 0)
  return {
    route,
    bodyLimit: bodyLimitOf(route, context),
    onRequest: hasHook ? createEntry(runtime, table) : undefined,
    handler: isBare ? createBareHandler(runtime, table) : createHandler(runtime, table)
  }
}

/**
 * Registers one path of a route file. All its methods go into one Fastify route. The path decides before the method does:
 * `DELETE /users/me` is 405 where `users/me` has no DELETE, never `users/[id]` with "me". So they must be all methods that a
 * less specific route has.
 */
export function registerRoute(
  scope: FastifyInstance,
  { route, bodyLimit, onRequest, handler }: PreparedRoute,
  { url, methods }: { url: string; methods: Iterable<string> }
): void {
  const options: RouteOptions = {
    method: [...methods],
    url,
    exposeHeadRoute: false,
    bodyLimit,
    handler,
    config: { twinroute: route } satisfies RouteState as object
  }
  if (onRequest !== undefined) options.onRequest = onRequest
  scope.route(options)
}

function bodyLimitOf({ module }: ManifestRoute, { defaults }: RouteContext): number {
  return module.config.bodyLimit ?? defaults.bodyLimit
}

function planTable(route: ManifestRoute, methods: readonly string[], context: RouteContext): MethodTable<MethodPlan> {
  const { module, segments } = route
  const { runtime, binder, defaults, reading } = context
  const bodyLimit = bodyLimitOf(route, context)
  runtime.express.parsesBodies = true
  const bound = binder.chainFor(segments)
  const own = methods.flatMap((method) => ownMiddleware(module, method))
  const timeout = module.config.timeout ?? defaults.handlerTimeout
  const common = {
    bodyLimit,
    deadline: runtime.deadlineOf(timeout),
    handlerDeadline: runtime.deadlineOf(timeout, 'handler'),
    hasParams: route.params.length > 0,
    readParams: paramReader(route.params, { ...reading, depth: reading.depth + depthBeforeRest(route) }),
    guardPath: createPathGuard(binder, { segments, bound, own, from: 'file' })
  }
  const handlerOf = createHandlers(module)
  const chainOf = createChains(context, bound)
  const plans: MethodPlan[] = []
  const table: Record<string, MethodPlan> = Object.create(null) as Record<string, MethodPlan>
  for (const method of methods) {
    const chain = chainOf(ownMiddleware(module, method))
    const takesBody = hasBodies(module, method)
    const given = handlerOf(method)
    // methods that do the same share a plan: GET and HEAD, all that are refused
    let plan = plans.find((one) => one.handler === given && one.chain === chain && one.takesBody === takesBody)
    if (plan === undefined) {
      const handler = withDefinition(runtime, { method, pattern: route.pattern }, given)
      const body = takesBody && (module.config.bodyParser ?? defaults.bodyParser)
      plan = { handler, chain, takesBody, body, ...common }
      plans.push(plan)
    }
    table[method] = plan
  }
  return table
}

/** The chains of a route, by its own middleware for a method: most routes have one list for all, or none. */
function createChains({ runtime, binder: { covering } }: RouteContext, bound: BoundChain) {
  const chains = new Map<readonly Middleware[], ChainRunner | null>()
  return (own: readonly Middleware[]): ChainRunner | null => {
    let chain = chains.get(own)
    if (chain === undefined) {
      chain = createChain(runtime, { bound, own, covering })
      chains.set(own, chain)
    }
    return chain
  }
}

function depthBeforeRest(route: ManifestRoute): number {
  return route.segments.filter((segment) => segment.kind !== 'rest').length
}

/** GET and HEAD bodies mean nothing (RFC 9110, section 9.3.1); a method that is not exported needs none. */
function hasBodies({ handlers }: RouteModule, method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && isRouteMethod(method) && handlers[method] !== undefined
}
