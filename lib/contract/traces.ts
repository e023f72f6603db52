import type { OpenRequest, Response } from './request.js'

/**
 * One run of a middleware of the map or of a route file, on the tracing channel `twinroute.middleware` of
 * `node:diagnostics_channel`: `start` and `end` around the call, `asyncStart` when it calls `next`, `error` before that when it
 * fails. One that answers itself never calls `next`. The same object comes with each of them, and may be added to.
 */
export interface MiddlewareTrace {
  /** The name of the function; empty for an anonymous one. */
  name: string
  /** Its key in the map; undefined for one of a route file. */
  prefix: string | undefined
  request: OpenRequest
  response: Response
  error?: unknown
}

/** One execution of a GraphQL operation, on the tracing channel `twinroute.graphql`: all five events, as of a promise. */
export interface GraphqlTrace {
  operationType: 'query' | 'mutation' | 'subscription'
  /** Undefined for an anonymous one. Clients choose it. */
  operationName: string | undefined
  request: OpenRequest
  response: Response
  /** From `asyncStart` on. Errors of resolvers are in it. */
  result?: { errors?: readonly Error[] }
  /** Why there is no result. */
  error?: unknown
}
