import { isSendable } from '../errors/error-headers.js'

/** A name that node accepts. */
export interface HeaderName {
  readonly given: string
  /** The name as the reply keeps it. */
  readonly key: string
  readonly kind: Kind
  /** By value, the lines that are kept; null where values differ from answer to answer. */
  readonly kept: Map<string, string> | null
  /** A value of ours that needs no look at it, and its line. */
  value: string | undefined
  line: string
}

/** What there is to do for a header when the head is written. */
type Kind = typeof ORDINARY | typeof FRAMING | typeof LENGTH | typeof DISPOSITION
export const ORDINARY = 0
/** Node frames the message by it, and has to see it. */
export const FRAMING = 1
export const LENGTH = 2
/** Node sends its value in another encoding. */
export const DISPOSITION = 3

const KINDS: Readonly<Record<string, Kind>> = {
  connection: FRAMING,
  date: FRAMING,
  expect: FRAMING,
  'keep-alive': FRAMING,
  trailer: FRAMING,
  'transfer-encoding': FRAMING,
  'content-length': LENGTH,
  'content-disposition': DISPOSITION
}

/**
 * Headers that have few values in the answers of an application, and no secret of a user's. The first values of each stay for
 * ever: where they are of no use, others are looked at with each answer, as those of other headers are.
 */
const STEADY = [
  'Access-Control-Allow-Credentials',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Cache-Control',
  'Content-Encoding',
  'Content-Language',
  'Content-Security-Policy',
  'Content-Type',
  'Cross-Origin-Opener-Policy',
  'Cross-Origin-Resource-Policy',
  'Origin-Agent-Cluster',
  'Permissions-Policy',
  'RateLimit-Policy',
  'Referrer-Policy',
  'Server',
  'Strict-Transport-Security',
  'Vary',
  'X-Content-Type-Options',
  'X-DNS-Prefetch-Control',
  'X-Download-Options',
  'X-Frame-Options',
  'X-Permitted-Cross-Domain-Policies',
  'X-Powered-By',
  'X-XSS-Protection'
]
const STEADY_KEYS = new Set(STEADY.map((name) => name.toLowerCase()))
/** Others that most applications send. */
const USUAL = [
  'Content-Length',
  'Content-Disposition',
  'ETag',
  'Last-Modified',
  'Location',
  'Set-Cookie',
  'X-Request-Id'
]

/** Names that applications make up from data must not stay for ever, nor values that they take from it. */
const MOST_NAMES = 1000
const LONGEST_NAME = 64
const MOST_KEPT = 8
const LONGEST_KEPT = 256

/** Characters that node refuses in a value. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/

const known = new Map<string, HeaderName>()
for (const name of [...STEADY, ...USUAL, ...Object.keys(KINDS)]) {
  newName(name)
  newName(name.toLowerCase())
}

const CONTENT_TYPE = known.get('content-type')
const CONTENT_LENGTH = known.get('content-length')
const ETAG = known.get('etag')
const REQUEST_ID = known.get('x-request-id')
const POWERED_BY = known.get('x-powered-by')

/** Undefined for a name that node refuses. Those of most answers are compared, which costs less than a look into the table. */
export function headerName(name: string): HeaderName | undefined {
  switch (name) {
    case 'content-type':
      return CONTENT_TYPE
    case 'content-length':
      return CONTENT_LENGTH
    case 'etag':
      return ETAG
    case 'x-request-id':
      return REQUEST_ID
    case 'x-powered-by':
      return POWERED_BY
    default:
      return known.get(name) ?? newName(name)
  }
}

function newName(given: unknown): HeaderName | undefined {
  if (typeof given !== 'string' || !isSendable(given, '')) return undefined
  const key = keyFor(given)
  const kind = Object.hasOwn(KINDS, key) ? (KINDS[key] as Kind) : ORDINARY
  const kept = STEADY_KEYS.has(key) ? new Map<string, string>() : null
  const name: HeaderName = { given, key, kind, kept, value: undefined, line: '' }
  if (known.size < MOST_NAMES && given.length <= LONGEST_NAME) known.set(given, name)
  return name
}

/** As a key of an object has it: any other text V8 looks up in its table of all keys whenever it is used as one. */
function keyFor(name: string): string {
  const [key] = Object.keys({ [name.toLowerCase()]: 0 }) as [string]
  return key
}

/**
 * The line of a header, with its line break, as node would write it; undefined for a value of which node makes another number of
 * lines or none, or which it refuses.
 */
export function lineOf(name: HeaderName, value: unknown): string | undefined {
  if (typeof value === 'number') return `${name.given}: ${value}\r\n`
  if (typeof value !== 'string') return undefined
  if (value === name.value) return name.line
  if (name.kind === LENGTH && isWhole(value)) return `${name.given}: ${value}\r\n`
  return name.kept?.get(value) ?? newLine(name, value)
}

/** Digits only, as a length is; the regular expression for other values takes 200 instructions. */
function isWhole(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 57) return false
  }
  return true
}

/** Whether node would send a value, by what is kept of the name. */
export function isKept(name: HeaderName, value: unknown): boolean {
  return typeof value === 'string' && (value === name.value || name.kept?.has(value) === true)
}

/** Whether all characters of a value can be sent. */
export function isSendableText(value: string): boolean {
  return !UNSENDABLE.test(value)
}

function newLine({ given, kept }: HeaderName, value: string): string | undefined {
  if (!isSendableText(value)) return undefined
  const line = `${given}: ${value}\r\n`
  if (kept !== null && kept.size < MOST_KEPT && value.length <= LONGEST_KEPT) kept.set(copyOf(value), copyOf(line))
  return line
}

/** A part of a text keeps the whole of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Has the next answer with this value take it as it is: it is one that we have made ourselves. */
export function noteSendable(name: HeaderName, value: string): void {
  name.value = value
  name.line = `${name.given}: ${value}\r\n`
}

/**
 * A name as the reply keeps it; what is no text is left for node to refuse. Those that are asked for with every answer are
 * compared, which costs a tenth of `toLowerCase`; the others are remembered.
 */
export function keyOf(name: unknown): string {
  switch (name) {
    case 'content-type':
    case 'content-length':
    case 'transfer-encoding':
    case 'etag':
      return name
    case 'Content-Type':
      return 'content-type'
  }
  return typeof name === 'string' ? (headerName(name)?.key ?? keyFor(name)) : ''
}
