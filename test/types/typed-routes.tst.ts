import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import type { Request as ExpressRequest, RequestHandler } from 'express'
import { describe, expect, test } from 'tstyche'
import {
  createMiddleware,
  defineHandler,
  defineHandlerFor,
  type Handler,
  type Middleware,
  type Request,
  type Response
} from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import * as v from 'valibot'
import { z } from 'zod'

declare module 'twinroute' {
  interface RequestTypes {
    tenant?: { name: string }
  }
}

interface User {
  id: string
}

const Note = z.object({ id: z.string(), title: z.string(), tags: z.array(z.string()).optional() })
const Problem = z.object({ message: z.string() })

describe('Request', () => {
  test('without a shape has the parameters of Express and texts in the query', () => {
    expect<Request['params']>().type.toBe<ExpressRequest['params']>()
    expect<Request['query']>().type.toBe<Record<string, string | string[] | undefined>>()
  })

  test('of a path has its parameters', () => {
    expect<Request<'/users/[id]'>['params']>().type.toBe<{ id: string }>()
    expect<Request<'/users/[id]/files/[...path]'>['params']>().type.toBe<{ id: string; path: string[] }>()
    expect<Request<'/files/[[...path]]'>['params']>().type.toBe<{ path: string[] }>()
    expect<Request<'/[name].[format]'>['params']>().type.toBe<{ name: string; format: string }>()
    expect<keyof Request<'/health'>['params']>().type.toBe<never>()
  })

  test('of a shape has its members, and the others as they are', () => {
    type Shaped = Request<{ body: { title: string }; query: { page: number }; user: { id: string } }>
    expect<Shaped['body']>().type.toBe<{ title: string }>()
    expect<Shaped['query']>().type.toBe<{ page: number }>()
    expect<Shaped['user']>().type.toBe<{ id: string }>()
    expect<Shaped['params']>().type.toBe<ExpressRequest['params']>()
    expect<Shaped['method']>().type.toBe<string>()
  })

  test('has what the application declares for all requests', () => {
    expect<Request['tenant']>().type.toBe<{ name: string } | undefined>()
    expect<Request<'/users/[id]'>['tenant']>().type.toBe<{ name: string } | undefined>()
  })

  test('of any shape is a request, and is one of Express', () => {
    expect<Request>().type.toBeAssignableFrom<Request<'/users/[id]'>>()
    expect<Request>().type.toBeAssignableFrom<Request<{ body: { title: string } }>>()
    expect<ExpressRequest>().type.toBeAssignableFrom<Request>()
    expect<ExpressRequest<{ id: string }>>().type.toBeAssignableFrom<Request<'/users/[id]'>>()
  })
})

describe('Handler and Middleware', () => {
  test('take functions for any path, query, body and user', () => {
    expect<Handler>().type.toBeAssignableFrom((request: Request<'/users/[id]'>) => request.params.id)
    expect<Handler>().type.toBeAssignableFrom((request: Request<{ query: { page: number } }>) => request.query.page)
    expect<Middleware>().type.toBeAssignableFrom((request: Request<{ user: { id: string } }>) => request.user.id)
  })

  test("take Express's", () => {
    expect<Handler>().type.toBeAssignableFrom<RequestHandler>()
    expect<Handler>().type.toBeAssignableFrom<RequestHandler<{ id: string }>>()
    expect<Middleware>().type.toBeAssignableFrom<RequestHandler>()
    expect<Middleware>().type.toBeAssignableFrom<RequestHandler<{ id: string }>>()
    expect(createMiddleware).type.toBeCallableWith({ '/api/': [(() => {}) as RequestHandler<{ id: string }>] })
  })
})

