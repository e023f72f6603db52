import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { defineMiddleware, getQuery, getRouterParam, H3, readBody } from 'h3'
import { toNodeHandler } from 'h3/node'
import { listen } from '../listening.js'
import { ITEMS, openStream } from '../payloads.js'
import { manyRoutes } from '../workload.js'

export function start(work: string): Promise<number> {
  const app = new H3()
  app.get('/api/hello', () => ({ hello: 'world' }))
  app.get('/api/users/:id', (event) => ({ id: getRouterParam(event, 'id'), page: getQuery(event).page }))
  app.post('/api/notes', async (event) => ({ name: (await readBody<{ name: string }>(event))?.name }))
  const pass = defineMiddleware((_event, next) => next())
  const mark = defineMiddleware((event, next) => {
    event.res.headers.set('x-chain', '4')
    return next()
  })
  app.get('/api/chain', () => ({ ok: true }), { middleware: [pass, pass, pass, mark] })
  for (let route = 0; route < manyRoutes(work); route++) {
    app.get(`/api/many/r${route}/:id`, (event) => ({ route, id: getRouterParam(event, 'id') }))
  }
  if (work === 'list') app.get('/api/items', () => ITEMS)
  if (work === 'stream') app.get('/api/stream', () => Readable.toWeb(openStream()))
  return listen(createServer(toNodeHandler(app)))
}
