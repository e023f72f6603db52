import type { ServerResponse } from 'node:http'
import { format as formatContentType, parse as parseContentType } from 'content-type'
import express from 'express'
import type { FastifyReply } from 'fastify'
import { handOver } from './hand-over.js'
import { copyFromReply, mergeHeader, mergeIntoReply } from './headers.js'
import { tooLate } from './late-calls.js'
import { hasOnSend } from './private-names.js'
import {
  FAILING,
  HANDED_OVER,
  isAnswered,
  kAnswered,
  kReply,
  LEAVING,
  markAnswered,
  OPEN,
  type LinkedResponse
} from './slots.js'

type Chunk = string | Uint8Array | undefined

const HTML = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const BYTES = 'application/octet-stream'

/** The methods of node's response that an answer leaves by; other bases (HTTP/2, injected) have their own. */
export interface ResponseBase {
  end: ServerResponse['end']
  writeHead: ServerResponse['writeHead']
}

/**
 * `response.send` with Express 5's semantics (https://expressjs.com/en/5x/api.html#res.send), finished by Fastify's
 * `reply.send`: onSend hooks run, and type and ETag go out in the one header object Fastify writes.
 */
export function send(this: LinkedResponse, body?: unknown): LinkedResponse {
  switch (typeof body) {
    case 'string':
      return finish(this, { chunk: body, type: textType(this) })
    case 'boolean':
    case 'number':
      return this.json(body)
    case 'object':
      if (body === null) return finish(this, { chunk: '', type: undefined })
      if (!ArrayBuffer.isView(body)) return this.json(body)
      return finish(this, { chunk: bytesOf(body), type: currentType(this) ? undefined : BYTES })
    default:
      return finish(this, { chunk: undefined, type: undefined })
  }
}

/** `response.status` as Express 5's; while hooks run for an answer, a second one cannot change what the first is called. */
export function status(this: LinkedResponse, code: number): LinkedResponse {
  if (this[kAnswered] === HANDED_OVER) return tooLate(this, 'status')
  return express.response.status.call(this, code) as LinkedResponse
}

/** `response.json` as Express 5's. JSON settings of the app and a replaced `send` are honoured. */
export function json(this: LinkedResponse, body?: unknown): LinkedResponse {
  const settings = this.app.settings as Record<string, unknown>
  if (this.send !== send || settings['json escape'] || settings['json replacer'] || settings['json spaces']) {
    return express.response.json.call(this, body) as LinkedResponse
  }
  const text = JSON.stringify(body) as string | undefined
  if (text === undefined) {
    if (!currentType(this)) this.setHeader('Content-Type', JSON_TYPE)
    return finish(this, { chunk: undefined, type: undefined })
  }
  return finish(this, { chunk: text, type: currentType(this) ? textType(this) : JSON_TYPE })
}

function currentType(response: LinkedResponse): unknown {
  const reply = response[kReply]
  return response.getHeader('content-type') ?? (reply === null ? undefined : reply.getHeader('content-type'))
}

/** The type of a text: HTML unless one is set, which then gets the charset the text is sent in. */
function textType(response: LinkedResponse): string {
  const type = currentType(response)
  if (typeof type !== 'string') return HTML
  const parsed = parseContentType(type)
  parsed.parameters.charset = 'utf-8'
  return formatContentType(parsed)
}

function bytesOf(view: ArrayBufferView): Buffer {
  return Buffer.isBuffer(view) ? view : Buffer.from(view.buffer, view.byteOffset, view.byteLength)
}

interface Payload {
  chunk: Chunk
  /** Content-Type to set, undefined to leave it. */
  type: string | undefined
}

/** From the ETag on, as Express's send; then one way out. */
function finish(response: LinkedResponse, { chunk, type }: Payload): LinkedResponse {
  const reply = response[kReply]
  if (reply === null) return finishRaw(response, { chunk, type })
  if (isAnswered(response) || reply.sent) return tooLate(response, 'send') // a mistake, never a crash: the first one stands
  if (response.hasHeader('transfer-encoding')) return finishRaw(response, { chunk, type })
  const bytes = addEtag(response, reply, chunk)
  if (isConditional(response.req) && response.req.fresh) response.statusCode = 304
  mergeIntoReply(response, reply)
  handOver(response, reply, payloadFor(response, reply, { chunk: bytes, type }))
  return response
}

function addEtag(response: LinkedResponse, reply: FastifyReply, chunk: Chunk): Chunk {
  const etagOf = (response.app.settings as Record<string, unknown>)['etag fn']
  if (chunk === undefined || typeof etagOf !== 'function' || reply.getHeader('etag')) return chunk
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  const etag: unknown = etagOf(bytes, undefined)
  if (!etag) return bytes
  // a conditional request is compared with the response's headers, so that `request.fresh` must find it there
  if (isConditional(response.req)) response.setHeader('ETag', String(etag))
  else reply.header('etag', String(etag))
  return bytes
}

function isConditional(request: { headers: NodeJS.Dict<string | string[]> }): boolean {
  return request.headers['if-none-match'] !== undefined || request.headers['if-modified-since'] !== undefined
}

