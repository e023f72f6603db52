import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import { abortedBody, bodyTooLarge } from '../errors/refusals.js'
import { bodyKind, parseBody, type BodyKind } from './parse.js'
import { readBody } from './stream.js'
import {
  kBodyError,
  kChunks,
  kExpect,
  kLimit,
  kOtherKind,
  kSize,
  kTap,
  kWake,
  TAP_ARMED,
  TAP_DONE,
  TAP_IDLE,
  TAP_MISSED,
  TAP_OFF,
  TAP_OVERFLOW,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'
import type { FastifyInstance } from 'fastify'

type Push = IncomingMessage['push']
type Done = (error?: Error) => void

/**
 * The tap: keeps the chunks of a body as node's parser delivers them. The parser hands every chunk to `push`; the request
 * class overrides it and keeps references to the chunks of JSON, urlencoded and text bodies. The stream itself is neither
 * read nor listened to, so middleware and handlers that want it (multer, proxies, raw webhooks) find it untouched even after
 * `body` is set.
 */
export function tapPush(push: Push): Push {
  return function tappedPush(this: IncomingMessage, chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const request = this as LinkedRequest
    if (request[kTap] === TAP_ARMED) return chunk === null ? endOfBody(request, push) : keepChunk(request, push, chunk)
    if (request[kTap] === TAP_IDLE && chunk !== null) request[kTap] = TAP_MISSED
    return push.call(this, chunk, encoding)
  } as Push
}

function keepChunk(request: LinkedRequest, push: Push, chunk: Buffer): boolean {
  request[kSize] += chunk.length
  if (request[kSize] > request[kLimit]) return overflow(request, push, chunk)
  const chunks = request[kChunks]
  if (chunks !== null) chunks.push(chunk)
  else if (bodyKind(request.headers['content-type']) !== null) request[kChunks] = [chunk]
  else {
    request[kTap] = TAP_OFF
    return push.call(request, chunk)
  }
  push.call(request, chunk)
  return true // above the stream's high-water mark the parser must not pause: the limit is ours
}

/** Too much: for the limit where the body is waited for, else to be held, and node's own back-pressure begins. */
function overflow(request: LinkedRequest, push: Push, chunk: Buffer): boolean {
  request[kTap] = request[kWake] === null ? TAP_MISSED : TAP_OVERFLOW
  request[kChunks] = null
  const more = push.call(request, chunk)
  request[kWake]?.()
  return more
}

function endOfBody(request: LinkedRequest, push: Push): boolean {
  const more = push.call(request, null)
  request[kWake]?.()
  return more
}

/** Ends the wait for the body of a request that is destroyed. */
export function tapDestroy(destroy: IncomingMessage['_destroy']): IncomingMessage['_destroy'] {
  return function tappedDestroy(this: IncomingMessage, error: Error | null, callback: (error?: Error | null) => void) {
    const wake = (this as LinkedRequest)[kWake]
    if (wake) process.nextTick(wake, abortedBody())
    destroy.call(this, error, callback)
  }
}

/** `Expect: 100-continue`: the client is asked for its body only when it is read. */
export function tapRead(read: IncomingMessage['_read']): IncomingMessage['_read'] {
  return function tappedRead(this: IncomingMessage, size: number) {
    const request = this as LinkedRequest
    if (request[kExpect]) askForBody(request)
    read.call(this, size)
  }
}

function askForBody(request: LinkedRequest): void {
  request[kExpect] = false
  const response = request.res
  if (response !== undefined && !response.headersSent) response.writeContinue()
}

/**
 * Bytes of a body that are kept before it is waited for. A guard may take its time, and a client that sends more must not make the
 * process hold it: the rest stays with the client, and the body is read from the stream when the chain has ended.
 */
const HELD_AHEAD = 64 * 1024

/** From here on the chunks of the body are kept. Free for requests without one. */
export function armTap(request: LinkedRequest): void {
  if (request[kTap] !== TAP_IDLE) return
  request[kTap] = TAP_ARMED
  request[kLimit] = HELD_AHEAD
}

/**
 * Waits for the body and sets `request.body`, unless a middleware has set it or read the stream. `done` gets an ApiError for a
 * body that is malformed, too large, of an unknown charset or encoding, or cut off; it runs in the caller's async context.
 */
export function awaitBody(request: LinkedRequest, limit: number, done: Done): void {
  if (request.body !== undefined) return done()
  if (request[kTap] === TAP_DONE) return done(request[kBodyError])
  const kind = bodyKind(request.headers['content-type'])
  if (kind === null || !hasBody(request) || request.readableDidRead) return endBodyStep(request, done)
  if (Number(request.headers['content-length']) > limit) return endBodyStep(request, done, bodyTooLarge(limit))
  if (request[kExpect]) askForBody(request)
  if (request[kTap] === TAP_ARMED) return awaitTap(request, kind, limit, done)
  readBody(request, limit, (error, bytes) => {
    if (error === null) setBody(request, bytes, { kind, limit }, done)
    else endBodyStep(request, done, error)
  })
}

/** Whether it is the client's turn: all that has arrived of the body is read, and there is more to come. */
export function waitsForClient(request: LinkedRequest): boolean {
  if (request.complete || request.readableEnded) return false
  return request[kWake] !== null || (request.readableDidRead && request.readableLength === 0)
}

/**
 * Ends body parsing. With `bodyParser: 'early'` the error is kept and raised just before the handler, unless a middleware
 * sets `request.body` first.
 */
function endBodyStep(request: LinkedRequest, done: Done, error?: Error): void {
  request[kTap] = TAP_DONE
  request[kChunks] = null
  request[kBodyError] = error
  done(error)
}

/**
 * An HTTP/1 message has a body when its head says so (RFC 9112, section 6.3). That of an HTTP/2 message need not, but its
 * stream knows; an injected one may be a stream, which has to be read to know.
 */
function hasBody(request: LinkedRequest): boolean {
  const length = request.headers['content-length']
  if (length !== undefined) return length !== '0'
  if (request.headers['transfer-encoding'] !== undefined) return true
  if (request[kOtherKind] !== true) return false
  const { stream } = request as { stream?: { endAfterHeaders?: boolean } }
  return stream?.endAfterHeaders !== true
}

function awaitTap(request: LinkedRequest, kind: BodyKind, limit: number, done: Done): void {
  request[kLimit] = limit
  const finish: Done = (error) => {
    request[kWake] = null
    if (error) return endBodyStep(request, done, error)
    if (request[kTap] === TAP_OVERFLOW || request[kSize] > limit) return endBodyStep(request, done, bodyTooLarge(limit))
    const chunks = request[kChunks] ?? []
    setBody(request, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), { kind, limit }, done)
  }
  if (request.complete) return finish()
  if (request.destroyed) return finish(abortedBody())
  // the parser wakes us outside of any request's async context: AsyncLocalStorage would be lost without this
  const scope = new AsyncResource('twinroute.body', { requireManualDestroy: true })
  request[kWake] = (error) => scope.runInAsyncScope(finish, undefined, error)
}

interface ParseSettings {
  kind: BodyKind
  limit: number
}

function setBody(request: LinkedRequest, bytes: Buffer, { kind, limit }: ParseSettings, done: Done): void {
  const encoding = request.headers['content-encoding']
  parseBody(bytes, { kind, encoding }, limit, (error, value) => {
    if (error === null && value !== undefined && request.body === undefined) request.body = value
    endBodyStep(request, done, error ?? undefined)
  })
}

/** `Expect: 100-continue` on a server of ours: noted here, answered by {@link tapRead} or {@link awaitBody}. */
export function deferContinue(request: IncomingMessage, response: LinkedResponse): void {
  ;(request as LinkedRequest)[kExpect] = true
  ;(request as LinkedRequest).res = response
}

/** Fastify's parsers would consume the stream; they are replaced by one that returns what our own step has parsed. */
export function skipBodyParsers(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  // an expression, as Fastify remembers what it matches; for `*` it would read the type of each request anew
  scope.addContentTypeParser(/^/, (request, _payload, done) => {
    done(null, (request.raw as { body?: unknown }).body)
  })
}
