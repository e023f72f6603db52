import type { FastifyReply } from 'fastify'
import { isSendable } from '../errors/thrown.js'
import { removeContentHeaders } from './headers.js'
import { HANDED_OVER, kAnswered, kRawEnd, LEAVING, markAnswered, OPEN, type LinkedResponse } from '../link/state.js'
import { cleanStatusLine, statusLineError } from './status-line.js'

/** What a whole body is handed over as. */
export type Chunk = string | Uint8Array | undefined

/** The answer that is being handed over in this turn: what node throws of it reaches the caller. */
let underWay: LinkedResponse | null = null

/**
 * Gives the payload to Fastify. An answer that node refuses to send (a status of 99, a header with a line break) is thrown
 * to the caller, and the response is open again for the error answer.
 */
export function handOver(response: LinkedResponse, reply: FastifyReply, payload: unknown, lowestStatus = 200): void {
  markAnswered(response, isStream(payload) ? LEAVING : HANDED_OVER)
  // looked at before onSend hooks run; below 200 it is no answer, which only a raw `end` may mean
  const refused = statusLineError(response, lowestStatus)
  const outer = underWay
  underWay = response
  try {
    if (refused !== undefined) throw refused
    reply.send(payload)
  } catch (error) {
    reopen(response, reply)
    throw error
  } finally {
    underWay = outer
  }
}

/** Whether what is thrown while this answer's head is written has somebody to catch it: behind asynchronous hooks it has not. */
export function isUnderWay(response: LinkedResponse): boolean {
  return underWay === response
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
  return typeof Reflect.get(payload, 'pipe') === 'function' || typeof Reflect.get(payload, 'getReader') === 'function'
}

/** Resets what was set for the refused answer, so that the error response does not inherit it. */
function reopen(response: LinkedResponse, reply: FastifyReply): void {
  if (response.headersSent) return
  response[kAnswered] = OPEN
  response[kRawEnd] = null
  cleanStatusLine(response)
  removeContentHeaders(reply)
  const headers = reply.getHeaders()
  for (const name of Object.keys(headers)) if (!isSendable(name, headers[name])) reply.removeHeader(name)
}
