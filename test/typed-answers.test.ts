// ci: once (what schema libraries make of values does not depend on the Node version; typed-routes.test.ts runs on each)
import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import fc from 'fast-check'
import t from 'tap'
import { ConflictError, defineHandler, errorHandler, type RouteSchema } from 'twinroute'
import * as v from 'valibot'
import { z } from 'zod'
import { AnswerSchema } from '../dist/schema/answer-schema.js'
import { appOf, callByInject, logBook, onEveryHost, type Call, type Routes } from './support/hosts.js'

const JSON_TYPE = 'application/json; charset=utf-8'
const MODES = ['test', 'production'] as const

/** A user as a database has it. */
const STORED = {
  password: 'secret',
  id: 7,
  name: 'Ada "Countess" \u2028Lovelace',
  email: null,
  address: { street: 'St James 12', door: '4711' },
  posts: [
    { title: 'One', draft: true },
    { title: 'Two', draft: false }
  ]
}
const SENT =
  '{"id":7,"name":"Ada \\"Countess\\" \u2028Lovelace","email":null,"address":{"street":"St James 12"},' +
  '"posts":[{"title":"One"},{"title":"Two"}]}'

const closed = { additionalProperties: false }
const USERS: Readonly<Record<string, RouteSchema>> = {
  zod: z.object({
    id: z.number().int(),
    name: z.string(),
    email: z.null(),
    address: z.object({ street: z.string() }),
    posts: z.array(z.object({ title: z.string() }))
  }),
  'zod-with-a-union': z.object({
    id: z.number().int(),
    name: z.string().trim(),
    email: z.email().nullable(),
    address: z.object({ street: z.string() }).nullable(),
    posts: z.array(z.union([z.object({ title: z.string() }), z.object({ draft: z.boolean() })]))
  }),
  valibot: v.object({
    id: v.number(),
    name: v.string(),
    email: v.nullable(v.string()),
    address: v.object({ street: v.string() }),
    posts: v.array(v.object({ title: v.string() }))
  }),
  arktype: type({
    id: 'number',
    name: 'string',
    email: 'string | null',
    address: { street: 'string' },
    posts: type({ title: 'string' }).array()
  }),
  typebox: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    email: Type.Union([Type.String(), Type.Null()]),
    address: Type.Object({ street: Type.String() }, closed),
    posts: Type.Array(
      Type.Union([Type.Object({ count: Type.Integer() }, closed), Type.Object({ title: Type.String() }, closed)])
    )
  })
}

t.test('only what the schema names is sent, in every mode, whichever way it is answered', async (t) => {
  const routes: Routes = Object.fromEntries(
    Object.entries(USERS).map(([name, response]) => [
      name,
      {
        GET: defineHandler({ response }, () => STORED as never),
        PUT: defineHandler({ response: { 200: response } }, async () => ({ status: 200, body: STORED }) as never),
        POST: defineHandler({ response: { 201: response } }, (_request, answer) => answer.status(201).json(STORED)),
        PATCH: defineHandler({ response }, (_request, answer) => {
          setImmediate(() => answer.send(STORED))
        }),
        DELETE: defineHandler({ response: { 202: response } }, (_request, answer) => {
          answer.status(202)
          return STORED as never
        })
      }
    ])
  )
  for (const mode of MODES) {
    onEveryHost(t, { routes, options: { mode, errorHandler } }, async (t, call, place) => {
      for (const name of Object.keys(USERS)) {
        for (const [method, status] of [
          ['GET', 200],
          ['PUT', 200],
          ['POST', 201],
          ['PATCH', 200],
          ['DELETE', 202]
        ]) {
          const answer = await call(`${method} /api/${name}`)
          const rule = `${method} ${name} in ${mode} on ${place}`
          t.strictSame({ status: answer.status, text: answer.text }, { status, text: SENT }, rule)
          t.equal(answer.headers['content-type'], JSON_TYPE, rule)
        }
        t.equal((await call(`HEAD /api/${name}`)).headers['content-length'], String(Buffer.byteLength(SENT)))
      }
    })
  }
})

