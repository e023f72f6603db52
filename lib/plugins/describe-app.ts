import type { FastifyInstance } from 'fastify'
import { reportRoutes, RouteReport } from './describe-routes.js'
import { othersOf, routesOf } from './routed-servers.js'

/**
 * All routes of an app or host that twinroute serves or guards, each with the middleware bound to it, every public hole and
 * every boot warning; `String(describeRoutes(app))` is a table.
 *
 * @param app what `createApp` resolved to, or an instance on which `fileRoutes` was registered (after `ready()`)
 * @throws TypeError when twinroute has no routes there
 */
export function describeRoutes(app: FastifyInstance): RouteReport {
  const registered = routesOf(app)
  if (registered.length === 0)
    throw new TypeError('describeRoutes takes an app of createApp, or one with fileRoutes registered')
  const others = othersOf(app)
  // the app's own registration is the first, and its map alone guards what comes from no file
  const reports = registered.map(({ manifest, binder }, at) => reportRoutes(manifest, binder, at === 0 ? others : []))
  const [only] = reports
  if (reports.length === 1 && only !== undefined) return only
  return new RouteReport(
    reports.flatMap((report) => report.routes),
    reports.flatMap((report) => report.holes),
    reports.flatMap((report) => report.warnings)
  )
}
