import { createServer } from 'node:http'
import { defineMiddleware, getQuery, getRouterParam, H3, readBody } from 'h3'
import { toNodeHandler } from 'h3/node'
import { listen } from '../listening.js'
import { MANY_ROUTES } from '../workload.js'

export function start(): Promise<number> {
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
  for (let route = 0; route < MANY_ROUTES; route++) {
    app.get(`/api/many/r${route}/:id`, (event) => ({ route, id: getRouterParam(event, 'id') }))
  }
  return listen(createServer(toNodeHandler(app)))
}
