import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { listen } from '../listening.js'
import { ITEMS, openStream } from '../payloads.js'
import { manyRoutes } from '../workload.js'

export function start(work: string): Promise<number> {
  const app = new Koa()
  const router = new Router()
  router.get('/api/hello', (context) => {
    context.body = { hello: 'world' }
  })
  router.get('/api/users/:id', (context) => {
    context.body = { id: context.params.id, page: context.query.page }
  })
  router.post('/api/notes', bodyParser(), (context) => {
    context.body = { name: (context.request.body as { name: string }).name }
  })
  const pass: Koa.Middleware = (_context, next) => next()
  const mark: Koa.Middleware = (context, next) => {
    context.set('x-chain', '4')
    return next()
  }
  router.get('/api/chain', pass, pass, pass, mark, (context) => {
    context.body = { ok: true }
  })
  for (let route = 0; route < manyRoutes(work); route++) {
    router.get(`/api/many/r${route}/:id`, (context) => {
      context.body = { route, id: context.params.id }
    })
  }
  if (work === 'list') {
    router.get('/api/items', (context) => {
      context.body = ITEMS
    })
  }
  if (work === 'stream') {
    router.get('/api/stream', (context) => {
      context.body = openStream()
    })
  }
  app.use(router.routes())
  const answer = app.callback()
  return listen(createServer((request, response) => void answer(request, response)))
}
