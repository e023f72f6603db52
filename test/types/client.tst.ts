import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import { describe, expect, test } from 'tstyche'
import { defineHandler, type Request, type Response } from 'twinroute'
import {
  createClient,
  injectFetch,
  type AnswerTo,
  type AsJson,
  type ErrorEnvelope,
  type FieldProblem
} from 'twinroute/client'
import * as v from 'valibot'
import { z } from 'zod'

const Note = z.object({ id: z.number(), title: z.string(), created: z.date(), tags: z.array(z.string()).optional() })
const Problem = z.object({ message: z.string() })

const notes = {
  GET: defineHandler(
    {
      params: z.object({ team: z.string() }),
      query: z.object({
        limit: z.coerce.number().default(20),
        tag: z.array(z.string()).optional(),
        sort: z.enum(['title', 'created']).optional()
      }),
      response: z.array(Note)
    },
    () => []
  ),
  POST: defineHandler(
    {
      params: z.object({ team: z.string() }),
      body: z.object({ title: z.string(), tags: z.array(z.string()).default([]) }),
      response: { 201: Note, 409: Problem, 202: null }
    },
    () => ({ status: 202 })
  )
}

const note = {
  GET: defineHandler({ params: z.object({ id: z.coerce.number() }), response: { 200: Note } }, () => {
    throw new Error('none')
  }),
  PATCH: defineHandler(
    { headers: z.object({ 'if-match': z.string() }), body: z.object({ title: z.string() }).optional() },
    (request) => ({ id: String(request.params['id']), changed: new Date() })
  ),
  DELETE: (_request: Request<'/notes/[id]'>) => ({ status: 204 as const })
}

const uploads = {
  POST: defineHandler(
    { form: z.object({ title: z.string(), pictures: z.array(z.file()), size: z.coerce.number().optional() }) },
    () => ({ stored: 1 })
  ),
  GET: defineHandler({ response: z.file() }, () => new Uint8Array())
}

const plain = {
  GET: (request: Request) => ({ path: request.path, at: new Date(), count: 1n as bigint | number }),
  PUT: async () =>
    Math.random() > 1 ? { status: 404, body: { reason: 'gone' } } : { status: 200, body: { fine: true } },
  POST: (_request: Request, response: Response) => response.json({ hidden: true }),
  PATCH: () => ({ status: 'healthy', uptime: 1 }),
  OPTIONS: () => 'a page'
}

const kinds = {
  POST: defineHandler(
    {
      body: v.object({ title: v.string() }),
      response: { 200: type({ id: 'string' }), 422: Type.Object({ at: Type.Number() }) }
    },
    () => ({ id: 'x' })
  ),
  PUT: defineHandler(
    { body: { type: 'object' }, query: { type: 'object' }, response: { 200: { type: 'object' } } },
    () => ({})
  )
}

interface Routes {
  '/api/teams/[team]/notes': typeof notes
  '/api/notes/[id]': typeof note
  '/api/uploads': typeof uploads
  '/api/plain': typeof plain
  '/api/kinds': typeof kinds
  '/api/files/[...path]': { GET: () => string }
  '/api/pages/[[...path]]': { GET: () => null }
  '/api/reports/[year]-[month].json': { GET: () => number[] }
}

const client = createClient<Routes>({ baseUrl: 'https://api.example.com' })

