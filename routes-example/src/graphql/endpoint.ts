import {
  basicContext,
  bearerContext,
  createRedisStore,
  createResultCache,
  type GraphqlRoutesOptions,
  type ResultStore
} from 'twinroute/graphql'
import type { Config } from '../config.js'
import { DatabaseUnavailable } from '../database/errors.js'
import type { Services } from '../services.js'
import { GraphqlRecords } from './graphql-records.js'
import { anyPosts, ownPostsOnly } from './post-permission.js'
import { createResolvers } from './resolvers.js'
import { typeDefs } from './schema.js'

const USERS_KEPT_MS = 60_000

/** Options of the GraphQL endpoint: the form of authentication, the resolvers and what is cached. */
export function graphqlEndpoint(config: Config, services: Services): GraphqlRoutesOptions {
  const { graphqlForm, mode } = config
  const { database, tokens } = services
  const bearer = graphqlForm === 'bearer'
  return {
    typeDefs,
    resolvers: createResolvers(new GraphqlRecords(database), bearer ? ownPostsOnly : anyPosts),
    context: bearer ? bearerContext({ verify: tokens }) : basicContext(),
    cache: createResultCache({
      fields: { 'Query.users': { ms: USERS_KEPT_MS, invalidatedBy: ['Mutation.createUser'] } },
      ...sharedStore(config, services)
    }),
    health: {
      check() {
        if (!database.ready) throw new DatabaseUnavailable()
      }
    },
    maskErrors: mode === 'production',
    mode
  }
}

/** Results that all instances share; without Redis each keeps its own. */
function sharedStore({ redisPrefix }: Config, { redis, log }: Services): { store?: ResultStore } {
  if (redis === undefined) return {}
  const onWarning = (message: string) => log.warn(message)
  return { store: createRedisStore({ redis, keyPrefix: `${redisPrefix}:results`, onWarning }) }
}
