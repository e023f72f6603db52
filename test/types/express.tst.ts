import express, { type ErrorRequestHandler, type NextFunction, type RequestHandler } from 'express'
import type { Server } from 'node:http'
import { describe, expect, test } from 'tstyche'
import { createApp, createMiddleware, type Handler, type Middleware, type Request, type Response } from 'twinroute'
import twinrouteExpress, {
  json,
  raw,
  Router,
  static as serveStatic,
  text,
  urlencoded,
  type ErrorRequestHandler as OurErrorRequestHandler,
  type Request as OurExpressRequest,
  type RequestHandler as OurRequestHandler
} from 'twinroute/express'

declare const middleware: RequestHandler
declare const generic: RequestHandler<{ id: string }, { ok: boolean }, { name: string }, { page: string }>
declare const errorMiddleware: ErrorRequestHandler
declare const request: Request
declare const response: Response

describe('code typed by @types/express', () => {
  test('is accepted by createMiddleware', () => {
    expect(createMiddleware).type.toBeCallableWith({
      '/api/': [middleware, express.json(), express.Router(), express()]
    })
    expect(createMiddleware).type.toBeCallableWith({ '/api/': [generic] })
  })

  test('is accepted by use', async () => {
    const app = await createApp({ apiDir: 'src/api' })
    expect(app.use).type.toBeCallableWith(middleware)
    expect(app.use).type.toBeCallableWith('/path', middleware, generic)
    expect(app.use).type.toBeCallableWith(['/a', /b/], middleware)
    expect(app.use).type.toBeCallableWith(errorMiddleware)
    expect(app.use).type.toBeCallableWith('/path', express.Router())
    expect(app.use).type.toBeCallableWith('/path', express())
    expect(app.use).type.toBeCallableWith('/path', twinrouteExpress())
    expect(app.use).type.toBeCallableWith(express.static('public'))
  })

  test('is accepted by route modules', () => {
    expect<readonly Middleware[]>().type.toBeAssignableFrom([middleware, generic, express.json()])
    expect<Handler>().type.toBeAssignableFrom((request: express.Request, response: express.Response) => {
      response.json({ id: request.params['id'] })
    })
  })

  test('takes our request and response', () => {
    const next = (() => {}) as NextFunction
    expect(middleware).type.toBeCallableWith(request, response, next)
    expect((_request: express.Request, _response: express.Response) => 1).type.toBeCallableWith(request, response)
    expect(response).type.toBeAssignableTo<express.Response>()
    expect(request).type.toBeAssignableTo<express.Request>()
  })

  test('may be asynchronous', () => {
    expect<Middleware>().type.toBeAssignableFrom(
      async (_q: express.Request, _s: express.Response, next: NextFunction) => next()
    )
  })
})

describe('twinroute/express', () => {
  const app = twinrouteExpress()

  test('is called as Express is', () => {
    expect(twinrouteExpress).type.toBeCallableWith()
    expect(app).type.toBeAssignableTo<express.Express>()
    expect(app).type.toBeAssignableTo<express.Application>()
    expect(app.use(middleware)).type.toBeAssignableTo<express.Application>()
    expect(app.listen(0)).type.toBe<Server>()
    expect(app.get('setting')).type.toBe<any>()
  })

  test('infers parameters in handlers', () => {
    app.get('/users/:id', (request, response) => {
      expect(request.params.id).type.toBe<string>()
      response.status(201).json({})
    })
  })

  test("has Express's parsers, Router and static, by name and on the factory", () => {
    expect(json).type.toBe<typeof express.json>()
    expect(urlencoded).type.toBe<typeof express.urlencoded>()
    expect(raw).type.toBe<typeof express.raw>()
    expect(text).type.toBe<typeof express.text>()
    expect(Router).type.toBe<typeof express.Router>()
    expect(serveStatic).type.toBe<typeof express.static>()
    expect(twinrouteExpress.static).type.toBe<typeof express.static>()
    expect(twinrouteExpress.Router()).type.toBe<Router>()
  })

  test("has Express's types, by name and on the factory", () => {
    expect<OurExpressRequest>().type.toBe<express.Request>()
    expect<OurRequestHandler>().type.toBe<express.RequestHandler>()
    expect<OurErrorRequestHandler>().type.toBe<express.ErrorRequestHandler>()
    expect<twinrouteExpress.Request<{ id: string }>['params']>().type.toBe<{ id: string }>()
    expect<twinrouteExpress.RequestHandler>().type.toBeAssignableTo<express.RequestHandler>()
    expect<twinrouteExpress.Response>().type.toBeAssignableTo<express.Response>()
  })

  test('shows the Fastify instance beneath', () => {
    expect(app.fastify.inject).type.toBeCallableWith('/path')
    expect(twinrouteExpress).type.not.toBeCallableWith({ option: true })
  })
})
