import type { Request } from '../contract/request.js'
import type { Response } from '../contract/response.js'
import type { Pagination } from './pagination.js'

/** A longer link is left out: a cut one would name another list. */
const MAX_LINK_LENGTH = 2048

/**
 * Sets the four `X-Pagination-*` headers, and `Link` with `rel="prev"` and `rel="next"` where there is such a page.
 * Link targets are relative to the host and keep the other parameters of the query, encoded anew.
 */
export function setPaginationHeaders(request: Request, response: Response, pagination: Pagination): void {
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
