import express from 'express'

/** What Express's router asks a route. */
interface AskedRoute {
  /** By name in lower case, `_all` of `all()`. */
  methods: Record<string, boolean | undefined>
  _handlesMethod?: Ask
}
type Ask = (this: AskedRoute, method: unknown) => boolean

const routes = Reflect.get(express, 'Route').prototype as AskedRoute
const ask = routes._handlesMethod
/** By its source: a package that is loaded before can have put its own in the place of it. */
const isRouters = typeof ask === 'function' && /^function _handlesMethod ?\(method\)/.test(String(ask))

/** The usual methods. HEAD is answered by `get`, which is for the route itself to say. */
const LOWER: ReadonlyMap<unknown, string> = new Map([
  ['GET', 'get'],
  ['POST', 'post'],
  ['PUT', 'put'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete']
])

/**
 * Has a route of Express's router know the usual methods by their names in lower case. The router puts the method into lower case for
 * each route that it asks, and V8 has to find such a text in its table of all keys before it can look it up: 500 instructions.
 */
export function knowMethods(route: unknown): void {
  if (!isRouters || typeof route !== 'object' || route === null || Object.getPrototypeOf(route) !== routes) return
  if (!Object.isExtensible(route) || Object.hasOwn(route, '_handlesMethod')) return
  Object.defineProperty(route, '_handlesMethod', { value: handlesMethod, writable: true, configurable: true })
}

function handlesMethod(this: AskedRoute, method: unknown): boolean {
  const name = LOWER.get(method)
  const current = routes._handlesMethod as Ask
  if (name === undefined || current !== ask) return current.call(this, method)
  return Boolean(this.methods['_all'] || this.methods[name])
}
