// ci: once (rules of this package over what the other files try on every Node version)
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { defineHandler, errorHandler, type Request, type Response as ServerResponse } from 'twinroute'
import { ClientError, createClient, injectFetch, type ClientOptions, type ErrorEnvelope } from 'twinroute/client'
import { z } from 'zod'
import { bundleForBrowsers } from './support/bundle.js'
import { addressOf, appOf } from './support/hosts.js'

const MAX_COMPRESSED = 2_000

const Note = z.object({ id: z.number(), title: z.string(), created: z.date() })
const CREATED = new Date('2026-01-02T03:04:05.678Z')
const BYTES = new Uint8Array([0, 1, 254, 255])

const notes = {
  GET: defineHandler(
    {
      params: z.object({ team: z.string() }),
      query: z.object({
        limit: z.coerce.number().optional(),
        tag: z.array(z.string()).default([]),
        before: z.coerce.date().optional(),
        open: z.stringbool().optional()
      }),
      headers: z.object({ 'x-who': z.string().default('nobody') })
    },
    ({ params, query, valid }) => ({ team: params.team, query, who: valid.headers['x-who'] })
  ),
  POST: defineHandler(
    {
      params: z.object({ team: z.string() }),
      body: z.object({ title: z.string().min(2) }),
      response: { 201: Note, 409: z.object({ message: z.string() }) }
    },
    ({ body, params }) =>
      params.team === 'full'
        ? { status: 409, body: { message: 'The team is full' } }
        : { status: 201, headers: { location: '/notes/1' }, body: { id: 1, title: body.title, created: CREATED } }
  ),
  DELETE: defineHandler({ response: { 204: null } }, () => ({ status: 204 }))
}

const uploads = {
  POST: defineHandler(
    { form: z.object({ title: z.string(), size: z.coerce.number(), pictures: z.array(z.file()) }) },
    async ({ valid }) => {
      const { title, size, pictures } = valid.form
      const texts = await Promise.all(pictures.map((file) => file.text()))
      return { title, size, files: pictures.map(({ name, type }, index) => ({ name, type, text: texts[index] })) }
    }
  )
}

/** What arrives. */
const echo = {
  GET: (request: Request) => request.headers,
  POST: (request: Request) => ({ type: request.get('content-type') ?? null, body: request.body ?? null }),
  PUT: async (request: Request) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return { type: request.get('content-type') ?? null, bytes: Buffer.concat(chunks).toString('hex') }
  },
  PATCH: (request: Request) => ({ url: request.originalUrl })
}

/** Answers of every type, by the name in the path. */
const TYPES: Record<string, (response: ServerResponse) => unknown> = {
  json: () => ({ a: 1 }),
  'problem+json': (response) => response.type('application/problem+json').send('{"a":1}'),
  html: () => '<p>',
  csv: (response) => response.type('text/csv').send('a,b'),
  xml: (response) => response.type('application/xml').send('<a/>'),
  bytes: () => Buffer.from(BYTES),
  'no type': (response) => response.end(),
  null: () => null,
  number: () => 5,
  'empty json': (response) => response.type('json').end(),
  'broken json': (response) => response.type('json').end('{"a":'),
  304: () => ({ status: 304 }),
  'a failure': () => {
    throw new Error('broken')
  }
}
const types = { GET: (request: Request<'/[name]'>, response: ServerResponse) => TYPES[request.params.name]?.(response) }

/** A stream that goes on until its reader leaves. */
const endless = {
  GET: () => {
    const stream = new Readable({ read: () => {} })
    stream.push('first')
    stream.once('close', () => closed.resolve())
    return stream
  }
}
let closed = waiting()

function waiting(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  return { promise: new Promise((done) => (resolve = done)), resolve: () => resolve() }
}

const path = { GET: (request: Request) => ({ params: request.params }) }

