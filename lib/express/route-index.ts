import type { IncomingMessage, ServerResponse } from 'node:http'
import parseUrl from 'parseurl'
import { candidatesAt, createPlace, literalSegments, type Place, placeFor, placeOf, SLASH } from './path-places.js'
import { knowMethods } from './route-methods.js'

/** What Express's router keeps of one `use`, `get` or `route` call, as far as it is read here. */
export interface RouterLayer {
  route?: unknown
  /** The function that was registered; a router or application when one is mounted. */
  handle?: unknown
  /** As registered: text, a regular expression or an array of both. Routers before 2.3 do not keep it. */
  rawPath?: unknown
  match(path: string): unknown
}

type Next = (error?: unknown) => void
type Handle = (request: IncomingMessage, response: ServerResponse, next: Next) => void

export interface LayeredRouter {
  stack: RouterLayer[]
  handle: Handle
}

/** Below this many layers, trying them all costs less than the look-up. */
const WORTHWHILE = 8

/**
 * Lets Express's own router skip the layers that cannot match a path. Express tries every layer with a regular expression,
 * which makes the last of 200 routes cost several times the first. Layers are kept by the literal segments that their path
 * begins with; the router then runs as it is over those that remain, in their order. Layers with regular expressions, arrays
 * or parameters at their beginning are always among them, so which handlers run, and in which order, does not change.
 *
 * The index is made again after any change of the stack, which listing and tracing packages may edit.
 */
export function indexRouter(router: object): void {
  const layered = router as LayeredRouter
  if (Object.hasOwn(layered, 'handle')) return
  const { handle } = layered
  const index = new RouteIndex(layered)
  // one for all requests: the router reads its stack once, before anything else runs
  const view = Object.create(layered) as LayeredRouter
  layered.handle = function (request, response, next) {
    view.stack = index.stackFor(pathnameOf(request))
    handle.call(view, request, response, next)
  }
}

class RouteIndex {
  readonly #router: LayeredRouter
  /** The stack as it was registered: what listing packages see of it is a proxy that notices changes. */
  #layers: RouterLayer[] = []
  #watched: RouterLayer[] | undefined
  #root: Place = createPlace(null)
  #isCurrent = false

  constructor(router: LayeredRouter) {
    this.#router = router
  }

  /** The layers to try for a path, in their order. */
  stackFor(path: string | undefined): RouterLayer[] {
    if (this.#router.stack !== this.#watched) this.#watch(this.#router.stack)
    if (!this.#isCurrent) this.#build()
    if (this.#layers.length < WORTHWHILE || path?.charCodeAt(0) !== SLASH) return this.#layers
    return this.#collect(path, candidatesAt(placeOf(this.#root, path)))
  }

  #watch(stack: RouterLayer[]): void {
    const changed = (): true => {
      this.#isCurrent = false
      return true
    }
    this.#layers = stack
    this.#watched = new Proxy(stack, {
      set: (target, name, value) => changed() && Reflect.set(target, name, value),
      deleteProperty: (target, name) => changed() && Reflect.deleteProperty(target, name),
      defineProperty: (target, name, descriptor) => changed() && Reflect.defineProperty(target, name, descriptor)
    })
    this.#router.stack = this.#watched
    this.#isCurrent = false
  }

  #build(): void {
    this.#root = createPlace(null)
    for (const [position, layer] of this.#layers.entries()) {
      placeFor(this.#root, literalSegments(pathOf(layer))).own.push(position)
      if (isRouter(layer.handle)) indexRouter(layer.handle)
      knowMethods(layer.route)
    }
    this.#isCurrent = true
  }

  /** The candidates as a stack, with a sentinel wherever layers are left out. */
  #collect(path: string, candidates: readonly number[]): RouterLayer[] {
    const layers = this.#layers
    const stack: RouterLayer[] = []
    let next = 0
    for (const position of candidates) {
      if (position !== next) stack.push(new Sentinel(stack, layers, path, next))
      stack.push(layers[position] as RouterLayer)
      next = position + 1
    }
    stack.push(new Sentinel(stack, layers, path, next)) // also where none is left out: a handler may add one
    return stack
  }
}

/**
 * The path as the router reads it, which keeps it on the request: the same text, since to compare two that are cut out of one URL takes
 * a call of V8's runtime.
 */
function pathnameOf(request: IncomingMessage): string | undefined {
  try {
    return parseUrl(request)?.pathname ?? undefined
  } catch {
    return undefined // as the router does, which then runs none of its layers
  }
}

/**
 * Takes the place of layers that cannot match. It matches nothing itself. When the router has another path or other layers, it puts back
 * all layers from here on, since others may match: a handler in front has rewritten `request.url`, or registered a route.
 */
class Sentinel implements RouterLayer {
  readonly route = undefined
  readonly stack: RouterLayer[]
  readonly layers: readonly RouterLayer[]
  /** That of the request when the layers were chosen. */
  readonly path: string
  /** The position of the first layer that was left out. */
  readonly next: number
  /** Layers there were then. */
  readonly count: number

  constructor(stack: RouterLayer[], layers: readonly RouterLayer[], path: string, next: number) {
    this.stack = stack
    this.layers = layers
    this.path = path
    this.next = next
    this.count = layers.length
  }

  match(path: string): false {
    if (path !== this.path || this.layers.length !== this.count)
      this.stack.splice(this.stack.indexOf(this) + 1, Infinity, ...this.layers.slice(this.next))
    return false
  }
}

function pathOf({ rawPath, route }: RouterLayer): unknown {
  return rawPath ?? (route as { path?: unknown } | undefined)?.path
}

function isRouter(handle: unknown): handle is object {
  return typeof handle === 'function' && Array.isArray(Reflect.get(handle, 'stack')) && !('set' in handle)
}