describe('the request of defineHandler', () => {
  test('has what zod makes of it', () => {
    defineHandler(
      {
        params: z.object({ team: z.string() }),
        query: z.object({ page: z.coerce.number().default(1), draft: z.stringbool().optional() }),
        headers: z.object({ 'x-api-key': z.string() }),
        cookies: z.object({ sid: z.string().optional() }),
        body: z.object({ title: z.string().transform((title) => title.length) })
      },
      (request) => {
        expect(request.params).type.toBe<{ team: string }>()
        expect(request.query).type.toBe<{ page: number; draft?: boolean | undefined }>()
        expect(request.body).type.toBe<{ title: number }>()
        expect(request.valid.headers).type.toBe<{ 'x-api-key': string }>()
        expect(request.valid.cookies).type.toBe<{ sid?: string | undefined }>()
        expect(request.valid).type.not.toHaveProperty('form')
        expect(request.requestId).type.toBe<string>()
      }
    )
  })

  test('has what valibot, arktype and TypeBox make of it; a plain JSON Schema says nothing', () => {
    defineHandler({ body: v.object({ title: v.pipe(v.string(), v.trim()) }) }, (request) => {
      expect(request.body).type.toBe<{ title: string }>()
    })
    defineHandler({ body: type({ title: 'string', 'count?': 'number' }) }, (request) => {
      expect(request.body).type.toBe<{ title: string; count?: number }>()
    })
    defineHandler({ body: Type.Object({ title: Type.String() }) }, (request) => {
      expect(request.body).type.toBe<{ title: string }>()
    })
    defineHandler({ body: { type: 'object', properties: { title: { type: 'string' } } } }, (request) => {
      expect(request.body).type.toBe<unknown>()
    })
  })

  test('has the usual members where there is no schema', () => {
    defineHandler({ summary: 'List notes' }, (request, response) => {
      expect(request.params).type.toBe<ExpressRequest['params']>()
      expect(request.body).type.toBe<any>()
      expect(response).type.toBe<Response>()
    })
  })
})

describe('defineHandlerFor', () => {
  const defineUserHandler = defineHandlerFor<{ user: User }>()

  test('adds members to what the schemas make of the request', () => {
    const definition = { body: Note, query: z.object({ page: z.coerce.number() }), response: { 201: Note, 204: null } }
    defineUserHandler(definition, (request) => {
      expect(request.user).type.toBe<User>()
      expect(request.body).type.toBe<z.infer<typeof Note>>()
      expect(request.query).type.toBe<{ page: number }>()
      return { status: 201, body: { ...request.body, id: request.user.id } }
    })
    defineUserHandler({ summary: 'Me' }, (request) => {
      expect(request.user).type.toBe<User>()
      expect(request.body).type.toBe<any>()
    })
  })

  test('makes the handlers that defineHandler makes', () => {
    const plain = defineHandler({ query: Note, response: Note }, () => ({ id: '1', title: 'One' }))
    expect(defineUserHandler({ query: Note, response: Note }, () => ({ id: '1', title: 'One' }))).type.toBe<
      typeof plain
    >()
  })

  test('refuses what defineHandler refuses, and members that are none', () => {
    // @ts-expect-error No overload matches this call
    defineUserHandler({ response: { 201: Note } }, () => ({ status: 202, body: { id: '1', title: 'One' } }))
    // @ts-expect-error no properties in common
    defineHandlerFor<{ usre: User }>()
  })
})