interface Routes {
  '/api/teams/[team]/notes': typeof notes
  '/api/uploads': typeof uploads
  '/api/echo': typeof echo
  '/api/types/[name]': typeof types
  '/api/endless': typeof endless
  '/api/files/[...path]': typeof path
  '/api/pages/[[...path]]': typeof path
  '/api/reports/[year]-[month].json': typeof path
  '/api/über uns/[id]': typeof path
}

const routes = {
  'teams/[team]/notes': notes,
  uploads,
  echo,
  'types/[name]': types,
  endless,
  'files/[...path]': path,
  'pages/[[...path]]': path,
  'reports/[year]-[month].json': path,
  'über uns/[id]': path
}

type Test = Parameters<typeof appOf>[0]

const TRANSPORTS: Record<string, (t: Test) => Promise<ClientOptions>> = {
  'a socket': async (t) => ({ baseUrl: await addressOf(await appOf(t, { routes, options: { errorHandler } })) }),
  inject: async (t) => ({ fetch: injectFetch(await appOf(t, { routes, options: { errorHandler } })) })
}

/** Runs a check over a socket and by inject. */
function overBoth(name: string, check: (t: any, options: ClientOptions) => Promise<void>): void {
  for (const [transport, open] of Object.entries(TRANSPORTS))
    t.test(`${name}, over ${transport}`, async (t) => check(t, await open(t)))
}

overBoth('an answer has its status, its body after JSON, and its headers', async (t, options) => {
  const client = createClient<Routes, ErrorEnvelope>(options)
  const params = { team: 'blue' }
  const added = await client.POST('/api/teams/[team]/notes', { params, body: { title: 'First' } })
  t.match(added, { ok: true, status: 201, body: { id: 1, title: 'First', created: '2026-01-02T03:04:05.678Z' } })
  t.equal(added.headers.get('location'), '/notes/1')

  const full = await client.POST('/api/teams/[team]/notes', { params: { team: 'full' }, body: { title: 'First' } })
  if (full.status !== 409) return t.fail(`status ${full.status}`)
  t.strictSame([full.ok, full.body.message], [false, 'The team is full'])

  const refused = await client.POST('/api/teams/[team]/notes', { params, body: { title: '' } })
  if (refused.status !== 400) return t.fail(`status ${refused.status}`)
  t.match(refused.body.error, { code: 'VALIDATION_ERROR', details: [{ field: 'body.title' }] })

  const gone = await client.DELETE('/api/teams/[team]/notes', { params })
  t.strictSame([gone.ok, gone.status, gone.body], [true, 204, undefined])
  const head = await client.HEAD('/api/teams/[team]/notes', { params })
  t.strictSame([head.ok, head.status, head.body], [true, 200, undefined])
})

overBoth('a query has texts and lists; what is undefined or null is left out', async (t, options) => {
  const client = createClient<Routes>(options)
  const params = { team: 'ä/b' }
  const asked = await client.GET('/api/teams/[team]/notes', {
    params,
    query: { limit: 5, tag: ['a b', 'c&d=e', '+'], before: CREATED, open: 'yes' }
  })
  if (!asked.ok) return t.fail(`status ${asked.status}`)
  t.strictSame(asked.body, {
    team: 'ä/b',
    query: { limit: 5, tag: ['a b', 'c&d=e', '+'], before: '2026-01-02T03:04:05.678Z', open: true },
    who: 'nobody'
  })
  const absent = await client.GET('/api/teams/[team]/notes', { params, query: { limit: undefined } })
  if (absent.ok) t.strictSame(absent.body.query, { tag: [] })
  const url = await client.PATCH('/api/echo', { query: { a: undefined, b: null, c: [], d: false, e: 0, f: '', g: 1n } })
  t.strictSame(url.body, { url: '/api/echo?d=false&e=0&f=&g=1' })
})

