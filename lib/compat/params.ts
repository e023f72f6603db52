import type { RouteParam } from '../contract/manifest.js'

/** Turns the router's parameters into those of the route file; undefined when they are the same. */
export type ReadParams = (params: Record<string, string>, url: string) => Record<string, unknown>

/** How the app's router reads the path that the parameters come from. */
export interface PathReading {
  /** Segments in front of a rest parameter. */
  depth: number
  ignoreDuplicateSlashes: boolean
  useSemicolonDelimiter: boolean
}

/**
 * Parameter names the router cannot hold stand under safe tokens there, and a rest parameter is one text in which an
 * encoded slash cannot be told from a real one: its array is read from the url as the router reads it, each segment
 * decoded once.
 */
export function paramReader(params: readonly RouteParam[], reading: PathReading): ReadParams | undefined {
  if (params.every((param) => param.token === param.name && !param.rest)) return undefined
  return (values, url) => {
    const named: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    for (const { token, name, rest } of params) named[name] = rest ? restOf(url, reading) : values[token]
    return named
  }
}

function restOf(url: string, { depth, ignoreDuplicateSlashes, useSemicolonDelimiter }: PathReading): string[] {
  const path = url.split(useSemicolonDelimiter ? /[?;]/ : '?', 1)[0] as string
  const [, ...all] = path.split('/')
  const segments = (ignoreDuplicateSlashes ? all.filter((segment) => segment !== '') : all).slice(depth)
  if (segments.at(-1) === '') segments.pop()
  return segments.map((segment) => decodeURIComponent(segment))
}
