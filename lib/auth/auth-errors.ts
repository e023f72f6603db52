import type { Request, Response } from '../contract/request.js'
import { ApiError } from '../errors/api-error.js'
import { errorAnswer } from '../errors/error-handler.js'
import type { OptionRule } from '../options/rules.js'

/** Shape of the errors: `{ error, message }`, or `{ error: { code, message }, meta }`. */
export type ErrorForm = 'flat' | 'nested'

export const ERROR_FORM: OptionRule = {
  expected: "'flat' or 'nested'",
  accepts: (value) => value === 'flat' || value === 'nested',
  required: true
}

export interface Refusal {
  status: 401 | 403 | 500
  code: string
  message: string
}

/** Answers in the wanted form. A 401 names the scheme, as RFC 9110 asks. */
export function answerRefusal(request: Request, response: Response, form: ErrorForm, refusal: Refusal): void {
  const { status, code, message } = refusal
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
  response.status(status).json(form === 'flat' ? { error: code, message } : nestedBody(request, refusal))
}

function nestedBody({ requestId }: Request, { status, code, message }: Refusal): unknown {
  // in production form always: the stack of a refusal leads to this file only
  return errorAnswer(new ApiError(status, code, message), requestId, 'production').body
}

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
