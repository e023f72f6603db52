import fastify from 'fastify'
import mercurius from 'mercurius'
import { portOf } from '../../listening.js'
import { resolvers, typeDefs, userOf } from '../schema.js'

async function serve(jit: number): Promise<number> {
  const app = fastify()
  await app.register(mercurius, {
    schema: typeDefs,
    resolvers,
    jit,
    context: ({ id, headers }) => ({ requestId: id, user: userOf(headers.authorization) })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

export const start = (): Promise<number> => serve(0)
export const withJit = (): Promise<number> => serve(1)
