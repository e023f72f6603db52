import type { FastifyReply } from 'fastify'
import { validateHeader } from '../errors/error-headers.js'
import { kHeaders, type HeaderValue, type LinkedResponse } from '../link/state.js'

/*
 * What `reply.header` does for a name in lower case that is not `set-cookie`, which it would put into lower case first. Each has its
 * name in its code: V8 puts a member whose name it knows to its place, and looks up that of any other.
 */

export function setRequestId(response: LinkedResponse, reply: FastifyReply, id: string): void {
  const headers = response[kHeaders]
  if (headers === null) reply.header('x-request-id', id)
  else headers['x-request-id'] = id
}

export function setType(response: LinkedResponse, reply: FastifyReply, type: string): void {
  const headers = response[kHeaders]
  if (headers === null) reply.header('content-type', type)
  else headers['content-type'] = type
}

export function setEtag(response: LinkedResponse, reply: FastifyReply, etag: string): void {
  const headers = response[kHeaders]
  if (headers === null) reply.header('etag', etag)
  else headers['etag'] = etag
}

export function setPoweredBy(response: LinkedResponse, reply: FastifyReply, name: string): void {
  const headers = response[kHeaders]
  if (headers === null) reply.header('x-powered-by', name)
  else headers['x-powered-by'] = name
}

/**
 * Adds a header to the reply: `Set-Cookie` and `Vary` add up, anything else replaces; undefined is left out.
 * @throws TypeError for a name or value node would refuse to send, perhaps where nothing could catch it
 */
export function setReplyHeader(reply: FastifyReply, name: string, value: HeaderValue): void {
  if (value === undefined) return
  validateHeader(name, value)
  if (name.toLowerCase() !== 'vary') reply.header(name, value)
  else if (value !== '') (reply.raw as LinkedResponse).vary(String(value))
}
