import type { FastifyInstance } from 'fastify'
import type { RouteParam } from '../contract/manifest.js'

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
 * The path as read by code that joins its decoded segments and resolves the result (a proxy, a file server): encoded
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
 * Whether all software reads the path of a url alike: no escape, no empty or dot segment, no character that some server gives a
 * meaning. One test of the text, which most requests pass.
 */
export function isUnambiguous(url: string): boolean {
  return /^(?:\/[\w~-][\w.~-]*)*\/?(?:$|\?)/.test(url)
}

/** Signs of a path that not all software reads alike; a few that are harmless are among them. */
export function mayBeAmbiguous(url: string): boolean {
  return /%2f|%5c|%2e|[/\\]\.|\/\/|\\/i.test(url)
}

const UNRESERVED = /[\w.~!*'()-]/

/**
 * The url as `use()` and chains match it. The routers there do not decode, while the one behind them does (`/%61dmin` is
 * `/admin` there), so a guard of `/admin` must see `/admin`, too; or it could be bypassed. Escapes that are needed stay
 * (`%2F`, `%20`, `%C3%BC`).
 */
export function canonicalUrl(url: string, { ignoreDuplicateSlashes, useSemicolonDelimiter }: PathReading): string {
  if (!ignoreDuplicateSlashes && !useSemicolonDelimiter && !url.includes('%')) return url
  const end = useSemicolonDelimiter ? url.search(/[?;]/) : url.indexOf('?')
  let path = end === -1 ? url : url.slice(0, end)
  if (path.includes('%')) path = path.replaceAll(/%[\da-f]{2}/gi, shortest)
  if (ignoreDuplicateSlashes) path = path.replaceAll(/\/{2,}/g, '/')
  return end === -1 ? path : `${path}?${url.slice(end + 1)}`
}

/** The one way to write a character (RFC 3986, section 6.2.2). */
function shortest(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return UNRESERVED.test(character) ? character : escape.toUpperCase()
}

export interface RouterOptions {
  caseSensitive: boolean
  ignoreTrailingSlash: boolean
  ignoreDuplicateSlashes: boolean
  useSemicolonDelimiter: boolean
  maxParamLength: number
}

/** How the app's router reads a path. Fastify takes these options in two places; the binding follows either. */
export function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const own = initialConfig.routerOptions as Partial<RouterOptions> | undefined
  return {
    caseSensitive: (initialConfig.caseSensitive ?? true) && (own?.caseSensitive ?? true),
    ignoreTrailingSlash: Boolean(initialConfig.ignoreTrailingSlash) || Boolean(own?.ignoreTrailingSlash),
    ignoreDuplicateSlashes: Boolean(initialConfig.ignoreDuplicateSlashes) || Boolean(own?.ignoreDuplicateSlashes),
    useSemicolonDelimiter: Boolean(initialConfig.useSemicolonDelimiter) || Boolean(own?.useSemicolonDelimiter),
    maxParamLength: own?.maxParamLength ?? initialConfig.maxParamLength ?? 100
  }
}

/** Turns the router's parameters into those of the route file; undefined when they are the same. */
export type ReadParams = (params: Record<string, string>, url: string) => Record<string, unknown>

export interface ParamReading extends PathReading {
  /** Segments in front of a rest parameter. */
  depth: number
}

/**
 * Parameter names that the router does not support are replaced by safe tokens there. A rest parameter is one text in
 * which an encoded slash cannot be told from a real one, so its array is read from the url, each segment decoded once.
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

/** The pairs of a query or a urlencoded form. */
export function countPairs(text: string): number {
  let pairs = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) pairs++
  return pairs
}
