import { MORE_WORKS } from './more-works.js'
import type { Suite } from './suite.js'
import { WORKS } from './workload.js'

/** Works without a file, a session or a schema: everything that routes can serve them. */
const ROUTED = [...WORKS.map(({ name }) => name), 'many2000', 'post64k', 'list']
const PLAIN = [...ROUTED, 'stream']
/** What has schemas of requests or answers. */
const TYPED = ['validated', 'list']
const NEST = ['hello', 'param']

/** Routing, bodies and middleware beside other frameworks. */
export const REST: Suite = {
  name: 'rest',
  command: 'bench',
  yardstick: 'fastify',
  yardstickTitle: 'plain Fastify',
  works: [...WORKS, ...MORE_WORKS],
  defaults: { launches: 6, rounds: 5, amount: 2000, warmup: 24_000 },
  candidates: [
    { name: 'fastify', module: 'candidates/fastify', export: 'start' },
    { name: 'fastify (again)', module: 'candidates/fastify', export: 'start' },
    {
      name: 'fastify with zod',
      module: 'candidates/fastify-zod',
      export: 'start',
      works: TYPED,
      isExtra: true
    },
    { name: 'twinroute', module: 'candidates/twinroute', export: 'returned' },
    {
      name: 'twinroute res.json without ETag',
      module: 'candidates/twinroute',
      export: 'withJsonButNoEtag',
      works: ROUTED
    },
    { name: 'twinroute res.json', module: 'candidates/twinroute', export: 'withJson', works: ROUTED },
    { name: 'twinroute with zod', module: 'candidates/twinroute', export: 'withZod', works: TYPED, isExtra: true },
    {
      name: 'twinroute with JSON Schema',
      module: 'candidates/twinroute',
      export: 'withJsonSchema',
      works: TYPED,
      isExtra: true
    },
    { name: 'twinroute/express', module: 'candidates/twinroute-express', export: 'start' },
    {
      // no comma: the command line separates names by it
      name: 'twinroute/express createServer(app)',
      module: 'candidates/twinroute-express',
      export: 'withOwnServer',
      isExtra: true
    },
    { name: 'node:http', module: 'candidates/node-http', export: 'start', works: PLAIN },
    { name: 'express 5', module: 'candidates/express', export: 'start' },
    { name: '@fastify/express', module: 'candidates/fastify-express', export: 'start' },
    { name: 'koa', module: 'candidates/koa', export: 'start', works: PLAIN },
    { name: 'hono', module: 'candidates/hono', export: 'start', works: [...PLAIN, 'static', 'validated'] },
    { name: 'h3', module: 'candidates/h3', export: 'start', works: PLAIN },
    { name: 'tinyhttp', module: 'candidates/tinyhttp', export: 'start', works: PLAIN },
    { name: 'nest on fastify', module: 'candidates/nest', export: 'onFastify', works: NEST, isExtra: true },
    { name: 'nest on twinroute/express', module: 'candidates/nest', export: 'onTwinroute', works: NEST, isExtra: true },
    { name: 'nest on express 5', module: 'candidates/nest', export: 'onExpress', works: NEST, isExtra: true }
  ]
}
