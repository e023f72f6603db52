import type { Middleware } from '../contract/middleware.js'
import { isProduction } from '../contract/mode.js'
import type { BoundChain } from '../middleware/chain.js'
import { composeChain, type ChainRunner, type LateNext } from '../middleware/run-chain.js'
import { asInStack } from '../compat/express-stack.js'
import { isAnswered, kReply, type LinkedResponse } from '../compat/slots.js'
import type { Runtime } from './runtime.js'

/** The runner of a route's chain, prefix middleware first; null when there is none. */
export function createChain(runtime: Runtime, bound: BoundChain, own: readonly Middleware[]): ChainRunner | null {
  const steps = bound.steps.map((step) => ({ ...step, middleware: step.middleware.map(prepare) }))
  return composeChain({ ...bound, steps }, own.map(prepare), {
    isAnswered: (response) => isAnswered(response as LinkedResponse),
    onLateNext: (late, request) => reportLateNext(runtime, late, request.res as LinkedResponse)
  })
}

/** cookie-parser is known by the name of its function: it needs `request.cookies` as it is in `use()`. */
function prepare(middleware: Middleware): Middleware {
  return middleware.name === 'cookieParser' ? asInStack(middleware) : middleware
}

/** A lost error is always worth a line; a second `next()` is harmless and interests only the author. */
function reportLateNext({ mode }: Runtime, { middleware, prefix, error }: LateNext, response: LinkedResponse): void {
  const log = response[kReply]?.log
  if (error) log?.error({ err: error, middleware, prefix }, 'A middleware failed after it had called next()')
  else if (!isProduction(mode))
    log?.warn({ middleware, prefix }, 'A middleware called next() twice; the second is ignored')
}
