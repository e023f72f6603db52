import { ApiError, type Request } from 'twinroute'
import { DatabaseUnavailable } from '../database/errors.js'

/** An answer in the flat form. */
export interface FlatAnswer<Status> {
  status: Status
  headers: Record<string, string>
  body: { error: string; message: string }
}

/** What services refuse on these endpoints: a password or a text that cannot be kept, and too many hashes at once. */
type Refused = FlatAnswer<400> | FlatAnswer<503>

/**
 * What an authentication endpoint answers to something thrown, in the flat form. Refusals keep their status and code;
 * all else, a database that is down included, is the 500 whose code the endpoint gives.
 */
export function flatFailure(request: Request, thrown: unknown, code: string): Refused | FlatAnswer<500> {
  if (thrown instanceof ApiError && !(thrown instanceof DatabaseUnavailable)) {
    const { statusCode, headers = {}, message } = thrown
    return { status: statusCode, headers, body: { error: thrown.code, message } } as Refused
  }
  request.services.log.error({ err: thrown, requestId: request.requestId }, code)
  return { status: 500, headers: {}, body: { error: code, message: 'Something went wrong; please try again' } }
}
