import { ApiError, type Request, type StatusObject } from 'twinroute'
import { DatabaseUnavailable } from '../database/errors.js'

/**
 * What an authentication endpoint answers to something thrown, in the flat form. Refusals keep their status and code;
 * all else, a database that is down included, is the 500 whose code the endpoint gives.
 */
export function flatFailure(request: Request, thrown: unknown, code: string): StatusObject {
  if (thrown instanceof ApiError && !(thrown instanceof DatabaseUnavailable)) {
    const { statusCode, headers = {}, message } = thrown
    return { status: statusCode, headers, body: { error: thrown.code, message } }
  }
  request.services.log.error({ err: thrown, requestId: request.requestId }, code)
  return { status: 500, body: { error: code, message: 'Something went wrong; please try again' } }
}