const Note = z.object({ title: z.string(), tags: z.array(z.string()).default([]) })

/** Calls a single typed GET in every mode. */
async function inModes(
  t: any,
  GET: unknown,
  check: (answer: any, mode: string, entries: any[], call: Call) => unknown
): Promise<void> {
  for (const mode of MODES) {
    const { logger, entries } = logBook()
    const options = { mode, errorHandler, fastifyOptions: { logger } }
    const call = callByInject(await appOf(t, { routes: { 'notes/[id]': { GET } }, options }))
    await check(await call('GET /api/notes/1'), mode, entries, call)
  }
}

t.test('what the schema makes of a value is sent: defaults, transforms, dates', async (t) => {
  const rows: { rule: string; response: RouteSchema; value: unknown; text: string }[] = [
    { rule: 'a default', response: Note, value: { title: 'One' }, text: '{"title":"One","tags":[]}' },
    {
      rule: 'a transform',
      response: z.object({ id: z.bigint().transform(String) }),
      value: { id: 7n },
      text: '{"id":"7"}'
    },
    {
      rule: 'a text that is trimmed',
      response: z.object({ a: z.string().trim() }),
      value: { a: ' b ' },
      text: '{"a":"b"}'
    },
    {
      rule: 'a date of zod',
      response: z.object({ at: z.date() }),
      value: { at: new Date(0) },
      text: '{"at":"1970-01-01T00:00:00.000Z"}'
    },
    {
      rule: 'a date under a JSON Schema',
      response: Type.Object({ at: Type.String({ format: 'date-time' }) }),
      value: { at: new Date(0) },
      text: '{"at":"1970-01-01T00:00:00.000Z"}'
    },
    {
      rule: 'a recursive schema',
      response: Type.Recursive((This) => Type.Object({ name: Type.String(), children: Type.Array(This) })),
      value: { name: 'a', children: [{ name: 'b', secret: 1, children: [] }] },
      text: '{"name":"a","children":[{"name":"b","children":[]}]}'
    },
    {
      rule: 'a lazy schema',
      response: z.lazy(() => z.object({ name: z.string() })),
      value: { name: 'a', secret: 1 },
      text: '{"name":"a"}'
    },
    {
      rule: 'an asynchronous schema',
      response: z.object({ name: z.string().refine(async () => true) }),
      value: { name: 'a', secret: 1 },
      text: '{"name":"a"}'
    },
    {
      rule: 'keys that are named openly',
      response: z.record(z.string(), z.number()),
      value: { a: 1, b: 2 },
      text: '{"a":1,"b":2}'
    },
    {
      rule: 'a __proto__ key is not named',
      response: Note,
      value: JSON.parse('{"title":"One","__proto__":{"isAdmin":true}}'),
      text: '{"title":"One","tags":[]}'
    },
    {
      rule: 'a key that is undefined',
      response: z.object({ a: z.string().optional() }),
      value: { a: undefined },
      text: '{}'
    },
    { rule: 'null', response: z.null(), value: null, text: 'null' },
    { rule: 'a number', response: z.number(), value: 1.5, text: '1.5' },
    { rule: 'a list', response: z.array(z.object({ a: z.int() })), value: [{ a: 1, b: 2 }], text: '[{"a":1}]' },
    {
      rule: 'data that has only the keys of a status object left',
      response: z.object({ status: z.number(), body: z.string() }),
      value: { status: 404, body: 'x', hidden: true },
      text: '{"status":404,"body":"x"}'
    }
  ]
  for (const { rule, response, value, text } of rows) {
    await inModes(
      t,
      defineHandler({ response }, () => value as never),
      (answer, mode) => {
        t.strictSame({ status: answer.status, text: answer.text }, { status: 200, text }, `${rule} (${mode})`)
      }
    )
    const GET = defineHandler({ response }, (_request, answer) => {
      answer.json(value)
    })
    await inModes(t, GET, (answer, mode) => t.equal(answer.text, text, `${rule}, by response.json (${mode})`))
  }
})

