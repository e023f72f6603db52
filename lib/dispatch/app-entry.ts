import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { routeNotFound } from '../errors/refusals.js'
import { link } from '../express/link-request.js'
import { awaitBody } from '../body/await-body.js'
import type { ExpressSide } from '../express/classes.js'
import { noteUnmatched, routeFileOf } from '../link/refusal.js'
import { isOver, isWaiting, kDeadline, kRedispatched, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { refusedTarget } from './request-target.js'
import { setRequestId } from '../answer/reply-headers.js'
import { redispatch } from './redispatch.js'
import type { Runtime } from './runtime.js'

export interface EntryOptions {
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
  /** Bytes, with early parsing: the body is there before any middleware. */
  earlyBodyLimit: number | undefined
}

/** The root onRequest hook of an app: links the Express side, rejects malformed targets, runs what `use()` registered. */
export function createAppEntry(runtime: Runtime, { handlerTimeout, earlyBodyLimit }: EntryOptions) {
  const { express: side, stack } = runtime
  function run(request: LinkedRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    if (stack.isEmpty || request[kRedispatched]) done()
    else runStack(runtime, reply, handlerTimeout, done)
  }
  return function enterApp(fastifyRequest: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    linkInApp(side, fastifyRequest, reply)
    noteUnmatched(fastifyRequest, reply)
    const request = fastifyRequest.raw as LinkedRequest
    const refused = refusedTarget(request.url)
    if (refused !== undefined) return runtime.fail(reply, refused)
    const limit = earlyBodyLimit === undefined ? undefined : earlyLimitOf(fastifyRequest, earlyBodyLimit)
    if (limit === undefined) return run(request, reply, done)
    awaitBody(request, limit, () => run(request, reply, done)) // `awaitBody` keeps the error; it is raised before the handler
  }
}

/** The router has chosen already: a route with a body limit or parser mode of its own keeps them. */
function earlyLimitOf(request: FastifyRequest, appLimit: number): number | undefined {
  const route = routeFileOf(request)
  if (route === undefined) return appLimit
  const { bodyParser = 'early', bodyLimit = appLimit } = route.module.config
  return bodyParser === 'early' ? bodyLimit : undefined
}

/** On an app every request is linked, and its id told to the client; a middleware may have replaced it before a rewrite. */
export function linkInApp(side: ExpressSide, request: FastifyRequest, reply: FastifyReply): void {
  link(side, request, reply)
  if ((request.raw as LinkedRequest)[kRedispatched]) return
  setRequestId(reply.raw as LinkedResponse, reply, request.id)
}

/** Runs the `use()` stack; goes on unless it answered, failed or rewrote the request. */
export function runStack(runtime: Runtime, reply: FastifyReply, handlerTimeout: number, goOn: () => void): void {
  const request = reply.request.raw as LinkedRequest
  const response = reply.raw as LinkedResponse
  let passed = false
  runtime.stack.run(request, response, (error, { rewritten, cleared }) => {
    if (passed) {
      // a middleware has called next() twice; an error that comes late has met no error middleware yet
      if (error) runtime.fail(reply, error)
      return
    }
    passed = true
    response[kDeadline]?.release(response)
    if (error) return runtime.failAfterStack(reply, error) // as in Express, a falsy one is none
    if (cleared) return runtime.failAfterStack(reply, routeNotFound())
    if (rewritten) redispatch(runtime, reply, goOn)
    else if (!isOver(response)) goOn()
  })
  if (!passed && isWaiting(response)) runtime.deadlineOf(handlerTimeout)?.watch(response)
}
