import type { FastifyReply, FastifyRequest } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import type { ManifestRoute } from '../contract/manifest.js'
import { kRedispatched, type LinkedRequest } from './state.js'

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

/** By Fastify's request, of which there is a new one when a request is routed again. */
const refusals = new WeakMap<FastifyRequest, Refusal>()

export function keepRefusal(request: FastifyRequest, refusal: Refusal): void {
  refusals.set(request, refusal)
}

export function refusalOf(request: FastifyRequest): Refusal | undefined {
  return refusals.get(request)
}

type Lookup = (method: string | undefined, url: string | undefined) => RefusingRoute | undefined

/** By the server of an app. */
const lookups = new WeakMap<object, Lookup>()

export function keepLookup(server: object, lookup: Lookup): void {
  lookups.set(server, lookup)
}

/** The route file that refuses a request, at any time of it: also where a hook or `use()` asks, or answers, before its chain. */
export function refusingRouteOf(request: FastifyRequest): RefusingRoute | undefined {
  const refusal = refusals.get(request)
  if (refusal !== undefined || !request.is404) return refusal?.by
  const raw = request.raw as LinkedRequest
  const url = raw[kRedispatched] ? raw.url : request.originalUrl // within `use(path)` the url lacks the path
  return lookups.get(request.server.server)?.(raw.method, url)
}

/** The route file that has the path of a request, whether it serves the method or refuses it. */
export function routeFileOf(request: FastifyRequest): ManifestRoute | undefined {
  const { config } = request.routeOptions as { config?: object }
  return (config === undefined ? undefined : fileRouteOf({ config })) ?? refusingRouteOf(request)?.route
}
