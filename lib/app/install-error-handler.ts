import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { describeType, isThenable } from '../options/values.js'
import { readProperty } from '../errors/read-property.js'
import { shortenError, toReadableError } from '../errors/readable-error.js'
import { resetStatusLine } from '../answer/status-line.js'
import type { ErrorMiddleware } from '../contract/middleware.js'
import type { AppOptions } from '../contract/options.js'
import { FAILING, kAnswered, OPEN, type LinkedResponse } from '../link/state.js'
import { linkInApp, runStack } from '../dispatch/app-entry.js'
import { createFail, setErrorHead, beginFailure, readableFor } from '../dispatch/failure.js'
import { allowedMethods } from '../dispatch/methods.js'
import { methodNotAllowed } from '../errors/refusals.js'
import { noteUnmatched, refusalOf, refusingRouteOf } from '../link/refusal.js'
import { notFoundEntryOf } from '../fastify/server-state.js'
import type { Runtime } from '../dispatch/runtime.js'
import type { CorsHook } from './cors.js'
import type { WatchRequest } from './request-log.js'
import { replaceMethod } from '../fastify/replace-method.js'

type ErrorHandler = (this: FastifyInstance, error: Error, request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Sets the `errorHandler` option: a Fastify error handler, or Express error middleware (four parameters). Errors that
 * Fastify and its plugins raise by themselves meet the Express error middleware, too. `app.setErrorHandler(handler)`
 * replaces it, on all routes that were registered before, too.
 */
export function installErrorHandler(app: FastifyInstance, runtime: Runtime, { errorHandler }: AppOptions): void {
  let last: ErrorHandler = sendAsFastify
  const replace = (handler: NonNullable<AppOptions['errorHandler']>): void => {
    runtime.errorsMayBeSeen = true
    runtime.stack.setLastErrorMiddleware(isErrorMiddleware(handler) ? handler : undefined)
    last = isErrorMiddleware(handler) ? sendAsFastify : (handler as ErrorHandler)
  }
  if (errorHandler !== undefined) replace(errorHandler)
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const response = reply.raw as LinkedResponse
    if (hasPassed(response) || !runtime.stack.handlesErrors) {
      const error = readableFor(reply, thrown)
      if (response[kAnswered] !== FAILING) setErrorHead(reply, error)
      return callLastHandler(response, () => last.call(app, error, request, reply))
    }
    response[kAnswered] = OPEN
    runtime.fail(reply, thrown)
    return undefined
  })
  replaceMethod(app, 'setErrorHandler', (scope, given, setErrorHandler) => {
    const [handler] = given
    if (scope !== app) return setErrorHandler(handler)
    if (typeof handler !== 'function') {
      throw new TypeError(`setErrorHandler takes a function; it was given ${describeType(handler)}`)
    }
    replace(handler as NonNullable<AppOptions['errorHandler']>)
    return scope
  })
}

/** What an error handler throws goes to Fastify, which reads it, and the status that the handler may have set. */
function callLastHandler(response: LinkedResponse, call: () => unknown): unknown {
  const rethrow = (failure: unknown): never => {
    if (!response.headersSent) resetStatusLine(response)
    throw toReadableError(failure)
  }
  try {
    const result = call()
    return isThenable(result) ? Promise.resolve(result).catch(rethrow) : result
  } catch (failure) {
    return rethrow(failure)
  }
}

/** The error comes from `fail`, which has shown it to the middleware, or the answer has begun. */
function hasPassed(response: LinkedResponse): boolean {
  return response[kAnswered] === FAILING || response.headersSent
}

/**
 * Fastify's own answer. We hide `error.headers`, because Fastify would copy all of them, even the content-length of an
 * upstream; our headers are set already.
 */
const sendAsFastify: ErrorHandler = (error, _request, reply) => {
  const carriesHeaders = readProperty(error, 'headers') !== undefined
  const short = shortenError(error)
  reply.send(carriesHeaders ? Object.create(short, { headers: { value: undefined } }) : short)
}

function isErrorMiddleware(handler: NonNullable<AppOptions['errorHandler']>): handler is ErrorMiddleware {
  return handler.length === 4
}

/** What a failure may need of the app, which is made after the handler of its failures. */
export interface AppParts {
  app: () => FastifyInstance
  cors: CorsHook | undefined
  watch: WatchRequest | undefined
}

/**
 * Malformed paths and over-long parameters (`/%zz`): Fastify finds no route for them and runs neither hooks nor error
 * handler, so both are run here.
 */
export function frameworkErrorHandler(runtime: Runtime, { app, cors, watch }: AppParts, handlerTimeout: number) {
  const fail = createFail(runtime.stack, {
    middleware: 'all',
    send: (reply, error) => callErrorHandler(app(), reply, error),
    deadline: runtime.errorDeadline
  })
  return function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    linkInApp(runtime.express, request, reply)
    noteUnmatched(request, reply)
    watch?.(request, reply)
    const answer = (): void => {
      const end = (): void => {
        if (tellsMethods(request)) refusalOf(request)?.answer(request, reply)
        else fail(reply, methodRefused(request) ?? error)
      }
      const guard = (): void => passGuards(app(), reply, error, end)
      if (runtime.stack.isEmpty) guard()
      else runStack(runtime, reply, handlerTimeout, guard)
    }
    if (cors === undefined) answer()
    else cors(request, reply, answer)
  }
}

/**
 * A parameter is too long for a route that is there, so the answer comes after the chain, as 404 does where there is none.
 * A malformed path has the same answer everywhere.
 */
function passGuards(app: FastifyInstance, reply: FastifyReply, error: Error, end: () => void): void {
  const enter = readProperty(error, 'code') === 'FST_ERR_MAX_PARAM_LENGTH' ? notFoundEntryOf(app) : undefined
  if (enter === undefined) end()
  else enter.call(app, reply.request, reply, end)
}

/** As {@link methodRefused}, but the method is the one that is not refused. */
function tellsMethods(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && refusalOf(request)?.by !== undefined
}

/** A catch-all has the path, too: it takes values of any length, but not this method. */
function methodRefused(request: FastifyRequest): Error | undefined {
  const refusing = refusingRouteOf(request)?.route
  return refusing === undefined ? undefined : methodNotAllowed(request.method, allowedMethods(refusing.module))
}

function callErrorHandler(app: FastifyInstance, reply: FastifyReply, error: Error): void {
  beginFailure(reply, error)
  try {
    const result: unknown = (app.errorHandler as ErrorHandler).call(app, error, reply.request, reply)
    if (isThenable(result))
      result.then(
        (payload) => sendUnlessSent(reply, payload),
        (failure) => reply.send(failure)
      )
    else sendUnlessSent(reply, result)
  } catch (failure) {
    reply.send(failure)
  }
}

function sendUnlessSent(reply: FastifyReply, payload: unknown): void {
  if (payload === undefined || payload === reply || reply.sent) return
  try {
    reply.send(payload)
  } catch (failure) {
    reply.send(toReadableError(failure))
  }
}

type Reported = Error | null | undefined

/** What Fastify logs of requests by itself: nothing of those that end well or by a mistake of the client's, all failures. */
export class FailureLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(error: Reported, request: FastifyRequest, reply: FastifyReply): void {
    if (error) super.requestCompleted(toReadableError(error), request, reply)
  }

  override defaultErrorLog(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.statusCode >= 500) super.defaultErrorLog(toReadableError(error), request, reply)
  }

  override streamError(error: NodeJS.ErrnoException, request: FastifyRequest, reply: FastifyReply): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(toReadableError(error), request, reply)
  }
}
