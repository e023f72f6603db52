export type {
  AbstractTypeResolvers,
  ContextFunction,
  GraphqlContext,
  Resolvers,
  ScalarResolvers,
  TypeResolvers
} from './contract/graphql.js'
export type { RedisClient } from './contract/redis.js'
export { batch } from './graphql/batch.js'
export type { Batch, BatchResolver, LoadMany } from './graphql/batch.js'
export { basicContext, bearerContext } from './graphql/context.js'
export type { BearerContextOptions, VerifyToken } from './graphql/context.js'
export type {
  BackgroundJit,
  CachedField,
  CachedRead,
  ComplexityOptions,
  FieldArguments,
  FieldCost,
  GraphqlRoutesOptions,
  HealthOptions,
  LimitOptions,
  ResultCache,
  ResultCacheOptions
} from './graphql/graphql-options.js'
export { graphqlRoutes } from './graphql/plugin.js'
export { createResultCache } from './graphql/cache/result-cache.js'
export { createRedisStore } from './graphql/cache/redis-store.js'
export type { RedisStoreOptions } from './graphql/cache/redis-store.js'
export type { CachedResult, ResultStore } from './graphql/cache/result-store.js'
// names the type of `app.graphql`, and so brings Mercurius' additions to Fastify's types along
export type { MercuriusPlugin as GraphqlEngine } from 'mercurius'
