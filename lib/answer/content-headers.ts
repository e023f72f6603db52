import type { FastifyReply } from 'fastify'

/** What describes a body, and is wrong for the one an error answer has. */
const CONTENT_HEADERS = [
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
  for (const name of CONTENT_HEADERS) if (reply.hasHeader(name)) reply.removeHeader(name)
}
