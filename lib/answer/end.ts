import { ServerResponse } from 'node:http'
import express from 'express'
import type { FastifyReply } from 'fastify'
import { bytesOf, handOver, type Chunk, type HeadArguments, writeHeadSafely } from './send.js'
import type { HeadBase } from './headers.js'
import { failLate, isPastTimeout, tooLate } from './late-calls.js'
import { hasHooks } from '../link/private-names.js'
import { endInOneWrite, isEndOfNode } from '../link/unsent-answer.js'
import {
  BEGUN,
  FAILING,
  HANDED_OVER,
  kAnswered,
  kHeaders,
  kRawEnd,
  kReply,
  LEAVING,
  markAnswered,
  OPEN,
  type LinkedResponse
} from '../link/state.js'
import { callbackIn, refuseWrite } from './status-line.js'

/*
 * How an answer ends: the state in `kAnswered`, the call, what happens, the next state. `-` is: stays. Where two rows fit,
 * the first one counts.
 *
 * State        Call                            What happens                                         Next
 * any, ended   writeHead, setHeader …          ERR_HTTP_HEADERS_SENT; after a timeout warned         -
 * any, ended   write, end(chunk)               warned, no effect; its callback gets node's error    -
 * any, ended   end                             node's: its callback gets that the answer has ended   -
 * OPEN         write, end, refused by node     to the error handler (status-line.ts)                FAILING
 * OPEN         send, json                      send.ts: reply.send, onSend hooks                    HANDED_OVER
 * OPEN         a stream is delivered           send.ts: Fastify pipes it                            LEAVING
 * OPEN         writeHead, refused by node      thrown if it was given, else left out (send.ts)       -, BEGUN
 * OPEN         writeHead                       node's writeHead, with the reply's headers           BEGUN
 * OPEN         write                           node's write, which calls writeHead                  BEGUN
 * OPEN         end, onSend hooks               sent with reply.send, so that onSend hooks run       HANDED_OVER
 * OPEN         end, no hooks to run            node's end, which calls writeHead                    BEGUN
 * OPEN         an error                        dispatch/failure.ts: to the error handler            FAILING
 * HANDED_OVER  what node refuses to send       thrown to the caller of `send` (send.ts)             OPEN
 * HANDED_OVER  an error in a hook              install-error-handler.ts: to error middleware        OPEN
 * HANDED_OVER  the same, no error middleware   to the error handler, which calls reply.send         -
 * HANDED_OVER  end                             nothing: hooks still run, Fastify will end           -
 * not OPEN     writeHead, refused by node      the head goes out without it (send.ts)               LEAVING
 * HANDED_OVER  status                          warned, no effect                                    -
 * HANDED_OVER  writeHead, `end` raw or patched the head waits for the body (holdHead)               LEAVING
 * HANDED_OVER  writeHead                       node's, called by Fastify                            LEAVING
 * HANDED_OVER  write                           node's, called by Fastify when it pipes              LEAVING
 * FAILING      writeHead, write                as HANDED_OVER                                       LEAVING
 * FAILING      end                             node's: this is the error handler's answer           LEAVING
 * LEAVING      writeHead, write, end           node's, with node's errors                           -
 * BEGUN        the same                        the same                                             -
 * BEGUN        send, json, a value returned    an error, unless it ended or a stream is piped       REFUSED
 * REFUSED      send, json                      cut off                                              -
 * not OPEN     send, json                      warned, no effect: the first answer counts           -
 * not OPEN     any other error                 logged; an answer half sent is cut off               -
 *
 * A response without a reply is never handed over, and one with a Transfer-Encoding of the user's is not either: `send` is
 * Express's own there, and `end` node's.
 */

/** The methods of node's response that an answer leaves by; other bases (HTTP/2, injected) have their own. */
export interface ResponseBase extends HeadBase {
  end: ServerResponse['end']
  writeHead: ServerResponse['writeHead']
}

/** `end` and `writeHead` over those of a base prototype. */
export function answeringMethods(base: ResponseBase): Pick<ServerResponse, 'end' | 'writeHead'> {
  function writeHead(this: LinkedResponse, ...given: HeadArguments): LinkedResponse {
    if (isPastTimeout(this)) return tooLate(this, 'response.writeHead()')
    const isPatched = this.end !== end || this[kRawEnd] !== null || hasOtherEnd(base)
    if (isPatched && isWithFastify(this)) {
      if (this.writeHead !== writeHead) Reflect.set(this, 'writeHead', writeHead) // what has replaced it has run
      return holdHead(this, given)
    }
    const head = writeHeadSafely(this, base, given)
    const state = this[kAnswered]
    if (state === OPEN) markAnswered(this, BEGUN)
    else if (state === HANDED_OVER || state === FAILING) markAnswered(this, LEAVING)
    return head
  }
  function end(this: LinkedResponse, chunk?: unknown, encoding?: unknown, callback?: unknown): LinkedResponse {
    const reply = this[kReply]
    if (this.writableEnded || (this[kAnswered] === HANDED_OVER && !this.headersSent)) {
      return endLate(this, base, [chunk, encoding, callback])
    }
    if (refuseWrite(this, chunk, encoding, callback)) return this
    if (reply !== null && this[kAnswered] === OPEN && mustRunOnSend(this, reply)) {
      // a patched `end` (express-session, compression) is running: Fastify must not enter it a second time
      if (this.end !== end) Reflect.set(this, 'end', base.end)
      return endByReply(this, [chunk, encoding, callback])
    }
    if (this[kAnswered] === FAILING) this[kAnswered] = LEAVING
    const isAlone = endOfNode !== undefined && base.end === endOfNode && isBody(chunk, encoding) && !callback
    if (!isAlone || !endInOneWrite(this, endOfNode, chunk))
      base.end.call(this, chunk, encoding as BufferEncoding, callback as () => void)
    return this // that of an injected response returns nothing
  }
  return { writeHead: writeHead as ServerResponse['writeHead'], end: end as ServerResponse['end'] }
}

