import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors/api-error.js'
import { mergeIntoReply } from '../compat/headers.js'
import type { ExpressStack } from '../compat/express-stack.js'
import { isAnswered, LEAVING, markAnswered, type LinkedRequest, type LinkedResponse } from '../compat/slots.js'

/** Sends an error that no error middleware took. */
export type SendError = (reply: FastifyReply, error: Error) => void

/** Which error middleware an error still has to meet. */
type Ahead = 'all' | 'last'

export type Fail = (reply: FastifyReply, error: unknown) => void

/**
 * Makes the place where every error of an app ends, whoever threw it: Express error middleware first, if any is
 * registered, then Fastify's error handler, each at most once. After an answer the error is logged.
 */
export function createFail(stack: ExpressStack, ahead: Ahead, send: SendError = sendToErrorHandler): Fail {
  return function fail(reply, thrown) {
    const response = reply.raw as LinkedResponse
    const error = toError(thrown)
    if (isAnswered(response) || reply.sent) return failAfterAnswer(reply, response, error)
    if (!stack.handlesErrors) return send(reply, error)
    const request = reply.request.raw as LinkedRequest
    const done = (left: unknown): void => {
      if (isAnswered(response)) reply.log.error({ err: left }, 'An error came after the answer')
      else send(reply, toError(left))
    }
    if (ahead === 'all') stack.runErrors(request, response, { error, done })
    else stack.runLast(request, response, { error, done })
  }
}

/** A started answer cannot become an error page: it is cut off, so that the client does not take it for whole. */
function failAfterAnswer(reply: FastifyReply, response: LinkedResponse, error: Error): void {
  reply.log.error({ err: error }, 'An error came after the answer')
  if (response.headersSent && !response.writableEnded) response.destroy()
}

/** The error as Fastify's error handlers take it; what is thrown may be anything. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  const error = new Error(messageOf(thrown), { cause: thrown })
  const status = typeof thrown === 'object' && thrown !== null ? readStatus(thrown) : undefined
  return status === undefined ? error : Object.assign(error, { status, statusCode: status })
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  if (thrown === undefined || thrown === null || thrown === false) return 'Rejected without a reason'
  try {
    const { message } = thrown as { message?: unknown }
    return typeof message === 'string' ? message : String(thrown)
  } catch {
    return 'Rejected with a value that cannot be read'
  }
}

function readStatus(thrown: object): unknown {
  try {
    return Reflect.get(thrown, 'statusCode') ?? Reflect.get(thrown, 'status')
  } catch {
    return undefined // a hostile getter or proxy
  }
}

/** Hands an error to Fastify's error handler. */
function sendToErrorHandler(reply: FastifyReply, error: Error): void {
  prepareError(reply, error)
  reply.send(error)
}

/** Headers set so far stay, headers of the error are added, and nothing but the error handler may answer from here on. */
export function prepareError(reply: FastifyReply, error: Error): void {
  const response = reply.raw as LinkedResponse
  mergeIntoReply(response, reply)
  for (const name of ['content-type', 'content-length', 'etag', 'transfer-encoding']) response.removeHeader(name)
  const { headers } = error as { headers?: unknown }
  if (typeof headers === 'object' && headers !== null) reply.headers(headers as Record<string, string>)
  markAnswered(response, LEAVING)
}

/** 404 in the app's error shape. */
export function routeNotFound(): ApiError {
  return new ApiError(404, 'NOT_FOUND', 'Route not found')
}
