import type { FastifyReply } from 'fastify'
import { append as appendVary } from 'vary'
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
    const vary = String(response.getHeader('vary'))
    response.removeHeader('vary')
    reply.header('vary', mergeVary(vary, reply.getHeader('vary')))
  }
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
  const own = response.getHeader(name)
  if (name === 'set-cookie') response.setHeader(name, [...new Set([...cookieList(own), ...cookieList(value)])])
  else if (name === 'vary') response.setHeader(name, mergeVary(String(own), value))
}

/** Adds a header to the reply: `Set-Cookie` and `Vary` add up, anything else replaces. */
export function setReplyHeader(reply: FastifyReply, name: string, value: HeaderValue): void {
  if (name.toLowerCase() === 'vary') reply.header('vary', mergeVary(String(value), reply.getHeader('vary')))
  else reply.header(name, value)
}

function mergeVary(first: string, second: HeaderValue): string {
  return second === undefined || second === '' ? first : appendVary(String(second), first)
}

function cookieList(value: HeaderValue): string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map(String) : [String(value)]
}
