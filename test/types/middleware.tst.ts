import type { ErrorRequestHandler, RequestHandler } from 'express'
import { describe, expect, test } from 'tstyche'
import {
  type App,
  createMiddleware,
  type ErrorMiddleware,
  type Middleware,
  type MiddlewareMap,
  type NextFunction,
  type Request,
  type Response
} from 'twinroute'
import { authenticate, createTokenService, requireRole } from 'twinroute/auth'
import { rateLimit, validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'

const guard: Middleware = (request, _response, next) => {
  request.user = { id: 1 }
  next()
}

describe('Middleware', () => {
  test('is what Express packages export', () => {
    expect<Middleware>().type.toBeAssignableFrom<RequestHandler>()
    expect<ErrorMiddleware>().type.toBeAssignableFrom<ErrorRequestHandler>()
  })

  test('may say what upload middleware has set', () => {
    interface StoredFile {
      location: string
    }
    const named = (request: Request<{ file: StoredFile }>, _response: Response, next: NextFunction): void =>
      next(request.file.location)
    const listed = (request: Request<{ files: StoredFile[] }>, _response: Response, next: NextFunction): void =>
      next(request.files.length)
    expect<Middleware>().type.toBeAssignableFrom(named)
    expect<Middleware>().type.toBeAssignableFrom(listed)
    expect(createMiddleware).type.toBeCallableWith({ '/api': [named, listed] })
    expect(({} as App).use).type.toBeCallableWith(named)
  })

  test('may be asynchronous', () => {
    expect<Middleware>().type.toBeAssignableFrom(async (_request: Request, _response: Response, next: NextFunction) =>
      next()
    )
  })

  test("comes from the package's own makers", () => {
    const tokens = createTokenService({ mode: 'test' })
    expect(authenticate({ form: 'flat', tokens })).type.toBe<Middleware>()
    expect(requireRole(['admin'], { form: 'flat' })).type.toBe<Middleware>()
    expect(rateLimit()).type.toBe<Middleware>()
  })
})

describe('createMiddleware', () => {
  test('takes a map of prefix to list', () => {
    expect(createMiddleware).type.toBeCallableWith({ '/api/': [guard], '/api/public/': [] })
    expect(createMiddleware({ '/api/': [guard] })).type.toBe<MiddlewareMap>()
  })

  test('takes no single middleware and nothing that is not a function', () => {
    expect(createMiddleware).type.not.toBeCallableWith({ '/api/': guard })
    expect(createMiddleware).type.not.toBeCallableWith({ '/api/': ['guard'] })
    expect(createMiddleware).type.not.toBeCallableWith()
  })
})

describe('validate', () => {
  const post = z.object({ title: z.string(), published: z.boolean().default(false) })

  test('gives the handler the type that the schema lets through', () => {
    expect<ValidatedRequest<typeof post>['validatedData']>().type.toBe<{ title: string; published: boolean }>()
  })

  test('is middleware, for one schema or for one a part', () => {
    expect(validate(post)).type.toBeAssignableTo<Middleware>()
    expect(validate({ body: post, params: z.object({ id: z.string() }) })).type.toBeAssignableTo<Middleware>()
    expect(validate).type.not.toBeCallableWith({ title: 'string' })
  })
})