describe('the answer of a typed route', () => {
  test('is narrowed by its status', async () => {
    const answer = await client.POST('/api/teams/[team]/notes', { params: { team: 'blue' }, body: { title: 'First' } })
    expect(answer.headers).type.toBe<Headers>()
    if (answer.status === 201) {
      expect(answer.body).type.toBe<{ id: number; title: string; created: string; tags?: string[] | undefined }>()
      expect(answer.ok).type.toBe<true>()
    } else if (answer.status === 409) {
      expect(answer.body).type.toBe<{ message: string }>()
      expect(answer.ok).type.toBe<false>()
    } else if (answer.status === 202) expect(answer.body).type.toBe<undefined>()
    else if (answer.status === 401) expect(answer.body).type.toBe<unknown>()
    else expect(answer.ok).type.toBe<false>()
  })

  test('is narrowed by ok', async () => {
    const answer = await client.GET('/api/teams/[team]/notes', { params: { team: 'blue' } })
    if (answer.ok) {
      expect(answer.body[0]?.created).type.toBe<string | undefined>()
      expect(answer.status).type.toBe<200>()
    } else expect(answer.body).type.toBe<unknown>()
  })

  test('has the type of errors that no route declares', async () => {
    const typed = createClient<Routes, ErrorEnvelope>()
    const answer = await typed.POST('/api/teams/[team]/notes', { params: { team: 'blue' }, body: { title: 'First' } })
    if (answer.status === 400) expect(answer.body.error.message).type.toBe<string>()
    if (answer.status === 409) expect(answer.body).type.toBe<{ message: string }>()
    if (!answer.ok) expect(answer.body).type.toBe<{ message: string } | ErrorEnvelope>()
  })

  test('has the details of errors that the application says', async () => {
    const typed = createClient<Routes, ErrorEnvelope<FieldProblem[]>>()
    const answer = await typed.GET('/api/teams/[team]/notes', { params: { team: 'blue' } })
    if (answer.ok) return
    expect(answer.body.error.details?.map(({ field }) => field)).type.toBe<string[] | undefined>()
    expect<ErrorEnvelope['error']['details']>().type.toBe<unknown>()
  })

  test('without a response schema is what the handler returns', async () => {
    const answer = await client.PATCH('/api/notes/[id]', { params: { id: 1 } })
    if (answer.ok) expect(answer.body).type.toBe<{ id: string; changed: string }>()
  })

  test('follows valibot, arktype, TypeBox; a JSON Schema without a type is unknown', async () => {
    const answer = await client.POST('/api/kinds', { body: { title: 'x' } })
    if (answer.status === 200) expect(answer.body).type.toBe<{ id: string }>()
    if (answer.status === 422) expect(answer.body).type.toBe<{ at: number }>()
    const open = await client.PUT('/api/kinds', { body: ['anything'], query: { any: ['a', 1], other: undefined } })
    if (open.ok) expect(open.body).type.toBe<unknown>()
  })

  test('is text, bytes or a stream where it is asked for; errors keep their types', async () => {
    const file = await client.GET('/api/uploads')
    if (file.ok) expect(file.body).type.toBe<string | Uint8Array>()
    const bytes = await client.GET('/api/uploads', { as: 'bytes' })
    if (bytes.ok) expect(bytes.body).type.toBe<Uint8Array>()
    const stream = await client.GET('/api/teams/[team]/notes', { params: { team: 'a' }, as: 'stream' })
    if (stream.ok) expect(stream.body).type.toBe<ReadableStream<Uint8Array>>()
    else expect(stream.body).type.toBe<unknown>()
    const text = await client.POST('/api/teams/[team]/notes', {
      params: { team: 'a' },
      body: { title: 'x' },
      as: 'text'
    })
    if (text.status === 201) expect(text.body).type.toBe<string>()
    if (text.status === 202) expect(text.body).type.toBe<undefined>()
    if (text.status === 409) expect(text.body).type.toBe<{ message: string }>()
  })

  test('of HEAD has no body', async () => {
    const answer = await client.HEAD('/api/teams/[team]/notes', { params: { team: 'blue' } })
    expect(answer.body).type.toBe<undefined>()
    expect(answer.ok).type.toBe<boolean>()
  })

  test('has a name of its own', () => {
    expect<
      Extract<AnswerTo<Routes, '/api/notes/[id]', 'GET'>, { status: 200 }>['body']['created']
    >().type.toBe<string>()
  })
})

