// ci: once (rules of this package over what the other files try on every Node version)
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import t from 'tap'
import ts from 'typescript'
import { BootError, createApp, defineHandler, errorHandler, type JsonSchema, type RouteSchema } from 'twinroute'
import * as v from 'valibot'
import { z } from 'zod'
import { describeSchema } from '../dist/schema/describe.js'
import { appOf, callByInject, hostOf, onEveryHost, writeRoutes, type Call, type Routes } from './support/hosts.js'
import { root } from './support/source-tree.js'

const JSON_BODY = { 'content-type': 'application/json' }
const options = { errorHandler }

function post(call: Call, path: string, body: unknown) {
  return call(`POST ${path}`, { headers: JSON_BODY, body: JSON.stringify(body) })
}

/** The fields of a refused request, in the order they are listed. */
function fieldsOf(details: readonly { field: string; message: string }[]): string[] {
  return details.map(({ field }) => field)
}

/** The same body in every kind of schema: a title, trimmed to nothing else, and tags. */
const BODIES = {
  zod: z.object({ title: z.string().min(2), tags: z.array(z.string()).optional() }),
  valibot: v.object({ title: v.pipe(v.string(), v.minLength(2)), tags: v.optional(v.array(v.string())) }),
  arktype: type({ title: 'string >= 2', 'tags?': 'string[]', '+': 'delete' }),
  typebox: Type.Object(
    { title: Type.String({ minLength: 2 }), tags: Type.Optional(Type.Array(Type.String())) },
    { additionalProperties: false }
  ),
  json: {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 2 }, tags: { type: 'array', items: { type: 'string' } } },
    additionalProperties: false
  } satisfies JsonSchema
}

t.test('a body is checked by schemas of every library, and what they make of it is the body', async (t) => {
  const routes: Routes = Object.fromEntries(
    Object.entries(BODIES).map(([name, body]) => [
      name,
      { POST: defineHandler({ body }, (request) => ({ body: request.body })) }
    ])
  )
  onEveryHost(t, { routes, options }, async (t, call) => {
    for (const name of Object.keys(BODIES)) {
      const fit = await post(call, `/api/${name}`, { title: 'Ada', tags: ['a'], isAdmin: true })
      t.match({ status: fit.status, json: fit.json }, { status: 200 }, name)
      t.strictSame(fit.json, { body: { title: 'Ada', tags: ['a'] } }, name)
      const unfit = await post(call, `/api/${name}`, { title: 'A', tags: ['a', {}] })
      t.match(unfit.json.error, { code: 'VALIDATION_ERROR', message: 'Request validation failed' }, name)
      t.equal(unfit.status, 400)
      t.strictSame(fieldsOf(unfit.json.error.details), ['body.title', 'body.tags.1'], name)
      for (const detail of unfit.json.error.details) t.strictSame(Object.keys(detail), ['field', 'message'])
      const none = await call(`POST /api/${name}`)
      t.equal(none.status, 400, `${name} without a body`)
    }
  })
})

t.test('a missing key has its own field in every library', async (t) => {
  const routes: Routes = Object.fromEntries(
    Object.entries(BODIES).map(([name, body]) => [name, { POST: defineHandler({ body }, () => ({})) }])
  )
  const call = callByInject(await appOf(t, { routes, options }))
  for (const name of Object.keys(BODIES)) {
    const { json } = await post(call, `/api/${name}`, {})
    t.strictSame(fieldsOf(json.error.details), ['body.title'], name)
  }
})

