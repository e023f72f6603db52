import type { FastifyReply } from 'fastify'
import { CONNECTION_HEADERS, isSendable, unsendableNames } from '../errors/error-headers.js'
import { removeContentHeaders } from './content-headers.js'
import { pairsOf } from './direct-head.js'
import type { HeadBase } from './headers.js'
import { writeOwnHead } from './own-head.js'
import {
  HANDED_OVER,
  kAnswered,
  kRawEnd,
  LEAVING,
  markAnswered,
  OPEN,
  type LinkedResponse,
  kHeaders,
  kReply
} from '../link/state.js'
import { cleanStatusLine, isNoPhrase, statusLineError } from './status-line.js'
import { logError } from '../errors/readable-error.js'

export const HTML = 'text/html; charset=utf-8'
export const JSON_TYPE = 'application/json; charset=utf-8'

/** What a whole body is handed over as. */
export type Chunk = string | Uint8Array | undefined

/** The answer that is being handed over in this turn: what node throws of it reaches the caller. */
let answerUnderWay: LinkedResponse | null = null

/**
 * Gives the payload to Fastify. An answer that node refuses to send (a status of 99, a header with a line break) is thrown
 * to the caller, and the response is open again for the error answer.
 */
export function handOver(response: LinkedResponse, reply: FastifyReply, payload: unknown, lowestStatus = 200): void {
  markAnswered(response, isStream(payload) ? LEAVING : HANDED_OVER)
  // checked before onSend hooks run; a status below 200 is no answer, which only a raw `end` may send
  const refused = statusLineError(response, lowestStatus)
  const outer = answerUnderWay
  answerUnderWay = response
  try {
    if (refused !== undefined) throw refused
    reply.send(payload)
  } catch (error) {
    reopen(response, reply)
    throw error
  } finally {
    answerUnderWay = outer
  }
}

/** Whether a caller catches what is thrown while this answer's head is written; after asynchronous hooks there is none. */
function isUnderWay(response: LinkedResponse): boolean {
  return answerUnderWay === response
}

/** The same memory as a Buffer, the one view that Fastify sends; a copy of memory that is shared, or of another realm. */
export function bytesOf(view: ArrayBufferView): Buffer {
  const { buffer, byteOffset, byteLength } = view
  if (!(buffer instanceof ArrayBuffer)) return Buffer.from(new Uint8Array(buffer, byteOffset, byteLength))
  return Buffer.isBuffer(view) ? view : Buffer.from(buffer, byteOffset, byteLength)
}

/** Node streams and web streams. */
export function isStream(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null) return false
  const { pipe, getReader } = payload as { pipe?: unknown; getReader?: unknown } // in compiled code cheaper than Reflect.get
  return typeof pipe === 'function' || typeof getReader === 'function'
}

/** Resets what was set for the refused answer, so that the error response does not inherit it. */
function reopen(response: LinkedResponse, reply: FastifyReply): void {
  if (response.headersSent) return
  response[kAnswered] = OPEN
  response[kRawEnd] = null
  cleanStatusLine(response)
  removeContentHeaders(reply)
  for (const name of unsendableNames(reply.getHeaders())) reply.removeHeader(name)
}

export type HeadArguments = [status: number, ...rest: unknown[]]

/**
 * Writes the head. What node refuses is thrown to a caller who can do something about it. Where Fastify is the caller,
 * from a hook, a stream or an error answer, the process would end: there the head goes out without what cannot be sent.
 */
export function writeHeadSafely(response: LinkedResponse, base: HeadBase, given: HeadArguments): LinkedResponse {
  try {
    const { statusMessage } = response
    if (statusMessage !== undefined && isNoPhrase(statusMessage)) refusePhrase(response, given)
    return writeOwnHead(response, base, given) as LinkedResponse
  } catch (error) {
    if (response.headersSent) throw error
    const misplaced = misplacedHeaders(error)
    if (misplaced.length > 0) {
      for (const name of misplaced) response.removeHeader(name)
      if (isHttp2Error(error)) joinValues(response, base)
    } else if (isUnderWay(response) || isOfCaller(response, given, error as Error)) throw error
    else clean(response, base, error)
    const kept = sendable(response, given, misplaced)
    return writeOwnHead(response, base, kept) as LinkedResponse
  }
}

/** A phrase among the arguments replaces that of the response. */
function refusePhrase(response: LinkedResponse, given: HeadArguments): void {
  const error = statusLineError(response)
  if (response[kReply] !== null && typeof given[1] !== 'string' && error !== undefined) throw error
}

/**
 * Whether what node has refused came with this call of the application's. The head that node writes with a first `write` or `end` has
 * no caller, where a stream is piped or a timer writes: what is refused then is a header of the reply, which a hook has set.
 */