overBoth('parameters are encoded by segment, a catch-all is a list', async (t, options) => {
  const client = createClient<Routes>(options)
  const answers = [
    await client.GET('/api/files/[...path]', { params: { path: ['a b', 'c/d', '..e', 'ü%2f?#'] } }),
    await client.GET('/api/files/[...path]', { params: { path: [7, CREATED] } }),
    await client.GET('/api/pages/[[...path]]', { params: { path: ['a'] } }),
    await client.GET('/api/pages/[[...path]]', { params: { path: [] } }),
    await client.GET('/api/pages/[[...path]]'),
    await client.GET('/api/reports/[year]-[month].json', { params: { year: 2026, month: '07' } }),
    await client.GET('/api/über uns/[id]', { params: { id: '[id]' } })
  ]
  t.strictSame(
    answers.map(({ body }) => (body as { params: unknown }).params),
    [
      { path: ['a b', 'c/d', '..e', 'ü%2f?#'] },
      { path: ['7', '2026-01-02T03:04:05.678Z'] },
      { path: ['a'] },
      { path: [] },
      { path: [] },
      { year: '2026', month: '07' },
      { id: '[id]' }
    ]
  )
})

overBoth('headers of a call come before those of the client', async (t, options) => {
  let asked = 0
  const client = createClient<Routes>({
    ...options,
    headers: async () => ({ authorization: `Bearer ${++asked}`, 'x-who': 'ann', 'x-none': undefined })
  })
  const answer = await client.GET('/api/teams/[team]/notes', { params: { team: 'a' }, headers: { 'x-who': 'ben' } })
  if (answer.ok) t.equal(answer.body.who, 'ben')
  const { body } = await client.GET('/api/echo', { headers: new Headers({ 'X-Number': '1' }) })
  t.match(body, { authorization: 'Bearer 2', 'x-who': 'ann', 'x-number': '1' })
  t.notOk('x-none' in (body as object))
})

overBoth('a body is JSON; texts, bytes, blobs, forms and streams are sent as they are', async (t, options) => {
  const client = createClient<Routes>(options)
  const posted = async (body: unknown, headers?: Record<string, string>): Promise<unknown> =>
    (await client.POST('/api/echo', { body, headers })).body
  t.strictSame(await posted({ a: CREATED }), { type: 'application/json', body: { a: '2026-01-02T03:04:05.678Z' } })
  t.strictSame(await posted(['a', null]), { type: 'application/json', body: ['a', null] })
  t.strictSame(await posted('text'), { type: 'text/plain;charset=UTF-8', body: 'text' })
  t.strictSame(await posted('{"a":1}', { 'content-type': 'application/json' }), {
    type: 'application/json',
    body: { a: 1 }
  })
  t.strictSame(await posted({ a: 1 }, { 'content-type': 'application/vnd.api+json' }), {
    type: 'application/vnd.api+json',
    body: { a: 1 }
  })
  t.match(await posted(new URLSearchParams({ a: '1' })), {
    type: /^application\/x-www-form-urlencoded/,
    body: { a: '1' }
  })
  t.strictSame(await posted(undefined), { type: null, body: null })

  const put = async (body: unknown): Promise<unknown> => (await client.PUT('/api/echo', { body })).body
  t.strictSame(await put(BYTES), { type: null, bytes: '0001feff' })
  t.strictSame(await put(BYTES.buffer), { type: null, bytes: '0001feff' })
  t.strictSame(await put(new Blob([BYTES], { type: 'image/png' })), { type: 'image/png', bytes: '0001feff' })
  t.strictSame(await put(new Blob([BYTES, BYTES]).stream()), { type: null, bytes: '0001feff0001feff' })
})

overBoth('a form is made of an object, with files; or it is a FormData', async (t, options) => {
  const client = createClient<Routes>(options)
  const file = new File(['one'], 'one.txt', { type: 'text/plain' })
  const form = { title: 'Ä', size: 7, pictures: [file, new Blob(['two'])] }
  const expected = {
    title: 'Ä',
    size: 7,
    files: [
      { name: 'one.txt', type: 'text/plain', text: 'one' },
      { name: 'blob', type: 'application/octet-stream', text: 'two' }
    ]
  }
  t.strictSame((await client.POST('/api/uploads', { form })).body, expected)
  const data = new FormData()
  data.append('title', 'Ä')
  data.append('size', '7')
  data.append('pictures', file)
  data.append('pictures', new Blob(['two']))
  t.strictSame((await client.POST('/api/uploads', { form: data })).body, expected)
})

