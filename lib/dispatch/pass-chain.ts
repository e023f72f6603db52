import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type ChainRunner, composeChain, type LateNext } from '../middleware/run-chain.js'
import type { Deadline } from '../link/handler-timeout.js'
import {
  isWaiting,
  kDeadline,
  kOriginalUrl,
  type LinkedRequest,
  type LinkedResponse,
  isAnswered,
  isOver,
  kReply,
  kParams
} from '../link/state.js'
import { redispatch } from './redispatch.js'
import type { Runtime } from './runtime.js'
import type { Middleware } from '../contract/middleware.js'
import { isProduction } from '../contract/mode.js'
import { logError } from '../errors/readable-error.js'
import type { BoundChain } from '../middleware/chain.js'
import { asInStack, isExpressApp, mountInChain } from '../express/use-stack.js'
import type { Segment } from '../contract/manifest.js'
import type { Binder, RequestLine } from '../middleware/bind.js'
import { createPathGuard, type GuardedPattern } from './guard-path.js'

export interface PassOptions {
  chain: ChainRunner
  deadline: Deadline | undefined
  /** Called when every middleware has passed the request on. */
  go: () => void
}

/** Sends a request through a chain: errors to their place, rewritten requests back to the router, unanswered ones to 503. */
export function passChain(runtime: Runtime, reply: FastifyReply, { chain, deadline, go }: PassOptions): void {
  const request = reply.request.raw as LinkedRequest
  const response = reply.raw as LinkedResponse
  const { url, method } = request
  let passed = false
  chain(request, response, (error) => {
    passed = true
    response[kDeadline]?.release(response)
    if (error !== undefined) runtime.fail(reply, error)
    else if (request.url === url && request.method === method) go()
    else {
      request[kOriginalUrl] ??= url
      redispatch(runtime, reply, () => {
        Object.assign(request, { url, method }) // else the handler of a method would run behind the guards of another
        go()
      })
    }
  })
  if (!passed && isWaiting(response)) deadline?.watch(response)
}

export interface ChainParts {
  /** The middleware of prefixes, which runs first. */
  bound: BoundChain
  /** The route's own. */
  own?: readonly Middleware[]
  /** The keys of the conditional steps that run for a request. */
  covering: (request: RequestLine) => ReadonlySet<string>
}

/** The runner of a route's chain; null when there is none. */
export function createChain(runtime: Runtime, { bound, own = [], covering }: ChainParts): ChainRunner | null {
  const prepareAll = (list: readonly Middleware[]): Middleware[] =>
    list.map((middleware) => prepare(runtime, middleware))
  const steps = bound.steps.map((step) => ({ ...step, middleware: prepareAll(step.middleware) }))
  return composeChain({ ...bound, steps }, prepareAll(own), {
    covering,
    canonical: (url) => runtime.stack.canonical(url),
    isOver: (response) => isOver(response as LinkedResponse),
    onLateNext: (late, request) => reportLateNext(runtime, late, request.res as LinkedResponse)
  })
}

/** cookie-parser is known by the name of its function: it needs `request.cookies` as it is in `use()`. */
function prepare({ express: side }: Runtime, middleware: Middleware): Middleware {
  if (isExpressApp(middleware)) return mountInChain(side.expressApp, middleware)
  return middleware.name === 'cookieParser' ? asInStack(middleware) : middleware
}

/**
 * A second `next()` is harmless: it is logged in development. An error is always logged; where no answer was sent,
 * it becomes the answer, as in Express (a timeout fires, a promise rejects).
 */
function reportLateNext(runtime: Runtime, { middleware, prefix, error }: LateNext, response: LinkedResponse): void {
  const reply = response[kReply]
  if (reply === null) return
  if (error) {
    logError(reply.log, { err: error, middleware, prefix }, 'A middleware failed after it had called next()')
    if (!isAnswered(response)) runtime.fail(reply, error)
  } else if (!isProduction(runtime.mode))
    reply.log.warn({ middleware, prefix }, 'A middleware called next() twice; the second is ignored')
}

export interface HookOptions {
  binder: Binder
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

export interface HookedRoute {
  segments: readonly Segment[]
  from: GuardedPattern['from']
}

/** The chain of a route that is not one of the app's own files, as its onRequest hook; null when the map has nothing for it. */
export function createChainHook(runtime: Runtime, { segments, from }: HookedRoute, options: HookOptions) {
  const { binder, handlerTimeout } = options
  const bound = binder.chainFor(segments)
  const chain = createChain(runtime, { bound, covering: binder.covering })
  const guardPath = createPathGuard(binder, { segments, bound, from })
  if (chain === null && guardPath === undefined) return null
  const deadline = runtime.deadlineOf(handlerTimeout)
  return function guard(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const raw = request.raw as LinkedRequest
    const go = (): void => {
      raw[kParams] = undefined
      const refused = guardPath?.(raw)
      if (refused === undefined) done()
      else runtime.fail(reply, refused)
    }
    if (chain === null) return go()
    raw[kParams] = request.params
    passChain(runtime, reply, { chain, deadline, go })
  }
}
