import type { FastifyReply } from 'fastify'
import { validateHeader } from '../errors/error-headers.js'
import type { LinkedResponse } from './slots.js'

type HeaderValue = string | number | readonly string[] | undefined

/**
 * Headers stand in two places: Express code sets them on the response, Fastify code on the reply. When an answer leaves
 * through the reply, those of the reply replace those of the response, which would lose a session's cookie or a `Vary`.
 * So these two are moved into the reply, merged, before Fastify writes the head.
 */
export function mergeIntoReply(response: LinkedResponse, reply: FastifyReply): void {
  if (response.hasHeader('set-cookie')) {
    const cookies = cookieList(response.getHeader('set-cookie'))
    response.removeHeader('set-cookie')
    const own = cookieList(reply.getHeader('set-cookie'))
    reply.removeHeader('set-cookie')
    reply.header('set-cookie', [...new Set([...cookies, ...own])])
  }
  if (response.hasHeader('vary')) {
    const own = reply.getHeader('vary')
    if (own !== undefined) {
      const added = response.getHeader('vary')
      response.setHeader('vary', String(own))
      addVary(response, added)
    }
    reply.header('vary', String(response.getHeader('vary')))
    response.removeHeader('vary')
  }
  // a middleware has an id of its own, which the app's must not replace
  if (response.hasHeader('x-request-id')) reply.header('x-request-id', response.getHeader('x-request-id'))
}

/** The opposite way, for an answer written to the response itself (`write`, `pipe`, `sendFile`). */
export function copyFromReply(response: LinkedResponse, reply: FastifyReply): void {
  const headers = reply.getHeaders()
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    const own = response.getHeader(name)
    if (own === undefined) response.setHeader(name, value as string)
    else if (value !== own) mergeHeader(response, name, value)
  }
}

/** Sets a header of a writeHead call that the response carries already: cookies and `Vary` add up. */
export function mergeHeader(response: LinkedResponse, name: string, value: HeaderValue): void {
  if (name === 'set-cookie') {
    const own = cookieList(response.getHeader(name))
    response.setHeader(name, [...new Set([...own, ...cookieList(value)])])
  } else if (name === 'vary') addVary(response, value)
}

/**
 * Adds a header to the reply: `Set-Cookie` and `Vary` add up, anything else replaces; undefined is left out.
 * @throws TypeError for a name or value node would refuse to send, perhaps where nobody could catch it
 */
export function setReplyHeader(reply: FastifyReply, name: string, value: HeaderValue): void {
  if (value === undefined) return
  validateHeader(name, value)
  if (name.toLowerCase() === 'vary') addVary(reply.raw as LinkedResponse, value) // merged like any other
  else reply.header(name, value)
}

/** What describes a body, and is wrong for the one an error answer has. */
const CONTENT_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-range',
  'transfer-encoding',
  'etag',
  'last-modified'
]

/** Makes room for an error answer in a response that was being prepared. */
export function removeContentHeaders(reply: FastifyReply): void {
  // removing what is not there would still cost: an object that has lost a key is a slow one
  for (const name of CONTENT_HEADERS) if (reply.hasHeader(name)) reply.removeHeader(name)
}

function addVary(response: LinkedResponse, value: HeaderValue): void {
  if (value !== undefined && value !== '') response.vary(String(value))
}

function cookieList(value: HeaderValue): string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map(String) : [String(value)]
}
