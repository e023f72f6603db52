import express, { type Router } from 'express'
import type { ErrorMiddleware, Middleware } from '../contract/middleware.js'
import { type PathReading, canonicalUrl } from '../patterns/read-path.js'
import { isThenable } from '../options/values.js'
import { asFailure } from '../errors/readable-error.js'
import { type LinkedRequest, type LinkedResponse, kInStack, kOriginalUrl, kParams } from '../link/state.js'
import type { ExpressApp } from './classes.js'

type Done = (error?: unknown) => void
export type Usable = Middleware | ErrorMiddleware | Router | ExpressApp

export interface Failure {
  error: unknown
  /** Gets the error that no error middleware took; nothing where one has called `next()`, which clears it. */
  done: Done
}

const kNoting = Symbol('twinroute.noting')

export interface StackOutcome {
  /** A middleware changed where the request goes, which a router that has chosen already cannot follow by itself. */
  rewritten: boolean
  /** A middleware failed, and error middleware called `next()` without an error. */
  cleared: boolean
}

/**
 * What `app.use()` registers: Express's own router, run over our objects. Registration is synchronous and allowed at any
 * time, by `use`, `app.express.get` or `app.express.router`; we read the layers of the router, so all three are the same.
 */
export class ExpressStack {
  readonly #app: ExpressApp
  readonly #cleared = new WeakSet<LinkedRequest>()
  /** How many layers have been looked through for error middleware. */
  #noted = 0
  #reading: PathReading = { ignoreDuplicateSlashes: false, useSemicolonDelimiter: false }
  /** Express makes it when it is first asked for, with the settings of that moment. */
  #router: Router | undefined
  #last: ErrorMiddleware | undefined

  constructor(app: ExpressApp) {
    this.#app = app
    const { get: create, ...attributes } = Object.getOwnPropertyDescriptor(app, 'router') as PropertyDescriptor
    Object.defineProperty(app, 'router', { ...attributes, get: () => (this.#router ??= create?.call(app) as Router) })
  }

  /** Nothing is registered: the stack need not run. */
  get isEmpty(): boolean {
    return this.#router === undefined || this.#router.stack.length === 0
  }

  /** Error middleware is registered, or set as the last. */
  get handlesErrors(): boolean {
    return this.#last !== undefined || this.#errorLayers().length > 0
  }

  /** Error middleware that runs behind all that `use` registers, however late: the app's own error handler. */
  setLastErrorMiddleware(middleware: ErrorMiddleware | undefined): void {
    this.#last = middleware
  }

  /** How the router behind the stack reads paths, so that both see the same. */
  setPathReading(reading: PathReading): void {
    this.#reading = reading
  }

  /** A url as the stack and the chains match it. */
  canonical(url: string): string {
    return canonicalUrl(url, this.#reading)
  }

  /** As Express's `app.use(path?, ...middleware)`. */
  use(...given: unknown[]): void {
    Reflect.apply(this.#app.use, this.#app, given)
  }

  #errorLayers(): Router['stack'] {
    return this.#router?.stack.filter(({ handle }) => handle.length === 4) ?? []
  }

  /** Runs the stack; `done` gets the error that no error middleware took, and whether url or method were rewritten. */
  run(request: LinkedRequest, response: LinkedResponse, done: (error: unknown, outcome: StackOutcome) => void): void {
    const { url, method } = request
    const seen = this.canonical(url)
    request[kOriginalUrl] ??= url
    request[kInStack] = true
    if (seen !== url) request.url = seen
    if (this.#app.router.stack.length !== this.#noted) this.#noteClearing(this.#app.router.stack)
    this.#app.router(request, response, (error: unknown) => {
      leaveStack(request)
      if (request.url === seen) request.url = url
      const cleared = this.#cleared.delete(request)
      done(error, { rewritten: request.url !== url || request.method !== method, cleared })
    })
  }

  /** Under Express error middleware comes after the routes: when it has handled an error, no route may run. */
  #noteClearing(stack: Router['stack']): void {
    this.#noted = stack.length
    for (const layer of stack) {
      const handle = layer.handle as Function as ErrorMiddleware & { [kNoting]?: true }
      if (handle.length !== 4 || handle[kNoting]) continue
      const noting: ErrorMiddleware = (error, request, response, next) =>
        handle(error, request, response, (left?: unknown) => {
          if (!left) this.#cleared.add(request as LinkedRequest)
          next(left)
        })
      Object.defineProperties(noting, { name: { value: handle.name }, [kNoting]: { value: true } })
      Reflect.set(layer, 'handle', noting)
    }
  }

  /** Runs the error middleware for an error from behind the stack; `done` gets the error that none of it took. */
  runErrors(request: LinkedRequest, response: LinkedResponse, { error, done }: Failure): void {
    const layers = this.#errorLayers()
    if (layers.length === 0) return this.runLast(request, response, { error, done })
    const errors = express.Router()
    let isIn = false
    errors.use((_request, _response, next) => {
      isIn = true
      next(error)
    })
    errors.stack.push(...layers)
    errors(request, response, (passed: unknown) => {
      leaveStack(request)
      const left = isIn ? passed : error // the router runs nothing for a url without a path, which middleware may have set
      if (left) this.runLast(request, response, { error: left, done })
      else done(left)
    })
  }

  /** Runs only the last error middleware, for an error that the rest has seen. */
  runLast(request: LinkedRequest, response: LinkedResponse, { error, done }: Failure): void {
    if (this.#last === undefined) return done(error)
    try {
      const result: unknown = this.#last(error, request, response, done)
      if (isThenable(result)) result.then(undefined, (failure: unknown) => done(asFailure(failure)))
    } catch (failure) {
      done(failure)
    }
  }
}

/**
 * On a Fastify instance that is not ours nothing runs the stack, so a guard that a handler gives to `request.app.use()`
 * would guard nothing. Everything that registers (`use`, `get`, `all`, `route`, `param`) asks for the router first.
 */
export function refuseUse(app: ExpressApp): void {
  Object.defineProperty(app, 'router', {
    get: () => {
      throw new TypeError(
        'request.app of fileRoutes takes no middleware and no routes: put them into the middleware map or a route file, ' +
          'or make the application with createApp, which has use()'
      )
    }
  })
}

function leaveStack(request: LinkedRequest): void {
  request[kInStack] = false
  request[kParams] = undefined
}

/**
 * Runs a middleware of a chain as if it stood in `use()`: `request.cookies` shows only what a parser has set. cookie-parser
 * needs it, since it skips a request that has cookies.
 */
export function asInStack(middleware: Middleware): Middleware {
  return async (request, response, next) => {
    const linked = request as LinkedRequest
    linked[kInStack] = true
    try {
      await middleware(request, response, (error?: unknown) => {
        linked[kInStack] = false
        next(error)
      })
    } catch (error) {
      linked[kInStack] = false
      throw error
    }
  }
}

export function isExpressApp(middleware: unknown): middleware is ExpressApp {
  return typeof middleware === 'function' && 'handle' in middleware && 'set' in middleware
}

/**
 * An Express application in a chain is mounted by Express's own `app.use`: the request and response it sees inherit from
 * ours, and are ours again behind it.
 */
export function mountInChain(parent: ExpressApp, app: ExpressApp): Middleware {
  const mounted: Middleware[] = []
  const router = { use: (_path: string, middleware: Middleware) => mounted.push(middleware) }
  const place = Object.create(parent, { router: { value: router } }) as ExpressApp
  Reflect.apply(parent.use, place, [app])
  return mounted[0] as Middleware
}
