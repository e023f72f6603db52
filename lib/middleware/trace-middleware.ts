import { tracingChannel } from 'node:diagnostics_channel'
import type { Middleware } from '../contract/middleware.js'
import type { MiddlewareTrace } from '../contract/traces.js'
import { asFailure } from '../errors/readable-error.js'
import { isThenable } from '../options/values.js'

const channel = tracingChannel<unknown, MiddlewareTrace>('twinroute.middleware')

/**
 * A middleware whose runs are told to the channel. Whether anybody listens is asked here, when a chain is made: else the
 * middleware stays as it is, and no request pays for the question.
 */
export function traceMiddleware(run: Middleware, prefix: string | undefined): Middleware {
  if (!channel.hasSubscribers) return run
  const { name } = run
  const traced: Middleware = (request, response, next) => {
    let word: unknown
    let isTold = false
    const step: Middleware = (_request, _response, told) => {
      const pass = (given?: unknown): void => {
        if (isTold) return next(given) // a call too late is for the chain: the run has ended
        isTold = true
        word = given
        told(isSignal(given) ? undefined : given)
      }
      runStep(run, [request, response, pass])
    }
    channel.traceCallback(step, 2, { name, prefix, request, response }, undefined, request, response, () => next(word))
  }
  return Object.defineProperty(traced, 'name', { value: name }) // the chain names it where `next` is called twice
}

function runStep(run: Middleware, [request, response, pass]: Parameters<Middleware>): void {
  try {
    const result = run(request, response, pass)
    if (isThenable(result)) result.then(undefined, (error: unknown) => pass(asFailure(error)))
  } catch (error) {
    pass(asFailure(error))
  }
}

/** `'route'` and `'router'` are no errors. */
function isSignal(word: unknown): boolean {
  return word === 'route' || word === 'router'
}