overBoth('a body is read by its type, or as it is asked for', async (t, options) => {
  const client = createClient<Routes, ErrorEnvelope>(options)
  const bodyOf = async (name: string, as?: 'bytes' | 'text'): Promise<unknown> =>
    (await client.GET('/api/types/[name]', { params: { name }, as })).body
  for (const [name, body] of Object.entries({
    json: { a: 1 },
    'problem+json': { a: 1 },
    html: '<p>',
    csv: 'a,b',
    xml: '<a/>',
    bytes: BYTES,
    'no type': undefined,
    null: null,
    number: 5,
    'empty json': undefined,
    304: undefined
  }))
    t.strictSame(await bodyOf(name), body, name)
  t.equal(await bodyOf('json', 'text'), '{"a":1}')
  t.strictSame(await bodyOf('csv', 'bytes'), new Uint8Array([97, 44, 98]))
  t.match(
    await bodyOf('a failure', 'bytes'),
    { error: { code: 'INTERNAL_SERVER_ERROR' } },
    'errors are read by their type'
  )
})

overBoth('a stream is read as it comes, and closed by its reader', async (t, options) => {
  closed = waiting()
  const answer = await createClient<Routes>(options).GET('/api/endless', { as: 'stream' })
  if (!answer.ok) return t.fail(`status ${answer.status}`)
  const reader = answer.body.getReader()
  const { value } = await reader.read()
  t.equal(Buffer.from(value ?? []).toString(), 'first')
  await reader.cancel()
  await closed.promise
})

overBoth('an aborted call rejects with the reason of its signal', async (t, options) => {
  const client = createClient<Routes>(options)
  const early = AbortSignal.abort()
  await t.rejects(client.GET('/api/echo', { signal: early }), early.reason)
  closed = waiting()
  const controller = new AbortController()
  const answer = await client.GET('/api/endless', { as: 'stream', signal: controller.signal })
  if (!answer.ok) return t.fail(`status ${answer.status}`)
  const reader = answer.body.getReader()
  await reader.read()
  controller.abort(new Error('no longer wanted'))
  await t.rejects(reader.read(), { message: 'no longer wanted' })
  await closed.promise
})

overBoth('JSON that is none rejects, and says where', async (t, options) => {
  const client = createClient<Routes>(options)
  const error = await client.GET('/api/types/[name]', { params: { name: 'broken json' } }).catch((error) => error)
  t.ok(error instanceof ClientError)
  t.match(error, { name: 'ClientError', method: 'GET', url: /\/api\/types\/broken%20json$/ })
  t.match(error.message, /^GET .*\/api\/types\/broken%20json got 200, whose body cannot be read: .*JSON/)
  t.ok(error.cause instanceof SyntaxError)
})

