import type { Segment, SegmentPart } from '../contract/manifest.js'
import { matchesParts } from '../patterns/pattern.js'
import { formatSegment, isPlainParam } from '../patterns/segment.js'

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
