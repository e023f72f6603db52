import type { FastifyReply } from 'fastify'
import type { ChainRunner } from '../middleware/run-chain.js'
import type { Deadline } from '../compat/deadline.js'
import { isWaiting, kDeadline, kOriginalUrl, type LinkedRequest, type LinkedResponse } from '../compat/slots.js'
import { redispatch } from './redispatch.js'
import type { Runtime } from './runtime.js'

export interface Passage {
  chain: ChainRunner
  deadline: Deadline | undefined
  /** Called when every middleware has passed the request on. */
  go: () => void
}

/** Sends a request through a chain: errors to their place, rewritten requests back to the router, unanswered ones to 503. */
export function passChain(runtime: Runtime, reply: FastifyReply, { chain, deadline, go }: Passage): void {
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
