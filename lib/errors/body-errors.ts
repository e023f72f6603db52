import { ApiError } from './api-error.js'

export function bodyTooLarge(limit: number): ApiError {
  return tooLarge(`Request body is larger than ${limit} bytes`)
}

/** 413; the connection closes, since the rest of the body is not read. */
export function tooLarge(message: string): ApiError {
  const error = new ApiError(413, 'PAYLOAD_TOO_LARGE', message)
  error.headers = { connection: 'close' }
  return error
}

export function malformedBody(message: string): ApiError {
  return new ApiError(400, 'VALIDATION_ERROR', message)
}

export function unsupportedBody(message: string): ApiError {
  return new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', message)
}

/** The client left before its body was complete. Nobody reads the answer; logs do. */
export function abortedBody(): ApiError {
  return new ApiError(400, 'REQUEST_ABORTED', 'The client closed the connection before the body was complete')
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
