import type { Segment, SegmentPart } from '../contract/manifest.js'
import { partsExpression } from '../discovery/pattern.js'
import { formatSegment, isPlainParam } from '../discovery/segment.js'

/** What a request's parameters must be for a prefix to cover the request. Values are compared decoded. */
export interface StepCondition {
  /** The segment of the prefix that must be met: `admin`. */
  expected: string
  /** The parameters whose place it is: the parts of a segment, or one element of a rest parameter. */
  source: { parts: readonly SegmentPart[] } | { rest: string; index: number }
  accepts(value: string): boolean
}

export interface CoverOptions {
  caseSensitive: boolean
}

/**
 * Whether a prefix covers a route pattern: undefined for never, an empty list for always, conditions for sometimes (the
 * pattern has a parameter where the prefix has a name). A segment is compared whole, so `/api/admin` does not cover
 * `/api/administrator`.
 */
export function coverSegments(
  prefix: readonly Segment[],
  route: readonly Segment[],
  options: CoverOptions
): StepCondition[] | undefined {
  const conditions: StepCondition[] = []
  for (const [index, expected] of prefix.entries()) {
    const actual = standingAt(route, index)
    if (actual === undefined) return undefined
    const cover = coverSegment(expected, actual, options)
    if (cover === 'never') return undefined
    if (cover !== 'always') conditions.push(cover)
  }
  return conditions
}

type Standing = { segment: Segment } | { rest: string; index: number }

/** What stands at a depth of the pattern: a segment, or an element of the rest parameter that ends the pattern. */
function standingAt(route: readonly Segment[], index: number): Standing | undefined {
  const last = route.at(-1)
  if (last?.kind === 'rest' && index >= route.length - 1) return { rest: last.name, index: index - route.length + 1 }
  const segment = route[index]
  return segment === undefined ? undefined : { segment }
}

function coverSegment(expected: Segment, actual: Standing, options: CoverOptions): StepCondition | 'always' | 'never' {
  const accepts = matcher(expected, options)
  const condition = { expected: formatSegment(expected), accepts }
  if ('rest' in actual) return { ...condition, source: actual }
  const { segment } = actual
  if (segment.kind === 'static') return accepts(segment.text) ? 'always' : 'never'
  if (isPlainParam(expected) || formatSegment(expected, 'blank') === formatSegment(segment, 'blank')) return 'always'
  if (segment.kind === 'rest') return 'never'
  if (expected.kind === 'static' && !canBecome(segment.parts, expected.text, options)) return 'never'
  return { ...condition, source: { parts: segment.parts } }
}

/** A test for a decoded value. A parameter of the prefix takes any value but none. */
function matcher(expected: Segment, options: CoverOptions): (value: string) => boolean {
  const fold = (text: string): string => foldCase(text, options)
  if (expected.kind === 'static') {
    const text = fold(expected.text)
    return (value) => fold(value) === text
  }
  if (expected.kind === 'param' && !isPlainParam(expected)) {
    const expression = partsExpression(expected.parts.map((part) => foldPart(part, options)))
    return (value) => expression.test(fold(value))
  }
  return (value) => value !== ''
}

function canBecome(parts: readonly SegmentPart[], text: string, options: CoverOptions): boolean {
  return partsExpression(parts.map((part) => foldPart(part, options))).test(foldCase(text, options))
}

function foldCase(text: string, { caseSensitive }: CoverOptions): string {
  return caseSensitive ? text : text.toLowerCase()
}

function foldPart(part: SegmentPart, options: CoverOptions): SegmentPart {
  return 'literal' in part ? { literal: foldCase(part.literal, options) } : part
}

/** Whether the parameters of a request meet a condition. A value that is missing meets none. */
export function meets({ source, accepts }: StepCondition, params: Readonly<Record<string, unknown>>): boolean {
  if ('parts' in source) {
    const texts = source.parts.map((part) => ('literal' in part ? part.literal : params[part.name]))
    return texts.every((text) => typeof text === 'string') && accepts(texts.join(''))
  }
  const rest = params[source.rest]
  const value: unknown = Array.isArray(rest) ? rest[source.index] : undefined
  return typeof value === 'string' && accepts(value)
}