t.test('a body that breaks its schema is a 500 that names route, status and path', async (t) => {
  const unfit = { title: 'One', tags: ['a', 1] }
  const Transformed = z.object({ title: z.string(), tags: z.array(z.string().trim()) })
  const said = 'The answer of GET /api/notes/[id] with status 200 breaks its schema'
  const rows = {
    returned: defineHandler({ response: Transformed }, () => unfit as never),
    'by response.json': defineHandler({ response: Transformed }, (_request, answer) => answer.json(unfit)),
    'in a callback': defineHandler({ response: Transformed }, (_request, answer) => {
      setImmediate(() => answer.json(unfit))
    }),
    'a promise': defineHandler({ response: Transformed }, async () => unfit as never)
  }
  for (const [rule, GET] of Object.entries(rows)) {
    await inModes(t, GET, (answer, mode, entries) => {
      const isOpen = mode === 'test'
      const message = isOpen
        ? new RegExp(`${said.replaceAll(/[[\]]/g, '\\$&')}: tags\\.1: `)
        : 'An unexpected error occurred'
      t.match(answer, { status: 500, json: { error: { code: 'INTERNAL_SERVER_ERROR', message } } }, `${rule} (${mode})`)
      t.match(entries, [{ err: { message: isOpen ? message : said, problems: [{ field: 'tags.1' }] } }], rule)
      t.equal(entries.length, 1, 'it is logged once')
    })
  }
})

t.test('under JSON Schema and plain zod, a breach is found in test; production writes by the schema', async (t) => {
  for (const response of [Type.Object({ n: Type.Integer() }), z.object({ n: z.int() })] as RouteSchema[]) {
    await inModes(
      t,
      defineHandler({ response }, () => ({ n: 'x' }) as never),
      (answer, mode) => {
        t.equal(answer.status, 500, `a value that cannot be written (${mode})`)
        t.match(
          answer.json.error.message,
          mode === 'test' ? /status 200 breaks its schema: n: / : /^An unexpected error/
        )
      }
    )
    await inModes(
      t,
      defineHandler({ response }, () => ({ n: '5' }) as never),
      (answer, mode) => {
        t.strictSame([answer.status, mode === 'test' || answer.text], mode === 'test' ? [500, true] : [200, '{"n":5}'])
      }
    )
  }
})

t.test('a serialiser that fails half-way leaves a whole error answer', async (t) => {
  const list = [{ a: 1 }, { a: 2 }, {}]
  Object.defineProperty(list[2], 'a', {
    enumerable: true,
    get() {
      throw new Error('the row is gone')
    }
  })
  for (const response of [Type.Array(Type.Object({ a: Type.Integer() })), z.array(z.object({ a: z.int() }))]) {
    const rows = [
      defineHandler({ response: response as RouteSchema }, () => list as never),
      defineHandler({ response: response as RouteSchema }, (_request, answer) => answer.json(list))
    ]
    for (const GET of rows) {
      await inModes(t, GET, (answer, mode) => {
        t.match(answer, { status: 500, json: { error: { code: 'INTERNAL_SERVER_ERROR' } } }, mode)
        t.equal(answer.headers['content-type'], JSON_TYPE)
      })
    }
  }
})

t.test('a response schema that throws is a 500, in every mode', async (t) => {
  const broken = z.object({
    a: z.int().refine(() => {
      throw new Error('the schema is broken')
    })
  })
  const rows = [
    defineHandler({ response: broken }, () => ({ a: 1 })),
    defineHandler({ response: broken }, (_request, answer) => answer.json({ a: 1 }))
  ]
  for (const GET of rows)
    await inModes(t, GET, (answer, mode) => {
      t.match(answer, { status: 500, json: { error: { code: 'INTERNAL_SERVER_ERROR' } } }, mode)
      t.equal(answer.text.includes('the schema is broken'), mode !== 'production', mode)
    })
})

