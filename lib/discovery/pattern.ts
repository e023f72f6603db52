import type { RouteParam, Segment, SegmentPart } from '../contract/manifest.js'
import { formatSegment, parseName, segmentNames, type InvalidName } from './segment.js'

/** `/api/users/[userId]`: the segments as they stand on disk and in the middleware map. */
export function formatPattern(segments: readonly Segment[], names: 'kept' | 'blank' = 'kept'): string {
  return `/${segments.map((segment) => formatSegment(segment, names)).join('/')}`
}

export interface FastifyPattern {
  /** One path; two for an optional rest segment: without it, and with it. */
  paths: readonly string[]
  params: readonly RouteParam[]
}

/**
 * The segments in the syntax of Fastify's router. Parameter names that the router would cut short (`user-id`) or that
 * hold its own signs go by a token; `params` leads back to the name.
 */
export function toFastify(segments: readonly Segment[]): FastifyPattern {
  const names = segments.flatMap(segmentNames)
  const params: RouteParam[] = []
  const tokenOf = (name: string): string => {
    const token = safeToken(name, params.length, names)
    params.push({ token, name, rest: false })
    return token
  }
  let path = ''
  for (const segment of segments) {
    if (segment.kind === 'rest') {
      params.push({ token: '*', name: segment.name, rest: true })
      const paths = segment.optional ? [path === '' ? '/' : path, `${path}/*`] : [`${path}/*`]
      return { paths, params }
    }
    path += `/${segment.kind === 'static' ? escapeText(segment.text) : fastifyParts(segment.parts, tokenOf)}`
  }
  return { paths: [path === '' ? '/' : path], params }
}

function safeToken(name: string, index: number, taken: readonly string[]): string {
  if (/^\w+$/.test(name)) return name
  let token = `_${index}`
  while (taken.includes(token)) token = `_${token}`
  return token
}

function escapeText(text: string): string {
  return text.replaceAll(':', '::')
}

/**
 * A parameter alone needs no regular expression. Between texts every parameter gets one: it ends the token, refuses an
 * empty value, and (not holding the text before it) lets a value be split in one way only, so matching stays linear.
 */
function fastifyParts(parts: readonly SegmentPart[], tokenOf: (name: string) => string): string {
  const [only] = parts
  if (parts.length === 1 && only !== undefined && 'name' in only) return `:${tokenOf(only.name)}`
  let path = ''
  let value = '(.+?)'
  for (const [index, part] of parts.entries()) {
    if ('name' in part) path += `:${tokenOf(part.name)}${value}`
    else {
      path += escapeText(part.literal)
      if (index > 0) value = `((?:(?!${escapeExpression(part.literal)}).)+)`
    }
  }
  return path
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** The expression a mixed segment matches a whole, decoded path segment with. */
export function partsExpression(parts: readonly SegmentPart[]): RegExp {
  const source = parts.map((part) => ('literal' in part ? escapeExpression(part.literal) : '.+')).join('')
  return new RegExp(`^${source}$`, 's')
}

/**
 * Parses a path written by hand: a key of the middleware map, or `baseRoute`. A slash at the end means nothing.
 * Groups do not occur in paths. Nothing is decoded.
 */
export function parsePath(path: string): { segments: readonly Segment[] } | InvalidName {
  const wrong = checkSpelling(path)
  if (wrong !== undefined) return wrong
  const segments: Segment[] = []
  for (const name of path.split('/').filter((part) => part !== '')) {
    const parsed = name.startsWith(':') ? colonParam(name) : parseName(name)
    if ('wrong' in parsed) return { wrong: `${JSON.stringify(name)} ${parsed.wrong}`, fix: parsed.fix }
    if ('group' in parsed) return { wrong: `names the group (${parsed.group})`, fix: 'Leave groups out' }
    segments.push(parsed.segment)
  }
  return { segments }
}

function checkSpelling(path: string): InvalidName | undefined {
  if (!path.startsWith('/')) return { wrong: 'does not begin with a slash', fix: `Write "/${path}"` }
  if (path.includes('//')) return { wrong: 'holds "//"', fix: `Write "${path.replace(/\/\/+/g, '/')}"` }
  if (/(^|\/)\.\.?(\/|$)/.test(path)) return { wrong: 'holds a dot segment', fix: 'Write the path without it' }
  if (path.includes('%')) return { wrong: 'holds "%"', fix: 'Write the characters themselves, not their encoding' }
  if (/[?#]/.test(path)) return { wrong: 'holds a query or fragment', fix: 'Write the path alone' }
  if (path.endsWith('/*'))
    return { wrong: 'ends in "*"', fix: `Write "${path.slice(0, -1)}": a prefix covers what is below` }
  return undefined
}

function colonParam(name: string): InvalidName {
  return { wrong: 'is written in another syntax', fix: `Write [${name.slice(1)}]` }
}

/**
 * Parses a path in the syntax of Fastify's router (`/x/:id/*`), for routes that do not come from files. Regular
 * expressions of parameters are dropped, which can only make a guard run where it need not. `*` becomes an optional
 * rest segment of that name, as the router lets it match nothing.
 * @throws TypeError where `*` stands inside a segment
 */
export function parseFastifyPath(path: string): Segment[] {
  return splitOutsideParentheses(path).map((text) => {
    if (text === '*') return { kind: 'rest', name: '*', optional: true }
    const parts = parseFastifyParts(text, path)
    const [first] = parts
    if (parts.length === 1 && first !== undefined && 'literal' in first) return { kind: 'static', text: first.literal }
    return { kind: 'param', parts }
  })
}

function splitOutsideParentheses(path: string): string[] {
  const segments: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i <= path.length; i++) {
    const char = path[i]
    if (char === '(') depth++
    else if (char === ')') depth--
    if (i < path.length && (char !== '/' || depth > 0)) continue
    if (i > start) segments.push(path.slice(start, i))
    start = i + 1
  }
  return segments
}

const FASTIFY_PART = /:([^:\-.(]+)(?:\((?:[^()\\]|\\.|\([^()]*\))*\))?\??|((?:::|[^:*])+)/y

function parseFastifyParts(text: string, path: string): SegmentPart[] {
  const parts: SegmentPart[] = []
  FASTIFY_PART.lastIndex = 0
  while (FASTIFY_PART.lastIndex < text.length) {
    const match = FASTIFY_PART.exec(text)
    if (match === null) throw new TypeError(`cannot read ${JSON.stringify(text)} in the route path ${path}`)
    const [, name, literal = ''] = match
    parts.push(name === undefined ? { literal: literal.replaceAll('::', ':') } : { name })
  }
  return parts
}