t.test('what cannot be sent rejects before anything is sent', async (t) => {
  const sent: string[] = []
  const client = createClient<any>({
    fetch: async (url) => {
      sent.push(url)
      return new Response()
    }
  }) as Record<string, (path: string, ask?: object) => Promise<unknown>>
  const rows: [path: string, ask: object | undefined, says: string][] = [
    ['/api/[id]', undefined, 'params.id is missing (/api/[id])'],
    ['/api/[id]', { params: {} }, 'params.id is missing (/api/[id])'],
    ['/api/[id]', { params: { id: null } }, 'params.id is missing (/api/[id])'],
    ['/api/[id]', { params: { id: '' } }, 'params.id is empty (/api/[id])'],
    ['/api/[toString]', { params: {} }, 'params.toString is of type function, which cannot be sent as text'],
    [
      '/api/[id]',
      { params: { id: '..' } },
      'A parameter makes a segment of dots only, which a URL cannot hold (/api/[id])'
    ],
    ['/api/[a].[b]/x', { params: { a: '', b: '.' } }, 'params.a is empty (/api/[a].[b]/x)'],
    [
      '/api/[...path]',
      { params: { path: ['a', '.', 'b'] } },
      'A parameter makes a segment of dots only, which a URL cannot hold (/api/[...path])'
    ],
    ['/api/[...path]', { params: { path: [] } }, 'params.path is missing (/api/[...path])'],
    ['/api/[...path]', { params: { path: 'a/b' } }, 'params.path is no list (/api/[...path])'],
    ['/api/[[...path]]', { params: { path: ['a', ''] } }, 'params.path is empty (/api/[[...path]])'],
    ['/api', { query: { a: { b: 1 } } }, 'query.a is of type object, which cannot be sent as text'],
    ['/api', { headers: { a: Symbol('a') } }, 'headers.a is of type symbol, which cannot be sent as text'],
    ['/api', { form: { a: {} } }, 'form.a is of type object, which cannot be sent as text']
  ]
  for (const [path, ask, message] of rows)
    await t.rejects(client['POST']?.(path, ask) as Promise<unknown>, { name: 'TypeError', message }, message)
  t.strictSame(sent, [])
})

t.test('a network that fails rejects with what failed, and why', async (t) => {
  const server: Server = createServer((request) => request.socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = createClient<Routes>({ baseUrl: `http://127.0.0.1:${port}/` })
  const cut = await client.GET('/api/echo').catch((error) => error)
  t.ok(cut instanceof ClientError)
  t.match(
    cut.message,
    new RegExp(`^GET http://127.0.0.1:${port}/api/echo got no answer: fetch failed \\(other side closed\\)$`)
  )
  server.close()
  await once(server, 'close')
  const refused = await client.GET('/api/echo').catch((error) => error)
  t.match(refused.message, /got no answer: fetch failed \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)$/)
  t.equal(refused.cause.message, 'fetch failed')
  const relative = await createClient<Routes>()
    .GET('/api/echo')
    .catch((error) => error)
  t.match(relative.message, /^GET \/api\/echo got no answer: Failed to parse URL from \/api\/echo/)
})

t.test('a base URL may have a path; a custom fetch gets what fetch gets', async (t) => {
  const seen: [string, RequestInit][] = []
  const client = createClient<Routes>({
    baseUrl: new URL('https://example.com/v1/'),
    headers: [['x-a', '1']],
    fetch: async (url, init) => {
      seen.push([url, init])
      return Response.json({ a: 1 }, { status: 201 })
    }
  })
  const answer = await client.POST('/api/echo', { body: { b: 2 } })
  t.strictSame([answer.status, answer.body], [201, { a: 1 }])
  const [[url, init] = ['', {}]] = seen
  t.equal(url, 'https://example.com/v1/api/echo')
  t.match(init, { method: 'POST', body: '{"b":2}' })
  t.strictSame(Object.fromEntries(init.headers as Headers), { 'content-type': 'application/json', 'x-a': '1' })
})

t.test('in a browser build the client is small, and brings nothing of the server', async (t) => {
  const lines = "import { createClient } from 'twinroute/client'\nconsole.log(await createClient().GET('/api'))\n"
  const { outputFiles, metafile } = await bundleForBrowsers(lines)
  const compressed = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  t.ok(compressed < MAX_COMPRESSED, `${compressed} bytes`)
  const inputs = Object.keys(metafile.inputs).filter((input) => input !== '<stdin>')
  t.ok(inputs.length > 1)
  t.strictSame(
    inputs.filter((input) => !/^dist\/client(\.js|\/)/.test(input)),
    []
  )
  t.notMatch(outputFiles[0]?.text, 'payloadAsStream', 'what is not used is left out')
})
