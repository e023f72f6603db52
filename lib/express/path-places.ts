/*
 * A tree of the literal segments that the paths of a router's layers begin with, for route-index.ts.
 */

/** Characters with a meaning in a path pattern of Express 5; the text before the first of them is literal. */
const SYNTAX = /[{}[\]()*+?!:\\"]/

export const SLASH = 47

export interface Place {
  /** Layers whose literal beginning ends here, as positions in the stack. */
  readonly own: number[]
  readonly below: Map<string, Place>
  /** The place below, where there is one: most applications have all their routes below `/api`. */
  only: { readonly segment: string; readonly place: Place } | null
  readonly above: Place | null
  /** The positions of all layers that can match a path that leads here, in their order; made on first use. */
  candidates: readonly number[] | null
}

/** @param above null for the place that all paths begin at */
export function createPlace(above: Place | null): Place {
  return { own: [], below: new Map(), only: null, above, candidates: null }
}

/** The place of these segments, which is made if there is none. */
export function placeFor(root: Place, segments: readonly string[]): Place {
  let place = root
  for (const segment of segments) {
    let below = place.below.get(segment)
    if (below === undefined) {
      below = createPlace(place)
      place.below.set(segment, below)
      place.only = place.below.size === 1 ? { segment, place: below } : null
    }
    place = below
  }
  return place
}

/** The deepest place on the way of a path. */
export function placeOf(root: Place, path: string): Place {
  let place = root
  for (let start = 1; start <= path.length && place.below.size > 0;) {
    const { only } = place
    const isOnly = only !== null && isSegment(path, start, only.segment)
    const end = isOnly ? start + only.segment.length : endOfSegment(path, start)
    const below = isOnly ? only.place : place.below.get(path.slice(start, end).toLowerCase())
    if (below === undefined) return place
    place = below
    start = end + 1
  }
  return place
}

function endOfSegment(path: string, start: number): number {
  const end = path.indexOf('/', start)
  return end === -1 ? path.length : end
}

/** Whether a path has this segment from here on, as it is written. */
function isSegment(path: string, start: number, segment: string): boolean {
  const end = start + segment.length
  return path.startsWith(segment, start) && (end === path.length || path.charCodeAt(end) === SLASH)
}

/** Of all layers that can match a path that leads to this place, the positions in their order. */
export function candidatesAt(place: Place): readonly number[] {
  if (place.candidates !== null) return place.candidates
  const above = place.above === null ? [] : candidatesAt(place.above)
  place.candidates = [...above, ...place.own].toSorted((a, b) => a - b)
  return place.candidates
}

/**
 * The literal segments a path pattern begins with, in lower case: `['api', 'users']` of `/api/users/:id`. None where that is
 * not certain. Letters beyond ASCII are left out, since regular expressions and `toLowerCase` fold them differently.
 */
export function literalSegments(path: unknown): readonly string[] {
  if (typeof path !== 'string' || !path.startsWith('/')) return []
  const syntax = path.search(SYNTAX)
  const literal = syntax === -1 ? path.replace(/\/+$/, '') : path.slice(0, path.lastIndexOf('/', syntax))
  const segments = literal.split('/').slice(1)
  const certain = segments.findIndex((segment) => segment === '' || !/^[\x20-\x7e]+$/.test(segment))
  return (certain === -1 ? segments : segments.slice(0, certain)).map((segment) => segment.toLowerCase())
}
