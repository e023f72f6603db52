import { createServer } from 'node:http'
import { App, type NextFunction, type Request, type Response } from '@tinyhttp/app'
import { json } from 'milliparsec'
import { listen } from '../listening.js'
import { ITEMS, openStream } from '../payloads.js'
import { manyRoutes } from '../workload.js'

export function start(work: string): Promise<number> {
  const app = new App()
  app.get('/api/hello', (_request, response) => void response.json({ hello: 'world' }))
  app.get(
    '/api/users/:id',
    (request, response) => void response.json({ id: request.params.id, page: request.query.page })
  )
  app.post('/api/notes', json(), (request: Request, response: Response) => {
    response.json({ name: (Reflect.get(request, 'body') as { name: string }).name })
  })
  const pass = (_request: Request, _response: Response, next: NextFunction): void => next()
  const mark = (_request: Request, response: Response, next: NextFunction): void => {
    response.setHeader('x-chain', '4')
    next()
  }
  app.get(
    '/api/chain',
    pass,
    pass,
    pass,
    mark,
    (_request: Request, response: Response) => void response.json({ ok: true })
  )
  for (let route = 0; route < manyRoutes(work); route++) {
    app.get(`/api/many/r${route}/:id`, (request, response) => void response.json({ route, id: request.params.id }))
  }
  if (work === 'list') app.get('/api/items', (_request, response) => void response.json(ITEMS))
  if (work === 'stream') app.get('/api/stream', (_request, response) => void openStream().pipe(response))
  return listen(createServer((request, response) => app.handler(request as Request, response as Response)))
}
