import type { IRouter, NextFunction, Request, Response } from 'express'
import { manyRoutes } from '../workload.js'
import { EXPRESS_WORKS, type Toolkit } from './express-works.js'

/** The workload as Express code: the same lines run on Express 5, on twinroute/express and below @fastify/express. */
export function addRoutes(app: IRouter, express: Toolkit, work: string): void {
  const add = EXPRESS_WORKS[work]
  if (add === undefined) addUsualRoutes(app, express, manyRoutes(work))
  else add(app, express)
}

function addUsualRoutes(app: IRouter, express: Toolkit, many: number): void {
  app.get('/api/hello', (_request, response) => void response.json({ hello: 'world' }))
  app.get(
    '/api/users/:id',
    (request, response) => void response.json({ id: request.params.id, page: request.query.page })
  )
  app.post(
    '/api/notes',
    express.json(),
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
  for (let route = 0; route < many; route++) {
    app.get(`/api/many/r${route}/:id`, (request, response) => void response.json({ route, id: request.params.id }))
  }
}
