export type {
  AbstractTypeResolvers,
  ContextFunction,
  GraphqlContext,
  Resolvers,
  ScalarResolvers,
  TypeResolvers
} from './contract/graphql.js'
export { batch } from './plugins/graphql/batch.js'
export type { Batch, BatchResolver, LoadMany } from './plugins/graphql/batch.js'
export type { ComplexityOptions, FieldArguments, FieldCost } from './plugins/graphql/complexity.js'
export { basicContext, bearerContext } from './plugins/graphql/context.js'
export type { BearerContextOptions, VerifyToken } from './plugins/graphql/context.js'
export type { HealthOptions } from './plugins/graphql/health.js'
export type { LimitOptions } from './plugins/graphql/limits.js'
export type { BackgroundJit, GraphqlRoutesOptions } from './plugins/graphql/options.js'
export { graphqlRoutes } from './plugins/graphql/plugin.js'
export { createResultCache } from './plugins/graphql/result-cache.js'
export type { CachedField, CachedRead, ResultCache, ResultCacheOptions } from './plugins/graphql/result-cache.js'
export type { CachedResult, ResultStore } from './plugins/graphql/result-store.js'
// names the type of `app.graphql`, and so brings Mercurius' additions to Fastify's types along
export type { MercuriusPlugin as GraphqlEngine } from 'mercurius'
