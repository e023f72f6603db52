import type { RouteParam } from '../contract/manifest.js'
import { segmentsOf, type PathReading } from '../patterns/read-path.js'

/** Turns the router's parameters into those of the route file; undefined when they are the same. */
export type ReadParams = (params: Record<string, string>, url: string) => Record<string, unknown>

export interface ParamReading extends PathReading {
  /** Segments in front of a rest parameter. */
  depth: number
}

/**
 * Parameter names the router cannot hold stand under safe tokens there, and a rest parameter is one text in which an
 * encoded slash cannot be told from a real one: its array is read from the url as the router reads it, each segment
 * decoded once.
 */
export function paramReader(params: readonly RouteParam[], reading: ParamReading): ReadParams | undefined {
  if (params.every((param) => param.token === param.name && !param.rest)) return undefined
  return (values, url) => {
    const named: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    for (const { token, name, rest } of params) named[name] = rest ? restOf(url, reading) : values[token]
    return named
  }
}

function restOf(url: string, { depth, ...reading }: ParamReading): string[] {
  const segments = segmentsOf(url, reading)?.slice(depth) ?? []
  if (segments.at(-1) === '') segments.pop()
  return segments
}