t.test('parameters and query are coerced by the schema, and take the place of the texts', async (t) => {
  const routes: Routes = {
    'zod/[id]': {
      GET: defineHandler(
        {
          params: z.object({ id: z.coerce.number().int() }),
          query: z.object({
            page: z.coerce.number().default(1),
            draft: z.stringbool().optional(),
            tag: z.array(z.string()).optional()
          })
        },
        ({ params, query }) => ({ params, query })
      )
    },
    'json/[id]': {
      GET: defineHandler(
        {
          params: Type.Object({ id: Type.Integer() }),
          query: Type.Object({
            page: Type.Integer({ default: 1 }),
            draft: Type.Optional(Type.Boolean()),
            tag: Type.Optional(Type.Array(Type.String()))
          })
        },
        ({ params, query }) => ({ params, query })
      )
    },
    'valibot/[id]': {
      GET: defineHandler(
        {
          params: v.object({ id: v.pipe(v.string(), v.toNumber(), v.integer()) }),
          query: v.object({
            page: v.optional(v.pipe(v.string(), v.toNumber()), '1'),
            draft: v.optional(v.pipe(v.string(), v.parseJson(), v.boolean())),
            tag: v.optional(v.array(v.string()))
          })
        },
        ({ params, query }) => ({ params, query })
      )
    }
  }
  onEveryHost(t, { routes, options }, async (t, call) => {
    for (const name of ['zod', 'json', 'valibot']) {
      const { json } = await call(`GET /api/${name}/7?page=2&draft=true&tag=a&other=1`)
      t.strictSame(json.params, { id: 7 }, name)
      t.match(json.query, { page: 2, draft: true, tag: ['a'] }, `${name}: one value is a list where the schema has one`)
      const defaults = await call(`GET /api/${name}/7`)
      t.strictSame(defaults.json.query, { page: 1 }, name)
      const both = await call(`GET /api/${name}/seven?page=x&tag=a&tag=b`)
      t.strictSame(fieldsOf(both.json.error.details), ['params.id', 'query.page'], `${name}: all faults at once`)
    }
  })
})

t.test('a single value is a list only where the schema takes nothing else', async (t) => {
  const split = (text: unknown): unknown => (typeof text === 'string' ? text.split(',') : text)
  const query = z.object({
    plain: z.array(z.string()).optional(),
    filled: z.array(z.string()).default(['none']),
    split: z.preprocess(split, z.array(z.string())).optional(),
    either: z.union([z.string(), z.array(z.string())]).optional()
  })
  const fields = v.object({ plain: v.optional(v.array(v.string())), text: v.optional(v.string()) })
  const arktype = type({ 'plain?': 'string[]', 'text?': 'string' })
  const routes: Routes = {
    zod: { GET: defineHandler({ query: query.transform((all) => all) }, (request) => request.query) },
    valibot: { GET: defineHandler({ query: fields }, (request) => request.query) },
    arktype: { GET: defineHandler({ query: arktype }, (request) => request.query) },
    form: { POST: defineHandler({ form: query }, ({ valid }) => valid.form) }
  }
  const call = callByInject(await appOf(t, { routes, options }))
  const wanted = { plain: ['a,b'], filled: ['none'], split: ['a', 'b'], either: 'a,b' }
  const pairs = 'plain=a,b&split=a,b&either=a,b'
  t.strictSame((await call(`GET /api/zod?${pairs}`)).json, wanted)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  t.strictSame((await call('POST /api/form', { headers, body: pairs })).json, wanted)
  for (const name of ['valibot', 'arktype'])
    t.strictSame((await call(`GET /api/${name}?plain=a&text=b`)).json, { plain: ['a'], text: 'b' }, name)
})

