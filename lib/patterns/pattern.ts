import type { RouteParam, Segment, SegmentPart } from '../contract/manifest.js'
import { formatSegment, parseName, segmentNames, type InvalidName } from './segment.js'

/** `/api/users/[userId]`: the segments as on disk and in the middleware map. */
export function formatPattern(segments: readonly Segment[], names: 'kept' | 'blank' = 'kept'): string {
  return `/${segments.map((segment) => formatSegment(segment, names)).join('/')}`
}

/** The prefix of a registration, in the syntax of Fastify's router, as patterns are written: `/[tenant]`. */
export function formatMount(mount: string): string {
  return mount
    .replace(/\/$/, '')
    .replaceAll(/::|:(\w+)(?:\([^/]*\))?/g, (_found, name: string | undefined) =>
      name === undefined ? ':' : `[${name}]`
    )
}

export interface FastifyPattern {
  /** One path; two for an optional rest segment: without it, and with it. */
  paths: readonly string[]
  params: readonly RouteParam[]
}

/**
 * The segments in the syntax of Fastify's router. Parameter names that the router would cut short (`user-id`) or that
 * hold its own signs are replaced by a token; `params` leads back to the name.
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
  let value = '([\\s\\S]+?)'
  for (const [index, part] of parts.entries()) {
    if ('name' in part) path += `:${tokenOf(part.name)}${value}`
    else {
      path += escapeText(part.literal)
      if (index > 0) value = `((?:(?!${escapeExpression(part.literal)})[\\s\\S])+)`
    }
  }
  return path
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * Whether a mixed segment matches a whole, decoded path segment. Each text is taken where it first occurs, which finds a way
 * if there is one, so the work is that of reading the segment once. An expression with a `.+` for each parameter would try
 * all ways: with three parameters and a segment of a thousand dashes, for a second.
 */
export function matchesParts(parts: readonly SegmentPart[], text: string): boolean {
  let position = 0
  let values = 0 // parameters since the last text: each takes a character at least
  for (const [index, part] of parts.entries()) {
    if ('name' in part) {
      values++
      continue
    }
    const isLast = index === parts.length - 1
    const from = position + values
    const found = isLast ? text.length - part.literal.length : text.indexOf(part.literal, from)
    if (values === 0 ? found !== position : found < from) return false
    if (isLast) return text.endsWith(part.literal)
    position = found + part.literal.length
    values = 0
  }
  return values === 0 ? position === text.length : position + values <= text.length
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

/** `GET /api` as method and path; undefined for a path alone. */
export function splitMethod(path: string): { method: string; rest: string } | undefined {
  const [, method, rest] = /^([A-Z]+) (\/.*)$/.exec(path) ?? []
  return method === undefined || rest === undefined ? undefined : { method, rest }
}

function checkSpelling(path: string): InvalidName | undefined {
  const named = splitMethod(path)
  if (named !== undefined) {
    return { wrong: 'names a method', fix: `Write "${named.rest}": route files export one function per method` }
  }
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
 * What a path in the syntax of Fastify's router is sure to say of the requests it matches, for routes that do not come from
 * files. Only the router can read all of it, so everything but plain text is taken for more than it may match: a segment
 * with a colon or another sign for any segment, and what may span several (`*`, a regular expression, an optional
 * parameter) for any path at all.
 */
export function parseFastifyPath(path: string): Segment[] {
  const segments: Segment[] = []
  const [first, ...texts] = path.split('/')
  if (first !== '') return path === '' ? [] : [ANYTHING]
  for (const [index, text] of texts.entries()) {
    const isEnd = index === texts.length - 1
    if (text === '' && isEnd) break
    if (text === '' || /[*(?]/.test(text)) return [...segments, ANYTHING]
    segments.push(
      PLAIN_TEXT.test(text)
        ? { kind: 'static', text: text.normalize('NFC') }
        : { kind: 'param', parts: [{ name: text }] }
    )
  }
  return segments
}

const ANYTHING: Segment = { kind: 'rest', name: '*', optional: true }
const PLAIN_TEXT = /^[^:%#\\\u0000-\u001f\u007f]+$/
