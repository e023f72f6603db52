import { ApiError, NotFoundError, ValidationError } from './api-error.js'
import type { FieldProblem } from './field-problems.js'

/** No route takes the request, or a middleware has left all of them. */
export function routeNotFound(): ApiError {
  return refusal(() => new NotFoundError('Route'))
}

/** @param allow value of the `Allow` header */
export function methodNotAllowed(method: string | undefined, allow: string): ApiError {
  const error = refusal(() => new ApiError(405, 'METHOD_NOT_ALLOWED', `Method ${method} is not allowed here`))
  error.headers = { allow }
  return error
}

export function malformedTarget(message = 'Request target is malformed'): ApiError {
  return refusal(() => new ValidationError(message))
}

/** @param limit characters */
export function targetTooLong(limit: number): ApiError {
  return refusal(() => new ApiError(414, 'URI_TOO_LONG', `Request target is longer than ${limit} characters`))
}

/** @param limit bytes */
export function bodyTooLarge(limit: number): ApiError {
  return tooLarge(`Request body is larger than ${limit} bytes`)
}

/** 413; a connection of HTTP/1 closes, since the rest of the body is not read. */
export function tooLarge(message: string): ApiError {
  const error = refusal(() => new ApiError(413, 'PAYLOAD_TOO_LARGE', message))
  error.headers = { connection: 'close' }
  return error
}

/** 408 (RFC 9110, section 15.5.9); the connection closes, since the rest of the request is not read. */
export function requestTimeout(): ApiError {
  const error = refusal(() => new ApiError(408, 'REQUEST_TIMEOUT', 'The request did not arrive in time'))
  error.headers = { connection: 'close' }
  return error
}

export function malformedBody(message: string): ApiError {
  return refusal(() => new ValidationError(message))
}

/** The request breaks the schemas of its route. */
export function invalidRequest(problems: readonly FieldProblem[]): ApiError {
  return refusal(() => new ValidationError('Request validation failed', problems))
}

export function unsupportedBody(message: string): ApiError {
  return refusal(() => new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', message))
}

/** The client left before its body was complete. The answer is for the log. */
export function abortedBody(): ApiError {
  return refusal(
    () => new ApiError(400, 'REQUEST_ABORTED', 'The client closed the connection before the body was complete')
  )
}

/**
 * An error that is the client's mistake and found by the framework has no stack: it would name only files of ours, and
 * costs more to take than the rest of the answer, at the expense of a server that is flooded with such requests.
 */
function refusal<Refusal extends ApiError>(make: () => Refusal): Refusal {
  const { stackTraceLimit } = Error
  limitStacks(0)
  try {
    return make()
  } finally {
    limitStacks(stackTraceLimit)
  }
}

function limitStacks(frames: number): void {
  try {
    Error.stackTraceLimit = frames
  } catch {
    // Error is frozen
  }
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** An upload cannot be kept: 507 without space, else 503. The reason, with its path, is for the log only. */
export function notStored(reason: NodeJS.ErrnoException): ApiError {
  const error = NO_SPACE.has(reason.code ?? '')
    ? new ApiError(507, 'INSUFFICIENT_STORAGE', 'There is no space left for the upload')
    : new ApiError(503, 'SERVICE_UNAVAILABLE', 'The upload cannot be stored at the moment')
  error.headers = { connection: 'close' }
  error.cause = reason
  return error
}

/** The process is over its limits. @param retryAfter seconds until the client may come again */
export function overloaded(retryAfter: number): ApiError {
  const error = refusal(() => new ApiError(503, 'SERVICE_UNAVAILABLE', 'The server is overloaded; try again later'))
  error.headers = { 'retry-after': String(retryAfter) }
  return error
}

/** Why `request.signal` is aborted when the application closes; a handler that fails with it answers 503. */
export class ClosingError extends ApiError {
  constructor() {
    super(503, 'SERVICE_UNAVAILABLE', 'The server is closing')
  }
}
