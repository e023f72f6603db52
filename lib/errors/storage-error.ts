import { ApiError } from './api-error.js'

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
