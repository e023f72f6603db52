import { OutgoingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { findSymbol } from './private-names.js'

/*
 * The private names of an answer that node has not sent yet, each with what happens without it; test/joint.test.ts asserts that
 * the versions in use still have them.
 */

const ownHeaders = findSymbol(new OutgoingMessage(), 'kOutHeaders')

/**
 * Whether a response has, or has had, headers that were set by node's own methods: `writeHead` then sets all others by
 * `setHeader`, which a package may have replaced. Without the name: true.
 */
export function hasOwnHeaders(response: ServerResponse): boolean {
  return ownHeaders === null || Boolean((response as ServerResponse & Record<symbol, unknown>)[ownHeaders])
}

/** What node keeps of an answer until it is sent. */
export interface Unsent {
  /** The head, once it is written. */
  _header?: string | null
  _headerSent?: boolean
  /** Bytes. */
  _contentLength?: number | null
  /** Set where code has removed the header. */
  _removedContLen?: boolean
  /** False for HEAD and for statuses without a body. */
  _hasBody?: boolean
  /** Writes the head. */
  _implicitHeader?: () => void
  strictContentLength?: boolean
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
/** Node writes the head and a text at once by itself. */
const JOINS_TEXTS = major >= 26 || (major === 24 && minor >= 22)

/** Characters or bytes; of a longer body, a copy would cost more than the second write. */
const MOST_COPIED = 16_384

/**
 * Ends an answer in one write of head and body. Node before 24.22 writes an empty text behind them, and so has to hand over a
 * list, which costs a sixth of a small request. What it is given here is a head alone, which it writes as Latin-1.
 * @param end node's own
 * @returns false where it cannot be done, or the names are not there; the answer is then as it was, or its head is written
 */
export function endInOneWrite(
  response: ServerResponse & Unsent,
  end: () => unknown,
  chunk: string | Uint8Array
): boolean {
  if (JOINS_TEXTS && typeof chunk === 'string') return false
  if (chunk.length > MOST_COPIED || response.strictContentLength || !canBegin(response)) return false
  if (!(response.socket instanceof Socket)) return false // an adapter's may tell head and body apart by the writes
  if (!response._header && response._implicitHeader !== undefined) {
    response._contentLength = Buffer.byteLength(chunk)
    response._implicitHeader()
    if (!canBegin(response)) return false
  }
  const head = response._header
  const whole = head ? byteText(head, chunk) : undefined
  if (whole === undefined) return false
  response._header = whole
  try {
    end.call(response)
  } finally {
    response._header = head as string
  }
  return true
}

function canBegin(response: ServerResponse & Unsent): boolean {
  return !response._headerSent && response._hasBody === true && !response.chunkedEncoding && !response.destroyed
}

/** Head and body with a character for each byte; undefined for a head beyond ASCII, whose encoding node chooses by the body. */
function byteText(head: string, chunk: string | Uint8Array): string | undefined {
  if (typeof chunk === 'string') {
    const whole = head + chunk
    if (isAscii(whole)) return whole
  }
  if (!isAscii(head)) return undefined
  const { buffer, byteOffset, byteLength } = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  return head + Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

export type StoreHeader = (firstLine: string, headers?: unknown) => void

const { writeHead, end } = ServerResponse.prototype
const { _storeHeader } = OutgoingMessage.prototype as { _storeHeader?: StoreHeader }
const FRAMED = ['_hasBody', '_contentLength', '_removedContLen', 'useChunkedEncodingByDefault', 'chunkedEncoding']
const blank = new OutgoingMessage()

/**
 * Node's method that puts the head together of a status line and headers; undefined without the names, or where a package that was
 * loaded before has put its own in the place of it.
 */
export const storeHeaderOfNode =
  FRAMED.every((name) => name in blank) && isNodes(_storeHeader, '_storeHeader(firstLine, headers)')
    ? _storeHeader
    : undefined

/** The same for node's `writeHead`. */
export function isWriteHeadOfNode(method: unknown): boolean {
  return method === writeHead && IS_WRITE_HEAD
}
const IS_WRITE_HEAD = isNodes(writeHead, 'writeHead(statusCode, reason, obj)')

/** The same for node's `end`. */
export function isEndOfNode(method: unknown): boolean {
  return method === end && IS_END
}
const IS_END = isNodes(end, 'end(chunk, encoding, callback)')

/** By its source: a function in its place can have its name. */
function isNodes(method: unknown, beginning: string): boolean {
  return typeof method === 'function' && Function.prototype.toString.call(method).startsWith(`function ${beginning} {`)
}

/** Whether lines of ours may stand before those that node adds to a head: those of a version before 1.1 depend on each other. */
export function takesLines(response: ServerResponse): boolean {
  return response.useChunkedEncodingByDefault && !response.chunkedEncoding
}

/**
 * Has node put the head together of lines, among which is the length of the body, in bytes. That it has one node is told by
 * there being no body, for which it adds neither a length nor chunks.
 */
export function storeWithLength(
  response: ServerResponse & Unsent,
  store: StoreHeader,
  { lines, length }: { lines: string; length: number }
): void {
  const hasBody = response._hasBody
  response._contentLength = length
  response._removedContLen = false
  response._hasBody = false
  try {
    store.call(response, lines)
  } finally {
    response._hasBody = hasBody as boolean
  }
}
