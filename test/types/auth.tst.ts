import { createClient } from 'redis'
import { describe, expect, test } from 'tstyche'
import type { Handler, Middleware, NextFunction, Request, Response } from 'twinroute'
import {
  authenticate,
  createPasswordHasher,
  createTokenService,
  requireRole,
  type Identity,
  type RefreshTokenStore
} from 'twinroute/auth'
import { apiVersion, envelope, pagination, rateLimit, validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'

interface User {
  id: string
  role: string
  refreshToken: string | null
}

declare const users: { find(id: string): Promise<User | undefined> }

describe('guards', () => {
  const tokens = createTokenService()

  test('are middleware', () => {
    expect(authenticate({ form: 'flat', tokens })).type.toBe<Middleware>()
    expect(authenticate({ form: 'nested', tokens, findUser: (id) => users.find(id) })).type.toBe<Middleware>()
    expect(requireRole(['admin'], { form: 'flat' })).type.toBe<Middleware>()
    expect(rateLimit()).type.toBe<Middleware>()
    expect(apiVersion('v2')).type.toBe<Middleware>()
  })

  test('the nested form needs findUser, the flat form takes none', () => {
    expect(authenticate).type.not.toBeCallableWith({ form: 'nested', tokens })
    expect(authenticate).type.not.toBeCallableWith({ form: 'flat', tokens, findUser: (id: string) => users.find(id) })
    expect(authenticate).type.not.toBeCallableWith({ form: 'round', tokens })
  })

  test('a role check takes a list and a form', () => {
    expect(requireRole).type.not.toBeCallableWith('admin', { form: 'flat' })
    expect(requireRole).type.not.toBeCallableWith(['admin'])
  })
})

describe('token service', () => {
  test('a table of users is a store', () => {
    const store = {
      save: async (_userId: string, _token: string) => 1,
      read: (userId: string) => users.find(userId),
      clear: async (_userId: string) => undefined
    }
    expect(store).type.toBeAssignableTo<RefreshTokenStore>()
  })

  test('checks and issues', () => {
    const tokens = createTokenService({ mode: 'production' })
    expect(tokens.verifyAccess('')).type.toBe<Identity>()
    expect(tokens.refresh('')).type.toBe<Promise<string>>()
    expect(tokens.generateAccessToken).type.toBeCallableWith({ userId: '1', role: 'user' }, { lifetime: 60 })
    expect(tokens.generateAccessToken).type.not.toBeCallableWith({ userId: 1, role: 'user' })
  })
})

test('a password is checked against a hash that may be missing', () => {
  const { verify } = createPasswordHasher()
  expect(verify).type.toBeCallableWith('password', undefined)
  expect(verify).type.toBeCallableWith('password', null)
  expect(verify('password', 'hash')).type.toBe<Promise<boolean>>()
})

describe('validate', () => {
  const createUser = z.object({ name: z.string(), role: z.enum(['user', 'admin']).default('user') })
  const validateUser = validate(createUser)

  test('is middleware', () => {
    expect(validateUser).type.toBeAssignableTo<Middleware>()
    expect(validate).type.not.toBeCallableWith({ body: 'no schema' })
    expect(validate).type.not.toBeCallableWith({ headers: createUser })
  })

  test('gives validatedData the type of what the schema lets through', () => {
    interface Output {
      name: string
      role: 'user' | 'admin'
    }
    expect<ValidatedRequest<typeof validateUser>['validatedData']>().type.toBe<Output>()
    expect<ValidatedRequest<typeof createUser>['validatedData']>().type.toBe<Output>()
  })

  test('gives each part of a map its type', () => {
    const validatePage = validate({
      query: z.object({ page: z.coerce.number() }),
      params: z.object({ id: z.string() })
    })
    expect<ValidatedRequest<typeof validatePage>['validatedData']>().type.toBe<{
      query: { page: number }
      params: { id: string }
    }>()
  })

  test('a validated request is a request', () => {
    expect<ValidatedRequest<typeof validateUser>>().type.toBeAssignableTo<Request>()
    type CreateUser = (
      request: ValidatedRequest<typeof validateUser>,
      response: Response,
      next: NextFunction
    ) => unknown
    expect<Handler>().type.toBeAssignableTo<CreateUser>()
  })

  test('without it validatedData is unknown', () => {
    expect<Request['validatedData']>().type.toBe<unknown>()
    expect<Request['apiVersion']>().type.toBe<string | undefined>()
  })
})

test('a client of the redis package counts attempts', () => {
  expect(rateLimit).type.toBeCallableWith({ redis: createClient() })
})

test('a transform may say what it gets', () => {
  expect(apiVersion).type.toBeCallableWith('v2', (body: { data: unknown[] }) => ({ items: body.data }))
})

test('envelopes keep the type of their data', () => {
  expect(envelope([1]).data).type.toBe<number[]>()
  expect(envelope.plain({ id: 1 })).type.toBe<{ data: { id: number }; message?: string }>()
  expect(pagination({ page: '1' })).type.toBe<{ page: number; limit: number; offset: number }>()
})
