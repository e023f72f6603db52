import type { RouteParam, Segment } from '../contract/manifest.js'
import type { MiddlewareMap } from '../contract/middleware.js'
import { parsePrefix } from '../discovery/middleware-map.js'
import { toFastify } from '../discovery/pattern.js'
import { compareSpecificity } from '../discovery/specificity.js'
import { BootError } from '../errors/boot-error.js'
import { bindChain, type BindOptions, type BoundChain, type BoundPrefix } from './chain.js'
import { reportBinding, type BindingReport, type BoundRoute } from './report-binding.js'

export type { BoundChain, ChainStep } from './chain.js'

/** A prefix of the map as routes of a router, for paths that no route matches. */
export interface PrefixEntry {
  /** The key of the map, as written. */
  prefix: string
  /** In Fastify's syntax: the prefix itself, and everything below it. */
  fastifyPaths: readonly string[]
  params: readonly RouteParam[]
  chain: BoundChain
}

/** Binds the middleware map to route patterns, once, at boot. No request's URL text is ever compared. */
export interface Binder {
  /** What runs before the own middleware of a route with this pattern. */
  chainFor(segments: readonly Segment[]): BoundChain
  /** What runs for paths that no route matches: every key of the map, public ones too. */
  prefixes(): readonly PrefixEntry[]
  report(routes: readonly BoundRoute[]): BindingReport
}

/**
 * @throws BootError when a key of the map is not a path prefix
 */
export function createBinder(map: MiddlewareMap, options: BindOptions): Binder {
  const prefixes = parseMap(map)
  const chainFor = (segments: readonly Segment[]): BoundChain => bindChain(prefixes, segments, options)
  return {
    chainFor,
    prefixes: () => prefixes.map((prefix) => toEntry(prefix, chainFor)),
    report: (routes) => reportBinding({ prefixes, routes, options })
  }
}

/** In the order their middleware runs: the shorter first; of two equally long ones the less specific first. */
function parseMap(map: MiddlewareMap): readonly BoundPrefix[] {
  const prefixes = Object.entries(map).map(([key, middleware]) => {
    const parsed = parsePrefix(key)
    if ('segments' in parsed) return { key, segments: parsed.segments, middleware }
    const message = `The key ${JSON.stringify(key)} of the middleware map ${parsed.wrong}`
    throw new BootError([{ code: 'MIDDLEWARE_KEY_INVALID', message, files: [], fix: parsed.fix }])
  })
  return prefixes.toSorted(
    (a, b) => a.segments.length - b.segments.length || compareSpecificity(b.segments, a.segments)
  )
}

/** The prefix and everything below it, as one route with an optional rest would have it. */
function toEntry(prefix: BoundPrefix, chainFor: Binder['chainFor']): PrefixEntry {
  const below: readonly Segment[] = [...prefix.segments, { kind: 'rest', name: '*', optional: true }]
  const { paths, params } = toFastify(below)
  return { prefix: prefix.key, fastifyPaths: paths, params, chain: chainFor(below) }
}
