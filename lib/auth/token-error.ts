import { ApiError } from '../errors/api-error.js'

export type TokenErrorCode = 'TOKEN_EXPIRED' | 'INVALID_TOKEN'

/** 401: a token that cannot be accepted. What `verifyAccess` throws; any other error means that checking failed. */
export class TokenError extends ApiError {
  constructor(code: TokenErrorCode, message: string, cause?: unknown) {
    super(401, code, message)
    if (cause !== undefined) this.cause = cause
  }
}
