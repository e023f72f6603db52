import type { FastifyInstance } from 'fastify'
import type { MetricsOptions, MetricsRegistry } from './observe-options.js'
import type { PromClient } from './observe-peers.js'
import { isOwn, type OwnRoute } from './own-routes.js'
import { routeLabel } from './route-label.js'

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Methods that no route can have, such as PURGE: clients may send them all the same. */
const OTHER_METHOD = 'other'

/** Counts requests from now on; the route serves what was counted. */
export function createMetricsRoute(
  app: FastifyInstance,
  client: PromClient,
  options: MetricsOptions & { path: string }
): OwnRoute {
  const { path, registry = new client.Registry(), processMetrics = options.registry === undefined } = options
  observeRequests(app, client, { ...options, registry })
  const served = processMetrics ? () => client.Registry.merge([registry, processRegistry(client)]) : () => registry
  if (processMetrics) processRegistry(client)
  return {
    path,
    option: 'metrics.path',
    isGuarded: true,
    handler: async (_request, reply) => {
      const { contentType } = registry
      const text = await served().metrics()
      return reply.headers({ 'content-type': contentType, 'cache-control': 'no-store' }).send(text)
    }
  }
}

function observeRequests(
  app: FastifyInstance,
  client: PromClient,
  { registry, buckets = BUCKETS, status = 'code' }: MetricsOptions & { registry: MetricsRegistry }
): void {
  const durations = new client.Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds from the first hook to the end of the response, by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers: [registry]
  })
  const methods = new Set(app.supportedMethods)
  const statusOf = status === 'code' ? String : (code: number): string => `${Math.floor(code / 100)}xx`
  app.addHook('onResponse', (request, reply, done) => {
    if (!isOwn(request.routeOptions as { config?: object })) {
      const method = methods.has(request.method) ? request.method : OTHER_METHOD
      const labels = { method, route: routeLabel(request), status: statusOf(reply.statusCode) }
      durations.observe(labels, reply.elapsedTime / 1000)
    }
    done()
  })
}

/**
 * prom-client watches the garbage collector and the event loop for as long as the process lives: once is enough, also where
 * apps come and go.
 */
let ofProcess: MetricsRegistry | undefined

function processRegistry(client: PromClient): MetricsRegistry {
  if (ofProcess === undefined) {
    ofProcess = new client.Registry()
    client.collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}
