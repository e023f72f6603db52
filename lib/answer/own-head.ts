import { type Framed, hasOwnHeaders } from '../link/unsent-answer.js'
import { kHeaders, kNames, type LinkedResponse } from '../link/state.js'
import { withNames } from './head-lines.js'
import { nameOf } from './header-names.js'
import { COOKIES, gatherCookies, type HeaderMethods, type Headers } from './headers.js'

export type Base = HeaderMethods & Framed & { writeHead: unknown }
export type WriteHead = (status: number, ...rest: unknown[]) => unknown

/**
 * Writes the head by a base's `writeHead`, with what the reply has. Node calls `setHeader` for each header it is given, and
 * must reach its own.
 */
export function writeOwnHead(response: LinkedResponse, base: Base, given: readonly unknown[]): unknown {
  const headers = response[kHeaders]
  const isReply = headers !== null && given.at(-1) === headers // Fastify's own call
  if (headers !== null && headers[COOKIES] !== undefined) gatherCookies(response, base)
  if (isReply) keepOneFraming(response, base, headers)
  response[kHeaders] = null
  try {
    const full = headers === null ? given : (wholeHead(response, base, { given, headers }) ?? given)
    if (headers !== null && full === given && !isReply) setEach(response, base, headers)
    const head: unknown = Reflect.apply(base.writeHead as WriteHead, response, full)
    if (isReply || full !== given) response[kHeaders] = headers // node may have kept none of them, and they can still be read
    return head
  } catch (error) {
    response[kHeaders] = headers
    if (headers?.[COOKIES] !== undefined) base.removeHeader.call(response, COOKIES) // node has them twice otherwise
    throw error
  }
}

interface Head {
  given: readonly unknown[]
  headers: Headers
}

/** What node is given where all headers go into one object: Fastify's, or those of a head that has no others. */
function wholeHead(response: LinkedResponse, base: Base, { given, headers }: Head): unknown[] | undefined {
  if (given.at(-1) === headers) {
    const isNamed = response[kNames] === null || (base._storeHeader !== undefined && !hasOwnHeaders(response))
    return isNamed ? undefined : [...given.slice(0, -1), withNames(response, headers)]
  }
  const isPlain = given.length === 1 || (given.length === 2 && typeof given[1] === 'string')
  if (!isPlain || base.getRawHeaderNames === undefined) return undefined
  // node would call `setHeader` for each of ours, which a package may have replaced
  return hasOwnHeaders(response) ? undefined : [...given, headers]
}

function setEach(response: LinkedResponse, base: HeaderMethods, headers: Headers): void {
  for (const key of Object.keys(headers)) base.setHeader.call(response, nameOf(response, key), headers[key] as string)
}

/** A whole body is framed by its length; a Transfer-Encoding beside it would be a second framing. */
function keepOneFraming(response: LinkedResponse, base: HeaderMethods, headers: Headers): void {
  if (headers['content-length'] === undefined) return
  if (base.hasHeader.call(response, 'transfer-encoding')) base.removeHeader.call(response, 'transfer-encoding')
  if (headers['transfer-encoding'] !== undefined) delete headers['transfer-encoding']
}
