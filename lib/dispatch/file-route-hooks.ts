import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { ApiError } from '../errors/api-error.js'
import { isThenable } from '../options/values.js'
import { link } from '../express/link-request.js'
import { awaitBody } from '../body/await-body.js'
import { isWaiting, kParams, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { refusedParams, refusedTarget, hideMalformedType } from './request-target.js'
import { deliver } from './deliver.js'
import type { MethodPlan, MethodTable } from './methods.js'
import { passOn } from './failure.js'
import { passChain } from './pass-chain.js'
import type { Runtime } from './runtime.js'

type Done = HookHandlerDoneFunction

/** The route's onRequest hook: parameters, chain, body, each only where the plan has one. */
export function createEntry(runtime: Runtime, table: MethodTable<MethodPlan>) {
  return function enter(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const plan = table[request.raw.method as string] as MethodPlan
    const refused = receive(runtime, reply, plan)
    const { chain, deadline } = plan
    if (refused !== undefined) {
      const refuse = (): void => runtime.fail(reply, refused)
      if (chain === null) return refuse()
      return passChain(runtime, reply, { chain, deadline, go: refuse }) // guards run before a 404, as for any unknown path
    }
    const go = (): void => receiveBody(runtime, plan, reply, done)
    if (chain === null) return go()
    if (plan.body !== 'early') return passChain(runtime, reply, { chain, deadline, go })
    awaitBody(request.raw as LinkedRequest, plan.bodyLimit, () => passChain(runtime, reply, { chain, deadline, go }))
  }
}

/** What comes first for every request of a route: the Express side, and what no handler may see. */
function receive(runtime: Runtime, reply: FastifyReply, plan: MethodPlan): ApiError | undefined {
  const { request } = reply
  if (runtime.kind === 'host') {
    link(runtime.express, request, reply)
    const refused = refusedTarget(request.raw.url as string)
    if (refused !== undefined) return refused
  }
  if (!plan.hasParams) return undefined
  const raw = request.raw as LinkedRequest
  if (plan.readParams === undefined) return refusedParams(request.params) ?? plan.guardPath?.(raw)
  const params = plan.readParams(request.params as Record<string, string>, raw.url)
  raw[kParams] = params
  return refusedParams(params) ?? plan.guardPath?.(raw)
}

function receiveBody(runtime: Runtime, plan: MethodPlan, reply: FastifyReply, go: () => void): void {
  hideMalformedType(reply.request)
  if (plan.body === false) return go()
  awaitBody(reply.request.raw as LinkedRequest, plan.bodyLimit, (error) => {
    if (error === undefined) go()
    else runtime.fail(reply, error)
  })
}

/**
 * The Fastify handler of a route. It is synchronous and returns undefined: an async one that resolves undefined would make
 * Fastify send an empty 200 while a pipe, `sendFile` or a session's save is under way.
 */
export function createHandler(runtime: Runtime, table: MethodTable<MethodPlan>) {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    callHandler(runtime, table[request.raw.method as string] as MethodPlan, reply)
  }
}

/** The same for a route that needs no hook: what its hook would do first is done here. */
export function createBareHandler(runtime: Runtime, table: MethodTable<MethodPlan>) {
  return function handle(request: FastifyRequest, reply: FastifyReply): void {
    const plan = table[request.raw.method as string] as MethodPlan
    const refused = receive(runtime, reply, plan)
    if (refused !== undefined) return runtime.fail(reply, refused)
    callHandler(runtime, plan, reply)
  }
}

function callHandler(runtime: Runtime, plan: MethodPlan, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  try {
    const next = (error?: unknown): void => passOn(runtime.fail, reply, error)
    const result: unknown = plan.handler(reply.request.raw as LinkedRequest, response, next)
    if (!isThenable(result)) deliver(runtime, reply, result)
    else {
      // a promise is itself; what only behaves like one may call back twice, at once, or throw
      Promise.resolve(result).then(
        (value) => deliver(runtime, reply, value),
        (error: unknown) => runtime.fail(reply, error)
      )
    }
  } catch (error) {
    return runtime.fail(reply, error)
  }
  if (isWaiting(response)) plan.handlerDeadline?.watch(response)
}