t.test('a status without a schema is a breach in test; production sends it, and logs it once', async (t) => {
  const said = 'The answer of GET /api/notes/[id] with status 202 is not declared'
  const rows: Record<string, unknown> = {
    'a status object': defineHandler({ response: { 200: Note } }, () => ({ status: 202, body: { a: 1 } }) as never),
    'a status that was set': defineHandler({ response: { 200: Note } }, (_request, answer) => {
      answer.status(202)
      return { a: 1 } as never
    }),
    'response.json': defineHandler({ response: { 200: Note } }, (_request, answer) =>
      answer.status(202).json({ a: 1 })
    ),
    'a web Response': defineHandler({ response: { 200: Note } }, () => Response.json({ a: 1 }, { status: 202 }))
  }
  for (const [rule, GET] of Object.entries(rows)) {
    await inModes(t, GET, async (answer, mode, entries, call) => {
      if (mode === 'test') {
        t.match(answer, { status: 500, json: { error: { message: `${said}: response has schemas for 200` } } }, rule)
      } else {
        t.match(answer, { status: 202, text: '{"a":1}' }, rule)
        await call('GET /api/notes/2')
        t.strictSame(
          entries.map(({ msg }) => msg),
          [`${said}; it is sent without any check`],
          rule
        )
      }
    })
  }
})

t.test('null is no body', async (t) => {
  const response = { 204: null, 301: null } as const
  const rows: { rule: string; GET: unknown; status: number; needless?: true }[] = [
    { rule: 'a status object', GET: defineHandler({ response }, () => ({ status: 204 })), status: 204 },
    {
      rule: 'a redirect',
      GET: defineHandler({ response }, () => ({ status: 301, headers: { location: '/' } })),
      status: 301
    },
    { rule: 'null itself', GET: defineHandler({ response }, () => ({ status: 301, body: null })), status: 301 },
    {
      rule: 'the response',
      GET: defineHandler({ response }, (_request, answer) => {
        answer.status(204).end()
      }),
      status: 204
    },
    {
      rule: 'a needless body',
      GET: defineHandler({ response }, () => ({ status: 301, body: { password: 'secret' } }) as never),
      status: 301,
      needless: true
    }
  ]
  for (const { rule, GET, status, needless } of rows) {
    await inModes(t, GET, (answer, mode) => {
      if (needless && mode === 'test') {
        t.match(answer, {
          status: 500,
          json: { error: { message: /status 301 has a body, and response\[301\] is null/ } }
        })
      } else t.match(answer, { status, text: '' }, `${rule} (${mode})`)
    })
  }
})

t.test('streams and bytes are sent as they are where the schema says binary', async (t) => {
  const rows: { rule: string; response: RouteSchema; value: () => unknown; isRefused?: true }[] = [
    { rule: 'a Buffer under z.file()', response: z.file(), value: () => Buffer.from('bytes') },
    { rule: 'a stream under z.file()', response: z.file(), value: () => Readable.from(['by', 'tes']) },
    { rule: 'a Blob', response: z.file(), value: () => new Blob(['bytes']) },
    { rule: 'a stream under z.any()', response: z.any(), value: () => Readable.from(['bytes']) },
    {
      rule: 'an instance',
      response: z.instanceof(Uint8Array),
      value: () => new Uint8Array(Buffer.from('bytes'))
    },
    {
      rule: 'a stream under a JSON Schema',
      response: { type: 'string', format: 'binary' },
      value: () => Readable.from(['bytes'])
    },
    {
      rule: 'a typed array under a JSON Schema of a media type',
      response: { type: 'string', contentMediaType: 'image/png' },
      value: () => new Uint8Array(Buffer.from('bytes'))
    },
    { rule: 'a Buffer under an object', response: Note, value: () => Buffer.from('bytes'), isRefused: true },
    {
      rule: 'a stream under an object of JSON Schema',
      response: Type.Object({ a: Type.String() }),
      value: () => Readable.from(['bytes']),
      isRefused: true
    }
  ]
  for (const { rule, response, value, isRefused } of rows) {
    await inModes(
      t,
      defineHandler({ response }, () => value() as never),
      (answer, mode) => {
        t.match(answer, isRefused ? { status: 500 } : { status: 200, text: 'bytes' }, `${rule} (${mode})`)
      }
    )
  }
})

