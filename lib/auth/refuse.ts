import type { Request } from '../contract/request.js'
import type { Response } from '../contract/response.js'
import { ApiError } from '../errors/api-error.js'
import { errorAnswer } from '../errors/envelope.js'
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
export function refuse(request: Request, response: Response, form: ErrorForm, refusal: Refusal): void {
  const { status, code, message } = refusal
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
  response.status(status).json(form === 'flat' ? { error: code, message } : nestedBody(request, refusal))
}

function nestedBody({ requestId }: Request, { status, code, message }: Refusal): unknown {
  // in production form always: the stack of a refusal leads to this file only
  return errorAnswer(new ApiError(status, code, message), requestId, 'production').body
}
