import { ApiError } from '../errors/api-error.js'

/** 401: a token that was good once. */
export function tokenExpired(cause: unknown): ApiError {
  return tokenError('TOKEN_EXPIRED', 'Token has expired', cause)
}

/** 401: a token that cannot be accepted; `cause` says why, in logs only. */
export function invalidToken(cause: unknown, message = 'Invalid token'): ApiError {
  return tokenError('INVALID_TOKEN', message, cause)
}

/** The token was refused; any other error means that it could not be checked. */
export function isTokenError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.statusCode === 401
}

export function isExpiry(error: ApiError): boolean {
  return error.code === 'TOKEN_EXPIRED'
}

function tokenError(code: string, message: string, cause: unknown): ApiError {
  return Object.assign(new ApiError(401, code, message), { cause })
}
