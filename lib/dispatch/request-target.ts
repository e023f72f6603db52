import type { ApiError } from '../errors/api-error.js'
import { malformedTarget, routeNotFound, targetTooLong } from '../errors/refusals.js'
import { countPairs, segmentsOf, type PathReading } from '../patterns/read-path.js'
import type { FastifyRequest } from 'fastify'
import { bodyKind } from '../body/parse.js'

const MAX_URL = 8192
const MAX_QUERY_PAIRS = 1000
/** Shorter urls cannot hold more pairs than allowed: each needs two characters. */
const SHORT_URL = 2 * MAX_QUERY_PAIRS
const SLASH = 47
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/

/**
 * Request targets no route may see: over 8 KB (414), in absolute form (`GET http://host/path`, which the router would
 * match as the path), with a fragment, or with more than 1 000 query pairs (400). Undefined for all others.
 */
export function refusedTarget(url: string): ApiError | undefined {
  if (url.length > SHORT_URL) return refusedLongTarget(url)
  return isPath(url) || url === '*' ? undefined : malformedTarget()
}

/** A fragment is no part of a request (RFC 9112, section 3.2.1), and readers of a url differ on where it begins. */
function isPath(url: string): boolean {
  return url.charCodeAt(0) === SLASH && !url.includes('#')
}

function refusedLongTarget(url: string): ApiError | undefined {
  if (url.length > MAX_URL) return targetTooLong(MAX_URL)
  if (!isPath(url)) return malformedTarget()
  return countPairs(url) > MAX_QUERY_PAIRS
    ? malformedTarget(`Query has more than ${MAX_QUERY_PAIRS} parameters`)
    : undefined
}

/** Unmatched paths are checked as text, since they have no parameters to check. */
export function hasForbiddenCharacters(url: string): boolean {
  const path = url.split('?', 1)[0] as string
  return FORBIDDEN.test(path) || /%(?:[01][\da-f]|7f|5c)/i.test(path)
}

/**
 * Values no handler may see: control characters and backslashes are 400; an empty one means that the route did not match,
 * and so do `.` and `..`, which are resolved nowhere and would lead out of a directory.
 */
export function refusedParams(params: unknown): ApiError | undefined {
  const values = params as Record<string, string | readonly string[]>
  for (const name in values) {
    const value = values[name] as string | readonly string[]
    const refused = typeof value === 'string' ? refusedValue(value) : firstRefused(value)
    if (refused !== undefined) return refused
  }
  return undefined
}

/**
 * Paths that a handler of several segments may read otherwise than the guards have: empty and dot segments, encoded slashes
 * (404), backslashes and control characters (400). Undefined for all others.
 */
export function refusedPath(url: string, reading: PathReading): ApiError | undefined {
  const segments = segmentsOf(url, reading)
  if (segments === undefined) return malformedTarget()
  if (segments.at(-1) === '') segments.pop()
  for (const segment of segments) {
    const refused = refusedSegment(segment)
    if (refused !== undefined) return refused
  }
  return undefined
}

/** What follows a semicolon is no part of a dot segment to some servers: `..;` is `..` there. */
function refusedSegment(segment: string): ApiError | undefined {
  if (FORBIDDEN.test(segment)) return malformedTarget()
  return segment.includes('/') || /^(?:\.{1,2}(?:;.*)?)?$/.test(segment) ? routeNotFound() : undefined
}

function firstRefused(values: readonly string[]): ApiError | undefined {
  for (const value of values) {
    const refused = refusedValue(value)
    if (refused !== undefined) return refused
  }
  return undefined
}

function refusedValue(value: string): ApiError | undefined {
  if (value === '' || value === '.' || value === '..') return routeNotFound()
  return FORBIDDEN.test(value) ? malformedTarget() : undefined
}

/**
 * Fastify answers 415 to a Content-Type that is no media type (`none`, an empty one), even where no body was sent. Here it
 * is one of those whose bodies are left to the handler, so Fastify is shown none; Express code still reads what was sent.
 */
export function hideMalformedType(request: FastifyRequest): void {
  const { method } = request.raw
  if (method === 'GET' || method === 'HEAD') return // Fastify does not read their Content-Type
  const type = request.raw.headers['content-type']
  if (type === undefined || bodyKind(type) !== null || request.mediaType !== undefined) return
  request.headers = { 'content-type': undefined }
}
