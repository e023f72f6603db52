import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { routeLabel } from './route-label.js'

/** Milliseconds between two looks at the clock. */
const INTERVAL = 250

/** Milliseconds that such a look may come late: a block of a second is late by this at least. */
const LATE = 1000 - INTERVAL

/**
 * Writes a warning when code has blocked the event loop for about a second or more. It names the open request that began, or whose
 * handler began, last before the block: code that blocks right away, or behind its own `await` on a quiet server, is in that one.
 */
export function tellBlockedLoop(app: FastifyInstance): void {
  let last: FastifyReply | undefined
  let due = Infinity
  const note = (_request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // requests that have come meanwhile are begun before the next look
    if (performance.now() - due < LATE) last = reply
    done()
  }
  const look = (): void => {
    const late = performance.now() - due
    if (late >= LATE) app.log.warn({ blockedFor: Math.round(late) }, blockedText(late, last))
    if (last !== undefined && isOver(last)) last = undefined // kept no longer than it is open
    due = performance.now() + INTERVAL
  }
  let timer: NodeJS.Timeout | undefined
  app.addHook('onReady', async () => {
    due = performance.now() + INTERVAL
    timer = setInterval(look, INTERVAL).unref()
  })
  app.addHook('onRequest', note)
  app.addHook('preHandler', note) // a request with a body waits before its handler
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Answered, or its client has left. */
function isOver({ raw }: FastifyReply): boolean {
  return raw.writableFinished || raw.destroyed
}

function blockedText(late: number, last: FastifyReply | undefined): string {
  const cause =
    last === undefined
      ? 'No request was open, so look at timers and background work'
      : `The request that began last is ${last.request.method} ${routeLabel(last.request)}`
  return `The event loop was blocked for ${(late / 1000).toFixed(1)} s: no request could be answered. ${cause}`
}
