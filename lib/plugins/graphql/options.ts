import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { ContextFunction, Resolvers } from '../../contract/graphql.js'
import type { Mode } from '../../contract/mode.js'
import type { ComplexityOptions } from './complexity.js'
import type { HealthOptions } from './health.js'
import type { LimitOptions } from './limits.js'
import type { ResultCache } from './result-cache.js'

/** Compiles documents in the background, when the event loop has time. */
export interface BackgroundJit {
  /** Requests of one document before it is compiled. Default 3. */
  minCount?: number
  /** Share of time the event loop may be busy, 0 to 1, for compilation to start. Default 0.8. */
  eluThreshold?: number
  /** Default 1. */
  maxCompilePerTick?: number
  /** Documents waiting to be compiled. Default 100. */
  maxQueueSize?: number
}

export interface GraphqlRoutesOptions {
  /** Any schema object, however it was made. Either this or `typeDefs`. */
  schema?: GraphQLSchema
  /** The schema in GraphQL's own language; several texts are joined. */
  typeDefs?: string | readonly string[] | DocumentNode
  /** Resolvers by type and field, for `typeDefs`. */
  resolvers?: Resolvers
  /** What resolvers know of the request, beside `user`, `requestId`, `request` and `response`. */
  context?: ContextFunction
  /** Default `/graphql`. */
  path?: string
  /** Put before `path`, as by Fastify's own `register`. */
  prefix?: string
  /** What a request may cost: at most 100 with 1 per field by default; false for no limit. */
  complexity?: ComplexityOptions | false
  limits?: LimitOptions
  /** Keeps results of root fields: see {@link createResultCache}. */
  cache?: ResultCache
  /** Serve the query tool outside of production. Default true. Production never does. */
  playground?: boolean
  /** Serve `<path>/health`. Default true. */
  health?: HealthOptions | boolean
  /** Answer `__schema` and `__type`. Default: outside of production. */
  introspection?: boolean
  /**
   * Replace messages of errors nobody meant for clients (those without a 4xx status or `extensions`, that are no
   * GraphQLError) by "Internal server error". They are logged either way. Default false: thrown messages are sent.
   */
  maskErrors?: boolean
  /** Default: the app's, then `NODE_ENV`, then `development`. */
  mode?: Mode
  /** Compile documents: true on their second request, a number after that many, or in the background. Default false. */
  jit?: boolean | number | BackgroundJit
}
