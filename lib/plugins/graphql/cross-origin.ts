import type { FastifyReply } from 'fastify'
import { kUnguarded } from '../../contract/middleware.js'

const ALLOW_ORIGIN = 'access-control-allow-origin'
const ALLOW_CREDENTIALS = 'access-control-allow-credentials'
const ALLOW_HEADERS = 'access-control-allow-headers'
const HEADERS = ['Content-Type', 'Authorization']

/**
 * Config of the route for OPTIONS: no guard stands before it, and CORS adds its headers to a preflight but leaves the
 * answer to {@link answerPreflight}.
 */
export const PREFLIGHT_CONFIG = { [kUnguarded]: true, cors: { preflightContinue: true, strictPreflight: false } }

/** Any origin may read the answer, without credentials, unless CORS has granted this very origin. */
export function allowAnyOrigin(reply: FastifyReply): void {
  if (reply.hasHeader(ALLOW_ORIGIN) || reply.raw.hasHeader(ALLOW_ORIGIN)) return
  reply.header(ALLOW_ORIGIN, '*')
  // browsers refuse the two together, and rightly
  if (reply.hasHeader(ALLOW_CREDENTIALS)) reply.removeHeader(ALLOW_CREDENTIALS)
  if (reply.raw.hasHeader(ALLOW_CREDENTIALS)) reply.raw.removeHeader(ALLOW_CREDENTIALS)
}

/** The answer to OPTIONS. Headers that CORS allows beyond ours stay allowed. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  allowAnyOrigin(reply)
  return reply
    .header('access-control-allow-methods', 'POST, GET, OPTIONS')
    .header(ALLOW_HEADERS, [...HEADERS, ...furtherHeaders(reply)].join(', '))
    .code(204)
    .send()
}

function furtherHeaders(reply: FastifyReply): string[] {
  const allowed = String(reply.getHeader(ALLOW_HEADERS) ?? '').split(',')
  const ours = new Set(HEADERS.map((name) => name.toLowerCase()))
  return allowed.map((name) => name.trim()).filter((name) => name !== '' && !ours.has(name.toLowerCase()))
}
