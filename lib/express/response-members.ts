import { format as formatContentType, parse as parseContentType } from 'content-type'
import express from 'express'
import type { FastifyReply } from 'fastify'
import { validateHeader } from '../errors/error-headers.js'
import { etagOf } from './etag-and-json.js'
import { bytesOf, handOver, HTML, JSON_TYPE, type Chunk } from '../answer/send.js'
import { setEtag, setType } from '../answer/reply-headers.js'
import { isUnfinished, refuseSecond, tooLate } from '../answer/late-calls.js'
import { HANDED_OVER, isAnswered, kAnswered, kReply, type LinkedResponse } from '../link/state.js'

const BYTES = 'application/octet-stream'

// read once: V8 looks up a member of the function `express` at each use
const { response: expressResponse } = express
const { json: expressOwnJson, send: expressSend } = expressResponse

/** Whether a middleware has replaced `json` or `send` on this response, or another package on Express's own for all. */
export function hasOtherJson(response: LinkedResponse): boolean {
  return response.json !== json || expressResponse.json !== expressOwnJson || hasOtherSend(response)
}

/** The same for `send`. */
export function hasOtherSend(response: LinkedResponse): boolean {
  return response.send !== send || expressResponse.send !== expressSend
}

/**
 * `response.send` with Express 5's semantics (https://expressjs.com/en/5x/api.html#res.send), finished by Fastify's
 * `reply.send`: onSend hooks run, and type and ETag go out in the one header object Fastify writes.
 */
export function send(this: LinkedResponse, body?: unknown): LinkedResponse {
  if (expressResponse.send !== expressSend) {
    return isLate(this)
      ? refuseSecond(this, 'response.send()')
      : (expressResponse.send.call(this, body) as LinkedResponse)
  }
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
  if (this[kAnswered] === HANDED_OVER) return tooLate(this, 'response.status()')
  return expressResponse.status.call(this, code) as LinkedResponse
}

/** `response.json` as Express 5's. JSON settings of the app and a replaced `send` are honoured. */
export function json(this: LinkedResponse, body?: unknown): LinkedResponse {
  const settings = this.app.settings as Record<string, unknown>
  const isReplaced = expressResponse.json !== expressOwnJson || hasOtherSend(this)
  if (isReplaced || settings['json escape'] || settings['json replacer'] || settings['json spaces']) {
    if (isLate(this)) return refuseSecond(this, 'response.json()')
    return expressResponse.json.call(this, body) as LinkedResponse
  }
  const text = JSON.stringify(body) as string | undefined
  if (text === undefined) {
    if (!currentType(this)) {
      if (isLate(this)) return refuseSecond(this, 'response.json()')
      this.setHeader('Content-Type', JSON_TYPE)
    }
    return finish(this, { chunk: undefined, type: undefined })
  }
  return finish(this, { chunk: text, type: currentType(this) ? textType(this) : JSON_TYPE })
}

/** Express's further ways to answer, which set headers first: after an answer they are mistakes like a second `send`. */
export function lateProofAnswer(name: 'jsonp' | 'redirect' | 'sendStatus') {
  return function (this: LinkedResponse, ...given: unknown[]): unknown {
    return isLate(this) ? refuseSecond(this, `response.${name}()`) : Reflect.apply(expressResponse[name], this, given)
  }
}

/**
 * `response.sendFile` as Express 5's. Its options and headers are read here: once the file is open, what they throw has no
 * catcher and would end the process.
 */
export function sendFile(this: LinkedResponse, path: unknown, ...given: unknown[]): unknown {
  const [options] = given
  const read = typeof options === 'object' && options !== null ? readOptions(options) : options
  return Reflect.apply(expressResponse.sendFile, this, [path, read, ...given.slice(1)])
}

/** A copy of what can be listed; `download` passes options that inherit those of its caller. */
function readOptions(options: object): object {
  const read: Record<string, unknown> = Object.create(options) as Record<string, unknown>
  for (const name in options) {
    const value: unknown = Reflect.get(options, name)
    Object.defineProperty(read, name, { value, writable: true, configurable: true, enumerable: true })
  }
  if (!('headers' in options)) return read
  const headers = { ...(read['headers'] as Record<string, unknown> | undefined) }
  for (const name of Object.keys(headers)) validateHeader(name, headers[name])
  return Object.defineProperty(read, 'headers', {
    value: headers,
    writable: true,
    configurable: true,
    enumerable: true
  })
}

function isLate(response: LinkedResponse): boolean {
  return response[kReply] !== null && isAnswered(response)
}

function currentType(response: LinkedResponse): unknown {
  return response.getHeader('content-type')
}

/** The type of a text: HTML unless one is set, which then gets the charset the text is sent in. */
function textType(response: LinkedResponse): string {
  const type = currentType(response)
  if (typeof type !== 'string' || type === '') return HTML
  const parsed = parseContentType(type)
  parsed.parameters.charset = 'utf-8'
  return formatContentType(parsed)
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
  if (isAnswered(response) || reply.sent) {
    if (chunk === undefined && isUnfinished(response)) return response.end() // as in Express: nothing is added
    return refuseSecond(response, 'response.send()')
  }
  if (response.hasHeader('transfer-encoding')) return finishRaw(response, { chunk, type })
  addEtag(response, reply, chunk)
  if (isConditional(response.req) && response.req.fresh) response.statusCode = 304
  handOver(response, reply, payloadFor(response, reply, { chunk, type }))
  return response
}

function addEtag(response: LinkedResponse, reply: FastifyReply, chunk: Chunk): void {
  const setting = (response.app.settings as Record<string, unknown>)['etag fn']
  if (chunk === undefined || typeof setting !== 'function' || response.getHeader('etag')) return
  const etag = etagOf(setting as Parameters<typeof etagOf>[0], chunk)
  if (etag) setEtag(response, reply, String(etag))
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
  if (chunk.length === 0 && !reply.hasHeader('content-type')) return undefined
  return type === undefined && typeof chunk === 'string' ? Buffer.from(chunk) : chunk // Fastify would complete the type
}

/** Express's own way, for what reply.send cannot do: a response without a reply, or with a Transfer-Encoding of the user's. */
function finishRaw(response: LinkedResponse, { chunk, type }: Payload): LinkedResponse {
  if (type !== undefined) response.setHeader('Content-Type', type)
  return expressResponse.send.call(response, typeof chunk === 'string' ? Buffer.from(chunk) : chunk) as LinkedResponse
}