describe('the answer of a plain handler', () => {
  test('is what it returns, after JSON', async () => {
    const answer = await client.GET('/api/plain')
    if (answer.ok) expect(answer.body).type.toBe<{ path: string; at: string; count: number }>()
    const health = await client.PATCH('/api/plain')
    if (health.ok) expect(health.body).type.toBe<{ status: string; uptime: number }>()
    const page = await client.OPTIONS('/api/plain')
    if (page.ok) expect(page.body).type.toBe<string>()
  })

  test('is one of the bodies, where its status is any number; the literal one, where it is one', async () => {
    const answer = await client.PUT('/api/plain')
    if (answer.ok) expect(answer.body).type.toBe<{ reason: string } | { fine: boolean }>()
    const gone = await client.DELETE('/api/notes/[id]', { params: { id: 1 } })
    if (gone.ok) expect(gone.status).type.toBe<204>()
  })

  test('is unknown where the response is written by hand', async () => {
    const answer = await client.POST('/api/plain')
    if (answer.ok) expect(answer.body).type.toBe<unknown>()
  })
})

describe('a call', () => {
  test('to a wrong path, or with a method that the route lacks, does not compile', () => {
    expect(client.GET).type.not.toBeCallableWith('/api/nowhere')
    expect(client.DELETE).type.not.toBeCallableWith('/api/plain')
    expect(client.GET).type.not.toBeCallableWith('/api/kinds')
    expect(client.HEAD).type.not.toBeCallableWith('/api/kinds')
    expect(client.GET).type.toBeCallableWith('/api/plain')
  })

  test('needs its parameters', () => {
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes')
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', {})
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params: {} })
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params: { team: undefined } })
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params: { team: 'a', tema: 'b' } })
    expect(client.GET).type.not.toBeCallableWith('/api/plain', { params: { id: 1 } })
    expect(client.GET).type.toBeCallableWith('/api/notes/[id]', { params: { id: 1 } })
    expect(client.GET).type.toBeCallableWith('/api/notes/[id]', { params: { id: '1' } })
    expect(client.GET).type.not.toBeCallableWith('/api/notes/[id]', { params: { id: { text: '1' } } })
    expect(client.GET).type.toBeCallableWith('/api/reports/[year]-[month].json', {
      params: { year: 2026, month: '07' }
    })
    expect(client.GET).type.not.toBeCallableWith('/api/reports/[year]-[month].json', { params: { year: 2026 } })
  })

  test('gives a catch-all as a list, an optional one if it likes', () => {
    expect(client.GET).type.toBeCallableWith('/api/files/[...path]', { params: { path: ['a', 'b'] } })
    expect(client.GET).type.not.toBeCallableWith('/api/files/[...path]', { params: { path: 'a/b' } })
    expect(client.GET).type.not.toBeCallableWith('/api/files/[...path]')
    expect(client.GET).type.toBeCallableWith('/api/pages/[[...path]]')
    expect(client.GET).type.toBeCallableWith('/api/pages/[[...path]]', { params: { path: ['a'] } })
  })

  test('gives the query as the schema takes it', () => {
    const params = { team: 'a' }
    const tags: readonly string[] = ['a']
    expect(client.GET).type.toBeCallableWith('/api/teams/[team]/notes', { params, query: { limit: 5, tag: tags } })
    expect(client.GET).type.toBeCallableWith('/api/teams/[team]/notes', {
      params,
      query: { limit: undefined, sort: 'title' }
    })
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params, query: { sort: 'name' } })
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params, query: { limt: 5 } })
    expect(client.GET).type.not.toBeCallableWith('/api/teams/[team]/notes', { params, query: { tag: [1] } })
    expect(client.GET).type.toBeCallableWith('/api/plain', { query: { a: 1, b: ['x'], c: undefined } })
  })

  test('gives the body as the schema takes it', () => {
    const params = { team: 'a' }
    expect(client.POST).type.not.toBeCallableWith('/api/teams/[team]/notes', { params })
    expect(client.POST).type.not.toBeCallableWith('/api/teams/[team]/notes', { params, body: {} })
    expect(client.POST).type.not.toBeCallableWith('/api/teams/[team]/notes', { params, body: { title: 1 } })
    expect(client.POST).type.not.toBeCallableWith('/api/teams/[team]/notes', {
      params,
      body: { title: 'a', titel: 'b' }
    })
    const tags: readonly string[] = ['a']
    expect(client.POST).type.toBeCallableWith('/api/teams/[team]/notes', { params, body: { title: 'a', tags } })
    expect(client.GET).type.not.toBeCallableWith('/api/plain', { body: 'x' })
    expect(client.PATCH).type.toBeCallableWith('/api/notes/[id]', { params: { id: 1 }, body: { title: 'a' } })
    expect(client.POST).type.toBeCallableWith('/api/plain', { body: new ReadableStream<Uint8Array>() })
    expect(client.POST).type.toBeCallableWith('/api/plain', { body: { any: 'thing' } })
  })

  test('gives a form as an object or as FormData', () => {
    const pictures = [new Blob(['x']), new File(['y'], 'y.png')]
    expect(client.POST).type.toBeCallableWith('/api/uploads', { form: { title: 'a', pictures, size: 5 } })
    expect(client.POST).type.toBeCallableWith('/api/uploads', { form: new FormData() })
    expect(client.POST).type.not.toBeCallableWith('/api/uploads', { form: { title: 'a' } })
    expect(client.POST).type.not.toBeCallableWith('/api/uploads', { form: { title: 'a', pictures: ['text'] } })
    expect(client.POST).type.not.toBeCallableWith('/api/uploads')
    expect(client.POST).type.toBeCallableWith('/api/plain', { form: { any: 1, file: new Blob([]) } })
  })

  test('may give headers, a signal', () => {
    const params = { id: 1 }
    expect(client.PATCH).type.toBeCallableWith('/api/notes/[id]', {
      params,
      headers: { 'if-match': '"1"', other: 'x' }
    })
    expect(client.PATCH).type.not.toBeCallableWith('/api/notes/[id]', { params, headers: { 'if-match': new Blob([]) } })
    expect(client.GET).type.toBeCallableWith('/api/plain', { signal: AbortSignal.timeout(5), headers: new Headers() })
    expect(client.GET).type.not.toBeCallableWith('/api/plain', { as: 'json' })
  })
})

