import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Mode } from '../contract/mode.js'
import { waitsForClient } from '../body/await-body.js'
import { ApiError } from '../errors/api-error.js'
import { requestTimeout } from '../errors/refusals.js'
import { createExpressSide, type ExpressSide } from '../express/classes.js'
import { Deadline } from '../link/handler-timeout.js'
import { loggedRequest } from '../errors/readable-error.js'
import { ExpressStack, refuseUse } from '../express/use-stack.js'
import {
  HANDED_OVER,
  kAbort,
  kAnswered,
  kReply,
  type RuntimeKind,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'
import { createFail, cutOff, endEmpty, passOn, sendToErrorHandler, type Fail } from './failure.js'
import { describeWait, routeOf, type Waiting } from './warnings.js'

/** What the steps of a request share: one object per server. */
export interface Runtime {
  readonly mode: Mode
  readonly express: ExpressSide
  readonly stack: ExpressStack
  /** On an app a root hook links every request; on a host each route does it for its own. */
  readonly kind: RuntimeKind
  /** The one place for errors (failure.ts). */
  readonly fail: Fail
  /** The same for an error that the stack's error middleware has seen already. */
  readonly failAfterStack: Fail
  /** Whether the error of a 404 may be seen: by an error handler of the app's or its logger's class; on a host nobody knows. */
  errorsMayBeSeen: boolean
  /** The waiting list of errors that are not answered yet, with the app's handler timeout. */
  readonly errorDeadline: Deadline | undefined
  /** The waiting list of a handler timeout in milliseconds, and for what it waits; undefined for 0. */
  readonly deadlineOf: (milliseconds: number, waiting?: Waiting) => Deadline | undefined
  /** Fastify's router, for a request that was rewritten. */
  readonly route: (request: IncomingMessage, response: ServerResponse) => void
}

export interface RuntimeOptions {
  mode: Mode
  kind: RuntimeKind
  route: Runtime['route']
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

export function createRuntime({ mode, kind, route, handlerTimeout }: RuntimeOptions): Runtime {
  const side = createExpressSide({
    escape: (reply, error) => passOn(runtime.fail, reply, error),
    kind
  })
  side.expressApp.set('env', mode)
  const stack = new ExpressStack(side.expressApp)
  if (kind === 'host') refuseUse(side.expressApp)
  const deadlines = new Map<string, Deadline>()
  const errorDeadline = handlerTimeout > 0 ? new Deadline(handlerTimeout, createExpireError(handlerTimeout)) : undefined
  const runtime: Runtime = {
    mode,
    express: side,
    stack,
    kind,
    fail: createFail(stack, { middleware: 'all', deadline: errorDeadline }),
    failAfterStack: createFail(stack, { middleware: 'last', deadline: errorDeadline }),
    errorsMayBeSeen: kind !== 'app',
    errorDeadline,
    deadlineOf(milliseconds, waiting = 'middleware') {
      if (milliseconds === 0) return undefined
      const name = `${waiting} ${milliseconds}`
      let deadline = deadlines.get(name)
      if (deadline === undefined) {
        deadline = new Deadline(milliseconds, (response) => expire(runtime, response, waiting))
        deadlines.set(name, deadline)
      }
      return deadline
    },
    route
  }
  return runtime
}

/** 503 for a request whose middleware or handler has not answered in time, 408 where they wait for the rest of its body. */
function expire(runtime: Runtime, response: LinkedResponse, waiting: Waiting): void {
  const reply = response[kReply]
  if (reply === null || (reply.sent && !response.writableEnded)) return // it was hijacked
  const request = reply.request.raw as LinkedRequest
  const error = waitsForClient(request) ? requestTimeout() : noAnswer(reply, waiting)
  const abort = (request[kAbort] ??= new AbortController()) // also for a signal that is asked for later
  abort.abort(error)
  if (response[kAnswered] === HANDED_OVER) endEmpty(response, 503) // an onSend hook hangs, and would for an error, too
  else runtime.fail(reply, error)
}

/**
 * The same where error middleware or an error handler did not answer. If the error handler hangs, too, 503 is sent with no
 * body, bypassing onSend hooks.
 */
function createExpireError(handlerTimeout: number): (response: LinkedResponse) => void {
  const last = new Deadline(handlerTimeout, (response) => endEmpty(response, 503))
  return (response) => {
    const reply = response[kReply]
    if (reply === null) return
    if (response.headersSent) return cutOff(reply, response, noAnswer(reply, 'error handler'))
    sendToErrorHandler(reply, noAnswer(reply, 'error handler'))
    if (!response.headersSent) last.watch(response)
  }
}

function noAnswer(reply: FastifyReply, waiting: Waiting): ApiError {
  const place = { ...loggedRequest(reply), file: routeOf(reply)?.file }
  reply.log.warn(place, `No answer within the handler timeout: ${describeWait(reply, waiting)}`)
  return new ApiError(503, 'SERVICE_UNAVAILABLE', 'The request was not answered in time')
}
