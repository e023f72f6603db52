import type { FastifyReply } from 'fastify'
import { validateHeader } from '../errors/error-headers.js'
import { kHeaders, type HeaderValue, type LinkedResponse } from '../link/state.js'

/** What `reply.header` does for a name in lower case that is not `set-cookie`, which it would put into lower case first. */
export function setOnReply(response: LinkedResponse, reply: FastifyReply, key: string, value: string): void {
  const headers = response[kHeaders]
  if (headers === null) reply.header(key, value)
  else headers[key] = value
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
