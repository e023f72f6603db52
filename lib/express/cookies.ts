import { parseCookie } from 'cookie'
import type { CookieItem, RequestCookies } from '../contract/request.js'

type CookieMap = Record<string, unknown>

const kValues: unique symbol = Symbol('twinroute.cookie values')
const METHODS = new Set(['get', 'has', 'all'])

/** The three methods, on a prototype of their own so that a cookie of the same name cannot replace them. */
const cookieMethods = Object.freeze({
  get(this: { [kValues]: CookieMap }, name: string): CookieItem | undefined {
    const values = this[kValues]
    return Object.hasOwn(values, name) ? { name, value: String(values[name]) } : undefined
  },
  has(this: { [kValues]: CookieMap }, name: string): boolean {
    return Object.hasOwn(this[kValues], name)
  },
  all(this: { [kValues]: CookieMap }): CookieMap {
    return Object.assign(Object.create(null) as CookieMap, this[kValues])
  }
})

/** The cookies of a `Cookie` header, without a prototype; a broken escape keeps its text. */
export function parseCookieHeader(header: string | undefined): CookieMap {
  const values = Object.create(null) as CookieMap
  if (header !== undefined) Object.assign(values, parseCookie(header))
  delete values['__proto__']
  return values
}

/** The helper over a map of cookies; the map's values are readable as properties of the helper, too. */
export function cookieHelper(values: CookieMap): RequestCookies {
  const helper = Object.create(cookieMethods) as RequestCookies & CookieMap
  Object.defineProperty(helper, kValues, { value: values })
  for (const name of Object.keys(values)) {
    if (METHODS.has(name)) continue
    Object.defineProperty(helper, name, { value: values[name], enumerable: true, writable: true, configurable: true })
  }
  return helper
}
