import {
  hasOwnHeaders,
  isWriteHeadOfNode,
  type StoreHeader,
  storeHeaderOfNode,
  storeWithLength,
  takesLines,
  type Unsent
} from '../link/unsent-answer.js'
import { kHeaders, kNames, type LinkedResponse } from '../link/state.js'
import { dispositionText, forNode } from './content-disposition.js'
import { DISPOSITION, FRAMING, headerName, LENGTH, lineOf } from './header-names.js'
import { headWithOurs, isListAlone } from './direct-head.js'
import { COOKIES, gatherCookies, type HeadBase, type HeaderMethods, type Headers, nameOf, valueAt } from './headers.js'

type WriteHead = (status: number, ...rest: unknown[]) => unknown

/**
 * What node is writing the head of, in this call: the reply's headers or a copy of them. Only these are written as lines;
 * another object that code gives to `writeHead` is node's to read.
 */
let headersUnderWay: Headers | null = null

/**
 * Writes the head by a base's `writeHead`, with what the reply has. Node calls `setHeader` for each header it is given, and
 * must reach its own.
 */
export function writeOwnHead(response: LinkedResponse, base: HeadBase, given: readonly unknown[]): unknown {
  const headers = response[kHeaders]
  const isReply = headers !== null && given.at(-1) === headers // Fastify's own call
  if (headers !== null && headers[COOKIES] !== undefined) gatherCookies(response, base)
  if (isReply) keepOneFraming(response, base, headers)
  if (isListAlone(response, base, given)) return Reflect.apply(base.writeHead as WriteHead, response, given)
  response[kHeaders] = null
  const outer = headersUnderWay
  try {
    const whole = headers === null ? null : wholeHead(response, base, { given, headers })
    if (headers !== null && whole === null) setEach(response, base, headers)
    headersUnderWay = whole
    const full = whole === null || whole === given.at(-1) ? given : [...(isReply ? given.slice(0, -1) : given), whole]
    const write = base.writeHead as WriteHead
    const head =
      full.length === 2 ? write.call(response, full[0] as number, full[1]) : Reflect.apply(write, response, full)
    if (whole !== null) response[kHeaders] = headers // node may have kept none of them, and they can still be read
    return head
  } catch (error) {
    response[kHeaders] = headers
    if (headers?.[COOKIES] !== undefined) base.removeHeader.call(response, COOKIES) // node has them twice otherwise
    throw error
  } finally {
    headersUnderWay = outer
  }
}

interface Head {
  given: readonly unknown[]
  headers: Headers
}

/** What node is given where all headers go into one object: Fastify's, or those of a head that has no others. */
function wholeHead(response: LinkedResponse, base: HeadBase, { given, headers }: Head): Headers | null {
  if (given.at(-1) !== headers) {
    const isPlain = given.length === 1 || (given.length === 2 && typeof given[1] === 'string')
    // node would call `setHeader` for each of ours, which a package may have replaced
    if (!isPlain || base.getRawHeaderNames === undefined || hasOwnHeaders(response)) return null
  }
  // what another package has put in the place of node's method may read or change them
  const isRead = !isWriteHeadOfNode(base.writeHead) || (response[kNames] !== null && hasOwnHeaders(response))
  return isRead ? withNames(response, headers) : headers
}

/** A copy with the case that names were set in. */
function withNames(response: LinkedResponse, headers: Headers): Headers {
  const named: Headers = {}
  for (const key of Object.keys(headers)) named[nameOf(response, key)] = headers[key]
  return named
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

/**
 * Node's `_storeHeader`, over that of a base: writes the lines of the reply's headers, and leaves to node what comes behind
 * them, `Date` and what is about the connection. Where node must look at one of them, all are left to it.
 */
export function storeHeaderOver(base: HeadBase): StoreHeader {
  return function storeHeader(this: LinkedResponse & Unsent, firstLine: string, headers?: unknown): void {
    const store = base._storeHeader as StoreHeader
    if (headers === null || headers !== headersUnderWay) {
      return store.call(this, firstLine, this[kHeaders] === null ? headers : headWithOurs(this, base, headers))
    }
    const lines = store === storeHeaderOfNode && takesLines(this) ? linesOf(this, headersUnderWay) : undefined
    if (lines === undefined)
      store.call(this, firstLine, forNode(this, this[kNames] ? withNames(this, headersUnderWay) : headersUnderWay))
    else if (length === undefined) store.call(this, firstLine + lines)
    else storeWithLength(this, store, { lines: firstLine + lines, length })
  }
}

/**
 * Bytes, as the lines say that were written last; undefined where they do not. A second result of `linesOf`, for which no object is
 * made: no code of others runs before it is read.
 */
let length: number | undefined

/** Undefined where node must look at one of the headers. */
function linesOf(response: LinkedResponse & Unsent, headers: Headers): string | undefined {
  const names = response[kNames]
  let lines = ''
  length = undefined
  for (const key of Object.keys(headers)) {
    const name = headerName(names?.[key] ?? key)
    if (name === undefined || name.kind === FRAMING) return undefined
    let value: unknown = valueAt(headers, key)
    if (name.kind === DISPOSITION) value = dispositionText(value, length ?? response._contentLength)
    const line = lineOf(name, value)
    if (line === undefined) return undefined
    if (name.kind === LENGTH) length = Number(value)
    lines += line
  }
  return lines
}
