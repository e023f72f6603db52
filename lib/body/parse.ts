import { parse as parseQueryString } from 'node:querystring'
import { TextDecoder } from 'node:util'
import zlib from 'node:zlib'
import { parse as parseContentType } from 'content-type'
import secureJson from 'secure-json-parse'
import { countPairs } from '../patterns/read-path.js'
import { cutText } from '../errors/cut-text.js'
import { bodyTooLarge, malformedBody, unsupportedBody } from '../errors/refusals.js'

const MAX_JSON_DEPTH = 100
const MAX_FORM_PAIRS = 1000
const KNOWN_TYPES_MAX = 200
const UTF8 = 'utf-8'

type Parse = (text: string) => unknown

/** How a body of some Content-Type is parsed. */
export interface BodyKind {
  parse: Parse
  charset: string
}

const kinds = new Map<string, BodyKind | null>()

/** JSON, urlencoded and plain text are parsed; null means that the body is left to others (multipart, binary). */
export function bodyKind(contentType: string | undefined): BodyKind | null {
  if (contentType === undefined) return null
  const known = kinds.get(contentType)
  if (known !== undefined) return known
  const kind = readKind(contentType)
  if (kinds.size < KNOWN_TYPES_MAX) kinds.set(contentType, kind)
  return kind
}

function readKind(contentType: string): BodyKind | null {
  const { type, parameters } = parseContentType(contentType)
  const parse = parserOf(type.trim().toLowerCase())
  if (parse === null) return null
  const charset = (parameters.charset ?? UTF8).toLowerCase()
  return { parse, charset: charset === 'utf8' ? UTF8 : charset }
}

function parserOf(type: string): Parse | null {
  if (type === 'application/json' || /^[\w.+-]+\/[\w.+-]+\+json$/.test(type)) return parseJson
  if (type === 'application/x-www-form-urlencoded') return parseForm
  return type === 'text/plain' ? (text) => text : null
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = secureJson.parse(text)
  } catch {
    throw malformedBody('Request body is not valid JSON')
  }
  // each level takes two brackets
  if (text.length > 2 * MAX_JSON_DEPTH && hasBrackets(text, MAX_JSON_DEPTH + 1) && deeperThan(value, MAX_JSON_DEPTH)) {
    throw malformedBody(`Request body is nested deeper than ${MAX_JSON_DEPTH} levels`)
  }
  return value
}

/** Whether a text opens at least so many objects and arrays: each level needs one, and to count them costs a tenth of a walk. */
function hasBrackets(text: string, count: number): boolean {
  let left = count
  for (const bracket of '{[') {
    for (let i = text.indexOf(bracket); i !== -1; i = text.indexOf(bracket, i + 1)) if (--left === 0) return true
  }
  return false
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((member) => deeperThan(member, levels - 1))
  // what JSON.parse makes has own members only; a list of them would have to be made for each object
  for (const name in value) if (deeperThan((value as Record<string, unknown>)[name], levels - 1)) return true
  return false
}

function parseForm(text: string): unknown {
  const form = parseQueryString(text, '&', '=', { maxKeys: MAX_FORM_PAIRS + 1 })
  if (countPairs(text) > MAX_FORM_PAIRS) throw malformedBody(`Request body has more than ${MAX_FORM_PAIRS} fields`)
  delete form['__proto__']
  return form
}

const inflaters = new Map([
  ['gzip', zlib.gunzip],
  ['x-gzip', zlib.gunzip],
  ['deflate', zlib.inflate],
  ['br', zlib.brotliDecompress]
])

/**
 * Parses a complete body: inflates (counting the inflated bytes against the limit), decodes the charset, parses.
 * An empty body is undefined, as in Express 5.
 */
export function parseBody(
  bytes: Buffer,
  headers: { kind: BodyKind; encoding: string | undefined },
  limit: number,
  done: (error: Error | null, value?: unknown) => void
): void {
  const { kind } = headers
  const encoding = headers.encoding?.toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return finishParse(bytes, kind, done)
  const inflate = inflaters.get(encoding)
  if (inflate === undefined) return done(unsupportedBody(`Unsupported content encoding "${cutText(encoding)}"`))
  inflate(bytes, { maxOutputLength: limit }, (error: NodeJS.ErrnoException | null, inflated) => {
    if (error === null) finishParse(inflated, kind, done)
    else if (error.code === 'ERR_BUFFER_TOO_LARGE') done(bodyTooLarge(limit))
    else done(malformedBody('Request body does not inflate'))
  })
}

function finishParse(bytes: Buffer, kind: BodyKind, done: (error: Error | null, value?: unknown) => void): void {
  let value: unknown
  try {
    value = bytes.length === 0 ? undefined : kind.parse(decode(bytes, kind.charset))
  } catch (error) {
    return done(error as Error)
  }
  done(null, value)
}

function decode(bytes: Buffer, charset: string): string {
  if (charset === UTF8)
    return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.toString('utf8', 3) : bytes.toString()
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(charset)
  } catch {
    throw unsupportedBody(`Unsupported charset "${cutText(charset)}"`)
  }
  return decoder.decode(bytes)
}
