// The stations of an error: 1. whatever a middleware or handler throws reaches `fail`, here; 2. Express error middleware sees it
// (express/use-stack.ts); 3. the error handler of the app gets the rest (app/install-error-handler.ts). 4. `errorHandler`
// answers it (errors/error-handler.ts, `statusOf`): a status such as 409 is the `statusCode` or `status` of the error itself,
// which errors/api-error.ts sets. Fastify's own handler reads the same `statusCode`.
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors/api-error.js'
import { addErrorHeaders } from '../errors/error-headers.js'
import { readProperty } from '../errors/read-property.js'
import { routeNotFound } from '../errors/refusals.js'
import { logError, toError, toReadableError } from '../errors/readable-error.js'
import { removeContentHeaders } from '../answer/content-headers.js'
import { cutOffNextTurn } from '../answer/late-calls.js'
import { resetStatusLine } from '../answer/status-line.js'
import { hasHooks } from '../link/private-names.js'
import type { Deadline } from '../link/handler-timeout.js'
import { releaseJson } from './watched-json.js'
import type { ExpressStack } from '../express/use-stack.js'
import {
  FAILING,
  isAnswered,
  isOver,
  LEAVING,
  markAnswered,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'

/** Sends an error that no error middleware took. */
export type SendError = (reply: FastifyReply, error: Error) => void

export type Fail = (reply: FastifyReply, error: unknown) => void

export interface FailOptions {
  /** Which error middleware the error has not met yet. */
  middleware: 'all' | 'last'
  /** Default: to Fastify's error handler. */
  send?: SendError
  /** Of error middleware and error handlers that do not answer. */
  deadline: Deadline | undefined
}

/** Set during `refuse()`: our own error, unseen by app code; `readableFor` need not check it. */
let untouched: Error | undefined

/** Fails a request with an error that twinroute made. Until other code has seen it, it need not be checked. */
export function refuse(fail: Fail, reply: FastifyReply, error: Error): void {
  untouched = error
  try {
    fail(reply, error)
  } finally {
    untouched = undefined
  }
}

/** The error as loggers and error handlers may read it, wherever it was thrown. */
export function readableFor(reply: FastifyReply, thrown: unknown): Error {
  const ours = untouched
  return ours !== undefined && ours === thrown && !hasHooks(reply, 'onError') ? ours : toReadableError(thrown)
}

/**
 * Makes the place where every error of an app ends, wherever it was thrown: Express error middleware first, if any is
 * registered, then Fastify's error handler, each at most once. After an answer the error is logged.
 */
export function createFail(
  stack: ExpressStack,
  { middleware, send = sendToErrorHandler, deadline }: FailOptions
): Fail {
  return function fail(reply, thrown) {
    const response = reply.raw as LinkedResponse
    const error = toError(thrown)
    if (isOver(response) || reply.sent) return logAfterAnswer(reply, error)
    releaseJson(response) // error middleware answers for itself
    if (!stack.handlesErrors) end(reply, error)
    else {
      untouched = undefined
      const request = reply.request.raw as LinkedRequest
      const done = (left: unknown): void => end(reply, left)
      if (middleware === 'all') stack.runErrors(request, response, { error, done })
      else stack.runLast(request, response, { error, done })
    }
    if (!response.headersSent || !isOver(response)) deadline?.watch(response)
  }
  function end(reply: FastifyReply, passed: unknown): void {
    const response = reply.raw as LinkedResponse
    const left = passed || routeNotFound() // as in Express: the error is dealt with, and no route is left
    if (isAnswered(response)) return cutOff(reply, response, left)
    sendOrEnd(reply, left, send)
    if (!response.headersSent) deadline?.watch(response) // error middleware may have passed it on late
  }
}

/** A started answer cannot become an error page: the error is logged, and the answer cut off. */
export function cutOff(reply: FastifyReply, response: LinkedResponse, error: unknown): void {
  logAfterAnswer(reply, error)
  cutOffNextTurn(response)
}

function logAfterAnswer({ log }: FastifyReply, error: unknown): void {
  if (error instanceof ApiError && error.code === 'REQUEST_ABORTED') return // nobody wants the rest of that body any more
  logError(log, { err: error }, 'An error came after the answer')
}

/** What an error handler throws must not reach the code that reports an error: often a timer or a promise. */
function sendOrEnd(reply: FastifyReply, left: unknown, send: SendError): void {
  try {
    send(reply, readableFor(reply, left))
  } catch (failure) {
    endFailed(reply, failure)
  }
}

/** Where the answer to an error fails as well. */
export function endFailed(reply: FastifyReply, failure: unknown): void {
  logError(reply.log, { err: failure }, 'An error could not be answered')
  endEmpty(reply.raw as LinkedResponse, 500)
}

/** The last resort: past error handlers and hooks. */
export function endEmpty(response: LinkedResponse, status: number): void {
  if (response.writableEnded && response.headersSent) return
  // an HTTP/2 response whose head could not be written counts as ended, and has sent nothing
  if (response.writableEnded || response.headersSent) return void response.destroy()
  markAnswered(response, LEAVING)
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  response.statusCode = status
  response.end()
}

/** What `next` of a handler does. Nothing comes behind a handler, so that without an error the answer is 404. */
export function passOn(fail: Fail, reply: FastifyReply, error: unknown): void {
  if (error && error !== 'route' && error !== 'router') fail(reply, error)
  else if (!isAnswered(reply.raw as LinkedResponse)) fail(reply, routeNotFound())
}

/** Hands an error to Fastify's error handler. */
export function sendToErrorHandler(reply: FastifyReply, error: Error): void {
  beginFailure(reply, error)
  reply.send(error)
}

/** Headers set so far stay, headers of the error are added, and nothing but the error handler may answer from here on. */
export function beginFailure(reply: FastifyReply, error: Error): void {
  const response = reply.raw as LinkedResponse
  setErrorHead(reply, error)
  keepStatus(response, error)
  markAnswered(response, FAILING)
}

/** As in Express: a status of 400 or more, set on the response before, is that of an error without one of its own. */
function keepStatus({ statusCode }: LinkedResponse, error: Error): void {
  const own = readProperty(error, 'statusCode') ?? readProperty(error, 'status')
  if (statusCode >= 400 && own === undefined && Object.isExtensible(error)) Object.assign(error, { statusCode })
}

/** The head of an error answer: what was set so far, without what described the lost one, and the headers of the error. */
export function setErrorHead(reply: FastifyReply, error: Error): void {
  clearHead(reply)
  addErrorHeaders(reply, error)
}

/** What was set so far, without what described the lost answer. */
export function clearHead(reply: FastifyReply): void {
  resetStatusLine(reply.raw as LinkedResponse)
  removeContentHeaders(reply)
}
