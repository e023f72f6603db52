import type { FastifyReply } from 'fastify'
import type { StatusObject } from '../contract/route-module.js'
import { checkedStream, releaseBody } from '../answer/byte-stream.js'
import { bytesOf, handOver, HTML, isStream, JSON_TYPE } from '../answer/send.js'
import { setReplyHeader } from '../answer/reply-headers.js'
import { isUnfinished, refuseSecond } from '../answer/late-calls.js'
import { expressJson, hasJsonSettings } from '../express/etag-and-json.js'
import { hasOtherJson, hasOtherSend } from '../express/response-members.js'
import { isAnswered, type LinkedResponse } from '../link/state.js'
import { cannotBeSent, isBody, tagOf, refuseNoData, webBody } from './body-kinds.js'
import type { Runtime } from './runtime.js'
import { warnOfSilence, warnOfStatus } from './warnings.js'

const STATUS_KEYS = new Set(['status', 'headers', 'body'])
export const BODILESS = new Set([204, 205, 304])
const TRANSPORT_HEADERS = new Set([
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive'
])

/**
 * Turns what a handler returned into the answer: the only place that does. undefined leaves the answer to the response
 * object, and so does the response itself (`(request, response) => stream.pipe(response)`); null is sent as the JSON `null`;
 * a value returned after an answer is dropped.
 */
export function deliver(runtime: Runtime, reply: FastifyReply, result: unknown): void {
  const response = reply.raw as LinkedResponse
  if (result === undefined || result === response) return warnOfSilence(runtime, reply)
  if (isAnswered(response)) return dropResult(response, result)
  try {
    if (typeof result !== 'object' || result === null) deliverBody(response, reply, result)
    else if (isStatusObject(result)) deliverStatus(response, reply, result)
    else if (isPlainObject(result)) {
      warnOfStatus(runtime, reply, result)
      deliverJson(response, reply, result)
    } else if (isWebResponse(result)) deliverWebResponse(response, reply, result)
    else if (result instanceof Error) runtime.fail(reply, result)
    else deliverBody(response, reply, result)
  } catch (error) {
    runtime.fail(reply, error)
  }
}

/**
 * A value returned after an answer is dropped. One that is meant as an answer cuts off an answer that has only begun;
 * others come from a function's last call (`response.write()` gives a boolean, a timer itself).
 */
function dropResult(response: LinkedResponse, result: unknown): void {
  const isMeant = typeof result === 'string' || (typeof result === 'object' && result !== null && isAnswer(result))
  if (isMeant && isUnfinished(response)) refuseSecond(response, 'a value was returned')
  if (result !== response.req) releaseReturned(result)
}

function isAnswer(result: object): boolean {
  return result instanceof Error || isPlainObject(result) || isWebResponse(result) || isBody(result)
}

/** A value that comes after the answer (the handler timeout sent it) is dropped; a stream must not stay open for it. */
function releaseReturned(result: unknown): void {
  if (typeof result !== 'object' || result === null) return
  try {
    releaseBody(isStatusObject(result) ? result.body : result)
  } catch {
    // a value that throws when it is read
  }
}

/** An integer status from 200 to 599 and no keys but status, headers, body; `{ status: 200, data }` is data. */
export function isStatusObject(result: object): result is StatusObject {
  const { status } = result as { status?: unknown }
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return false
  return isPlainObject(result) && Object.keys(result).every((key) => STATUS_KEYS.has(key))
}

