import type { FastifyReply } from 'fastify'
import { isSendable } from '../errors/error-headers.js'
import { removeContentHeaders } from './headers.js'
import { HANDED_OVER, kAnswered, LEAVING, markAnswered, OPEN, type LinkedResponse } from './slots.js'

/** What a whole body is handed over as. */
export type Chunk = string | Uint8Array | undefined

const NOT_IN_STATUS_LINE = /[^\t\x20-\x7e\x80-\xff]/

/**
 * Gives the payload to Fastify. An answer that node refuses to send (a status of 99, a header with a line break) is thrown
 * to the caller, and the response is open again for the error answer.
 */
export function handOver(response: LinkedResponse, reply: FastifyReply, payload: unknown): void {
  markAnswered(response, isStream(payload) ? LEAVING : HANDED_OVER)
  try {
    checkStatusLine(response)
    reply.send(payload)
  } catch (error) {
    reopen(response, reply)
    throw error
  }
}

/** The same memory as a Buffer, the one view that Fastify sends. */
export function bytesOf(view: ArrayBufferView): Buffer {
  return Buffer.isBuffer(view) ? view : Buffer.from(view.buffer, view.byteOffset, view.byteLength)
}

/** Node streams and web streams. */
export function isStream(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null) return false
  return typeof Reflect.get(payload, 'pipe') === 'function' || typeof Reflect.get(payload, 'getReader') === 'function'
}

/**
 * Looked at before onSend hooks run, since nobody could catch what node throws behind an asynchronous one. A status below
 * 200 is no answer: the client would go on waiting for one.
 */
function checkStatusLine({ statusCode, statusMessage }: LinkedResponse): void {
  if (!(statusCode >= 200 && statusCode <= 999)) throw new RangeError(`Status ${statusCode} cannot be sent`)
  if (statusMessage !== undefined && NOT_IN_STATUS_LINE.test(statusMessage)) {
    throw new TypeError('The status message has a character that cannot be sent')
  }
}

/** What was said about the refused answer must not be said of the error's. */
function reopen(response: LinkedResponse, reply: FastifyReply): void {
  if (response.headersSent) return
  response[kAnswered] = OPEN
  response.statusCode = 500
  Reflect.set(response, 'statusMessage', undefined)
  removeContentHeaders(reply)
  const headers = reply.getHeaders()
  for (const name of Object.keys(headers)) if (!isSendable(name, headers[name])) reply.removeHeader(name)
}
