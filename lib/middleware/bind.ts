import type { Segment } from '../contract/manifest.js'
import type { MapEntry } from './map.js'
import { compareSpecificity } from '../patterns/segment.js'
import { bindChain, bindEverything, type BindOptions, type BoundChain } from './chain.js'
import { NO_PARAMS, PrefixRouter } from './prefix-router.js'
import { mayBeAmbiguous, resolveSegments, segmentsOf, type PathReading } from '../patterns/read-path.js'
import { reportBinding, type BindingReport, type BoundRoute } from './report.js'

export type { BoundChain, ChainStep } from './chain.js'

/** What the map may decide a request by. */
export interface RequestLine {
  readonly method: string
  readonly url: string
}

/** Binds the middleware map to route patterns, at boot; where a pattern leaves it open, a router of the prefixes is asked. */
export interface Binder {
  /** What runs before the own middleware of a route with this pattern. */
  chainFor(segments: readonly Segment[]): BoundChain
  /** What runs for paths that no route matches: {@link guards} says which steps of it. */
  readonly everything: BoundChain
  /** The keys that cover a request: they decide the conditional steps of a route's chain. */
  covering(request: RequestLine): ReadonlySet<string>
  /** The keys whose middleware guards a request that no route matches: what a public prefix opens is left out. */
  guards(request: RequestLine): ReadonlySet<string>
  /** The values of the parameters in the prefixes that cover a request. */
  paramsOf(url: string): Readonly<Record<string, string>>
  /**
   * Whether code that joins and resolves the path (a proxy, a file server) reaches a place whose middleware has not run: one
   * guarded by other keys than those in `ranFor`.
   */
  leadsPast(request: RequestLine, ranFor: (request: RequestLine) => ReadonlySet<string>): boolean
  readonly reading: PathReading
  report(routes: readonly BoundRoute[]): BindingReport
}

export function createBinder(entries: readonly MapEntry[], options: BindOptions): Binder {
  const prefixes = inRunningOrder(entries)
  const {
    ignoreTrailingSlash = false,
    ignoreDuplicateSlashes = false,
    useSemicolonDelimiter = false,
    mount = ''
  } = options
  const reading = { ignoreDuplicateSlashes, useSemicolonDelimiter }
  const router = new PrefixRouter(prefixes, { ...reading, ...options, ignoreTrailingSlash, mount })
  const hasParams = prefixes.some(({ segments }) => segments.some(({ kind }) => kind !== 'static'))
  return {
    chainFor: (segments) => bindChain(prefixes, segments, options),
    everything: bindEverything(prefixes, options),
    covering: ({ url }) => router.match(url).keys,
    guards: ({ url }) => router.match(url).guards,
    paramsOf: (url) => (hasParams ? router.match(url).params : NO_PARAMS),
    leadsPast(request, ranFor) {
      const { url } = request
      const segments = mayBeAmbiguous(url) ? segmentsOf(url, reading) : undefined
      if (segments === undefined) return false
      const { guards } = router.matchSegments(resolveSegments(segments))
      const ran = ranFor(request)
      return [...guards].some((key) => !ran.has(key))
    },
    reading,
    report: (routes) => reportBinding({ prefixes, routes, options })
  }
}

/** In the order their middleware runs: the shorter first; of two equally long ones the less specific first. */
function inRunningOrder(entries: readonly MapEntry[]): readonly MapEntry[] {
  return entries.toSorted((a, b) => a.segments.length - b.segments.length || compareSpecificity(b.segments, a.segments))
}