describe('the answer of defineHandler', () => {
  test('is one of the statuses, with its body', () => {
    expect(defineHandler).type.toBeCallableWith(
      { body: Note, response: { 201: Note, 409: Problem } },
      async (request: Request<{ body: z.infer<typeof Note> }>) => {
        if (request.body.title === '') return { status: 409 as const, body: { message: 'untitled' } }
        return { status: 201 as const, body: { ...request.body } }
      }
    )
    defineHandler({ body: Note, response: { 201: Note, 409: Problem } }, async (request) => {
      if (request.body.title === '') return { status: 409, body: { message: 'untitled' } }
      const stored = { ...request.body }
      return { status: 201, headers: { location: '/notes/1' }, body: stored }
    })
  })

  test('may be the body of 200, a list of readonly things, nothing, or the response', () => {
    defineHandler({ response: z.array(Note) }, () => {
      const list: readonly z.infer<typeof Note>[] = []
      return list
    })
    defineHandler({ response: { 200: Note } }, () => ({ id: '1', title: 'One' }))
    defineHandler({ response: Note }, (_request, response) => response.json({ id: '1', title: 'One' }))
    defineHandler({ response: { 204: null } }, () => ({ status: 204 }))
    defineHandler({ response: z.file() }, () => new Uint8Array(1))
  })

  test('of another status, or with a body that breaks its schema, does not compile', () => {
    // @ts-expect-error No overload matches this call
    defineHandler({ response: { 201: Note } }, async () => ({ status: 202, body: { id: '1', title: 'One' } }))
    // @ts-expect-error No overload matches this call
    defineHandler({ response: { 201: Note } }, async () => ({ status: 201, body: { id: 1, title: 'One' } }))
    // @ts-expect-error No overload matches this call
    defineHandler({ response: { 201: Note } }, () => ({ id: '1', title: 'One' }))
    // @ts-expect-error No overload matches this call
    defineHandler({ response: Note }, () => ({ id: '1' }))
    // @ts-expect-error No overload matches this call
    defineHandler({ response: { 204: null } }, () => ({ status: 204, body: { id: '1' } }))
  })

  test('a handler may say more of its request than the schemas, and nothing else', () => {
    const checkNote = validate(Note)
    defineHandler({ response: Note }, (request: ValidatedRequest<typeof checkNote, '/notes/[id]'>) => {
      expect(request.params).type.toBe<{ id: string }>()
      return request.validatedData
    })
    // @ts-expect-error No overload matches this call
    defineHandler({ body: Note }, (request: Request<{ body: { title: number } }>) => request.body.title)
  })

  test('a request whose type says nothing of a part that has a schema does not compile', () => {
    // @ts-expect-error does not say what a schema makes of its
    defineHandler({ body: Note }, (request: Request<{ user: User }>) => request.body)
    // @ts-expect-error does not say what a schema makes of its
    defineHandler({ body: Note, response: { 201: Note } }, (request: Request) => ({ status: 201, body: request.body }))
    // @ts-expect-error does not say what a schema makes of its
    defineHandler({ params: z.object({ id: z.string() }) }, (request: Request<{ params: any }>) => request.params)
    // @ts-expect-error not assignable
    defineHandler({ query: z.object({ page: z.coerce.number() }) }, (request: Request<{ user: User }>) => request.user)
  })

  test('a request whose type says it all, or whose schema has no type, compiles', () => {
    type Said = Request<{ user: User; body: z.infer<typeof Note> }>
    const said = (request: Said) => ({ status: 201 as const, body: request.body })
    expect(defineHandler).type.toBeCallableWith({ body: Note, response: { 201: Note } }, said)
    defineHandler({ body: z.any() }, (request: Request<{ user: User }>) => request.user.id)
    defineHandler({ body: { type: 'object' } }, (request: Request<{ user: User }>) => request.user.id)
    defineHandler({ response: { 201: Note } }, async (request: Request<{ user: User }>) => ({
      status: 201,
      body: { id: request.user.id, title: 'One' }
    }))
  })

  test('a typed handler is a handler', () => {
    expect<Handler>().type.toBeAssignableFrom(defineHandler({ response: Note }, () => ({ id: '1', title: 'One' })))
  })
})

describe('a definition', () => {
  test('takes schemas and words, by their names', () => {
    expect(defineHandler).type.not.toBeCallableWith({ querry: Note }, () => undefined)
    expect(defineHandler).type.not.toBeCallableWith({ body: 'Note' }, () => undefined)
    expect(defineHandler).type.not.toBeCallableWith({ tags: 'notes' }, () => undefined)
  })
})
