import type { FastifyInstance } from 'fastify'
import type { BoundRoute } from '../middleware/report-binding.js'
import { reportRoutes, RouteReport } from './describe-routes.js'
import { isApp, othersOf, routesOf, type RegisteredRoutes } from './routed-servers.js'

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
  const reports = isApp(app) ? reportsOfApp(registered, othersOf(app)) : registered.map(reportAlone)
  const [only] = reports
  if (reports.length === 1 && only !== undefined) return only
  return new RouteReport(
    reports.flatMap((report) => report.routes),
    reports.flatMap((report) => report.holes),
    reports.flatMap((report) => report.warnings)
  )
}

function reportAlone({ manifest, binder }: RegisteredRoutes): RouteReport {
  return reportRoutes(manifest, binder)
}

/** The app's own registration is the first; its map guards all that was registered later, too. */
function reportsOfApp([own, ...later]: readonly RegisteredRoutes[], others: readonly BoundRoute[]): RouteReport[] {
  if (own === undefined) return []
  const covered = later.flatMap(({ manifest }) => manifest.routes)
  return [
    reportRoutes(own.manifest, own.binder, { others, covered }),
    ...later.map(({ manifest, binder }) => reportRoutes(manifest, binder, { outer: own.binder }))
  ]
}