/** The common case, told apart first: an object literal is JSON, whatever its members are called. */
export function isPlainObject(result: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(result)
  if (prototype !== Object.prototype && prototype !== null) return false
  return (result as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === undefined
}

export function isWebResponse(result: object): result is globalThis.Response {
  return tagOf(result) === 'Response'
}

function deliverStatus(response: LinkedResponse, reply: FastifyReply, { status, headers, body }: StatusObject): void {
  response.statusCode = status
  if (headers !== undefined) setHeaders(reply, headers)
  if (body === undefined || BODILESS.has(status)) {
    releaseBody(body)
    return deliverNothing(response, reply, status)
  }
  deliverBody(response, reply, body)
}

/** An object, or web `Headers`. */
function setHeaders(reply: FastifyReply, headers: unknown): void {
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError(`headers of a status object must be an object; it is of type ${typeof headers}`)
  const entries = headers instanceof Headers ? headers : Object.entries(headers)
  for (const [name, value] of entries) setGivenHeader(reply, name, value as string)
}

/** How a message is framed is the server's: a coding beside the length that it writes would be a second one. */
function setGivenHeader(reply: FastifyReply, name: string, value: string): void {
  if (name.toLowerCase() !== 'transfer-encoding') setReplyHeader(reply, name, value)
}

/** 204 and 304 end with their head: a type or length would speak of a body that is not there. */
function deliverNothing(response: LinkedResponse, reply: FastifyReply, status: number): void {
  if (status === 204 || status === 304) for (const name of ['content-type', 'content-length']) reply.removeHeader(name)
  if (status === 205) reply.header('content-length', '0')
  sendPayload(response, reply, undefined)
}

function deliverWebResponse(response: LinkedResponse, reply: FastifyReply, result: globalThis.Response): void {
  response.statusCode = result.status
  const isFetched = result.url !== '' // its transfer headers are of the upstream connection
  for (const [name, value] of result.headers) {
    if (!isFetched || !TRANSPORT_HEADERS.has(name)) setGivenHeader(reply, name, value)
  }
  if (result.bodyUsed)
    throw new TypeError('The body of the returned Response has been read already: return a clone() of it')
  if (BODILESS.has(result.status)) return deliverNothing(response, reply, result.status)
  if (result.body === null) sendPayload(response, reply, undefined)
  else sendStream(response, reply, result.body)
}

function deliverBody(response: LinkedResponse, reply: FastifyReply, body: unknown): void {
  if (typeof body === 'string') return deliverText(response, reply, body)
  if (typeof body === 'object' && body !== null && !isPlainObject(body)) {
    if (ArrayBuffer.isView(body)) return sendPayload(response, reply, bytesOf(body))
    if (isStream(body) || Symbol.asyncIterator in body) return sendStream(response, reply, body)
    const web = webBody(reply, body)
    if (web !== undefined && isStream(web)) return sendStream(response, reply, web as object)
    if (web !== undefined) return sendPayload(response, reply, web)
    refuseNoData(body)
  }
  if (typeof body === 'function' || typeof body === 'symbol') throw cannotBeSent(typeof body)
  deliverJson(response, reply, body)
}

function deliverText(response: LinkedResponse, reply: FastifyReply, text: string): void {
  if (hasOtherSend(response)) {
    response.send(text) // a middleware has replaced it, so as to see or change what is sent
    return
  }
  if (!reply.hasHeader('content-type')) reply.header('content-type', HTML)
  sendPayload(response, reply, text)
}

function deliverJson(response: LinkedResponse, reply: FastifyReply, body: unknown): void {
  if (hasOtherJson(response)) {
    response.json(body)
    return
  }
  const type = response.getHeader('content-type')
  if (hasJsonSettings(response.app)) {
    if (type === undefined) reply.header('content-type', JSON_TYPE)
    return sendPayload(response, reply, expressJson(response.app, body))
  }
  // Fastify serializes objects only for JSON types; under another type their text is meant, as in Express
  const isOther = type !== undefined && !String(type).includes('json')
  sendPayload(response, reply, isOther ? JSON.stringify(body) : body)
}

function sendPayload(response: LinkedResponse, reply: FastifyReply, payload: unknown): void {
  handOver(response, reply, payload)
}

/** A stream is not begun where nothing of it would be sent: with HEAD, a status without a body, a client that has left. */
function sendStream(response: LinkedResponse, reply: FastifyReply, body: object): void {
  const { method } = reply.request.raw
  if (method !== 'HEAD' && !BODILESS.has(response.statusCode) && !hasLeft(response)) {
    return sendPayload(response, reply, checkedStream(body))
  }
  releaseBody(body)
  if (BODILESS.has(response.statusCode)) deliverNothing(response, reply, response.statusCode)
  else sendPayload(response, reply, undefined)
}

function hasLeft(response: LinkedResponse): boolean {
  const { stream } = response as { stream?: { destroyed: boolean } } // of HTTP/2
  return response.destroyed || stream?.destroyed === true
}
