import type { FastifyRequest } from 'fastify'
import { readProperty } from '../errors/read-property.js'
import { routeFileOf } from '../link/refusal.js'

/** Where no route has the path. Patterns begin with a slash or a star. */
export const UNMATCHED = 'unmatched'

/**
 * The pattern of the route that takes a request, or refuses its method: that of its file (`/api/users/[id]`), Fastify's, or
 * Express's; `unmatched` where there is none, and never the path itself. For names of metrics and spans, in any hook.
 */
export function routeLabel(request: FastifyRequest): string {
  const { routeOptions, is404, raw } = request
  const file = routeFileOf(request)
  if (file !== undefined) return file.pattern
  return is404 || routeOptions.url === undefined ? (expressPattern(raw) ?? UNMATCHED) : routeOptions.url
}

/**
 * Express keeps the pattern of a route, but of the router around it only the path of this request, which may hold
 * parameters: it becomes a star.
 */
function expressPattern(raw: object): string | undefined {
  const path = readProperty(readProperty(raw, 'route'), 'path')
  if (path === undefined) return undefined
  return `${readProperty(raw, 'baseUrl') ? '*' : ''}${String(path)}`
}
