import type { Request, Response } from '../contract/request.js'

/** Which part of a list is asked for. */
export interface Page {
  /** Counted from 1. */
  page: number
  /** Rows per page. */
  limit: number
  /** Rows before this page: `(page - 1) * limit`, always a safe integer. */
  offset: number
}

export interface PaginationOptions {
  /** Larger limits are reduced to this. Default 100. */
  maxLimit?: number
  /** Rows per page when the query names none. Default 20. */
  defaultLimit?: number
}

/** The pagination object of the list envelopes. */
export interface Pagination {
  page: number
  limit: number
  /** Rows in the whole list. */
  total: number
  totalPages: number
}

const DIGITS = /^\d+$/

/**
 * Reads `page` and `limit` from a parsed query string. What is no positive integer (absent, repeated, negative, a
 * fraction, too large to count with) falls back to page 1 and the default limit.
 */
export function pagination(query: { page?: unknown; limit?: unknown }, options: PaginationOptions = {}): Page {
  const { maxLimit = 100, defaultLimit = 20 } = options
  const limit = Math.min(positiveInteger(query.limit) ?? defaultLimit, maxLimit)
  const asked = positiveInteger(query.page) ?? 1
  const page = Number.isSafeInteger(asked * limit) ? asked : 1
  return { page, limit, offset: (page - 1) * limit }
}

function positiveInteger(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  if (!DIGITS.test(String(value))) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) && number > 0 ? number : undefined
}

/** The pagination object for a list of `total` rows. */
export function paginationMeta(page: number, limit: number, total: number): Pagination {
  return { page, limit, total, totalPages: Math.ceil(total / limit) }
}

/** A longer link is left out: a cut one would name another list. */
const MAX_LINK_LENGTH = 2048

/**
 * Sets the four `X-Pagination-*` headers, and `Link` with `rel="prev"` and `rel="next"` where there is such a page.
 * Link targets are relative to the host and keep the other parameters of the query, encoded anew.
 */
export function setPaginationHeaders(
  request: Pick<Request, 'originalUrl'>,
  response: Response,
  pagination: Pagination
): void {
  const { page, limit, total, totalPages } = pagination
  response.setHeader('X-Pagination-Page', page)
  response.setHeader('X-Pagination-Limit', limit)
  response.setHeader('X-Pagination-Total', total)
  response.setHeader('X-Pagination-TotalPages', totalPages)
  const links: Record<string, string> = {}
  if (page > 1) links.prev = pageTarget(request.originalUrl, page - 1)
  if (page < totalPages) links.next = pageTarget(request.originalUrl, page + 1)
  const short = Object.entries(links).filter(([, target]) => target.length <= MAX_LINK_LENGTH)
  if (short.length > 0) response.links(Object.fromEntries(short))
}

/**
 * The request's own target with another `page`. It comes from the wire: parsing it as a URL encodes what could end the
 * header's `<...>`, and a leading `//` would make it the address of another host.
 */
function pageTarget(originalUrl: string, page: number): string {
  const url = new URL(originalUrl.startsWith('/') ? `http://localhost${originalUrl}` : 'http://localhost/')
  url.searchParams.set('page', String(page))
  return `${url.pathname.replace(/^\/{2,}/, '/')}?${url.searchParams.toString()}`
}
