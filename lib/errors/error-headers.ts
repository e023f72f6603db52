import { validateHeaderName, validateHeaderValue, type IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { FastifyReply } from 'fastify'
import { readProperty } from './read-property.js'

type HeaderValue = string | string[]

/** What describes the message itself: an upstream's error may carry these, but the answer has a body of its own. */
const MESSAGE_HEADERS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'keep-alive'
])

/**
 * The headers an error asks for (`error.headers`, an object or a web `Headers`), such as `Retry-After` or
 * `WWW-Authenticate`. Those that cannot be sent, and those of the message that a failed request to elsewhere got, are
 * left out.
 */
export function errorHeaders(thrown: unknown): Record<string, HeaderValue> {
  const headers = readProperty(thrown, 'headers')
  const kept: Record<string, HeaderValue> = {}
  if (typeof headers !== 'object' || headers === null) return kept
  for (const [name, value] of entriesOf(headers)) {
    if (!MESSAGE_HEADERS.has(name.toLowerCase()) && isSendable(name, value)) kept[name] = value
  }
  return kept
}

/**
 * Of one connection of HTTP/1; HTTP/2 forbids them (RFC 9113, section 8.2.2), and node refuses some and drops others with a
 * warning. A fetched web Response that is passed on has some.
 */
export const CONNECTION_HEADERS: readonly string[] = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade'
]

/** The `headers` of an error that a reply has already. */
const added = new WeakMap<FastifyReply, unknown>()

/** Adds the headers that an error asks for to a reply, once: further handlers of the error need not. */
export function addErrorHeaders(reply: FastifyReply, error: unknown): void {
  const headers = readProperty(error, 'headers')
  if (headers === undefined || added.get(reply) === headers) return
  added.set(reply, headers)
  reply.headers(answerHeaders(error, reply.request.raw))
}

function answerHeaders(
  thrown: unknown,
  { httpVersionMajor }: IncomingMessage | Http2ServerRequest
): Record<string, HeaderValue> {
  const headers = errorHeaders(thrown)
  if (httpVersionMajor < 2) return headers
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.includes(name.toLowerCase()))
  )
}

function entriesOf(headers: object): [string, HeaderValue][] {
  try {
    return headers instanceof Headers ? [...headers] : Object.entries(headers as Record<string, HeaderValue>)
  } catch {
    return [] // a getter that throws, or a revoked proxy
  }
}

/** The names of the headers that node would refuse to write. */
export function unsendableNames(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(headers).filter((name) => !isSendable(name, headers[name]))
}

export function isSendable(name: string, value: unknown): boolean {
  try {
    validateHeader(name, value)
    return true
  } catch {
    return false // an invalid header: the caller skips it
  }
}

/** @throws TypeError as node does when it writes the head */
export function validateHeader(name: string, value: unknown): void {
  validateHeaderName(name)
  validateValue(name, value)
}

/** The same for a name that node has accepted before. */
export function validateValue(name: string, value: unknown): void {
  if (typeof value === 'string') return validateHeaderValue(name, value)
  for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
    validateHeaderValue(name, one as string)
    if (typeof one === 'object') validateHeaderValue(name, asJoined(one as { valueOf(): number }))
  }
}

/** Node joins the lines of the head with `+`, which may ask an object for another text than node's check does. */
function asJoined(value: { valueOf(): number }): string {
  let text = ''
  text += value as number
  return text
}
