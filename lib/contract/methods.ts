/** Names a route file may export as handlers. `HEAD` is optional: without it GET's handler answers HEAD. */
export const ROUTE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export type RouteMethod = (typeof ROUTE_METHODS)[number]

export function isRouteMethod(name: string): name is RouteMethod {
  return (ROUTE_METHODS as readonly string[]).includes(name)
}
