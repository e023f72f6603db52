import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { HANDED_OVER, kAnswered, LEAVING, markAnswered, OPEN, type LinkedResponse } from './slots.js'

/**
 * Gives the payload to Fastify. An answer that node refuses to send (a status of 99, a header with a line break) is thrown
 * to the caller, and the response is open again for the error answer.
 */
export function handOver(response: LinkedResponse, reply: FastifyReply, payload: unknown): void {
  markAnswered(response, isStream(payload) ? LEAVING : HANDED_OVER)
  try {
    reply.send(payload)
  } catch (error) {
    reopen(response, reply)
    throw error
  }
}

/** Node streams and web streams. */
export function isStream(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null) return false
  return typeof Reflect.get(payload, 'pipe') === 'function' || typeof Reflect.get(payload, 'getReader') === 'function'
}

function reopen(response: LinkedResponse, reply: FastifyReply): void {
  if (response.headersSent) return
  response[kAnswered] = OPEN
  response.statusCode = 500
  const headers = reply.getHeaders()
  for (const name of Object.keys(headers)) if (isRefused(name, headers[name])) reply.removeHeader(name)
}

function isRefused(name: string, value: unknown): boolean {
  try {
    for (const one of Array.isArray(value) ? value : [value]) validateHeaderValue(name, String(one))
    return false
  } catch {
    return true
  }
}
