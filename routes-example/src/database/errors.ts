import { ApiError, ValidationError } from 'twinroute'

/** What the database refused, without the statement and its values: those may hold hashes and tokens. */
export class StoreError extends Error {
  /** PostgreSQL's five-character code. */
  readonly code: string
  readonly constraint: string | undefined

  constructor(code: string, message: string, constraint?: string) {
    super(message)
    this.name = 'StoreError'
    this.code = code
    this.constraint = constraint
  }
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof StoreError && error.code === '23505'
}

export function isMissingReference(error: unknown): boolean {
  return error instanceof StoreError && error.code === '23503'
}

/** The answer while the database cannot be reached, or refuses: 503 `SERVICE_UNAVAILABLE`, try again in a second. */
export class DatabaseUnavailable extends ApiError {
  constructor(message = 'The database is not reachable; try again shortly') {
    super(503, 'SERVICE_UNAVAILABLE', message)
    this.headers = { 'retry-after': '1' }
  }
}

/** The driver's own error below the ones wrapped round it. */
export function rootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : error
}

/** Whether an error says that the server is gone, starting, stopping or silent. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string') return CONNECTION_CODES.test(code)
  return typeof message === 'string' && CONNECTION_MESSAGES.test(message)
}

/** Whether the server is there and cannot do it now, as it may later. */
function isRefusedForNow(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && BUSY_CODES.test(code)
}

// Node's network errors. SQLSTATE: class 08, class 28 and 3D000 (not let in), 57P0x (stopping, starting).
const CONNECTION_CODES = /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST\w+|ENET\w+|08...|28...|3D000|57P0.)$/
// pg gives these no code.
const CONNECTION_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable/i
// SQLSTATE: class 53 (disk full, out of memory, too many connections), 57014 (statement took too long), 25006 (read-only, as
// a standby is), class 40 (lost to another transaction), 55P03 (locked).
const BUSY_CODES = /^(53...|57014|25006|40...|55P03)$/

/** Turns what a driver threw into what the rest of the application may see. */
export function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error
  const cause = rootCause(error)
  if (isConnectionLoss(cause)) return new DatabaseUnavailable()
  if (isRefusedForNow(cause)) return new DatabaseUnavailable('The database cannot do that now; try again shortly')
  const { code, constraint, message } = cause as { code?: unknown; constraint?: string; message?: string }
  if (typeof code !== 'string') return cause
  // Text with a NUL, which PostgreSQL cannot hold, comes from the request.
  if (code === '22021') return new ValidationError('Text must not contain the character NUL')
  return new StoreError(code, message ?? code, constraint)
}