t.test('a text is checked, and sent as the page that a returned text is', async (t) => {
  const page = defineHandler({ response: z.string().min(3) }, ({ query }) => (query['q'] ? 'x' : '<p>hello</p>'))
  await inModes(t, page, async (answer, mode, _entries, call) => {
    t.match(answer, { status: 200, text: '<p>hello</p>', headers: { 'content-type': 'text/html; charset=utf-8' } })
    t.equal((await call('GET /api/notes/1?q=1')).status, 500, mode)
  })
  const typed = defineHandler({ response: { 200: Type.String() } }, () => ({
    status: 200,
    headers: { 'content-type': 'text/csv' },
    body: 'a,b'
  }))
  await inModes(t, typed, (answer) => t.match(answer, { text: 'a,b', headers: { 'content-type': /^text\/csv/ } }))
})

t.test('what is thrown is no answer of the handler, whoever answers it', async (t) => {
  const response = { 200: Note }
  const routes: Routes = {
    thrown: {
      GET: defineHandler({ response }, () => {
        throw new ConflictError('taken')
      })
    },
    rejected: { GET: defineHandler({ response }, async () => Promise.reject(new ConflictError('taken'))) },
    next: {
      GET: defineHandler({ response }, (_request, _response, next) => {
        next(new ConflictError('taken'))
      })
    },
    late: {
      GET: defineHandler({ response }, (request) => {
        setImmediate(() => request.next?.(new ConflictError('taken')))
      })
    },
    refused: { POST: defineHandler({ body: Note, response }, () => ({ title: 'One' })) },
    unfit: { GET: defineHandler({ response }, (_request, answer) => answer.json({ title: 1 })) }
  }
  const byMiddleware = (error: any, _request: any, response: any, _next: unknown): void => {
    response.status(error.statusCode ?? 500).json({ code: error.code ?? 'BROKEN', by: 'middleware' })
  }
  for (const mode of MODES) {
    const scenarios = {
      'an error handler in the options': { routes, options: { mode, errorHandler: byMiddleware } },
      'error middleware': { routes, options: { mode }, use: (app: any) => app.use(byMiddleware) }
    }
    for (const [who, scenario] of Object.entries(scenarios)) {
      const call = callByInject(await appOf(t, scenario))
      for (const name of ['thrown', 'rejected', 'next', 'late']) {
        const answer = await call(`GET /api/${name}`)
        t.match(answer, { status: 409, text: '{"code":"CONFLICT","by":"middleware"}' }, `${name} by ${who} (${mode})`)
      }
      t.match(await call('POST /api/refused', { headers: { 'content-type': 'application/json' }, body: '{}' }), {
        status: 400,
        text: '{"code":"VALIDATION_ERROR","by":"middleware"}'
      })
      t.match(await call('GET /api/unfit'), { status: 500, text: '{"code":"BROKEN","by":"middleware"}' }, who)
    }
  }
})

