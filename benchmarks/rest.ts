import type { Suite } from './suite.js'
import { WORKS } from './workload.js'

/** Routing, bodies and middleware beside other frameworks. */
export const REST: Suite = {
  name: 'rest',
  command: 'bench',
  yardstick: 'fastify',
  yardstickTitle: 'plain Fastify',
  works: WORKS,
  defaults: { launches: 6, rounds: 5, amount: 2000, warmup: 24_000 },
  candidates: [
    { name: 'fastify', module: 'candidates/fastify', export: 'start' },
    { name: 'fastify (again)', module: 'candidates/fastify', export: 'start' },
    { name: 'twinroute', module: 'candidates/twinroute', export: 'returned' },
    { name: 'twinroute res.json without ETag', module: 'candidates/twinroute', export: 'withJsonButNoEtag' },
    { name: 'twinroute res.json', module: 'candidates/twinroute', export: 'withJson' },
    { name: 'twinroute/express', module: 'candidates/twinroute-express', export: 'start' },
    { name: 'node:http', module: 'candidates/node-http', export: 'start' },
    { name: 'express 5', module: 'candidates/express', export: 'start' },
    { name: '@fastify/express', module: 'candidates/fastify-express', export: 'start' },
    { name: 'koa', module: 'candidates/koa', export: 'start' },
    { name: 'hono', module: 'candidates/hono', export: 'start' },
    { name: 'h3', module: 'candidates/h3', export: 'start' },
    { name: 'tinyhttp', module: 'candidates/tinyhttp', export: 'start' }
  ]
}
