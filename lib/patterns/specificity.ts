import type { Segment } from '../contract/manifest.js'
import { formatSegment, isPlainParam } from './segment.js'

/** Static text before text with parameters, before a parameter, before rest, before optional rest. */
function rank(segment: Segment): number {
  if (segment.kind === 'static') return 0
  if (segment.kind === 'param') return isPlainParam(segment) ? 2 : 1
  return segment.optional ? 4 : 3
}

/**
 * Orders paths from the most to the least specific, segment by segment from the left, as the router prefers them; a
 * shorter path stands before its own continuation. For sorting.
 */
export function compareSpecificity(a: readonly Segment[], b: readonly Segment[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareSegments(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareSegments(a: Segment | undefined, b: Segment | undefined): number {
  if (a === undefined || b === undefined) return 0
  const byRank = rank(a) - rank(b)
  if (byRank !== 0) return byRank
  // The more literal text, the fewer paths match: `[id].tar.gz` before `[id].gz`.
  const byText = literalLength(b) - literalLength(a)
  if (a.kind === 'param' && byText !== 0) return byText
  return compareText(formatSegment(a, 'blank'), formatSegment(b, 'blank'))
}

function literalLength(segment: Segment): number {
  if (segment.kind !== 'param') return 0
  return segment.parts.reduce((sum, part) => sum + ('literal' in part ? part.literal.length : 0), 0)
}

/** By code unit: the same order on every machine, unlike the order a directory or a locale gives. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