t.test('a middleware that replaces json sees the object without what the schema does not name', async (t) => {
  const wrap = (_request: any, response: any, next: () => void): void => {
    const json = response.json
    response.json = (body: unknown) => json.call(response, { wrapped: body })
    next()
  }
  const response = z.object({ id: z.int() })
  const routes: Routes = {
    a: {
      middleware: [wrap],
      GET: defineHandler({ response }, () => ({ id: 1, password: 'x' })),
      POST: defineHandler({ response }, (_request, answer) => answer.json({ id: 1, password: 'x' }))
    }
  }
  for (const mode of MODES) {
    const call = callByInject(await appOf(t, { routes, options: { mode } }))
    for (const method of ['GET', 'POST'])
      t.equal((await call(`${method} /api/a`)).text, '{"wrapped":{"id":1}}', `${method} in ${mode}`)
    const spaced = await appOf(t, { routes: { a: { GET: routes['a']?.['GET'] } }, options: { mode } })
    spaced.express.set('json spaces', 1)
    t.equal((await callByInject(spaced)('GET /api/a')).text, '{\n "id": 1\n}', `json spaces in ${mode}`)
  }
})

t.test('a handler without response schemas answers as any handler', async (t) => {
  const GET = defineHandler({ summary: 'Anything' }, (_request, answer) => answer.status(202).json({ any: 1 }))
  await inModes(t, GET, (answer) => t.match(answer, { status: 202, text: '{"any":1}' }))
})

interface Case {
  schema: z.ZodType
  value: unknown
}

const scalar: fc.Arbitrary<Case> = fc.oneof(
  fc.string({ unit: 'binary' }).map((value) => ({ schema: z.string(), value })),
  fc.string().map((value) => ({ schema: z.string().trim(), value: ` ${value}` })),
  fc.webUrl().map((value) => ({ schema: z.url(), value: ` ${value} ` })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ schema: z.number(), value })),
  fc.maxSafeInteger().map((value) => ({ schema: z.int(), value })),
  fc.integer().map((value) => ({ schema: z.coerce.string(), value })),
  fc.boolean().map((value) => ({ schema: z.boolean(), value })),
  fc.constant({ schema: z.null(), value: null }),
  fc.constantFrom('a', 'b"').map((value) => ({ schema: z.enum(['a', 'b"']), value })),
  fc.constantFrom(1, 'b').map((value) => ({ schema: z.literal([1, 'b']), value })),
  fc.date({ noInvalidDate: true }).map((value) => ({ schema: z.date(), value })),
  fc.option(fc.string(), { nil: null }).map((value) => ({ schema: z.string().nullable(), value })),
  fc.option(fc.string(), { nil: undefined }).map((value) => ({ schema: z.string().default('none'), value })),
  fc.dictionary(fc.string(), fc.integer()).map((value) => ({ schema: z.record(z.string(), z.int()), value }))
)

/** An object with keys that its schema names, some optional, and one that it does not. */
function objectOf(fields: readonly { key: string; isOptional: boolean; field: Case }[]): Case {
  const shape = fields.map(({ key, isOptional, field }) => [key, isOptional ? field.schema.optional() : field.schema])
  const value = Object.fromEntries(fields.map(({ key, field }) => [key, field.value]))
  return { schema: z.object(Object.fromEntries(shape)), value: { ...value, unnamed: 'secret' } }
}

const { tree } = fc.letrec<{ tree: Case }>((tie) => {
  const field = fc.record({
    key: fc.constantFrom('a', 'b', 'toString', 'd-e', '7'),
    isOptional: fc.boolean(),
    field: tie('tree')
  })
  const object = fc.uniqueArray(field, { selector: ({ key }) => key, maxLength: 4 }).map(objectOf)
  const list = tie('tree').map(({ schema, value }) => ({ schema: z.array(schema), value: [value, value] }))
  return { tree: fc.oneof({ maxDepth: 4 }, scalar, object, list) }
})

t.test('what is serialised without a check is what check and JSON would give', async (t) => {
  let serialised = 0
  const property = fc.property(tree, ({ schema, value }) => {
    const { serialise } = new AnswerSchema(schema)
    if (serialise === undefined) return
    serialised++
    const wanted: unknown = JSON.parse(JSON.stringify(schema.parse(value)))
    t.strictSame(JSON.parse(serialise(value)), wanted)
  })
  fc.assert(property, { numRuns: 500, seed: 7 })
  t.ok(serialised > 100, `${serialised} of 500 were serialised so`)
})
