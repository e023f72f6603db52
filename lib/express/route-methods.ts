/** What Express's router asks a route. */
interface AskedRoute {
  /** By name in lower case, `_all` of `all()`. */
  methods?: Record<string, boolean | undefined>
  _handlesMethod?: Ask
}
type Ask = (this: AskedRoute, method: unknown) => boolean

/** The usual methods. HEAD is answered by `get`, which is for the route itself to say. */
const LOWER: ReadonlyMap<unknown, string> = new Map([
  ['GET', 'get'],
  ['POST', 'post'],
  ['PUT', 'put'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete']
])

/** By the router's own method; usually there is one. */
const byRouter = new Map<Ask, Ask>()

/**
 * Has a route of Express's router know the usual methods by their names in lower case. The router puts the method into lower case for
 * each route that it asks, and V8 has to find such a text in its table of all keys before it can look it up: 500 instructions.
 */
export function knowMethods(route: unknown): void {
  if (typeof route !== 'object' || route === null) return
  const { _handlesMethod: ask, methods } = route as AskedRoute
  if (typeof ask !== 'function' || typeof methods !== 'object' || Object.hasOwn(route, '_handlesMethod')) return
  let value = byRouter.get(ask)
  if (value === undefined) byRouter.set(ask, (value = askByName(ask)))
  Object.defineProperty(route, '_handlesMethod', { value, writable: true, configurable: true })
}

function askByName(ask: Ask): Ask {
  return function (method) {
    const name = LOWER.get(method)
    const { methods } = this
    if (name === undefined || methods === undefined) return ask.call(this, method)
    return Boolean(methods['_all'] || methods[name])
  }
}
