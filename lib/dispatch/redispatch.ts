import type { FastifyReply } from 'fastify'
import { loggedRequest } from '../errors/readable-error.js'
import { ON_RESPONSE_LISTENER } from '../link/private-names.js'
import {
  isOver,
  kParams,
  kQueryOf,
  kRedispatched,
  kReply,
  kRequestId,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'
import type { Runtime } from './runtime.js'

/**
 * Routes a request again whose url or method a middleware has rewritten: the router had chosen before. The new route's own
 * chain runs, so that a rewrite cannot bypass a guard. Once per request; a second rewrite has no effect.
 */
export function redispatch(runtime: Runtime, reply: FastifyReply, goOn: () => void): void {
  const request = reply.request.raw as LinkedRequest
  const response = reply.raw as LinkedResponse
  if (isOver(response)) return
  if (request[kRedispatched]) {
    reply.log.warn(loggedRequest(reply), 'A request is routed again once; the second rewrite has no effect')
    return goOn()
  }
  const { url, method } = request as { url: unknown; method: unknown }
  if (typeof url !== 'string' || typeof method !== 'string') {
    return runtime.fail(
      reply,
      new TypeError(
        'A middleware has set request.url or request.method to a value that is no string: set it to a string'
      )
    )
  }
  request[kRedispatched] = true
  request[kRequestId] = reply.request.id
  request[kQueryOf] = undefined
  request[kParams] = undefined
  reply.hijack()
  response[kReply] = null
  removeResponseListeners(response)
  runtime.route(request, response)
}

/** The first dispatch's onResponse hooks must not run beside the second's. */
function removeResponseListeners(response: LinkedResponse): void {
  for (const event of ['finish', 'error']) {
    for (const listener of response.listeners(event)) {
      if (listener.name === ON_RESPONSE_LISTENER) response.removeListener(event, listener as () => void)
    }
  }
}
