import type { ServerResponse } from 'node:http'
import { validateHeader, validateValue } from '../errors/error-headers.js'
import type { StoreHeader } from '../link/unsent-answer.js'
import { kAnswered, kHeaders, kNames, OPEN, type HeaderValue, type LinkedResponse } from '../link/state.js'
import { headerName, isKept, keyOf } from './header-names.js'

/*
 * Express code sets headers on the response, Fastify code on the reply. An answer has one list of headers nevertheless,
 * the reply's, so that the last call counts, whichever side it came from:
 *
 * - A header set on the response goes to the reply's list; the case of its name is kept beside it, under `kNames`.
 *   Node writes a head from one object in three quarters of the time that it takes for headers set one by one.
 * - Node's own list has what was set before there was a reply. It is read after the reply's, and what is removed is
 *   removed from both.
 * - When the head leaves, `writeOwnHead` gives node what the reply has.
 *
 * A response that no reply belongs to is node's own in all of this. An HTTP/2 response checks and ignores headers by
 * rules of its own: it gets each header as well, and the reply's list those that it has already, and `Set-Cookie`.
 */

export type Headers = Record<string, HeaderValue>
type Name = string
type Value = string | readonly string[]

/** Methods of node's response that set headers, and those that read them; an HTTP/2 response has no original case. */
export type HeaderMethods = WritingHeaders & ReadingHeaders
type WritingHeaders = Pick<ServerResponse, 'setHeader' | 'appendHeader' | 'removeHeader'>
type ReadingHeaders = Pick<ServerResponse, 'getHeader' | 'hasHeader' | 'getHeaders' | 'getHeaderNames'> & {
  getRawHeaderNames?: () => string[]
}

/** The methods of a base that write a head. */
export interface HeadBase extends HeaderMethods {
  writeHead: unknown
  _storeHeader?: StoreHeader
}

export const COOKIES = 'set-cookie'
/** A name that node accepts, and an object literal does not. */
const PROTOTYPE = '__proto__'

/** The header methods over those of a base: one list for the response and its reply. */
export function headerMethods(base: HeaderMethods): HeaderMethods {
  return { ...writingHeaders(base), ...readingHeaders(base) }
}

function writingHeaders(base: HeaderMethods): WritingHeaders {
  const isHttp2 = base.getRawHeaderNames === undefined
  const methods = {
    setHeader(this: LinkedResponse, name: Name, value: Value) {
      const headers = this[kHeaders]
      const known = headerName(name)
      const key = known === undefined ? keyOf(name) : known.key
      if (!headers || this.headersSent || key === PROTOTYPE) return base.setHeader.call(this, name, value)
      if (isHttp2 && key !== COOKIES) {
        base.setHeader.call(this, name, value)
        if (valueOf(headers, key) !== undefined) headers[key] = value
        return this
      }
      const kept = typeof value === 'string' ? value : keptValue(key, value)
      if (known === undefined) validateHeader(name, kept)
      else if (!isKept(known, kept)) validateValue(name, kept)
      if (key !== name || (this[kNames] && !isRepeated(this, key, value))) keepCase(this, key, name)
      headers[key] = kept
      if (key === COOKIES) base.removeHeader.call(this, COOKIES)
      return this
    },
    appendHeader(this: LinkedResponse, name: Name, value: Value) {
      const headers = this[kHeaders]
      if (!headers || this.headersSent || value === undefined) return base.appendHeader.call(this, name, value)
      const key = keyOf(name)
      if (key === COOKIES) gatherCookies(this, base)
      const current = valueOf(headers, key)
      if (current !== undefined) return this.setHeader(nameOf(this, key), [current, value].flat() as string[])
      return key === COOKIES ? this.setHeader(name, value) : base.appendHeader.call(this, name, value)
    },
    removeHeader(this: LinkedResponse, name: Name) {
      base.removeHeader.call(this, name)
      const headers = this[kHeaders]
      const key = keyOf(name)
      if (valueOf(headers, key) !== undefined) Reflect.deleteProperty(headers as Headers, key)
    }
  }
  return methods as WritingHeaders
}