function isOfCaller(response: LinkedResponse, given: HeadArguments, { code = '' }: NodeJS.ErrnoException): boolean {
  const headers = response[kHeaders]
  if (response[kAnswered] !== OPEN || given.at(-1) === headers) return false
  if (headers === null || code.includes('STATUS')) return true // as node's errors are called, of HTTP/1 and HTTP/2
  return given.length > 1 && (isRefused(given) || unsendableNames(headers).length === 0)
}

/** Whether node would refuse these arguments by themselves. */
function isRefused(given: HeadArguments): boolean {
  const [statusCode, phrase] = given
  const statusMessage = typeof phrase === 'string' ? phrase : ''
  if (statusLineError({ statusCode, statusMessage }) !== undefined) return true
  const headers = given.at(-1)
  if (typeof headers !== 'object') return false
  return pairsOf(headers)?.some(([name, value]) => !isSendable(name as string, value)) ?? true
}

/** The headers of which an answer of this kind can have none, where node has refused it for one of them. */
function misplacedHeaders(error: unknown): readonly string[] {
  const { code } = error as NodeJS.ErrnoException
  if (isHttp2Error(error)) return CONNECTION_HEADERS
  // trailers need a chunked body: an answer to HEAD has none, and one with a length is not chunked
  return code === 'ERR_HTTP_TRAILER_INVALID' ? ['trailer'] : []
}

function isHttp2Error(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ERR_HTTP2_INVALID_CONNECTION_HEADERS' || code === 'ERR_HTTP2_HEADER_SINGLE_VALUE'
}

/** Node's HTTP/2 takes one value of an `ETag` or a `Location`; several lines mean the same as their list (RFC 9110, section 5.3). */
function joinValues(response: LinkedResponse, base: HeadBase): void {
  const headers = response[kHeaders] ?? {}
  for (const name of Object.keys(headers)) Reflect.set(headers, name, joined(name, headers[name]))
  for (const name of base.getHeaderNames.call(response)) {
    const value = base.getHeader.call(response, name)
    if (Array.isArray(value)) base.setHeader.call(response, name, joined(name, value) as string)
  }
}

function joined(name: string, value: unknown): unknown {
  return Array.isArray(value) && name.toLowerCase() !== 'set-cookie' ? value.join(', ') : value
}

function clean(response: LinkedResponse, base: HeadBase, error: unknown): void {
  const reply = response[kReply]
  if (reply !== null) logError(reply.log, { err: error }, 'The head goes out without a part that cannot be sent')
  if (statusLineError(response) !== undefined) cleanStatusLine(response)
  const headers = response[kHeaders] ?? {}
  for (const name of Object.keys(headers)) {
    const value = certainValue(name, headers[name])
    if (value === undefined) Reflect.deleteProperty(headers, name)
    else Reflect.set(headers, name, value)
  }
  for (const name of unsendableNames(base.getHeaders.call(response))) base.removeHeader.call(response, name)
}

/** A value that node refuses at no time: an object's text can be another when it is asked for again, and a length may be a bigint. */
function certainValue(name: string, value: unknown): unknown {
  if (!isSendable(name, value)) return undefined
  if (typeof value === 'string' || typeof value === 'number') return value
  try {
    const texts = Array.isArray(value) ? value.map(String) : String(value)
    return isSendable(name, texts) ? texts : undefined
  } catch {
    return undefined
  }
}

/** The arguments of `writeHead` with the headers that can be sent, and without a status or a phrase that cannot. */
function sendable(response: LinkedResponse, given: HeadArguments, misplaced: readonly string[]): HeadArguments {
  const headers = given.at(-1)
  if (Array.isArray(headers)) return given
  const line = sendableLine(response, given)
  if (typeof headers !== 'object' || headers === null) return line
  if (headers === response[kHeaders]) return [...line, headers]
  const kept = Object.entries(headers).filter(
    ([name, value]) => ![...misplaced, 'trailer'].includes(name.toLowerCase()) && isSendable(name, value)
  )
  const isHttp2 = misplaced === CONNECTION_HEADERS
  return [...line, Object.fromEntries(kept.map(([name, value]) => [name, isHttp2 ? joined(name, value) : value]))]
}

function sendableLine(response: LinkedResponse, [statusCode, phrase]: HeadArguments): HeadArguments {
  if (statusLineError({ statusCode, statusMessage: '' }) !== undefined) return [response.statusCode]
  const isPhrase = typeof phrase === 'string' && statusLineError({ statusCode, statusMessage: phrase }) === undefined
  return isPhrase ? [statusCode, phrase] : [statusCode]
}
