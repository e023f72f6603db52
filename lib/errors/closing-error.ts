import { ApiError } from './api-error.js'

/** Why `request.signal` is aborted when the application closes; a handler that fails with it answers 503. */
export class ClosingError extends ApiError {
  constructor() {
    super(503, 'SERVICE_UNAVAILABLE', 'The server is closing')
  }
}
