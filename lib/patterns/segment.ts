import type { Segment, SegmentPart } from '../contract/manifest.js'

/** A folder name that cannot be a path segment: what is wrong with it, and what to write instead. */
export interface InvalidName {
  wrong: string
  fix: string
}

export type ParsedName = { segment: Segment } | { group: string } | InvalidName

// `*` is the router's wildcard; `?`, `#` and `\` never reach it inside a path; `%` would make a name look encoded while
// requests are decoded exactly once. None of them could be guarded by a key of the middleware map either.
const IMPOSSIBLE = /[*?#%\\\u0000-\u001f\u007f]/
const OPTIONAL_REST = /^\[\[\.\.\.([^[\]]*)\]\]$/
const REST = /^\[\.\.\.([^[\]]*)\]$/
const PART = /\[([^[\]]*)\]|([^[\]]+)/y

/**
 * Parses a folder name or a segment of a prefix: `users`, `[id]`, `[id].json`, `[...rest]`, `[[...rest]]`, `(group)`.
 * Unicode is normalised to NFC, so that a folder made on macOS serves the address people type.
 */
export function parseName(raw: string): ParsedName {
  const name = raw.normalize('NFC')
  const impossible = IMPOSSIBLE.exec(name)
  if (impossible !== null) {
    return {
      wrong: `holds ${JSON.stringify(impossible[0])}, which no request path can match`,
      fix: 'Rename the folder'
    }
  }
  if (name.startsWith('(') && name.endsWith(')')) return parseGroup(name.slice(1, -1))
  // Users of Express write `:id`; a folder of that name would be served as text, and match no id
  if (/^:\w/.test(name)) return { wrong: "is a parameter in Express's way of writing", fix: `Write [${name.slice(1)}]` }
  if (!/[[\]]/.test(name)) return { segment: { kind: 'static', text: name } }
  return parseRest(name) ?? parseParts(name)
}

function parseGroup(name: string): ParsedName {
  if (name !== '' && !/[()[\]]/.test(name)) return { group: name }
  return { wrong: 'is not a group name', fix: 'Name the group with plain text in one pair of parentheses: (name)' }
}

function parseRest(name: string): ParsedName | undefined {
  const optional = OPTIONAL_REST.exec(name)
  const match = optional ?? REST.exec(name)
  const rest = match?.[1]
  if (rest === undefined) return undefined
  return checkParamName(rest) ?? { segment: { kind: 'rest', name: rest, optional: optional !== null } }
}

function parseParts(name: string): ParsedName {
  const parts: SegmentPart[] = []
  PART.lastIndex = 0
  while (PART.lastIndex < name.length) {
    const match = PART.exec(name)
    if (match === null) return unbalanced(name)
    const [, param, literal] = match
    if (param === undefined) {
      parts.push({ literal: literal ?? '' })
      continue
    }
    const wrong = checkParamName(param) ?? checkNeighbour(parts.at(-1))
    if (wrong !== undefined) return wrong
    parts.push({ name: param })
  }
  return { segment: { kind: 'param', parts } }
}

function unbalanced(name: string): InvalidName {
  const optional = /\[\[([^[\].]+)\]\]/.exec(name)
  if (optional === null) return { wrong: 'has unbalanced brackets', fix: 'Write a parameter as [name]' }
  return {
    wrong: 'asks for an optional parameter, which does not exist',
    fix: `Use [[...${optional[1]}]], or one folder with and one without [${optional[1]}]`
  }
}

function checkNeighbour(before: SegmentPart | undefined): InvalidName | undefined {
  if (before === undefined || !('name' in before)) return undefined
  return { wrong: 'has two parameters with nothing between them', fix: 'Put text between them: [a]-[b]' }
}

function checkParamName(name: string): InvalidName | undefined {
  if (name.startsWith('...')) {
    return { wrong: 'mixes a rest parameter with text', fix: 'Let [...name] be the whole folder name' }
  }
  if (name === '' || name !== name.trim()) return { wrong: 'has a parameter without a name', fix: 'Write [name]' }
  // Assigning `params.__proto__` stores nothing.
  if (name === '__proto__') return { wrong: 'names a parameter __proto__', fix: 'Choose another name' }
  return undefined
}

/** The parameter names of a segment, in order. */
export function segmentNames(segment: Segment): string[] {
  if (segment.kind === 'static') return []
  if (segment.kind === 'rest') return [segment.name]
  return segment.parts.flatMap((part) => ('name' in part ? [part.name] : []))
}

/** The segment as a folder name. With `names: 'blank'` two segments that match the same text give the same answer. */
export function formatSegment(segment: Segment, names: 'kept' | 'blank' = 'kept'): string {
  const show = (name: string): string => (names === 'kept' ? name : '')
  if (segment.kind === 'static') return segment.text
  if (segment.kind === 'param') {
    return segment.parts.map((part) => ('name' in part ? `[${show(part.name)}]` : part.literal)).join('')
  }
  return segment.optional ? `[[...${show(segment.name)}]]` : `[...${show(segment.name)}]`
}

/** True for a segment that is one parameter and nothing else: `[id]`. */
export function isPlainParam(segment: Segment): boolean {
  return segment.kind === 'param' && segment.parts.length === 1
}

/** Static text before text with parameters, before a parameter, before rest, before optional rest. */
function rank(segment: Segment): number {
  if (segment.kind === 'static') return 0
  if (segment.kind === 'param') return isPlainParam(segment) ? 2 : 1
  return segment.optional ? 4 : 3
}

/**
 * Orders paths from the most to the least specific, segment by segment from the left, as the router prefers them; a
 * shorter path comes before its own continuation. For sorting.
 */
export function compareSpecificity(a: readonly Segment[], b: readonly Segment[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareSegments(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareSegments(a: Segment | undefined, b: Segment | undefined): number {
  if (a === undefined || b === undefined || a === b) return 0
  if (a.kind === 'static' && b.kind === 'static') return compareText(a.text, b.text)
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
