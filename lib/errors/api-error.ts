import { cutText } from './cut-text.js'

/**
 * An error a handler or middleware throws on purpose: its status, code, message and details reach the client.
 * {@link errorHandler} sends it in the nested error envelope.
 */
export class ApiError extends Error {
  readonly statusCode: number
  readonly code: string
  readonly details?: unknown
  /** Headers the answer carries, such as `retry-after`. */
  headers?: Record<string, string>

  /**
   * @param statusCode HTTP status from 400 to 599
   * @param code short upper-case word for programs, such as `NOT_FOUND`
   * @param message sentence for people
   * @param details anything JSON can hold that helps the client
   */
  constructor(statusCode: number, code: string, message: string, details?: unknown) {
    super(message)
    this.name = new.target.name
    this.statusCode = statusCode
    this.code = code
    if (details !== undefined) this.details = details
  }

  /** The name Express and its middleware use for `statusCode`. */
  get status(): number {
    return this.statusCode
  }
}

/** 404 `NOT_FOUND`: "<resource> with ID <id> not found", or "<resource> not found" without an id. */
export class NotFoundError extends ApiError {
  constructor(resource: string, id?: string | number) {
    const named = id === undefined ? resource : `${resource} with ID ${cutText(String(id))}`
    super(404, 'NOT_FOUND', `${named} not found`)
  }
}

/** 400 `VALIDATION_ERROR`, with an optional list of what is wrong. */
export class ValidationError extends ApiError {
  constructor(message: string, details?: unknown) {
    super(400, 'VALIDATION_ERROR', message, details)
  }
}

/** 409 `CONFLICT`: the request collides with what is stored. */
export class ConflictError extends ApiError {
  constructor(message: string) {
    super(409, 'CONFLICT', message)
  }
}
