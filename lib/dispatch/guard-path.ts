import type { Segment } from '../contract/manifest.js'
import type { Middleware } from '../contract/middleware.js'
import type { ApiError } from '../errors/api-error.js'
import { routeNotFound } from '../errors/refusals.js'
import type { Binder, RequestLine } from '../middleware/bind.js'
import { dependsOnPath, dependsOnRest, mayNotRun, type BoundChain } from '../middleware/chain.js'
import { refusedPath } from './request-target.js'

/** Says what is wrong with a request's path, after the chain; undefined when nothing is. */
export type PathGuard = (request: RequestLine) => ApiError | undefined

export interface GuardedPattern {
  segments: readonly Segment[]
  bound: BoundChain
  /** The route's own middleware, of all methods. */
  own?: readonly Middleware[]
  /**
   * Where the route comes from, which decides how far its parameters are trusted:
   * - `file`: a route file of the app; twinroute has checked every parameter
   * - `mounted file`: a route file of a further `fileRoutes`; nobody has checked the parameters in that plugin's own prefix
   * - `plugin`: a route of a plugin or of `app.get()`; what its handler does with a parameter is not known
   */
  from: 'file' | 'mounted file' | 'plugin'
}

/**
 * The check of a request's path after the route's chain has run. A handler that gets several segments at once may join and
 * resolve them, or send them on, and so reach a place whose guard has not run. Where a guarded prefix lies below such a route,
 * or a router among its middleware matches by path, the check refuses every ambiguous path; elsewhere only those that lead to
 * a guarded place. Undefined where neither can happen: no value of a route file's parameter is a dot segment.
 */
export function createPathGuard(binder: Binder, pattern: GuardedPattern): PathGuard | undefined {
  const { segments, bound, own = [], from } = pattern
  const isOpen = segments.at(-1)?.kind === 'rest'
  const isParted = bound.steps.some(from === 'plugin' ? dependsOnPath : dependsOnRest)
  const middleware = [...bound.steps.flatMap((step) => step.middleware), ...own]
  if (isParted || (isOpen && middleware.some(matchesByPath))) return ({ url }) => refusedPath(url, binder.reading)
  const takesDots = from !== 'file' && segments.some(({ kind }) => kind === 'param')
  if ((!isOpen && !takesDots) || binder.everything.steps.length === 0) return undefined
  const certain = bound.steps.filter((step) => !mayNotRun(step)).map(({ prefix }) => prefix)
  const keys = bound.steps.map(({ prefix }) => prefix)
  const ranFor = (request: RequestLine): ReadonlySet<string> => {
    const covering = binder.covering(request)
    return new Set([...certain, ...keys.filter((key) => covering.has(key))])
  }
  return (request) => (binder.leadsPast(request, ranFor) ? routeNotFound() : undefined)
}

/** Express's routers and applications. */
function matchesByPath(middleware: Middleware): boolean {
  return 'stack' in middleware || 'handle' in middleware
}
