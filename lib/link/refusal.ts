import type { FastifyReply, FastifyRequest } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import type { ManifestRoute } from '../contract/manifest.js'

/** A route file that has the path of a request, but not its method. */
export interface RefusingRoute {
  route: ManifestRoute
  /** In Fastify's syntax. */
  url: string
  /** Bytes. */
  bodyLimit: number
}

/** How a request is refused that Fastify has no route for. */
export interface Refusal {
  /** Undefined where no route is to be named. */
  by?: RefusingRoute
  answer: (request: FastifyRequest, reply: FastifyReply) => void
}

const kRefusal: unique symbol = Symbol('twinroute.refusal')
const kRoutedLine: unique symbol = Symbol('twinroute.routed line')

/** On Fastify's request, of which there is a new one when a request is routed again. */
interface UnmatchedRequest extends FastifyRequest {
  [kRefusal]?: Refusal
  /** Hooks and middleware may change method and url, and `use(path)` cuts the url. */
  [kRoutedLine]?: RoutedLine & Pick<FastifyReply, 'callNotFound'>
}

export function keepRefusal(request: UnmatchedRequest, refusal: Refusal): void {
  request[kRefusal] = refusal
}

export function refusalOf(request: UnmatchedRequest): Refusal | undefined {
  return request[kRefusal]
}

/** What the router was asked. */
export interface RoutedLine {
  method?: string | undefined
  url?: string | undefined
}

/** What an app does with requests that Fastify has no route for. */
interface Unmatched {
  refusingRoute: (line: RoutedLine) => RefusingRoute | undefined
  /** Undefined where Fastify is to answer. */
  callNotFound: (reply: FastifyReply) => FastifyReply | undefined
}

/** By the server of an app. */
const ofApps = new WeakMap<object, Unmatched>()

export function keepUnmatched(server: object, unmatched: Unmatched): void {
  ofApps.set(server, unmatched)
}

/**
 * The first step of a request in an app. Fastify has called the not-found handler already when it has no route, and would
 * answer by itself where a hook or an error handler asks for it.
 */
export function noteUnmatched(request: UnmatchedRequest, reply: FastifyReply): void {
  if (!request.is404 || request[kRoutedLine] !== undefined) return
  const { method, url } = request.raw
  request[kRoutedLine] = { method, url, callNotFound: reply.callNotFound }
  reply.callNotFound = callNotFoundOfApp
}

/** Returns the reply, though Fastify's type says nothing of it. */
function callNotFoundOfApp(this: FastifyReply): void {
  const request: UnmatchedRequest = this.request
  const { callNotFound } = request[kRoutedLine] as FastifyReply
  this.callNotFound = callNotFound // the handler may fail, and the error handler ask again
  const isRefused = refusalOf(request) !== undefined || refusingRouteOf(request) !== undefined
  const unmatched = isRefused ? ofApps.get(request.server.server) : undefined
  return (unmatched?.callNotFound(this) ?? callNotFound.call(this)) as void
}

export function routedLineOf(request: UnmatchedRequest): RoutedLine {
  return request[kRoutedLine] ?? request.raw
}

/** The route file that refuses a request, at any time of it: also where a hook or `use()` asks, or answers, before its chain. */
export function refusingRouteOf(request: FastifyRequest): RefusingRoute | undefined {
  const refusal = refusalOf(request)
  if (refusal !== undefined || !request.is404) return refusal?.by
  return ofApps.get(request.server.server)?.refusingRoute(routedLineOf(request))
}

/** The route file that has the path of a request, whether it serves the method or refuses it. */
export function routeFileOf(request: FastifyRequest): ManifestRoute | undefined {
  const { config } = request.routeOptions as { config?: object }
  return (config === undefined ? undefined : fileRouteOf({ config })) ?? refusingRouteOf(request)?.route
}
