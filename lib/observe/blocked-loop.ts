import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Milliseconds between two looks at the clock. */
const INTERVAL = 250

/** Milliseconds that such a look may come late. */
const LATE = 1000

/**
 * Writes a warning when code has blocked the event loop for more than a second. It names the request that began, or whose handler
 * began, last: code that does not let go runs at once, so that no other request can have begun meanwhile.
 */
export function tellBlockedLoop(app: FastifyInstance): void {
  let last: FastifyRequest | undefined
  const note = (request: FastifyRequest, _reply: unknown, done: () => void): void => {
    last = request
    done()
  }
  let due = performance.now() + INTERVAL
  const look = (): void => {
    const late = performance.now() - due
    if (late > LATE) app.log.warn({ blockedFor: Math.round(late) }, blockedText(late, last))
    last = undefined
    due = performance.now() + INTERVAL
  }
  const timer = setInterval(look, INTERVAL).unref()
  app.addHook('onRequest', note)
  app.addHook('preHandler', note) // a request with a body waits before its handler
  app.addHook('onClose', async () => clearInterval(timer))
}

function blockedText(late: number, last: FastifyRequest | undefined): string {
  const seconds = (late / 1000).toFixed(1)
  const cause =
    last === undefined
      ? 'No request began before, so look at timers and background work'
      : `The request that began last is ${last.method} ${last.routeOptions.url ?? 'without a route'}`
  return `The event loop was blocked for ${seconds} s: no request could be answered. ${cause}`
}
