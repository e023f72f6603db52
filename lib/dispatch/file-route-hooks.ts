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
import type { ChainRunner } from '../middleware/run-chain.js'
import { passChain } from './pass-chain.js'
import type { Runtime } from './runtime.js'

type Done = HookHandlerDoneFunction

/*
 * A function that makes a callback allocates for it whenever it is called, even where it then needs none. Callbacks are therefore
 * made in functions of their own, which run only for requests that wait.
 */

/** The route's onRequest hook: parameters, chain, body, each only where the plan has one. */
export function createEntry(runtime: Runtime, table: MethodTable<MethodPlan>) {
  return function enter(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    const plan = table[request.raw.method as string] as MethodPlan
    const refused = receive(runtime, reply, plan)
    if (refused !== undefined) refuseBehindGuards(runtime, reply, plan, refused)
    else if (plan.chain === null) receiveBody(runtime, reply, plan, done)
    else enterChain(runtime, reply, plan, done)
  }
}

/** Guards run before a 404, as for any unknown path. */
function refuseBehindGuards(runtime: Runtime, reply: FastifyReply, plan: MethodPlan, refused: ApiError): void {
  const { chain, deadline } = plan
  if (chain === null) runtime.fail(reply, refused)
  else passChain(runtime, reply, { chain, deadline, go: () => runtime.fail(reply, refused) })
}

function enterChain(runtime: Runtime, reply: FastifyReply, plan: MethodPlan, done: Done): void {
  const pass = (): void => {
    const go = (): void => receiveBody(runtime, reply, plan, done)
    passChain(runtime, reply, { chain: plan.chain as ChainRunner, deadline: plan.deadline, go })
  }
  if (plan.body === 'early') awaitBody(reply.request.raw as LinkedRequest, plan.bodyLimit, pass)
  else pass()
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

function receiveBody(runtime: Runtime, reply: FastifyReply, plan: MethodPlan, go: () => void): void {
  hideMalformedType(reply.request)
  if (plan.body === false) go()
  else waitForBody(runtime, reply, plan, go)
}

function waitForBody(runtime: Runtime, reply: FastifyReply, { bodyLimit }: MethodPlan, go: () => void): void {
  awaitBody(reply.request.raw as LinkedRequest, bodyLimit, (error) => {
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
    const result: unknown = plan.handler(reply.request.raw as LinkedRequest, response, nextOf(runtime, reply))
    if (isThenable(result)) deliverLater(runtime, reply, result)
    else deliver(runtime, reply, result)
  } catch (error) {
    return runtime.fail(reply, error)
  }
  if (isWaiting(response)) plan.handlerDeadline?.watch(response)
}

function nextOf(runtime: Runtime, reply: FastifyReply): (error?: unknown) => void {
  return (error) => passOn(runtime.fail, reply, error)
}

/** A promise is itself; what only behaves like one may call back twice, at once, or throw. */
function deliverLater(runtime: Runtime, reply: FastifyReply, result: PromiseLike<unknown>): void {
  Promise.resolve(result).then(
    (value) => deliver(runtime, reply, value),
    (error: unknown) => runtime.fail(reply, error)
  )
}
