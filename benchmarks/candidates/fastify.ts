import fastify, { type FastifyInstance } from 'fastify'
import { portOf } from '../listening.js'
import { manyRoutes } from '../workload.js'
import { FASTIFY_WORKS } from './fastify-works.js'

interface User {
  Params: { id: string }
  Querystring: { page: string }
}

export async function start(work: string): Promise<number> {
  const app = fastify({ requestTimeout: 60_000 })
  const add = FASTIFY_WORKS[work]
  if (add === undefined) addUsualRoutes(app, manyRoutes(work))
  else await add(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

function addUsualRoutes(app: FastifyInstance, many: number): void {
  app.get('/api/hello', () => ({ hello: 'world' }))
  app.get<User>('/api/users/:id', (request) => ({ id: request.params.id, page: request.query.page }))
  app.post<{ Body: { name: string } }>('/api/notes', (request) => ({ name: request.body.name }))
  const pass = (_request: unknown, _reply: unknown, done: () => void): void => done()
  app.get(
    '/api/chain',
    {
      onRequest: [
        pass,
        pass,
        pass,
        (_request, reply, done) => {
          reply.header('x-chain', '4')
          done()
        }
      ]
    },
    () => ({ ok: true })
  )
  app.get('/api/wait', () => new Promise(() => {}))
  for (let route = 0; route < many; route++) {
    app.get<User>(`/api/many/r${route}/:id`, (request) => ({ route, id: request.params.id }))
  }
}
