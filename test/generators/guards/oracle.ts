import type { Key, RouterChoice, Seen } from './world.js'

/*
 * What must have run, told from what a handler saw: nothing here is the code under test.
 */

/** The path as a handler sees it that joins what it got: dot segments resolved, a single parameter whole. */
export function resolve(seen: readonly Seen[]): string[] {
  const segments = seen.flatMap((part) => ('segment' in part ? [part.segment] : part.text.split(/[/\\]/)))
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '' && segment !== '.') resolved.push(segment)
  }
  return resolved
}

/** The keys whose middleware guards a path: the shorter first, and none in front of the last that is public. */
export function guardsOf(path: readonly string[], keys: readonly Key[], router: RouterChoice): string[] {
  const covering = keys
    .filter(({ segments }) => covers(segments, path, router))
    .toSorted((a, b) => a.segments.length - b.segments.length || specificity(a) - specificity(b))
  const hole = covering.findLastIndex(({ isPublic }) => isPublic)
  return covering.slice(hole + 1).map(nameOf)
}

export function nameOf({ segments }: Key): string {
  return `/${segments.join('/')}`
}

/** Of two keys of one length the one with parameters counts as the broader. */
function specificity({ segments }: Key): number {
  return segments.filter((segment) => !segment.includes('[')).length
}

function covers(key: readonly string[], path: readonly string[], { caseSensitive }: RouterChoice): boolean {
  const fold = (text: string): string => (caseSensitive ? text : text.toLowerCase()).normalize('NFC')
  return key.every((segment, index) => {
    const actual = path[index]
    if (actual === undefined) return false
    if (!segment.includes('[')) return fold(segment) === fold(actual)
    const literals = segment.split(/\[[^\]]*\]/).map((text) => fold(text).replaceAll(/[.\\^$*+?()|{}]/g, '\\$&'))
    return new RegExp(`^${literals.join('.+')}$`, 's').test(fold(actual))
  })
}
