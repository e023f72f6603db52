import findMyWay, { type HTTPMethod, type HTTPVersion, type Instance } from 'find-my-way'
import type { Segment } from '../contract/manifest.js'
import type { RouteModule } from '../contract/route-module.js'
import { allowedMethods } from '../dispatch/methods.js'
import { ownMiddleware } from '../middleware/chain.js'
import type { RouterOptions } from '../patterns/read-path.js'
import { compareSpecificity, formatSegment, isPlainParam } from '../patterns/segment.js'
import type { ReportedRoute, ReportedStep } from './reported-route.js'

/** What answers a request, as far as routes decide it. */
export interface RouteMatch {
  method: string
  /** As given. */
  url: string
  /**
   * `handler`: the route's function; `options`: 204 with `Allow`; `method-not-allowed`: 405 with `Allow`, because the path
   * decides before the method; `not-found`: no route has the path.
   */
  answer: 'handler' | 'options' | 'method-not-allowed' | 'not-found'
  /** The most specific route of the path. */
  route: ReportedRoute | undefined
  /** What the `Allow` header lists; empty for a route from no file. */
  allow: readonly string[]
  /** From the middleware map: what runs for this path, in order. For `not-found` too, on an app of `createApp`. */
  middleware: readonly ReportedStep[]
  /** The names of the route file's own middleware for this method. */
  own: readonly string[]
  /** All other routes that match the path, the most specific first. */
  lost: readonly LostRoute[]
}

/** A route that matches a path and does not answer. */
export interface LostRoute {
  route: ReportedRoute
  /** Whether it serves the method: it would answer, if it were alone. */
  hasMethod: boolean
  /** As a sentence without a full stop. */
  reason: string
}

/** A route of the report with what matching needs beside it. */
export interface MatchableRoute {
  route: ReportedRoute
  segments: readonly Segment[]
  module: RouteModule | undefined
  /** In Fastify's syntax. */
  paths: readonly string[]
  /** Which of the steps of its chain run for a request. */
  running(request: { method: string; url: string }): readonly ReportedStep[]
}

export interface MatchScope {
  routes: readonly MatchableRoute[]
  router: RouterOptions
  /** Those that the server accepts: a route file answers all of them. */
  methods: readonly string[]
  /** The steps that run where no route has the path. */
  whenNotFound: MatchableRoute['running']
}

type Router = Instance<HTTPVersion.V1>

/** Asks the router's own code, so that what is reported is what happens. */
export class RouteMatcher {
  readonly #scope: MatchScope
  readonly #router: Router

  constructor(scope: MatchScope) {
    this.#scope = scope
    this.#router = this.#routerOf(scope.routes)
  }

  match(method: string, url: string): RouteMatch {
    const winner = this.#find(this.#router, method, url)
    const others = this.#scope.routes.filter((one) => one !== winner && this.#matches(one, url))
    const lost = others
      .toSorted((a, b) => compareSpecificity(a.segments, b.segments))
      .map((other) => describeLost(method, winner, other))
    if (winner === undefined) return { ...this.#notFound(method, url), lost }
    const { route, module } = winner
    return {
      method,
      url,
      answer: answerOf(method, winner),
      route,
      allow: module === undefined ? [] : allowedMethods(module).split(', '),
      middleware: winner.running({ method, url }),
      own: module === undefined ? [] : ownMiddleware(module, method).map(nameOf),
      lost
    }
  }

  #notFound(method: string, url: string): Omit<RouteMatch, 'lost'> {
    const middleware = this.#scope.whenNotFound({ method, url })
    return { method, url, answer: 'not-found', route: undefined, allow: [], middleware, own: [] }
  }

  #matches(one: MatchableRoute, url: string): boolean {
    const [method = 'GET'] = this.#methodsOf(one)
    return this.#find(this.#routerOf([one]), method, url) !== undefined
  }

  #methodsOf({ route, module }: MatchableRoute): readonly string[] {
    return module === undefined ? route.methods : this.#scope.methods
  }

  #routerOf(routes: readonly MatchableRoute[]): Router {
    const router: Router = findMyWay({ ...this.#scope.router, allowUnsafeRegex: true }) // the host's router has them already
    for (const one of routes) {
      for (const path of one.paths) {
        for (const method of this.#methodsOf(one) as HTTPMethod[]) {
          // two with different constraints are one here
          if (!router.hasRoute(method, path)) router.on(method, path, noop, one)
        }
      }
    }
    return router
  }

  #find(router: Router, method: string, url: string): MatchableRoute | undefined {
    return router.find(method as HTTPMethod, url)?.store as MatchableRoute | undefined
  }
}

function answerOf(method: string, { route, module }: MatchableRoute): RouteMatch['answer'] {
  if (module === undefined || route.methods.includes(method)) return 'handler'
  return method === 'OPTIONS' ? 'options' : 'method-not-allowed'
}

function describeLost(method: string, winner: MatchableRoute | undefined, other: MatchableRoute): LostRoute {
  const { route } = other
  const hasMethod = route.methods.includes(method)
  if (winner === undefined) return { route, hasMethod, reason: `it does not serve ${method}` }
  return { route, hasMethod, reason: comparePaths(winner.segments, other.segments) ?? 'the router prefers the other' }
}

/** What the first segment says in which two paths differ. */
function comparePaths(winner: readonly Segment[], loser: readonly Segment[]): string | undefined {
  if (compareSpecificity(winner, loser) >= 0) return undefined // constraints, or a path only the router can read
  const at = loser.findIndex((segment, index) => !isSame(segment, winner[index]))
  const [better, worse] = [winner[at], loser[at]]
  if (worse === undefined) return undefined
  if (better === undefined) return `the path that ends there comes before ${describeSegment(worse)}`
  if (rankName(better) === rankName(worse)) return `${formatSegment(better)} has more text than ${formatSegment(worse)}`
  return `${describeSegment(better)} comes before ${describeSegment(worse)}`
}

function isSame(a: Segment, b: Segment | undefined): boolean {
  return b !== undefined && formatSegment(a, 'blank') === formatSegment(b, 'blank')
}

function describeSegment(segment: Segment): string {
  return `${formatSegment(segment)} (${rankName(segment)})`
}

function rankName(segment: Segment): string {
  if (segment.kind === 'static') return 'text'
  if (segment.kind === 'rest') return segment.optional ? 'optional catch-all' : 'catch-all'
  return isPlainParam(segment) ? 'parameter' : 'text with a parameter'
}

/** The name of a middleware function for a report. */
export function nameOf(middleware: { name: string }): string {
  return middleware.name === '' ? '(anonymous)' : middleware.name
}

function noop(): void {}
