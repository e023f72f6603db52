import fastify from 'fastify'
import { createResultCache, graphqlRoutes } from 'twinroute/graphql'
import { portOf } from '../../listening.js'
import { resolvers, typeDefs, userOf } from '../schema.js'

/** With all that a request can be made to pay for: complexity (on by default), kept results and a context. */
async function serve(jit: boolean): Promise<number> {
  const app = fastify()
  await app.register(graphqlRoutes, {
    typeDefs,
    resolvers,
    jit,
    cache: createResultCache({ fields: { 'Query.users': {}, 'Query.posts': {} } }),
    context: ({ headers }) => ({ user: userOf(headers.authorization) })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

export const start = (): Promise<number> => serve(false)
export const withJit = (): Promise<number> => serve(true)
