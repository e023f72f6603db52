import type { IRouter, NextFunction, Request, Response } from 'express'
import { MANY_ROUTES } from '../workload.js'

/** What both Express and twinroute/express have. */
interface Toolkit {
  json: (options?: object) => unknown
}

/** The workload as Express code: the same lines run on Express 5, on twinroute/express and below @fastify/express. */
export function addRoutes(app: IRouter, express: Toolkit): void {
  const parse = express.json() as (request: Request, response: Response, next: NextFunction) => void
  app.get('/api/hello', (_request, response) => void response.json({ hello: 'world' }))
  app.get(
    '/api/users/:id',
    (request, response) => void response.json({ id: request.params.id, page: request.query.page })
  )
  app.post(
    '/api/notes',
    parse,
    (request: Request, response: Response) => void response.json({ name: request.body.name })
  )
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
  for (let route = 0; route < MANY_ROUTES; route++) {
    app.get(`/api/many/r${route}/:id`, (request, response) => void response.json({ route, id: request.params.id }))
  }
}
