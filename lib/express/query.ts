import express from 'express'
import {
  kOriginalUrl,
  kQuery,
  kQueryOf,
  kReply,
  type RuntimeKind,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'

const expressQuery = expressQueryNow()

/** Read from the url on first use, and again when that has changed. */
export function queryMembers(kind: RuntimeKind): PropertyDescriptorMap {
  if (expressQueryNow() !== expressQuery) return {} // another package has replaced it
  const members: ThisType<LinkedRequest> & object = {
    get query(): unknown {
      const readFrom = this[kQueryOf]
      if (readFrom === null || (readFrom === this.url && isSimple(this))) return this[kQuery]
      return readQuery(this, kind)
    },
    set query(value: unknown) {
      this[kQuery] = value
      this[kQueryOf] = null
    }
  }
  return Object.getOwnPropertyDescriptors(members)
}

function expressQueryNow(): (this: object) => unknown {
  return Object.getOwnPropertyDescriptor(express.request, 'query')?.get as (this: object) => unknown
}

/** A mounted application of Express 4, for one, has another parser. */
function isSimple(request: LinkedRequest): boolean {
  return (request.app.settings as Record<string, unknown>)['query parser'] === 'simple'
}

/**
 * Fastify has parsed the query already, nearly as Express's simple parser does: malformed escapes and more than 1 000 pairs
 * differ. Other parsers and rewritten urls are left to Express. In applications of `twinroute/express`, so is every query in
 * which the two could differ; the others cost a fifth of Express's parser.
 */
function readQuery(request: LinkedRequest, kind: RuntimeKind): unknown {
  const reply = (request.res as LinkedResponse | undefined)?.[kReply] ?? undefined
  if (reply === undefined || !isSimple(request)) return expressQuery.call(request)
  const text = queryOf(request.url)
  const readFrom = request[kQueryOf]
  request[kQueryOf] = request.url
  if (typeof readFrom === 'string' && queryOf(readFrom) === text) return request[kQuery]
  if (text === '') return (request[kQuery] = Object.create(null)) // Fastify's would inherit
  if (!isAsReceived(request, text)) return (request[kQuery] = expressQuery.call(request))
  const query = reply.request.query as Record<string, unknown>
  if (kind === 'express') return (request[kQuery] = sameQuery(query, text) ?? expressQuery.call(request))
  // deleting what is not there would still cost a call of V8's runtime
  if (Object.hasOwn(query, '__proto__')) delete query['__proto__']
  return (request[kQuery] = query)
}

/** Whether Fastify has parsed the same query. */
function isAsReceived(request: LinkedRequest, text: string): boolean {
  const received = request[kOriginalUrl]
  return received === undefined || received === request.url || queryOf(received) === text
}

/** Names and values of a kind that both parsers read alike. */
const PLAIN_QUERY = /^\?[\w.~=&-]+$/
/** Characters; too few for 1 000 pairs. */
const MOST_PLAIN = 1000

/** The query as Fastify has parsed it, in an object like Express's; undefined where Express's parser could find something else. */
function sameQuery(parsed: Record<string, unknown>, text: string): object | undefined {
  if (text.length > MOST_PLAIN || !PLAIN_QUERY.test(text) || Object.hasOwn(parsed, '__proto__')) return undefined
  return Object.assign(Object.create(null) as object, parsed)
}

function queryOf(url: string | undefined): string {
  const start = url === undefined ? -1 : url.indexOf('?')
  return start === -1 ? '' : (url as string).slice(start)
}
