import { createAdaptorServer } from '@hono/node-server'
import { Hono, type MiddlewareHandler } from 'hono'
import { listen } from '../listening.js'
import { MANY_ROUTES } from '../workload.js'

export function start(): Promise<number> {
  const app = new Hono()
  app.get('/api/hello', (context) => context.json({ hello: 'world' }))
  app.get('/api/users/:id', (context) => context.json({ id: context.req.param('id'), page: context.req.query('page') }))
  app.post('/api/notes', async (context) => context.json({ name: (await context.req.json<{ name: string }>()).name }))
  const pass: MiddlewareHandler = (_context, next) => next()
  const mark: MiddlewareHandler = (context, next) => {
    context.header('x-chain', '4')
    return next()
  }
  app.get('/api/chain', pass, pass, pass, mark, (context) => context.json({ ok: true }))
  for (let route = 0; route < MANY_ROUTES; route++) {
    app.get(`/api/many/r${route}/:id`, (context) => context.json({ route, id: context.req.param('id') }))
  }
  return listen(createAdaptorServer({ fetch: app.fetch }))
}
