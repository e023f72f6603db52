import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { ApiError } from '../errors/api-error.js'
import { isThenable } from '../options/values.js'
import { link } from '../express/link-request.js'
import { awaitBody } from '../body/wait.js'
import { isWaiting, kParams, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { refusedParams, refusedTarget, hideMalformedType } from './request-target.js'
import { deliver } from './deliver.js'
import type { Endpoint, MethodTable } from './methods.js'
import { passOn } from './failure.js'
import { passChain } from './pass-chain.js'
import type { Runtime } from './runtime.js'

type Done = HookHandlerDoneFunction

/** The route's onRequest hook: parameters, chain, body, each only where the endpoint has one. */
export function createEntry(runtime: Runtime, table: MethodTable<Endpoint>) {
  return function enter(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const endpoint = table[request.raw.method as string] as Endpoint
    const refused = receive(runtime, { request, reply }, endpoint)
    const { chain, deadline } = endpoint
    if (refused !== undefined) {
      const refuse = (): void => runtime.fail(reply, refused)
      if (chain === null) return refuse()
      return passChain(runtime, reply, { chain, deadline, go: refuse }) // guards run before a 404, as for any unknown path
    }
    const go = (): void => parseBody(runtime, endpoint, reply, done)
    if (chain === null) return go()
    if (endpoint.body !== 'early') return passChain(runtime, reply, { chain, deadline, go })
    awaitBody(request.raw as LinkedRequest, endpoint.bodyLimit, () =>
      passChain(runtime, reply, { chain, deadline, go })
    )
  }
}

interface Pair {
  request: FastifyRequest
  reply: FastifyReply
}

/** What comes first for every request of a route: the Express side, and what no handler may see. */
function receive(runtime: Runtime, { request, reply }: Pair, endpoint: Endpoint): ApiError | undefined {
  if (!runtime.linksAtRoot) {
    link(runtime.compat, request, reply)
    const refused = refusedTarget(request.raw.url as string)
    if (refused !== undefined) return refused
  }
  if (!endpoint.hasParams) return undefined
  const url = request.raw.url as string
  if (endpoint.readParams === undefined) return refusedParams(request.params) ?? endpoint.guardPath?.(url)
  const params = endpoint.readParams(request.params as Record<string, string>, url)
  ;(request.raw as LinkedRequest)[kParams] = params
  return refusedParams(params) ?? endpoint.guardPath?.(url)
}

function parseBody(runtime: Runtime, endpoint: Endpoint, reply: FastifyReply, go: () => void): void {
  hideMalformedType(reply.request)
  if (endpoint.body === false) return go()
  awaitBody(reply.request.raw as LinkedRequest, endpoint.bodyLimit, (error) => {
    if (error === undefined) go()
    else runtime.fail(reply, error)
  })
}

/**
 * The Fastify handler of a route. It is synchronous and returns undefined: an async one that resolves undefined would make
 * Fastify send an empty 200 while a pipe, `sendFile` or a session's save is under way.
 */
export function createHandler(runtime: Runtime, table: MethodTable<Endpoint>) {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    callHandler(runtime, table[request.raw.method as string] as Endpoint, reply)
  }
}

/** The same for a route that needs no hook: what its hook would do first is done here. */
export function createBareHandler(runtime: Runtime, table: MethodTable<Endpoint>) {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const endpoint = table[request.raw.method as string] as Endpoint
    const refused = receive(runtime, { request, reply }, endpoint)
    if (refused !== undefined) return runtime.fail(reply, refused)
    callHandler(runtime, endpoint, reply)
  }
}

function callHandler(runtime: Runtime, endpoint: Endpoint, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  try {
    const next = (error?: unknown): void => passOn(runtime.fail, reply, error)
    const result: unknown = endpoint.handler(reply.request.raw as LinkedRequest, response, next)
    if (!isThenable(result)) deliver(runtime, reply, result)
    else {
      // a promise is itself; what only behaves like one may call back twice, at once, or throw
      Promise.resolve(result).then(
        (value) => deliver(runtime, reply, value),
        (error: unknown) => runtime.fail(reply, error ?? new Error('Rejected without a reason'))
      )
    }
  } catch (error) {
    return runtime.fail(reply, error)
  }
  if (isWaiting(response)) endpoint.handlerDeadline?.watch(response)
}
