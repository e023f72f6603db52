import type { FastifyInstance } from 'fastify'
import type { Mode } from '../contract/mode.js'
import type { AppOptions } from '../contract/options.js'
import { closeOnProcessEvents, leaveProcessEvents } from './process-events.js'
import { GRACE_TIME } from './shutdown.js'

/** Listens on the port and host of the options; from then until `close()` the process ends by closing the app first. */
export async function start(app: FastifyInstance, mode: Mode, options: AppOptions): Promise<string> {
  const { port = 5000, host = 'localhost', shutdown = {} } = options
  const { signals = mode !== 'test', delay = 0, graceTime = GRACE_TIME } = shutdown
  if (!signals) return app.listen({ port, host })
  closeOnProcessEvents(app, delay + graceTime)
  try {
    return await app.listen({ port, host })
  } catch (error) {
    leaveProcessEvents(app)
    throw error
  }
}
