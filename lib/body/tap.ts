import type { IncomingMessage } from 'node:http'
import { abortedBody } from '../errors/refusals.js'
import {
  kChunks,
  kExpect,
  kLimit,
  kSize,
  kTap,
  kWake,
  TAP_ARMED,
  TAP_IDLE,
  TAP_MISSED,
  TAP_OFF,
  TAP_OVERFLOW,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'
import { bodyKind } from './parse.js'

type Push = IncomingMessage['push']

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

/** Tells the client to send its body. */
export function askForBody(request: LinkedRequest): void {
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

/** `Expect: 100-continue` on a server of ours: noted here, answered by {@link tapRead} or {@link awaitBody}. */
export function deferContinue(request: IncomingMessage, response: LinkedResponse): void {
  ;(request as LinkedRequest)[kExpect] = true
  ;(request as LinkedRequest).res = response
}
