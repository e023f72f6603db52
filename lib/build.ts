export { registerRoutes, type BuiltRoutes } from './discovery/built-routes.js'
export { findRouteFiles, type FoundRouteFiles } from './fastify/find-route-files.js'
