import type { FastifyReply, FastifyRequest } from 'fastify'

/** Attributes of the tags of a page, each with a space in front; empty where there is no nonce. */
export interface Nonces {
  script: string
  style: string
}

/** Nonces as they are found on Express requests, in Express locals, and on replies of @fastify/helmet. */
export function noncesOf({ raw: request }: FastifyRequest, reply: FastifyReply): Nonces {
  const { locals } = reply.raw as { locals?: { cspNonce?: unknown } }
  const { cspNonce: pair } = reply as { cspNonce?: { script?: unknown; style?: unknown } }
  const shared = (request as { cspNonce?: unknown }).cspNonce ?? locals?.cspNonce
  return { script: attribute(shared ?? pair?.script), style: attribute(shared ?? pair?.style) }
}

function attribute(nonce: unknown): string {
  return typeof nonce === 'string' && /^[\w+/=-]+$/.test(nonce) ? ` nonce="${nonce}"` : ''
}
