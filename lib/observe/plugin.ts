import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { modeOn } from '../contract/instance-state.js'
import { isProduction } from '../contract/mode.js'
import { checkObserveOptions, checkParts } from './check-options.js'
import { createHealthRoutes } from './health-routes.js'
import { createMetricsRoute } from './metrics.js'
import type { ObserveOptions } from './observe-options.js'
import { loadPeers } from './observe-peers.js'
import { serveOwnRoutes } from './own-routes.js'
import { partsOf } from './parts.js'
import { shedLoad } from './shedding.js'

/**
 * What the people who run an application look at: metrics for Prometheus at `/metrics`, by route pattern; liveness at
 * `/livez` and readiness at `/readyz`; and, with `shedding`, 503 while the process is over its limits.
 *
 * It holds for the instance it is registered on and for what is registered behind it, so register it first. Its own routes
 * are not counted and never shed; middleware of the map guards the metrics, and neither of the other two.
 *
 * Needs the packages `prom-client`, for metrics, and `@fastify/under-pressure`, for shedding, which are optional peers:
 * `npm install prom-client@15 @fastify/under-pressure@9`.
 *
 * @throws TypeError naming a wrong or unknown option; BootError that says what to install, or which other route has one of
 * its paths
 */
export const observe = fp(registerObserve, { fastify: '5.x', name: 'twinroute-observe' })

async function registerObserve(app: FastifyInstance, options: ObserveOptions): Promise<void> {
  checkObserveOptions(options)
  const parts = partsOf(options)
  checkParts(parts)
  const peers = await loadPeers(parts)
  const { metrics, health, shedding } = parts
  const hidesReasons = isProduction(modeOn(app, options.mode))
  const routes = [
    ...(metrics === undefined || peers.client === undefined ? [] : [createMetricsRoute(app, peers.client, metrics)]),
    ...(health === undefined ? [] : createHealthRoutes(app, { ...health, hidesReasons }))
  ]
  if (shedding !== undefined && peers.underPressure !== undefined) await shedLoad(app, peers.underPressure, shedding)
  await serveOwnRoutes(app, routes, options)
}
