import type { Segment, SegmentPart } from '../contract/manifest.js'
import { isRouteMethod, type RouteModule } from '../contract/route-module.js'
import type { Middleware } from '../contract/middleware.js'
import type { MapEntry } from './map.js'
import { matchesParts } from '../patterns/pattern.js'
import { formatSegment, isPlainParam } from '../patterns/segment.js'

/** The middleware of one prefix, as part of a route's chain. */
export interface ChainStep {
  /** The key of the map, as written. */
  prefix: string
  /** How many segments of the request's path the prefix covers; they are stripped from `request.url`. */
  depth: number
  middleware: readonly Middleware[]
  /**
   * Set where the step runs only for some requests of the route: those where a parameter has the name that the prefix has at
   * its place (`value`), or where the rest of the path leads below the prefix (`rest`).
   */
  conditional?: 'value' | 'rest'
}

/** Whether requests may match the route without running this step: each request decides. */
export function mayNotRun({ conditional }: Pick<ChainStep, 'conditional'>): boolean {
  return conditional !== undefined
}

/** What a report says of a step's condition. */
export interface ReportedCondition {
  /** True where it runs only for requests whose path is the prefix or below it, which the route's pattern leaves open. */
  conditional: boolean
}

export function reportCondition(step: Pick<ChainStep, 'conditional'>): ReportedCondition {
  return { conditional: mayNotRun(step) }
}

/** The condition as the table of routes prints it behind the prefix; empty for a step that always runs. */
export function conditionText({ conditional }: ReportedCondition): string {
  return conditional ? ' (if equal)' : ''
}

/** Whether a part of the path decides: the value of a parameter, or the rest. */
export function dependsOnPath(step: Pick<ChainStep, 'conditional'>): boolean {
  return step.conditional === 'value' || dependsOnRest(step)
}

/** Whether the rest of the path decides, which a handler may read in another way than the router. */
export function dependsOnRest({ conditional }: Pick<ChainStep, 'conditional'>): boolean {
  return conditional === 'rest'
}

/** What runs before a route's own middleware. */
export interface BoundChain {
  /** The shortest prefix first. */
  steps: readonly ChainStep[]
  /** The key of the empty array that makes the route public, if one does. */
  publicBy?: string
}

export interface BindOptions {
  /** Whether the router tells `/Admin` from `/admin`; the binding follows it. */
  caseSensitive: boolean
  ignoreTrailingSlash?: boolean
  ignoreDuplicateSlashes?: boolean
  useSemicolonDelimiter?: boolean
  /** In Fastify's syntax, in front of every prefix: that of the plugin. */
  mount?: string
}

/** The chain of a route pattern. `prefixes` come in the order their middleware runs. */
export function bindChain(
  prefixes: readonly MapEntry[],
  route: readonly Segment[],
  { caseSensitive, mount = '' }: BindOptions
): BoundChain {
  let steps: ChainStep[] = []
  let publicBy: string | undefined
  for (const prefix of prefixes) {
    const cover = coverSegments(prefix.segments, route, { caseSensitive })
    if (cover === 'never') continue
    if (prefix.middleware.length > 0) {
      const step = toStep(prefix, mount)
      steps.push(cover === 'always' ? step : { ...step, conditional: cover })
      if (cover === 'always') publicBy = undefined
    } else if (cover === 'always') {
      // A hole opens only where it is certain: where a parameter decides, the broader chain keeps running.
      steps = []
      publicBy = prefix.key
    }
  }
  return publicBy === undefined ? { steps } : { steps, publicBy }
}

function toStep({ key, segments, middleware }: MapEntry, mount: string): ChainStep {
  return { prefix: key, depth: segments.length + depthOf(mount), middleware }
}

