import { STATUS_CODES } from 'node:http'
import { isProduction, type Mode } from '../contract/mode.js'
import { modeOn } from '../contract/instance-state.js'
import { ApiError, ValidationError } from './api-error.js'
import { cutMessage, cutText } from './cut-text.js'
import { listedProblems, validationIssues } from './field-problems.js'
import { addErrorHeaders } from './error-headers.js'
import { readProperty } from './read-property.js'
import { toReadableError, logError } from './readable-error.js'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The nested error shape of the REST error handler. `Details` is what the details of the application's errors are: twinroute's own
 * are lists of {@link FieldProblem}, those of an `ApiError` may be anything.
 */
export interface ErrorEnvelope<Details = unknown> {
  error: { code: string; message: string; details?: Details }
  meta: { timestamp: string; requestId: string | undefined; stack?: string }
}

export interface ErrorAnswer {
  status: number
  body: ErrorEnvelope
}

/** Codes of errors that are not an ApiError: thrown by Fastify, Express middleware or the framework itself. */
const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE'
}

export function codeOfStatus(status: number): string {
  return CODE_BY_STATUS[status] ?? `HTTP_${status}`
}

/**
 * The answer for anything thrown: the only place that decides what a client may see of an error.
 * An ApiError is sent as it is; a schema-validation exception becomes 400 with its issues; other 4xx keep their message;
 * everything else is 500 and says no more than "An unexpected error occurred" in production. Lists of problems and messages
 * are cut, since the client decides how long they are.
 */
export function errorAnswer(thrown: unknown, requestId: string | undefined, mode: Mode): ErrorAnswer {
  const { status, code, message, details } = describeSafely(thrown, mode)
  const error: ErrorEnvelope['error'] = details === undefined ? { code, message } : { code, message, details }
  const meta: ErrorEnvelope['meta'] = {
    timestamp: new Date().toISOString(),
    requestId: requestId && cutText(requestId)
  }
  // where it is not sent it is not read: a schema library writes all issues into it
  const stack = isProduction(mode) ? undefined : readProperty(thrown, 'stack')
  if (typeof stack === 'string') meta.stack = stack
  return { status, body: { error, meta } }
}

interface Description {
  status: number
  code: string
  message: string
  details?: unknown
}

/** Of an error with parts that throw when they are read, only the message is shown. */
function describeSafely(thrown: unknown, mode: Mode): Description {
  try {
    return describe(thrown, mode)
  } catch {
    return describe(new Error(toReadableError(thrown).message), mode)
  }
}

function describe(thrown: unknown, mode: Mode): Description {
  if (thrown instanceof ApiError) return describeApiError(thrown)
  const issues = validationIssues(thrown)
  if (issues !== undefined) {
    return { status: 400, code: 'VALIDATION_ERROR', message: 'Request validation failed', details: issues }
  }
  const status = statusOf(thrown)
  return { status, code: codeOfStatus(status), message: clientMessage(thrown, status, mode) }
}

function describeApiError(error: ApiError): Description {
  const { code, message } = error
  return { status: statusOf(error), code, message: cutMessage(message), details: detailsOf(error) }
}

/** Details that JSON cannot hold are left out: the rest of the answer is more than none. */
function detailsOf(error: ApiError): unknown {
  const { details } = error
  try {
    if (error instanceof ValidationError && Array.isArray(details)) return listedProblems(details)
    return JSON.stringify(details) === undefined ? undefined : details
  } catch {
    return undefined // a circle or a BigInt
  }
}

/** The status an error asks for: an integer from 400 to 599 under `statusCode` or `status`, else 500. */
export function statusOf(thrown: unknown): number {
  for (const name of ['statusCode', 'status']) {
    const status = readProperty(thrown, name)
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 500
}

function clientMessage(thrown: unknown, status: number, mode: Mode): string {
  const message = readProperty(thrown, 'message')
  const text = typeof message === 'string' && message !== '' ? cutMessage(message) : String(STATUS_CODES[status])
  if (status < 500) return readProperty(thrown, 'expose') === false ? String(STATUS_CODES[status]) : text
  if (!isProduction(mode)) return typeof thrown === 'string' ? cutMessage(thrown) : text
  return status === 500 ? 'An unexpected error occurred' : (STATUS_CODES[status] ?? 'Server error')
}

/**
 * The global error handler, for `createApp({ errorHandler })` and `fastify.setErrorHandler(errorHandler)`. Answers in the
 * nested error envelope `{ error: { code, message, details? }, meta: { timestamp, requestId, stack? } }`: an ApiError with its
 * own status and code, a schema-validation exception as 400 `VALIDATION_ERROR` with its issues, other errors as 500
 * `INTERNAL_SERVER_ERROR`, whose message and stack stay on the server in production. Errors of 500 and above are logged.
 */
export function errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body } = errorAnswer(error, request.id, modeOn(request.server))
  if (status >= 500) logError(reply.log, { err: error }, body.error.message)
  addErrorHeaders(reply, error)
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}
