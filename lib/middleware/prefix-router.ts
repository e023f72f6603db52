import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import type { RouteParam, Segment } from '../contract/manifest.js'
import { toFastify } from '../patterns/pattern.js'
import type { MapEntry } from './map.js'
import { coverSegments, foldSegment, guardsAmong } from './chain.js'
import { isUnambiguous, segmentsOf, type PathReading } from '../patterns/read-path.js'

export interface PrefixRouterOptions extends PathReading {
  caseSensitive: boolean
  ignoreTrailingSlash: boolean
  /** In Fastify's syntax, in front of every prefix. */
  mount: string
}

/** The prefixes of the map that a path lies below, shortest first, and the values of their parameters. */
export class Match {
  readonly prefixes: readonly MapEntry[]
  readonly params: Readonly<Record<string, string>>
  #keys: ReadonlySet<string> | undefined
  #guards: ReadonlySet<string> | undefined

  constructor(prefixes: readonly MapEntry[], params: Readonly<Record<string, string>> = NO_PARAMS) {
    this.prefixes = prefixes
    this.params = params
  }

  get keys(): ReadonlySet<string> {
    return (this.#keys ??= new Set(this.prefixes.map(({ key }) => key)))
  }

  /** The keys whose middleware runs where only these prefixes are known. */
  get guards(): ReadonlySet<string> {
    return (this.#guards ??= guardsAmong(this.prefixes))
  }
}

function hasNoParams({ segments }: MapEntry): boolean {
  return segments.every(({ kind }) => kind === 'static')
}

export const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})
const NO_MATCH = new Match([])

/** No length limit: a long value must still meet its guard. */
const MAX_PARAM_LENGTH = Number.MAX_SAFE_INTEGER

/**
 * Which prefixes of the map cover a path, as told by the router's own code under the options of the app's router. It is
 * asked where a route's pattern does not settle it when the app starts.
 *
 * Prefixes without parameters share one router, which finds the longest: the others that cover the path are parts of it.
 * Each prefix with a parameter has a router of its own, since several may match side by side.
 */
export class PrefixRouter {
  readonly #prefixes: readonly MapEntry[]
  readonly #options: PrefixRouterOptions
  readonly #plain: Lookup
  readonly #open: readonly Lookup[]

  constructor(prefixes: readonly MapEntry[], options: PrefixRouterOptions) {
    this.#prefixes = prefixes
    this.#options = options
    this.#plain = new Lookup(prefixes.filter(hasNoParams), options)
    this.#open = prefixes.filter((prefix) => !hasNoParams(prefix)).map((prefix) => new Lookup([prefix], options))
  }

  /** The prefixes that cover a request. All of them, if its path cannot be decoded. */
  match(url: string): Match {
    if (this.#options.caseSensitive && isUnambiguous(url)) return this.#matchPath(url) // the router leaves the query out
    const segments = segmentsOf(url, this.#options)
    return segments === undefined ? new Match(this.#prefixes) : this.matchSegments(segments)
  }

  /** The same for decoded segments. */
  matchSegments(segments: readonly string[]): Match {
    return this.#matchPath(this.#spell(segments))
  }

  #matchPath(path: string): Match {
    if (this.#open.length === 0) return this.#plain.find(path) ?? NO_MATCH
    const found = [this.#plain, ...this.#open].flatMap((lookup) => lookup.find(path) ?? [])
    const covering = found.flatMap(({ prefixes }) => prefixes)
    const params: Record<string, string> = Object.assign({}, ...found.map((match) => match.params))
    return new Match(
      this.#prefixes.filter((prefix) => covering.includes(prefix)),
      params
    )
  }

  /**
   * One spelling for all that mean the same path: composed Unicode as in the keys, small letters where case is ignored, and
   * no escapes but those of the signs that a router would take for its own.
   */
  #spell(segments: readonly string[]): string {
    const { caseSensitive } = this.#options
    const spelled = segments.map((segment) => {
      const composed = segment.normalize('NFC')
      return (caseSensitive ? composed : composed.toLowerCase()).replaceAll(/[%/?#]/g, encodeURIComponent)
    })
    return `/${spelled.join('/')}`
  }
}

interface Leaf {
  /** Without values of parameters: the match itself where there are none. */
  match: Match
  params: readonly RouteParam[]
}

/** A router of prefixes; of those that match a path it finds one. */
class Lookup {
  readonly #router: Instance<HTTPVersion.V1>

  constructor(prefixes: readonly MapEntry[], options: PrefixRouterOptions) {
    const { caseSensitive, ignoreTrailingSlash, ignoreDuplicateSlashes } = options
    this.#router = findMyWay({
      caseSensitive,
      ignoreTrailingSlash,
      ignoreDuplicateSlashes,
      maxParamLength: MAX_PARAM_LENGTH,
      allowUnsafeRegex: true // those of a mount are the host's, whose router has them already
    })
    for (const prefix of prefixes) this.#add(prefix, prefixes, options)
  }

  /** Adds the prefix and everything below it: the same paths as one route with an optional rest has. */
  #add(prefix: MapEntry, all: readonly MapEntry[], { mount, caseSensitive }: PrefixRouterOptions): void {
    const segments = prefix.segments.map((segment) => foldSegment(segment, { caseSensitive }))
    const below: readonly Segment[] = [...segments, { kind: 'rest', name: '*', optional: true }]
    const { paths, params } = toFastify(below)
    const prefixes = all.filter(
      (other) => coverSegments(other.segments, prefix.segments, { caseSensitive }) === 'always'
    )
    const leaf: Leaf = { match: new Match(prefixes), params: params.filter(({ rest }) => !rest) }
    for (const path of paths.map((each) => joinPaths(mount, each))) {
      // `/a` and `/A` are one where case is ignored: the first one's leaf has both
      if (!this.#router.hasRoute('GET', path)) this.#router.on('GET', path, noop, leaf)
    }
  }

  find(path: string): Match | undefined {
    const found = this.#router.find('GET', path)
    if (found === null) return undefined
    const { match, params } = found.store as Leaf
    if (params.length === 0) return match
    const named = params.map(({ token, name }) => [name, found.params[token] ?? ''])
    return new Match(match.prefixes, Object.fromEntries(named) as Record<string, string>)
  }
}

function joinPaths(mount: string, path: string): string {
  const joined = `${mount.replace(/\/$/, '')}${path === '/' ? '' : path}`
  return joined === '' ? '/' : joined
}

function noop(): void {}
