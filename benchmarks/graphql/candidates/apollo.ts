import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { nextRequestId, resolvers, typeDefs, userOf } from '../schema.js'

export async function start(): Promise<number> {
  const server = new ApolloServer({ typeDefs, resolvers })
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => ({ requestId: nextRequestId(), user: userOf(req.headers.authorization) })
  })
  return Number(new URL(url).port)
}