/** The chain of any path at all: each prefix that has middleware, where the request lies below it. */
export function bindEverything(prefixes: readonly MapEntry[], { mount = '' }: BindOptions): BoundChain {
  const guarded = prefixes.filter(({ middleware }) => middleware.length > 0)
  return { steps: guarded.map((prefix) => ({ ...toStep(prefix, mount), conditional: 'rest' })) }
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** What guards a path that lies below these prefixes and no others: the keys whose middleware runs. */
export function guardsAmong(covering: readonly MapEntry[]): ReadonlySet<string> {
  if (covering.length === 0) return NO_KEYS
  const hole = covering.findLastIndex(({ middleware }) => middleware.length === 0)
  return new Set(covering.slice(hole + 1).map(({ key }) => key))
}

/** The number of segments of a path. */
export function depthOf(path: string): number {
  return path.split('/').filter((segment) => segment !== '').length
}

const NO_MIDDLEWARE: readonly Middleware[] = []

/** The middleware a route file has for a method. HEAD follows GET unless it is exported itself. */
export function ownMiddleware({ handlers, middleware }: RouteModule, method: string): readonly Middleware[] {
  if (isList(middleware)) return middleware
  const follows = method === 'HEAD' && handlers.HEAD === undefined ? 'GET' : method
  return (isRouteMethod(follows) ? middleware[follows] : undefined) ?? NO_MIDDLEWARE
}

function isList(middleware: RouteModule['middleware']): middleware is readonly Middleware[] {
  return Array.isArray(middleware)
}

/**
 * Whether a prefix covers what a route matches. Where a request decides, `value` says that a parameter has the place of a
 * name, `rest` that the rest of the path may lead below the prefix.
 */
export type Cover = 'never' | 'always' | 'value' | 'rest'

export interface CoverOptions {
  caseSensitive: boolean
}

/** A segment is compared whole, so `/api/admin` does not cover `/api/administrator`. */
export function coverSegments(prefix: readonly Segment[], route: readonly Segment[], options: CoverOptions): Cover {
  let cover: Cover = 'always'
  for (const [index, expected] of prefix.entries()) {
    const actual = segmentAt(route, index)
    const part = actual === undefined ? 'never' : coverSegment(expected, actual, options)
    if (part === 'never') return 'never'
    if (part === 'rest' || cover === 'always') cover = part
  }
  return cover
}

/** A rest parameter, which ends a pattern, has all places from its own on. */
function segmentAt(route: readonly Segment[], index: number): Segment | undefined {
  const last = route.at(-1)
  return last?.kind === 'rest' && index >= route.length - 1 ? last : route[index]
}

function coverSegment(expected: Segment, actual: Segment, options: CoverOptions): Cover {
  if (actual.kind === 'rest') return 'rest'
  if (actual.kind === 'static') return takes(expected, actual.text, options) ? 'always' : 'never'
  if (isPlainParam(expected) || formatSegment(expected, 'blank') === formatSegment(actual, 'blank')) return 'always'
  return expected.kind === 'static' && !takes(actual, expected.text, options) ? 'never' : 'value'
}

/** Whether a segment of a pattern matches a text. */
function takes(segment: Segment, text: string, options: CoverOptions): boolean {
  const folded = foldSegment(segment, options)
  if (folded.kind === 'static') return folded.text === foldCase(text, options)
  if (folded.kind === 'rest' || isPlainParam(folded)) return text !== ''
  return matchesParts(folded.parts, foldCase(text, options))
}

/** The segment in small letters, where the router ignores case. */
export function foldSegment(segment: Segment, options: CoverOptions): Segment {
  if (segment.kind === 'static') return { kind: 'static', text: foldCase(segment.text, options) }
  return segment.kind === 'rest'
    ? segment
    : { kind: 'param', parts: segment.parts.map((part) => foldPart(part, options)) }
}

function foldCase(text: string, { caseSensitive }: CoverOptions): string {
  return caseSensitive ? text : text.toLowerCase()
}

function foldPart(part: SegmentPart, options: CoverOptions): SegmentPart {
  return 'literal' in part ? { literal: foldCase(part.literal, options) } : part
}