describe('createClient', () => {
  test('takes a base URL, a fetch, and headers or a function for them', () => {
    expect(createClient).type.toBeCallableWith({ baseUrl: new URL('https://example.com'), fetch })
    expect(createClient).type.toBeCallableWith({ headers: { authorization: 'Bearer x' } })
    expect(createClient).type.toBeCallableWith({ headers: async () => ({ authorization: undefined }) })
    expect(createClient).type.not.toBeCallableWith({ base: 'https://example.com' })
  })

  test('takes an app by its inject', async () => {
    const { createApp } = await import('twinroute')
    const app = await createApp({ apiDir: 'api' })
    expect(createClient).type.toBeCallableWith({ fetch: injectFetch(app) })
  })
})

describe('AsJson', () => {
  test('is a value after JSON', () => {
    expect<AsJson<{ at: Date; id: bigint; url: URL; f(): void; s: symbol; map: Map<string, number> }>>().type.toBe<{
      at: string
      id: never
      url: string
      map: Record<string, never>
    }>()
    expect<AsJson<[Date, undefined, (string | undefined)[]]>>().type.toBe<[string, null, (string | null)[]]>()
    expect<AsJson<string | null>>().type.toBe<string | null>()
    expect<AsJson<unknown>>().type.toBe<unknown>()
    expect<AsJson<{ readonly a?: Date; b: { c: Date | null }[] }>>().type.toBe<{
      readonly a?: string
      b: { c: string | null }[]
    }>()
  })
})
