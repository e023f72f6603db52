import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { setType } from '../answer/reply-headers.js'
import { JSON_TYPE } from '../answer/send.js'
import type { ApiError } from '../errors/api-error.js'
import { malformedTarget, routeNotFound } from '../errors/refusals.js'
import type { Binder, RequestLine } from '../middleware/bind.js'
import { isUnambiguous } from '../patterns/read-path.js'
import { link } from '../express/link-request.js'
import { hasHooks, hasSerializer } from '../link/private-names.js'
import { FAILING, isAnswered, kParams, markAnswered, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { clearHead, endFailed, refuse } from './failure.js'
import { hasForbiddenCharacters, refusedTarget, hideMalformedType } from './request-target.js'
import { createChain, passChain } from './pass-chain.js'
import type { RefusedMethods } from './refused-methods.js'
import type { Runtime } from './runtime.js'

export interface NotFoundOptions {
  runtime: Runtime
  binder: Binder
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
  /** Of an app. On a host, route files are registered with all methods. */
  refusedMethods?: RefusedMethods
}

/**
 * The onRequest hook of requests no route matches. Where a route file has the path, it refuses the method, or tells its methods
 * for OPTIONS, behind its own chain. Else the chain of the prefix runs first, as in Express, so that a scan below a guarded
 * prefix learns nothing but 401. A second find-my-way router, configured like the app's, finds the prefix.
 */
export function createNotFoundEntry({ runtime, binder, handlerTimeout, refusedMethods }: NotFoundOptions) {
  const chain = createChain(runtime, { bound: binder.everything, covering: binder.guards })
  const deadline = runtime.deadlineOf(handlerTimeout)
  return function enterNotFound(
    fastifyRequest: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction
  ): void {
    if (runtime.kind === 'host') link(runtime.express, fastifyRequest, reply)
    const request = fastifyRequest.raw as LinkedRequest
    const refused = refusedTarget(request.url)
    if (refused !== undefined) return runtime.fail(reply, refused)
    if (refusedMethods?.enter(fastifyRequest, reply, done) === true) return
    if (chain === null) return pass(fastifyRequest, reply, done)
    request[kParams] = binder.paramsOf(request.url)
    passChain(runtime, reply, { chain, deadline, go: () => pass(fastifyRequest, reply, done) })
  }
  function pass(fastifyRequest: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const forbidden = refusedUnmatched(binder, fastifyRequest.raw as LinkedRequest)
    if (forbidden !== undefined) return runtime.fail(reply, forbidden)
    hideMalformedType(fastifyRequest)
    done()
  }
}

/** A not-found handler may be anything, a proxy or a file server too. */
function refusedUnmatched(binder: Binder, request: RequestLine): ApiError | undefined {
  const { url } = request
  if (isUnambiguous(url)) return undefined
  if (hasForbiddenCharacters(url)) return malformedTarget()
  return binder.leadsPast(request, binder.guards) ? routeNotFound() : undefined
}

/** Answers what no route took, after the chain: 404 in the app's error shape. */
export function createNotFoundHandler(runtime: Runtime) {
  const body = asFastify(routeNotFound())
  return function notFound(request: FastifyRequest, reply: FastifyReply): void {
    if (request.is404 && isUnwatched(runtime, reply)) send(runtime, reply, body)
    else refuse(runtime.fail, reply, routeNotFound())
  }
}

/** Nobody would see the error: it need not be made, nor pass Fastify's error handlers, which takes longer than all else of a 404. */
function isUnwatched({ errorsMayBeSeen, stack }: Runtime, reply: FastifyReply): boolean {
  if (errorsMayBeSeen || stack.handlesErrors || isAnswered(reply.raw as LinkedResponse) || reply.sent) return false
  return !hasHooks(reply, 'onError') && !hasSerializer(reply)
}

/** The text that Fastify's error handler makes of an error. */
function asFastify({ statusCode, code, message }: ApiError): string {
  return JSON.stringify({ statusCode, code, error: STATUS_CODES[statusCode], message })
}

function send({ errorDeadline }: Runtime, reply: FastifyReply, body: string): void {
  const response = reply.raw as LinkedResponse
  try {
    clearHead(reply)
    markAnswered(response, FAILING)
    setType(response, reply, JSON_TYPE)
    reply.code(404).send(body)
  } catch (failure) {
    endFailed(reply, failure)
  }
  if (!response.headersSent) errorDeadline?.watch(response) // onSend hooks may take for ever
}
