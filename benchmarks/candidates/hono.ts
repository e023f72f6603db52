import { relative } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { zValidator } from '@hono/zod-validator'
import { Hono, type MiddlewareHandler } from 'hono'
import { stream } from 'hono/streaming'
import { listen } from '../listening.js'
import { orderSchema, receiptOf } from '../orders.js'
import { ITEMS, openStream, pageDirectory } from '../payloads.js'
import { manyRoutes } from '../workload.js'

export function start(work: string): Promise<number> {
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
  for (let route = 0; route < manyRoutes(work); route++) {
    app.get(`/api/many/r${route}/:id`, (context) => context.json({ route, id: context.req.param('id') }))
  }
  if (work === 'list') app.get('/api/items', (context) => context.json(ITEMS))
  if (work === 'stream') {
    app.get('/api/stream', (context) =>
      stream(context, async (out) => {
        for await (const chunk of openStream()) await out.write(chunk as Uint8Array)
      })
    )
  }
  if (work === 'static') app.use('/files/*', serveFiles())
  if (work === 'validated') {
    app.post('/api/orders', zValidator('json', orderSchema), (context) =>
      context.json(receiptOf(context.req.valid('json')))
    )
  }
  return listen(createAdaptorServer({ fetch: app.fetch }))
}

/** Its root is a path from the working directory. */
function serveFiles(): MiddlewareHandler {
  const root = relative(process.cwd(), pageDirectory())
  return serveStatic({ root, rewriteRequestPath: (path) => path.replace('/files', '') })
}
