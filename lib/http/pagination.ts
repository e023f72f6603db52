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
