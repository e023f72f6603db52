import type { FastifyRequest } from 'fastify'
import { fileRouteOf } from '../contract/instance-state.js'
import { readProperty } from '../errors/read-property.js'

/** Where no route has the path. Patterns begin with a slash or a star. */
export const UNMATCHED = 'unmatched'

/** The pattern of the route that took a request: that of its file, Fastify's, or Express's; never the path itself. */
export function routeLabel({ routeOptions, is404, raw }: FastifyRequest): string {
  if (is404 || routeOptions.url === undefined) return expressPattern(raw) ?? UNMATCHED
  return fileRouteOf(routeOptions as { config?: object })?.pattern ?? routeOptions.url
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