const endOfNode = isEndOfNode(ServerResponse.prototype.end) ? ServerResponse.prototype.end : undefined

/** What `end` is given is a body alone: its callback may stand in the place of the encoding. */
function isBody(chunk: unknown, encoding: unknown): chunk is string | Uint8Array {
  if (encoding !== undefined && encoding !== null && encoding !== 'utf8') return false
  return (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > 0
}

/** Another package has put its own `end` on Express's response, for all applications. */
function hasOtherEnd(base: ResponseBase): boolean {
  return base === express.response && base.end !== ServerResponse.prototype.end
}

/** `end()` after the answer ends nothing: its callback is called at the answer's end, or told that its data is too late. */
function endLate(response: LinkedResponse, base: ResponseBase, given: unknown[]): LinkedResponse {
  const [chunk] = given
  if (chunk && typeof chunk !== 'function') failLate(response, 'end', given)
  else if (response.writableEnded) Reflect.apply(base.end, response, given)
  else {
    const callback = callbackIn(given) // hooks still run
    if (callback !== undefined) response.once('finish', callback)
  }
  return response
}

function isWithFastify(response: LinkedResponse): boolean {
  return (response[kAnswered] === HANDED_OVER || response[kAnswered] === FAILING) && !response.headersSent
}

/**
 * Fastify writes the head before it calls `end`. Under Express a patched `end` (middleware that measures, session stores)
 * may still set headers, so the head waits: it goes out with the body. So does that of a raw `end`, to which Fastify would
 * add what only node can add.
 */
function holdHead(response: LinkedResponse, [status, ...rest]: HeadArguments): LinkedResponse {
  const headers = rest.at(-1)
  markAnswered(response, LEAVING)
  response.statusCode = status
  if (typeof headers === 'object' && headers !== null && headers !== response[kHeaders])
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string)
  // not by removeHeader, after which node writes no length of its own either
  if (response[kRawEnd] === false) Reflect.deleteProperty(response[kHeaders] ?? {}, 'content-length')
  return response
}

function mustRunOnSend(response: LinkedResponse, reply: FastifyReply): boolean {
  return !response.headersSent && !reply.sent && !response.hasHeader('transfer-encoding') && hasHooks(reply, 'onSend')
}

/**
 * A first raw `end` on a route with onSend hooks: the payload takes the reply's way, so that they run. The headers stay as
 * the author and the hooks have set them.
 */
function endByReply(response: LinkedResponse, given: unknown[]): LinkedResponse {
  const [chunk, encoding] = given
  const callback = callbackIn(given)
  if (callback !== undefined) response.once('finish', callback)
  const reply = response[kReply] as FastifyReply
  const length = response.getHeader('content-length')
  response[kRawEnd] = length !== undefined
  if (length !== undefined) reply.header('content-length', length) // Fastify corrects it if a hook changes the payload
  const payload = rawPayload(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  handOver(response, reply, keepType(response, isBodiless(response.statusCode) ? undefined : payload), 100)
  return response
}

function isBodiless(status: number): boolean {
  return status < 200 || status === 204
}

/** Fastify guesses a type that is missing, and completes that of a JSON text: neither is done to a raw answer. */
function keepType(response: LinkedResponse, payload: Chunk): Chunk {
  const type = response.getHeader('content-type')
  if (type !== undefined)
    return typeof payload === 'string' && /json/i.test(String(type)) ? Buffer.from(payload) : payload
  const headers = response[kHeaders]
  if (payload === undefined || headers === null) return payload
  const forget = (): unknown => Reflect.deleteProperty(headers, 'content-type')
  Object.defineProperty(headers, 'content-type', { configurable: true, set: forget }) // the guess, before any hook runs
  return payload
}

function rawPayload(chunk: unknown, encoding: BufferEncoding): Chunk {
  if (typeof chunk === 'string') {
    if (chunk === '') return undefined
    return /^utf-?8$/i.test(encoding) ? chunk : Buffer.from(chunk, encoding)
  }
  return ArrayBuffer.isView(chunk) && chunk.byteLength > 0 ? bytesOf(chunk) : undefined
}
