import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mode } from '../contract/mode.js'
import { ApiError } from '../errors/api-error.js'
import { createCompat, type Compat } from '../compat/classes.js'
import { Deadline } from '../compat/deadline.js'
import { ExpressStack } from '../compat/express-stack.js'
import { kAbort, kReply, type LinkedRequest, type LinkedResponse } from '../compat/slots.js'
import { createFail, routeNotFound, type Fail } from './handle-error.js'

/** What the steps of a request share: one object per server. */
export interface Runtime {
  readonly mode: Mode
  readonly compat: Compat
  readonly stack: ExpressStack
  /** True where a root hook links every request (createApp); else each route does it for its own. */
  readonly linksAtRoot: boolean
  /** The one place for errors. */
  readonly fail: Fail
  /** The same for an error that the stack's error middleware has seen already. */
  readonly failPastStack: Fail
  /** The waiting list of a handler timeout in milliseconds; undefined for 0. */
  readonly deadlineOf: (milliseconds: number) => Deadline | undefined
  /** Fastify's router, for a request that was rewritten. */
  readonly route: (request: IncomingMessage, response: ServerResponse) => void
}

export interface RuntimeOptions {
  mode: Mode
  linksAtRoot: boolean
  route: Runtime['route']
}

export function createRuntime({ mode, linksAtRoot, route }: RuntimeOptions): Runtime {
  const compat = createCompat({
    escape: (reply, error) => runtime.fail(reply, error ?? routeNotFound()),
    proxyTrust: linksAtRoot ? 'express' : 'fastify'
  })
  compat.expressApp.set('env', mode)
  const stack = new ExpressStack(compat.expressApp)
  const deadlines = new Map<number, Deadline>()
  const runtime: Runtime = {
    mode,
    compat,
    stack,
    linksAtRoot,
    fail: createFail(stack, 'all'),
    failPastStack: createFail(stack, 'last'),
    deadlineOf(milliseconds) {
      if (milliseconds === 0) return undefined
      let deadline = deadlines.get(milliseconds)
      if (deadline === undefined) {
        deadline = new Deadline(milliseconds, (response) => expire(runtime, response))
        deadlines.set(milliseconds, deadline)
      }
      return deadline
    },
    route
  }
  return runtime
}

/** 503 for a request whose middleware or handler has not answered in time. */
function expire(runtime: Runtime, response: LinkedResponse): void {
  const reply = response[kReply]
  if (reply === null) return
  const error = new ApiError(503, 'SERVICE_UNAVAILABLE', 'The request was not answered in time')
  reply.log.warn({ method: reply.request.method, url: reply.request.url }, 'No answer within the handler timeout')
  const request = reply.request.raw as LinkedRequest
  const abort = (request[kAbort] ??= new AbortController()) // also for a signal that is asked for later
  abort.abort(error)
  runtime.fail(reply, error)
}
