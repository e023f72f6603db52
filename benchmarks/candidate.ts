/** A candidate: listens on a free port of 127.0.0.1 and serves the workload. */
export type Start = () => Promise<number>

export interface Candidate {
  name: string
  /** File below candidates/, without its ending. */
  module: string
  /** Named export of the module that starts it. */
  export: string
  /** Works it takes part in; all when undefined. */
  works?: readonly string[]
}

/** The yardstick: all figures are ratios to it, taken in the same round. */
export const YARDSTICK = 'fastify'

export const CANDIDATES: readonly Candidate[] = [
  { name: 'fastify', module: 'fastify', export: 'start' },
  { name: 'fastify (again)', module: 'fastify', export: 'start' },
  { name: 'twinroute', module: 'twinroute', export: 'returned' },
  { name: 'twinroute res.json, no ETag', module: 'twinroute', export: 'withJsonButNoEtag' },
  { name: 'twinroute res.json', module: 'twinroute', export: 'withJson' },
  { name: 'twinroute/express', module: 'twinroute-express', export: 'start' },
  { name: 'node:http', module: 'node-http', export: 'start' },
  { name: 'express 5', module: 'express', export: 'start' },
  { name: '@fastify/express', module: 'fastify-express', export: 'start' },
  { name: 'koa', module: 'koa', export: 'start' },
  { name: 'hono', module: 'hono', export: 'start' },
  { name: 'h3', module: 'h3', export: 'start' },
  { name: 'tinyhttp', module: 'tinyhttp', export: 'start' }
]
