import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { ORDER_JSON_SCHEMA, RECEIPT_JSON_SCHEMA, receiptOf, type Order } from '../orders.js'
import { ITEMS, ITEMS_SCHEMA, openStream, pageDirectory, SESSION_SECRET } from '../payloads.js'

/** Works with routes and plugins of their own. */
export const FASTIFY_WORKS: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  list: (app) => app.get('/api/items', { schema: { response: { 200: ITEMS_SCHEMA } } }, () => ITEMS),
  stream: (app) => app.get('/api/stream', (_request, reply) => reply.send(openStream())),
  static: (app) => app.register(fastifyStatic, { root: pageDirectory(), prefix: '/files/' }),
  session: async (app) => {
    await app.register(fastifyCookie)
    await app.register(fastifySession, {
      secret: SESSION_SECRET,
      cookie: { secure: false },
      saveUninitialized: false,
      rolling: false // as express-session: only a changed session is sent again
    })
    app.get('/api/login', (request) => {
      Reflect.set(request.session, 'user', 'Ada')
      return { ok: true }
    })
    app.get('/api/session', (request) => ({
      user: Reflect.get(request.session, 'user'),
      cookie: request.cookies['cookie7']
    }))
  },
  validated: (app) =>
    app.post<{ Body: Order }>(
      '/api/orders',
      { schema: { body: ORDER_JSON_SCHEMA, response: { 200: RECEIPT_JSON_SCHEMA } } },
      (request) => receiptOf(request.body)
    )
}
