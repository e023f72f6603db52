export interface StrippedUrl {
  /** The first segments as they came over the wire, without a slash at the end. */
  base: string
  /** What follows, beginning with a slash; query included. */
  rest: string
}

const SLASH = 47
const QUESTION_MARK = 63

/**
 * Takes the first `depth` segments off a url, still encoded: what they mean was decided by the router. Slashes in a row
 * count as one (a host may let them), and a url that is no path (`*`, absolute form) is left whole.
 */
export function stripSegments(url: string, depth: number): StrippedUrl {
  if (depth === 0 || url.charCodeAt(0) !== SLASH) return { base: '', rest: url }
  let position = 0
  for (let left = depth; left > 0; left--) {
    while (url.charCodeAt(position) === SLASH) position++
    position = endOfSegment(url, position)
  }
  const rest = url.slice(position)
  return { base: url.slice(0, position), rest: rest.charCodeAt(0) === SLASH ? rest : `/${rest}` }
}

function endOfSegment(url: string, start: number): number {
  for (let i = start; i < url.length; i++) {
    const code = url.charCodeAt(i)
    if (code === SLASH || code === QUESTION_MARK) return i
  }
  return url.length
}
