/** How the app's router reads the path of a url. */
export interface PathReading {
  ignoreDuplicateSlashes: boolean
  useSemicolonDelimiter: boolean
}

/**
 * The segments of a url's path as the router behind it reads them, each decoded once; an empty last one for a slash at the
 * end. Undefined where an escape is malformed, which the router refuses.
 */
export function segmentsOf(url: string, { ignoreDuplicateSlashes, useSemicolonDelimiter }: PathReading) {
  const path = url.split(useSemicolonDelimiter ? /[?#;]/ : /[?#]/, 1)[0] as string
  const [, ...all] = path.split('/')
  const segments = ignoreDuplicateSlashes ? all.filter((text, index) => text !== '' || index === all.length - 1) : all
  if (!path.includes('%')) return segments
  try {
    return segments.map((segment) => decodeURIComponent(segment))
  } catch {
    return undefined
  }
}

/**
 * The path as somebody reads it who joins its decoded segments and resolves the result (a proxy, a file server): encoded
 * slashes and backslashes separate, dot segments are resolved, what the URL parser drops is dropped.
 */
export function resolveSegments(segments: readonly string[]): string[] {
  const resolved: string[] = []
  const joined = segments
    .join('/')
    .replaceAll('\\', '/')
    .replaceAll(/[\t\n\r]/g, '')
  for (const segment of joined.split('/')) {
    if (segment === '..') resolved.pop()
    else if (segment !== '' && segment !== '.') resolved.push(segment)
  }
  return resolved
}

/**
 * Whether everybody reads the path of a url alike: no escape, no empty or dot segment, no character that some server gives a
 * meaning. One look at the text, for what most requests are.
 */
export function isUnambiguous(url: string): boolean {
  return /^(?:\/[\w~-][\w.~-]*)*\/?(?:$|\?)/.test(url)
}

/** Signs of a path that not everybody reads alike; a few that are harmless are among them. */
export function mayBeAmbiguous(url: string): boolean {
  return /%2f|%5c|%2e|[/\\]\.|\/\/|\\/i.test(url)
}