/** What reply.send gets. Fastify writes length and type itself, and guesses a type only for a payload that has one. */
function payloadFor(response: LinkedResponse, reply: FastifyReply, { chunk, type }: Payload): Chunk {
  const status = response.statusCode
  if (status === 204 || status === 304) {
    reply.removeHeader('content-type')
    reply.removeHeader('content-length')
    return undefined
  }
  if (type !== undefined) setType(response, reply, type)
  const isHead = response.req.method === 'HEAD'
  if (response.hasHeader('content-length') && !(isHead && chunk === undefined)) response.removeHeader('content-length')
  if (status === 205) {
    reply.header('content-length', '0')
    return undefined
  }
  if (chunk === undefined) return undefined
  if (isHead) reply.header('content-length', String(Buffer.byteLength(chunk)))
  return chunk.length === 0 && !reply.hasHeader('content-type') ? undefined : chunk
}

function setType(response: LinkedResponse, reply: FastifyReply, type: string): void {
  if (response.hasHeader('content-type')) response.setHeader('Content-Type', type)
  else reply.header('content-type', type)
}

/** Express's own way, for what reply.send cannot do: a response without a reply, or with a Transfer-Encoding of the user's. */
function finishRaw(response: LinkedResponse, { chunk, type }: Payload): LinkedResponse {
  if (type !== undefined) response.setHeader('Content-Type', type)
  return express.response.send.call(response, typeof chunk === 'string' ? Buffer.from(chunk) : chunk) as LinkedResponse
}

/** `end` and `writeHead` over those of a base prototype. */
export function answeringMethods(base: ResponseBase): Pick<ServerResponse, 'end' | 'writeHead'> {
  function writeHead(this: LinkedResponse, status: number, ...rest: unknown[]): LinkedResponse {
    if (this.writableEnded) return tooLate(this, 'writeHead')
    if (this.end !== end && isWithFastify(this)) return holdHead(this, status, rest.at(-1))
    const reply = this[kReply]
    if (reply !== null && this[kAnswered] === OPEN) {
      copyFromReply(this, reply)
      mergeGiven(this, rest.at(-1))
    }
    const head = Reflect.apply(base.writeHead, this, [status, ...rest]) as LinkedResponse
    if (this[kAnswered] !== LEAVING) markAnswered(this, LEAVING)
    return head
  }
  function end(this: LinkedResponse, chunk?: unknown, encoding?: unknown, callback?: unknown): LinkedResponse {
    const reply = this[kReply]
    if (this[kAnswered] === HANDED_OVER && !this.headersSent) return this // `end()` after `send()`: hooks still run
    if (this.writableEnded && chunk) return tooLate(this, 'end')
    if (reply !== null && this[kAnswered] === OPEN && mustRunOnSend(this, reply)) {
      // a patched `end` (express-session, compression) is running: Fastify must not enter it a second time
      if (this.end !== end) Reflect.set(this, 'end', base.end)
      return endByReply(this, [chunk, encoding, callback])
    }
    if (this[kAnswered] === FAILING) this[kAnswered] = LEAVING
    Reflect.apply(base.end, this, [chunk, encoding, callback])
    return this // that of an injected response returns nothing
  }
  return { writeHead: writeHead as ServerResponse['writeHead'], end: end as ServerResponse['end'] }
}

function isWithFastify(response: LinkedResponse): boolean {
  return (response[kAnswered] === HANDED_OVER || response[kAnswered] === FAILING) && !response.headersSent
}

/**
 * Fastify writes the head before it calls `end`. Under Express a patched `end` (middleware that measures, session stores)
 * may still set headers, so the head waits: it goes out with the body.
 */
function holdHead(response: LinkedResponse, status: number, headers: unknown): LinkedResponse {
  markAnswered(response, LEAVING)
  response.statusCode = status
  if (typeof headers === 'object' && headers !== null)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string)
  return response
}

/** Headers given to writeHead replace those set before; cookies and `Vary` of both must arrive. */
function mergeGiven(response: LinkedResponse, given: unknown): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return
  const headers = given as Record<string, string | string[]>
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase()
    if ((lower !== 'set-cookie' && lower !== 'vary') || !response.hasHeader(lower)) continue
    mergeHeader(response, lower, headers[name])
    headers[name] = response.getHeader(lower) as string | string[]
  }
}

function mustRunOnSend(response: LinkedResponse, reply: FastifyReply): boolean {
  return !response.headersSent && !reply.sent && !response.hasHeader('transfer-encoding') && hasOnSend(reply)
}

/** A first raw `end` on a route with onSend hooks: the payload takes the reply's way, so that they run. */
function endByReply(response: LinkedResponse, given: unknown[]): LinkedResponse {
  const [chunk, encoding] = given
  const callback = given.find((argument) => typeof argument === 'function') as (() => void) | undefined
  if (callback !== undefined) response.once('finish', callback)
  const reply = response[kReply] as FastifyReply
  mergeIntoReply(response, reply)
  const payload = rawPayload(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  if (payload !== undefined && response.req.method !== 'HEAD') response.removeHeader('content-length')
  // as a Buffer the payload keeps the Content-Type as it was set: Fastify adds a charset to that of a string
  handOver(
    response,
    reply,
    typeof payload === 'string' && response.hasHeader('content-type') ? Buffer.from(payload) : payload
  )
  return response
}

function rawPayload(chunk: unknown, encoding: BufferEncoding): Chunk {
  if (typeof chunk === 'string') {
    if (chunk === '') return undefined
    return /^utf-?8$/i.test(encoding) ? chunk : Buffer.from(chunk, encoding)
  }
  return ArrayBuffer.isView(chunk) && chunk.byteLength > 0 ? bytesOf(chunk) : undefined
}
