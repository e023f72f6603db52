import { STATUS_CODES } from 'node:http'
import { isProduction, type Mode } from '../contract/mode.js'
import { ApiError } from './api-error.js'
import { readProperty } from './read-property.js'
import { toReadableError } from './to-error.js'

/** What `details` of a validation error lists. */
export interface FieldProblem {
  /** Dotted path; empty for the value itself. */
  field: string
  message: string
}

/** The nested error shape of the REST error handler. */
export interface ErrorEnvelope {
  error: { code: string; message: string; details?: unknown }
  meta: { timestamp: string; requestId: string | undefined; stack?: string }
}

export interface ErrorAnswer {
  status: number
  body: ErrorEnvelope
}

/** Codes of errors that are not an ApiError: thrown by Fastify, Express middleware or the framework itself. */
const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE'
}

export function codeOfStatus(status: number): string {
  return CODE_BY_STATUS[status] ?? `HTTP_${status}`
}

/**
 * The answer for anything thrown: the only place that decides what a client may see of an error.
 * An ApiError is sent as it is; a schema-validation exception becomes 400 with its issues; other 4xx keep their message;
 * everything else is 500 and says no more than "An unexpected error occurred" in production.
 */
export function errorAnswer(thrown: unknown, requestId: string | undefined, mode: Mode): ErrorAnswer {
  const { status, code, message, details } = describeSafely(thrown, mode)
  const error: ErrorEnvelope['error'] = details === undefined ? { code, message } : { code, message, details }
  const meta: ErrorEnvelope['meta'] = { timestamp: new Date().toISOString(), requestId }
  const stack = readProperty(thrown, 'stack')
  if (!isProduction(mode) && typeof stack === 'string') meta.stack = stack
  return { status, body: { error, meta } }
}

interface Description {
  status: number
  code: string
  message: string
  details?: unknown
}

/** Of an error with parts that throw when they are read, only the message is shown. */
function describeSafely(thrown: unknown, mode: Mode): Description {
  try {
    return describe(thrown, mode)
  } catch {
    return describe(new Error(toReadableError(thrown).message), mode)
  }
}

function describe(thrown: unknown, mode: Mode): Description {
  if (thrown instanceof ApiError) return describeApiError(thrown)
  const issues = validationIssues(thrown)
  if (issues !== undefined) {
    return { status: 400, code: 'VALIDATION_ERROR', message: 'Request validation failed', details: issues }
  }
  const status = statusOf(thrown)
  return { status, code: codeOfStatus(status), message: messageOf(thrown, status, mode) }
}

function describeApiError(error: ApiError): Description {
  const status = statusOf(error)
  return { status, code: error.code, message: error.message, details: writable(error.details) }
}

/** Details that JSON cannot hold are left out: the rest of the answer is more than none. */
function writable(details: unknown): unknown {
  try {
    return JSON.stringify(details) === undefined ? undefined : details
  } catch {
    return undefined // a circle or a BigInt
  }
}

/** The status an error asks for: an integer from 400 to 599 under `statusCode` or `status`, else 500. */
export function statusOf(thrown: unknown): number {
  for (const name of ['statusCode', 'status']) {
    const status = readProperty(thrown, name)
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 500
}

function messageOf(thrown: unknown, status: number, mode: Mode): string {
  const message = readProperty(thrown, 'message')
  const text = typeof message === 'string' && message !== '' ? message : String(STATUS_CODES[status])
  if (status < 500) return readProperty(thrown, 'expose') === false ? String(STATUS_CODES[status]) : text
  if (!isProduction(mode)) return typeof thrown === 'string' ? thrown : text
  return status === 500 ? 'An unexpected error occurred' : (STATUS_CODES[status] ?? 'Server error')
}

/** Issues of a schema library (zod and others that follow Standard Schema) or of Fastify's own validation. */
function validationIssues(thrown: unknown): FieldProblem[] | undefined {
  const issues = readProperty(thrown, 'issues')
  if (Array.isArray(issues)) return issues.map(fieldProblem)
  const validation = readProperty(thrown, 'validation')
  if (!Array.isArray(validation)) return undefined
  return validation.map((entry: unknown) => ({
    field: String(readProperty(entry, 'instancePath') ?? '')
      .replace(/^\//, '')
      .replaceAll('/', '.'),
    message: String(readProperty(entry, 'message') ?? 'is invalid')
  }))
}

/** One issue as {@link FieldProblem}; path entries may be keys or, in Standard Schema, objects that hold one. */
export function fieldProblem(issue: unknown): FieldProblem {
  const path = readProperty(issue, 'path')
  const keys = Array.isArray(path) ? path.map((key: unknown) => String(readProperty(key, 'key') ?? key)) : []
  return { field: keys.join('.'), message: String(readProperty(issue, 'message') ?? 'is invalid') }
}
