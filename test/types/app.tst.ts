import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest
} from 'fastify'
import { describe, expect, test } from 'tstyche'
import {
  ConflictError,
  createApp,
  describeRoutes,
  errorHandler,
  fileRoutes,
  NotFoundError,
  ValidationError,
  type ApiError,
  type AppOptions,
  type BootError,
  type FileRoutesOptions,
  type NextFunction,
  type Request,
  type Response,
  type RouteMatch
} from 'twinroute'

describe('createApp', () => {
  test('needs to know where the routes are', () => {
    expect(createApp).type.toBeCallableWith({ apiDir: 'src/api' })
    expect(createApp).type.toBeCallableWith({ apiDir: new URL('file:///srv/api') })
    expect(createApp).type.not.toBeCallableWith()
    expect(createApp).type.not.toBeCallableWith({})
    expect(createApp).type.not.toBeCallableWith({ apiDir: 1 })
  })

  test('takes the options of the documentation and no others', () => {
    expect(createApp).type.toBeCallableWith({
      apiDir: 'src/api',
      port: 5000,
      requestLog: 'errors',
      trustProxy: true,
      expressOptions: { enableCors: { allowAnyOrigin: true, cookieOrigins: ['https://a.example'], credentials: true } },
      fastifyOptions: { logger: true }
    })
    expect(createApp).type.not.toBeCallableWith({ apiDir: 'src/api', apidir: 'src/api' })
    expect(createApp).type.not.toBeCallableWith({ apiDir: 'src/api', bodyParser: 'sometimes' })
    expect<AppOptions>().type.toBeAssignableFrom<FileRoutesOptions>()
  })

  test('gives a Fastify instance that also starts and uses', async () => {
    const app = await createApp({ apiDir: 'src/api' })
    expect(app).type.toBeAssignableTo<FastifyInstance>()
    expect(app.start()).type.toBe<Promise<string>>()
    expect(app.use).type.toBeCallableWith('/path', (_request: unknown, _response: unknown, next: () => void) => next())
    expect(app.use).type.not.toBeCallableWith('/path', 'no function')
  })

  test('takes a logger and the kinds of server that Fastify has', () => {
    const loggerInstance = {} as FastifyBaseLogger
    expect(createApp).type.toBeCallableWith({ apiDir: 'src/api', fastifyOptions: { loggerInstance } })
    expect(createApp).type.toBeCallableWith({ apiDir: 'src/api', fastifyOptions: { https: { key: '', cert: '' } } })
    expect(createApp).type.toBeCallableWith({
      apiDir: 'src/api',
      fastifyOptions: { http2: true, https: { key: '', cert: '', allowHTTP1: true } }
    })
    expect(createApp).type.not.toBeCallableWith({ apiDir: 'src/api', fastifyOptions: { https: { allowHTTP: true } } })
  })

  test('infers what middleware given to use gets, with a path and without', async () => {
    const app = await createApp({ apiDir: 'src/api' })
    app.use((request, response, next) => {
      expect(request).type.toBeAssignableTo<Request>()
      expect(response).type.toBe<Response>()
      expect(next).type.toBe<NextFunction>()
    })
    app.use('/path', [], async (request, response) => {
      expect(request).type.toBeAssignableTo<Request>()
      expect(response).type.toBe<Response>()
    })
    app.use(['/a', /b/], [(request) => expect(request).type.toBeAssignableTo<Request>()])
  })

  test('takes both kinds of error handler', () => {
    expect(createApp).type.toBeCallableWith({ apiDir: 'src/api', errorHandler })
    expect(createApp).type.toBeCallableWith({
      apiDir: 'src/api',
      errorHandler: (_error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => reply.code(500).send()
    })
  })
})

describe('fileRoutes', () => {
  test('is registered on any Fastify instance', () => {
    const host = fastify()
    expect(host.register).type.toBeCallableWith(fileRoutes, { apiDir: 'src/api', baseRoute: '/v1' })
    expect(host.setErrorHandler).type.toBeCallableWith(errorHandler)
    expect(describeRoutes).type.toBeCallableWith(host)
    expect(describeRoutes(host).match('GET', '/api/users')).type.toBe<RouteMatch>()
    expect(describeRoutes(host).match).type.not.toBeCallableWith('GET /api/users')
  })
})

describe('errors', () => {
  test('of the application share one class', () => {
    expect(new NotFoundError('User', 7)).type.toBeAssignableTo<ApiError>()
    expect(new ValidationError('Name is required')).type.toBeAssignableTo<ApiError>()
    expect(new ConflictError('Taken')).type.toBeAssignableTo<ApiError>()
    expect<ApiError>().type.toBeAssignableTo<Error>()
    expect<BootError>().type.toBeAssignableTo<Error>()
    expect<BootError>().type.not.toBeAssignableTo<ApiError>()
  })
})