function readingHeaders(base: HeaderMethods): ReadingHeaders {
  const methods: ReadingHeaders = {
    getHeader(this: LinkedResponse, name) {
      const key = keyOf(name)
      if (key === COOKIES && valueOf(this[kHeaders], key) !== undefined) gatherCookies(this, base)
      const value = valueOf(this[kHeaders], key)
      return (value === undefined ? base.getHeader.call(this, name) : value) as string | undefined
    },
    hasHeader(this: LinkedResponse, name) {
      return valueOf(this[kHeaders], keyOf(name)) !== undefined || base.hasHeader.call(this, name)
    },
    getHeaders(this: LinkedResponse) {
      return Object.assign(base.getHeaders.call(this), this[kHeaders])
    },
    getHeaderNames(this: LinkedResponse) {
      return [...new Set([...base.getHeaderNames.call(this), ...Object.keys(this[kHeaders] ?? {})])]
    }
  }
  const { getRawHeaderNames } = base
  if (getRawHeaderNames === undefined) return methods
  methods.getRawHeaderNames = function (this: LinkedResponse) {
    const names = getRawHeaderNames.call(this)
    const known = new Set(names.map(keyOf))
    const added = Object.keys(this[kHeaders] ?? {}).filter((name) => !known.has(name))
    return [...names, ...added.map((key) => nameOf(this, key))]
  }
  return methods
}

/**
 * A value that is no text, as the reply keeps it: it reads a type as text, and adds cookies to its list, which must not be the
 * caller's. What is undefined in a list is sent as its text, as by node.
 */
function keptValue(key: string, value: unknown): string | readonly string[] {
  if (key === 'content-type' && value !== undefined) return String(value)
  if (!Array.isArray(value)) return value as string
  const list = value as readonly string[]
  if (list.includes(undefined as never)) return list.map(String)
  return key === COOKIES ? [...list] : list
}

/** Objects made of it inherit nothing, and have a shape, which those of `Object.create(null)` have not. */
const NOTHING: unknown = Object.create(null)

/** Keeps the case of a name beside its header. */
function keepCase(response: LinkedResponse, key: string, name: string): void {
  const names = (response[kNames] ??= Object.create(NOTHING as object) as Record<string, string>)
  names[key] = name
}

/** A name as it was set. */
export function nameOf(response: LinkedResponse, key: string): string {
  return response[kNames]?.[key] ?? key
}

/** Whether a header is only set again: by packages that set what Fastify gives `writeHead`, with names in lower case. */
function isRepeated(response: LinkedResponse, key: string, value: unknown): boolean {
  return response[kAnswered] !== OPEN && response[kHeaders]?.[key] === value
}

/** Own properties only: a header may be called `constructor`. */
function valueOf(headers: Headers | null | undefined, key: string): HeaderValue {
  if (!headers) return undefined
  const value = valueAt(headers, key)
  return value !== undefined && Object.hasOwn(headers, key) ? value : undefined
}

/**
 * The value under a key. Those of most answers are named in the code: V8 looks up any other key in a table, for 100 to 140
 * instructions.
 */
export function valueAt(headers: Headers, key: string): HeaderValue {
  switch (key) {
    case 'content-type':
      return headers['content-type']
    case 'content-length':
      return headers['content-length']
    case 'etag':
      return headers['etag']
    case 'x-request-id':
      return headers['x-request-id']
    case 'x-powered-by':
      return headers['x-powered-by']
    case 'transfer-encoding':
      return headers['transfer-encoding']
    default:
      return headers[key]
  }
}

/**
 * Cookies of node's list are the older ones, set before there was a reply, unless they repeat the reply's: then a package has
 * read them, added its own and set all by node's method.
 */
export function gatherCookies(response: LinkedResponse, base: HeaderMethods): void {
  const older = base.getHeader.call(response, COOKIES)
  const headers = response[kHeaders]
  if (older === undefined || headers === null || response.headersSent) return
  base.removeHeader.call(response, COOKIES)
  const all = listOf(older)
  const own = listOf(valueOf(headers, COOKIES))
  headers[COOKIES] = own.every((cookie) => all.includes(cookie)) ? all : [...all, ...own]
}

/** Connects a response with the headers of its reply, which take over what an earlier reply left on the response. */
export function joinHeaders(response: LinkedResponse, headers: Headers | null): void {
  const left = response[kHeaders]
  response[kHeaders] = headers
  if (left === null || headers === null || left === headers) return
  for (const name of Object.keys(left)) {
    if (name === COOKIES) headers[name] = [...listOf(left[name]), ...listOf(headers[name])]
    else if (valueOf(headers, name) === undefined) headers[name] = left[name]
  }
}

function listOf(value: HeaderValue): string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map(String) : [String(value)]
}
