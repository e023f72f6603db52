import type { Segment } from '../contract/manifest.js'
import { isRouteMethod } from '../contract/methods.js'
import type { Middleware } from '../contract/middleware.js'
import type { RouteModule } from '../contract/route-module.js'
import { coverSegments, type StepCondition } from './cover.js'

/** The middleware of one prefix, as part of a route's chain. */
export interface ChainStep {
  /** The key of the map, as written. */
  prefix: string
  /** How many segments of the request's path the prefix covers; they are stripped from `request.url`. */
  depth: number
  middleware: readonly Middleware[]
  /** All must hold for the step to run: a parameter or rest value stands where the prefix has a name. */
  when?: readonly StepCondition[]
}

/** What runs before a route's own middleware. */
export interface BoundChain {
  /** The shortest prefix first. */
  steps: readonly ChainStep[]
  /** The key of the empty array that makes the route public, if one does. */
  publicBy?: string
}

/** One entry of the middleware map, parsed. */
export interface BoundPrefix {
  key: string
  segments: readonly Segment[]
  middleware: readonly Middleware[]
}

export interface BindOptions {
  /** Whether the router tells `/Admin` from `/admin`; the binding follows it. */
  caseSensitive: boolean
  /** Path segments in front of every pattern, from a prefix of the host's. Default 0. */
  mountDepth?: number
}

/** The chain of a route pattern. `prefixes` come in the order their middleware runs. */
export function bindChain(
  prefixes: readonly BoundPrefix[],
  route: readonly Segment[],
  { caseSensitive, mountDepth = 0 }: BindOptions
): BoundChain {
  let steps: ChainStep[] = []
  let publicBy: string | undefined
  for (const { key, segments, middleware } of prefixes) {
    const when = coverSegments(segments, route, { caseSensitive })
    if (when === undefined) continue
    const certain = when.length === 0
    if (middleware.length > 0) {
      const step = { prefix: key, depth: segments.length + mountDepth, middleware }
      steps.push(certain ? step : { ...step, when })
      if (certain) publicBy = undefined
    } else if (certain) {
      // A hole opens only where it is certain: where a parameter decides, the broader chain keeps running.
      steps = []
      publicBy = key
    }
  }
  return publicBy === undefined ? { steps } : { steps, publicBy }
}

/** The middleware a route file has for a method. HEAD follows GET unless it is exported itself. */
export function ownMiddleware({ handlers, middleware }: RouteModule, method: string): readonly Middleware[] {
  if (isList(middleware)) return middleware
  const follows = method === 'HEAD' && handlers.HEAD === undefined ? 'GET' : method
  return (isRouteMethod(follows) ? middleware[follows] : undefined) ?? []
}

function isList(middleware: RouteModule['middleware']): middleware is readonly Middleware[] {
  return Array.isArray(middleware)
}
