import { ApiError } from './api-error.js'

/** 413; the connection closes, since the rest of the body is not read. */
export function bodyTooLarge(limit: number): ApiError {
  const error = new ApiError(413, 'PAYLOAD_TOO_LARGE', `Request body is larger than ${limit} bytes`)
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
