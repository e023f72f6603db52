import type { FastifyInstance } from 'fastify'
import { overloaded } from '../errors/refusals.js'
import { tellBlockedLoop } from './blocked-loop.js'
import type { SheddingOptions } from './observe-options.js'
import type { UnderPressure } from './observe-peers.js'

/** Refuses requests while the process is over a limit, but for the routes of `observe` itself; warns of a blocked event loop. */
export async function shedLoad(
  app: FastifyInstance,
  underPressure: UnderPressure,
  options: Required<SheddingOptions>
): Promise<void> {
  const error = overloaded(options.retryAfter)
  // made once: the package keeps what it constructs, and a constructor may give any object
  const customError = function OverloadError() {
    return error
  } as object as new () => Error
  tellBlockedLoop(app)
  await app.register(underPressure, { ...options, eventLoopUtilizationMode: 'interval', customError })
}
