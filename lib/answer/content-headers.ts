import { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { kHeaders, kOtherKind, type LinkedRequest, type LinkedResponse } from '../link/state.js'

/** What describes a body, and is wrong for the one an error answer has. */
const CONTENT_HEADERS: readonly string[] = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'transfer-encoding',
  'etag',
  'last-modified'
]

/** Makes room for an error answer in a response that was being prepared. */
export function removeContentHeaders(reply: FastifyReply): void {
  // removing what is not there would still cost: an object that has lost a key is a slow one
  for (const name of namesOf(reply.raw as LinkedResponse)) {
    if (CONTENT_HEADERS.includes(name) && reply.hasHeader(name)) reply.removeHeader(name)
  }
}

/** The names to look at: those that are set, mostly one or two, where they can be listed for less than each is looked up. */
function namesOf(response: LinkedResponse): readonly string[] {
  const headers = response[kHeaders]
  if (!headers || (response.req as LinkedRequest)[kOtherKind]) return CONTENT_HEADERS
  const own = Object.keys(headers)
  const nodes = ServerResponse.prototype.getHeaderNames.call(response) // not ours, which makes one list of both
  return nodes.length === 0 ? own : [...own, ...nodes]
}