t.test('headers, cookies and forms arrive under valid, and stay as they are beside it', async (t) => {
  const routes: Routes = {
    a: {
      POST: defineHandler(
        {
          headers: z.object({ 'x-count': z.coerce.number() }),
          cookies: z.object({ sid: z.string().toUpperCase() }),
          form: z.object({ title: z.string(), tag: z.array(z.string()), file: z.file().max(10) })
        },
        async ({ valid, headers, cookies }) => ({
          headers: valid.headers,
          cookies: valid.cookies,
          title: valid.form.title,
          tag: valid.form.tag,
          file: [valid.form.file.name, await valid.form.file.text()],
          sent: [headers['x-count'], cookies['sid']]
        })
      )
    },
    json: {
      GET: defineHandler(
        { headers: { type: 'object', properties: { 'x-count': { type: 'integer' } } } },
        ({ valid, headers }) => [(valid.headers as Record<string, unknown>)['x-count'], headers['x-count']]
      )
    }
  }
  const form = (...files: string[]): string =>
    [
      ...['title', 'tag'].map((name) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${name} 1\r\n`),
      ...files.map((text) => `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${text}\r\n`),
      '--x--\r\n'
    ].join('')
  onEveryHost(t, { routes, options }, async (t, call) => {
    const headers = { 'x-count': '3', cookie: 'sid=abc', 'content-type': 'multipart/form-data; boundary=x' }
    const { json } = await call('POST /api/a', { headers, body: form('hello') })
    t.strictSame(json, {
      headers: { 'x-count': 3 },
      cookies: { sid: 'ABC' },
      title: 'title 1',
      tag: ['tag 1'],
      file: ['a.txt', 'hello'],
      sent: ['3', 'abc']
    })
    const { cookie, ...without } = headers
    const unfit = await call('POST /api/a', { headers: { ...without, 'x-count': 'x' }, body: form('more than ten') })
    t.strictSame(fieldsOf(unfit.json.error.details), ['headers.x-count', 'cookies.sid', 'form.file'])
    const other = await call('POST /api/a', { headers: { ...headers, ...JSON_BODY }, body: '{}' })
    t.equal(other.status, 415, 'a body that is no form')
    t.strictSame((await call('GET /api/json', { headers })).json, [3, '3'], 'Ajv coerces a copy')
  })
})

t.test('a body may be optional', async (t) => {
  const handler = (request: { body?: unknown }) => ({ has: request.body !== undefined })
  const routes: Routes = {
    zod: { POST: defineHandler({ body: BODIES.zod.optional() }, handler) },
    valibot: { POST: defineHandler({ body: v.optional(BODIES.valibot) }, handler) },
    arktype: { POST: defineHandler({ body: BODIES.arktype.or('undefined') }, handler) },
    typebox: { POST: defineHandler({ body: Type.Optional(BODIES.typebox) }, handler) },
    json: { POST: defineHandler({ body: { ...BODIES.json, type: ['object', 'null'] } }, handler) }
  }
  const call = callByInject(await appOf(t, { routes, options }))
  for (const name of Object.keys(routes)) {
    t.strictSame((await call(`POST /api/${name}`)).json, { has: false }, name)
    t.strictSame((await post(call, `/api/${name}`, { title: 'Ada' })).json, { has: true }, name)
    t.equal((await post(call, `/api/${name}`, { title: 'A' })).status, 400, name)
  }
})

t.test('the chain comes first, and the handler only where everything fits', async (t) => {
  const ran: string[] = []
  const guard = (request: any, response: any, next: () => void): void => {
    ran.push('guard')
    if (request.headers['x-user'] === undefined) response.status(401).json({ error: 'NO_TOKEN', isExtra: true })
    else next()
  }
  const POST = defineHandler({ body: BODIES.zod, response: z.object({ ok: z.boolean() }) }, () => {
    ran.push('handler')
    return { ok: true }
  })
  const call = callByInject(await appOf(t, { routes: { a: { POST, middleware: [guard] } }, options }))
  const refused = await post(call, '/api/a', { title: 'A' })
  t.match(
    refused,
    { status: 401, text: '{"error":"NO_TOKEN","isExtra":true}' },
    "a guard's answer is no business of ours"
  )
  const headers = { ...JSON_BODY, 'x-user': 'ada' }
  t.equal((await call('POST /api/a', { headers, body: '{"title":"A"}' })).status, 400)
  t.equal((await call('POST /api/a', { headers, body: '{"title":"Ada"}' })).status, 200)
  t.strictSame(ran, ['guard', 'guard', 'guard', 'handler'])
})

interface Tree {
  name: string
  children: Tree[]
}
const Recursive: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(Recursive) }))
const RecursiveType = Type.Recursive((This) =>
  Type.Object({ name: Type.String(), children: Type.Array(This) }, { additionalProperties: false })
)

t.test('a schema of any kind is used as its library means it', async (t) => {
  const thrown = new Error('the schema is broken')
  const routes: Routes = {
    asynchronous: {
      POST: defineHandler(
        { body: z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') }) },
        ({ body }) => body
      )
    },
    lazy: { POST: defineHandler({ body: Recursive }, ({ body }) => body) },
    reference: { POST: defineHandler({ body: RecursiveType }, ({ body }) => body) },
    transform: {
      POST: defineHandler({ body: z.object({ at: z.iso.datetime().transform((at) => new Date(at)) }) }, ({ body }) => ({
        year: body.at.getUTCFullYear()
      }))
    },
    throwing: {
      POST: defineHandler(
        {
          body: z.string().refine(() => {
            throw thrown
          })
        },
        () => ({})
      )
    },
    many: { POST: defineHandler({ query: z.object({ q: z.string() }), body: z.array(z.string()) }, () => ({})) },
    ajv: { POST: defineHandler({ body: Type.Array(Type.String({ minLength: 1 })) }, () => ({})) },
    valibot: { POST: defineHandler({ body: v.array(v.string()) }, () => ({})) },
    arktype: { POST: defineHandler({ body: type('string[]') }, () => ({})) },
    form: { POST: defineHandler({ form: z.record(z.string(), z.int()) }, () => ({})) },
    query: { GET: defineHandler({ query: z.looseObject({}) }, ({ query }) => ({ keys: Object.keys(query) })) }
  }
  const call = callByInject(await appOf(t, { routes, options }))
  t.strictSame((await post(call, '/api/asynchronous', { name: 'free' })).json, { name: 'free' })
  t.match((await post(call, '/api/asynchronous', { name: 'taken' })).json.error.details, [
    { field: 'body.name', message: 'is taken' }
  ])
  for (const name of ['lazy', 'reference']) {
    const tree = { name: 'a', children: [{ name: 'b', children: [] }] }
    t.strictSame((await post(call, `/api/${name}`, tree)).json, tree, name)
    const unfit = await post(call, `/api/${name}`, { name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] })
    t.strictSame(fieldsOf(unfit.json.error.details), ['body.children.0.children.0.children'], name)
  }
  t.strictSame((await post(call, '/api/transform', { at: '2024-05-06T00:00:00Z' })).json, { year: 2024 })
  t.match(await post(call, '/api/throwing', 'x'), { status: 500, json: { error: { message: thrown.message } } })
  for (const name of ['many', 'ajv', 'valibot', 'arktype']) {
    const unfit = await post(
      call,
      `/api/${name}`,
      Array.from({ length: 10_000 }, () => (name === 'ajv' ? '' : 1))
    )
    t.equal(unfit.status, 400)
    t.equal(unfit.json.error.details.length, 10, `${name}: ten are listed`)
  }
  const fields = Array.from({ length: 90 }, (_, at) => `k${at}=x`).join('&')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = await call('POST /api/form', { headers, body: `${fields}&__proto__=1` })
  t.equal(form.json.error.details.length, 10, 'ten of a form, too')
  const prototype = await call('POST /api/lazy', { headers: JSON_BODY, body: '{"__proto__":{"name":"a"}}' })
  t.equal(prototype.status, 400)
  t.strictSame((await call('GET /api/query?__proto__=1&a=2')).json, { keys: ['a'] })
})

t.test("a plain handler beside a typed one gets Express's values", async (t) => {
  const routes: Routes = {
    '[id]': {
      GET: ({ params, query, valid }: any) => ({ params, query, hasValid: valid !== undefined }),
      PUT: defineHandler({ params: z.object({ id: z.coerce.number() }) }, ({ params }) => params)
    }
  }
  for (const instance of [await appOf(t, { routes, options }), await hostOf(t, { routes, options })]) {
    const call = callByInject(instance)
    t.strictSame((await call('GET /api/7?a=1')).json, { params: { id: '7' }, query: { a: '1' }, hasValid: false })
    t.strictSame((await call('PUT /api/7')).json, { id: 7 })
    t.equal((await call('HEAD /api/7')).status, 200)
  }
})

t.test('a typed handler that is called directly runs without any check', async (t) => {
  const GET = defineHandler({ params: z.object({ id: z.coerce.number() }) }, ({ params }) => params)
  t.strictSame(
    GET({ params: { id: '7' } } as never, {} as never, () => {}),
    { id: '7' }
  )
  t.throws(() => defineHandler({}, undefined as never), /takes an object with schemas, and a handler/)
})

/** What boot says of one route file with this handler. */
async function bootProblem(t: any, folder: string, exports: Record<string, unknown>) {
  const apiDir = writeRoutes(t, { [folder]: exports })
  const error: unknown = await createApp({ mode: 'test', apiDir }).then(
    (app) => app.close(),
    (thrown: unknown) => thrown
  )
  if (!(error instanceof BootError)) throw new Error('the application started', { cause: error })
  t.equal(error.problems.length, 1)
  return { code: error.problems[0]?.code, message: error.message }
}

t.test('what cannot work stops the boot', async (t) => {
  const rows: { rule: string; folder?: string; method?: string; definition: object; code?: string; text: RegExp }[] = [
    {
      rule: 'names in params that the folders do not have',
      folder: 'users/[id]',
      definition: { params: z.object({ userId: z.string() }) },
      code: 'ROUTE_PARAMS_MISMATCH',
      text: /GET of .*route\.js names \[userId\] in its params schema, and the folders name \[id\].*Fix: Rename one/s
    },
    {
      rule: 'a name that the schema leaves out, in JSON Schema',
      folder: 'users/[id]/[tab]',
      definition: { params: Type.Object({ id: Type.String() }) },
      code: 'ROUTE_PARAMS_MISMATCH',
      text: /names \[id\] in its params schema, and the folders name \[id\] and \[tab\]/
    },
    {
      rule: 'the same with valibot',
      folder: 'users/[id]',
      definition: { params: v.object({}) },
      code: 'ROUTE_PARAMS_MISMATCH',
      text: /names nothing in its params schema/
    },
    {
      rule: 'the same with arktype',
      folder: 'users/[id]',
      definition: { params: type({ name: 'string' }) },
      code: 'ROUTE_PARAMS_MISMATCH',
      text: /names \[name\] in its params schema/
    },
    { rule: 'a schema that is none', definition: { query: 'page' }, text: /query as a string, which is no schema/ },
    { rule: 'a schema that was not imported', definition: { query: null }, text: /query as null, which is no schema/ },
    {
      rule: 'fields without an object around them',
      definition: { query: { page: z.string() } },
      text: /query, which cannot be compiled.*unknown keyword.*Fix: Put an object schema around the fields/s
    },
    {
      rule: 'a field that is no schema',
      definition: { query: { type: 'object', properties: { page: null } } },
      text: /query, which cannot be compiled/
    },
    { rule: 'an unknown key', definition: { querry: z.object({}) }, text: /has querry, which does not exist/ },
    { rule: 'an error that is none', definition: { errors: { 200: 'fine' } }, text: /has errors as an object.*404/s },
    { rule: 'a word of another type', definition: { tags: 'notes' }, text: /has tags as a string.*array of strings/s },
    { rule: 'a body of GET', definition: { body: z.object({}) }, text: /has body, which no GET request has/ },
    {
      rule: 'a body beside a form',
      method: 'POST',
      definition: { body: z.object({}), form: z.object({}) },
      text: /has body and form/
    },
    {
      rule: 'a status that is none',
      definition: { response: { 99: z.object({}) } },
      text: /response\[99\], which is no/
    },
    {
      rule: 'a response that is no schema',
      definition: { response: { 200: 'Note' } },
      text: /response\[200\] as a string, which is no schema/
    },
    {
      rule: 'a reference that leads nowhere',
      definition: { query: { $ref: '#/$defs/Missing' } },
      text: /query, which cannot be compiled.*can't resolve reference/s
    }
  ]
  for (const { rule, folder = 'a', method = 'GET', definition, code = 'ROUTE_SCHEMA_INVALID', text } of rows) {
    t.test(rule, async (t) => {
      const handler = defineHandler(definition as object, () => ({}))
      t.match(await bootProblem(t, folder, { [method]: handler }), { code, message: text })
    })
  }
})

const DATE_TIME = { type: 'string', format: 'date-time' }
const AS_JSON_SCHEMA = {
  type: 'object',
  required: ['id', 'at'],
  properties: { id: { type: 'string' }, at: DATE_TIME, tags: { type: 'array', items: { type: 'string' } } }
}

t.test('a schema of every library is described as JSON Schema, a date as a date-time', async (t) => {
  const schemas = {
    zod: z.object({ id: z.string(), at: z.date(), tags: z.array(z.string()).optional() }),
    valibot: v.object({ id: v.string(), at: v.date(), tags: v.optional(v.array(v.string())) }),
    arktype: type({ id: 'string', at: 'Date', 'tags?': 'string[]' }),
    json: AS_JSON_SCHEMA satisfies JsonSchema
  }
  for (const [name, schema] of Object.entries(schemas)) {
    const described = await describeSchema(schema, { side: 'input' })
    t.match(described, { ...AS_JSON_SCHEMA, required: Array }, name)
    t.strictSame((described['required'] as string[]).toSorted(), ['at', 'id'], name)
  }
})

t.test('the two sides of a schema are described apart, and what JSON Schema cannot say is refused', async (t) => {
  const sides = z.object({
    page: z.coerce.number().default(1),
    tag: z
      .string()
      .transform((tag) => [tag])
      .pipe(z.array(z.string()))
  })
  const input = await describeSchema(sides, { side: 'input' })
  t.match(input, { properties: { page: { default: 1 }, tag: { type: 'string' } } })
  t.notMatch(input['required'], ['page'])
  const output = await describeSchema(sides, { side: 'output' })
  t.match(output, { properties: { page: { type: 'number' }, tag: { type: 'array' } }, required: ['page', 'tag'] })

  const length = type('string').pipe((text) => text.length)
  t.match(await describeSchema(length, { side: 'input' }), { type: 'string' })
  const { $schema, ...any } = await describeSchema(length, { side: 'output' })
  t.strictSame(any, {}, 'a morph of arktype does not say what it makes')
  t.match(await describeSchema(length.to('number'), { side: 'output' }), { type: 'number' }, 'unless it is told')

  const transform = z.object({ tag: z.string().transform((tag) => tag.length) })
  t.match(await describeSchema(transform, { side: 'input' }), { properties: { tag: { type: 'string' } } })
  const rows: [RouteSchema, RegExp][] = [
    [transform, /z\.transform\(\) cannot be described as JSON Schema \(at properties\.tag\)/],
    [z.bigint(), /z\.bigint\(\) cannot be described.*at the top/],
    [v.object({ at: v.bigint() }), /bigint/],
    [type({ id: 'bigint' }), /A type of arktype cannot be described/]
  ]
  for (const [schema, message] of rows) await t.rejects(describeSchema(schema, { side: 'output' }), { message })
  const unknown = { '~standard': { version: 1, vendor: 'another', validate: (value: unknown) => ({ value }) } } as const
  await t.rejects(describeSchema(unknown, { side: 'input' }), { message: /Schemas of another are not described/ })
})

t.test('every member of Request and Response is described in the editor', async (t) => {
  const entry = join(root, 'dist/index.d.ts')
  const { NodeNext } = ts.ModuleKind
  const settings = {
    module: NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true
  }
  const program = ts.createProgram([entry], settings)
  const checker = program.getTypeChecker()
  const exported = checker.getExportsOfModule(
    checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.Node) as ts.Symbol
  )
  for (const name of ['Request', 'Response']) {
    const alias = exported.find((symbol) => symbol.name === name) as ts.Symbol
    const members = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(alias)).getProperties()
    t.ok(members.length > 90, `${members.length} members`)
    // what Node declares is described by Node
    const isOurs = (member: ts.Symbol): boolean =>
      member.declarations?.every((at) => !/@types\/node/.test(at.getSourceFile().fileName)) ?? false
    const silent = members.filter(isOurs).filter((member) => member.getDocumentationComment(checker).length === 0)
    t.strictSame(
      silent.map((member) => member.name),
      []
    )
  }
})
