import { OutgoingMessage, type ServerResponse } from 'node:http'
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
interface Unsent {
  /** The head, once it is written. */
  _header?: string | null
  _headerSent?: boolean
  /** Bytes. */
  _contentLength?: number | null
  /** False for HEAD and for statuses without a body. */
  _hasBody?: boolean
  /** Writes the head. */
  _implicitHeader?: () => void
  strictContentLength?: boolean
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
/** Node writes the head and a text at once by itself. */
const JOINS_TEXTS = major > 24 || (major === 24 && minor >= 22)

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

/** What node reads or writes of an answer when it puts the head together. */
export interface Framed extends Unsent {
  /** Puts the head together of a status line and headers. */
  _storeHeader?: StoreHeader
  _removedContLen?: boolean
  /** False for HTTP/1.0. */
  useChunkedEncodingByDefault?: boolean
}

export type StoreHeader = (firstLine: string, headers?: unknown) => void

/** Node's method that puts the head together; undefined without the name. */
export const storeHeaderOfNode = (OutgoingMessage.prototype as Framed)._storeHeader

/** Whether lines of ours may stand before those that node adds to a head: else it may have to take account of each of them. */
export function takesLines(response: ServerResponse & Framed): boolean {
  return response.useChunkedEncodingByDefault && !response.chunkedEncoding
}

/**
 * Has node put the head together of lines, among which is the length of the body, in bytes. That it has one node is told by
 * there being no body, for which it adds neither a length nor chunks.
 */
export function storeWithLength(
  response: ServerResponse & Framed,
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
