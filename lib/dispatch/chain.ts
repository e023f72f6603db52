import type { Middleware } from '../contract/middleware.js'
import { isProduction } from '../contract/mode.js'
import { logError } from '../errors/to-error.js'
import type { BoundChain } from '../middleware/chain.js'
import { composeChain, type ChainRunner, type LateNext } from '../middleware/run-chain.js'
import { asInStack, isExpressApp, mountInChain } from '../compat/express-stack.js'
import { isAnswered, isOver, kReply, type LinkedResponse } from '../compat/slots.js'
import type { Runtime } from './runtime.js'

export interface ChainParts {
  /** The middleware of prefixes, which runs first. */
  bound: BoundChain
  /** The route's own. */
  own?: readonly Middleware[]
  /** The keys of the conditional steps that run for a url. */
  covering: (url: string) => ReadonlySet<string>
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
function prepare({ compat }: Runtime, middleware: Middleware): Middleware {
  if (isExpressApp(middleware)) return mountInChain(compat.expressApp, middleware)
  return middleware.name === 'cookieParser' ? asInStack(middleware) : middleware
}

/**
 * A second `next()` is harmless and interests only the author. An error is always worth a line; while nobody has answered
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
