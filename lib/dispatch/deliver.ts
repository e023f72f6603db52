import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { StatusObject } from '../contract/handler.js'
import { handOver, isStream } from '../compat/hand-over.js'
import { mergeIntoReply, setReplyHeader } from '../compat/headers.js'
import { json, send } from '../compat/response.js'
import { isAnswered, type LinkedResponse } from '../compat/slots.js'
import type { Runtime } from './runtime.js'

const HTML = 'text/html; charset=utf-8'
const STATUS_KEYS = new Set(['status', 'headers', 'body'])

/**
 * Turns what a handler returned into the answer: the only place that does. undefined leaves the answer to the response
 * object; a value returned after an answer is dropped.
 */
export function deliver(runtime: Runtime, reply: FastifyReply, result: unknown): void {
  const response = reply.raw as LinkedResponse
  if (result === undefined || isAnswered(response)) return
  try {
    if (typeof result !== 'object' || result === null) deliverBody(response, reply, result)
    else if (isStatusObject(result)) deliverStatus(response, reply, result)
    else if (isPlain(result)) deliverJson(response, reply, result)
    else if (isWebResponse(result)) deliverWebResponse(response, reply, result)
    else if (result instanceof Error) runtime.fail(reply, result)
    else deliverBody(response, reply, result)
  } catch (error) {
    runtime.fail(reply, error)
  }
}

/** An integer status from 200 to 599 and no keys but status, headers, body; `{ status: 200, data }` is data. */
export function isStatusObject(result: object): result is StatusObject {
  const { status } = result as { status?: unknown }
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return false
  return isPlain(result) && Object.keys(result).every((key) => STATUS_KEYS.has(key))
}

/** The common case, told apart first: an object literal is JSON, whatever its members are called. */
function isPlain(result: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(result)
  return prototype === Object.prototype || prototype === null
}

function isWebResponse(result: object): result is globalThis.Response {
  return Object.prototype.toString.call(result) === '[object Response]'
}

function deliverStatus(response: LinkedResponse, reply: FastifyReply, { status, headers, body }: StatusObject): void {
  response.statusCode = status
  if (headers !== undefined) {
    mergeIntoReply(response, reply)
    for (const name of Object.keys(headers)) setReplyHeader(reply, name, headers[name] as string)
  }
  if (body === undefined || status === 204 || status === 304) return sendPayload(response, reply, undefined)
  deliverBody(response, reply, body)
}

function deliverWebResponse(response: LinkedResponse, reply: FastifyReply, result: globalThis.Response): void {
  response.statusCode = result.status
  mergeIntoReply(response, reply)
  for (const [name, value] of result.headers) setReplyHeader(reply, name, value)
  sendPayload(response, reply, result.body ?? undefined)
}

function deliverBody(response: LinkedResponse, reply: FastifyReply, body: unknown): void {
  if (typeof body === 'string') return deliverText(response, reply, body)
  if (typeof body === 'object' && body !== null && !isPlain(body)) {
    if (isStream(body) || ArrayBuffer.isView(body)) return sendPayload(response, reply, body)
    if (Symbol.asyncIterator in body) return sendPayload(response, reply, Readable.from(body as AsyncIterable<unknown>))
  }
  deliverJson(response, reply, body)
}

function deliverText(response: LinkedResponse, reply: FastifyReply, text: string): void {
  if (response.send !== send) {
    response.send(text) // a middleware has replaced it, so as to see or change what is sent
    return
  }
  if (!reply.hasHeader('content-type')) reply.header('content-type', HTML)
  sendPayload(response, reply, text)
}

function deliverJson(response: LinkedResponse, reply: FastifyReply, body: unknown): void {
  if (response.json !== json || response.send !== send) {
    response.json(body)
    return
  }
  const type = reply.getHeader('content-type')
  // Fastify serializes objects only for JSON types; under another type their text is meant, as in Express
  const isOther = type !== undefined && !String(type).includes('json')
  sendPayload(response, reply, isOther ? JSON.stringify(body) : body)
}

function sendPayload(response: LinkedResponse, reply: FastifyReply, payload: unknown): void {
  mergeIntoReply(response, reply)
  handOver(response, reply, payload)
}
