import {
  type Framed,
  hasOwnHeaders,
  type StoreHeader,
  storeHeaderOfNode,
  storeWithLength,
  takesLines
} from '../link/unsent-answer.js'
import { kNames, type LinkedResponse } from '../link/state.js'
import { headerName, putIfSendable, nameOf } from './header-names.js'
import type { Headers } from './headers.js'

const LENGTH = 'content-length'

/**
 * Node's `_storeHeader`, over that of a base: writes the lines of headers that node need not look at, and leaves to it what
 * comes behind them, `Date` and what is about the connection. Where node must look at one of them, all are left to it.
 */
export function storeHeaderOver(base: Framed): StoreHeader {
  return function storeHeader(this: LinkedResponse & Framed, firstLine: string, headers?: unknown): void {
    const store = base._storeHeader as StoreHeader
    if (!isPlain(headers) || hasOwnHeaders(this)) return store.call(this, firstLine, headers) // node's own have names and values
    const text = store === storeHeaderOfNode && takesLines(this) ? linesOf(this, headers) : undefined
    if (text === undefined) return store.call(this, firstLine, withNames(this, headers))
    const length = headers[LENGTH]
    if (length === undefined) store.call(this, firstLine + text)
    else storeWithLength(this, store, { lines: firstLine + text, length: Number(length) })
  }
}

function isPlain(headers: unknown): headers is Headers {
  return typeof headers === 'object' && headers !== null && !Array.isArray(headers)
}

/** With the case that names were set in. */
export function withNames(response: LinkedResponse, headers: Headers): Headers {
  if (response[kNames] === null) return headers
  const named: Headers = {}
  for (const key of Object.keys(headers)) named[nameOf(response, key)] = headers[key]
  return named
}

/** Undefined where node must look at one of the headers. */
function linesOf(response: LinkedResponse, headers: Headers): string | undefined {
  const names = response[kNames]
  let lines = ''
  for (const key of Object.keys(headers)) {
    const name = names?.[key] ?? headerName(key)
    if (name === undefined || !putIfSendable(name, headers[key])) return undefined
    if (name.key === LENGTH && key !== LENGTH) return undefined // the length is looked for under one name
    lines += name.line
  }
  return lines
}
