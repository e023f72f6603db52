// Ajv and fast-json-stringify, which an app loads for its first schema: what Fastify's own routes do with schemas is as on a
// Fastify that loads them at once.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import t from 'tap'
import { createApp } from 'twinroute'
import { writeTree } from './support/route-tree.js'

const run = promisify(execFile)
const apiDir = join(writeTree(t, { 'api/here/route.js': 'export const GET = () => ({})' }), 'api')

interface Row {
  title: string
  options?: FastifyServerOptions
  routes(app: FastifyInstance): void
  requests: readonly InjectOptions[]
}

const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  required
})
const echo = async (request: { headers: object; body: unknown; query: unknown }): Promise<object> => ({
  traced: Object.entries(request.headers).filter(([name]) => name.startsWith('x-')),
  body: request.body,
  query: request.query
})

const refuseAll = (): object => ({ error: new Error('given') })

const ROWS: readonly Row[] = [
  {
    title: 'names of headers in upper case are found',
    routes(app) {
      app.get('/', { schema: { headers: object({ 'X-Count': { type: 'integer' } }, ['X-Count']) } }, echo)
    },
    requests: [{ url: '/' }, { url: '/', headers: { 'x-count': 'many' } }, { url: '/', headers: { 'x-count': '3' } }]
  },
  {
    title: 'the same in a plugin, and in a plugin of it',
    routes(app) {
      void app.register(async (outer) => {
        await outer.register(async (inner) => {
          inner.get('/', { schema: { headers: object({ 'X-Count': { type: 'integer' } }, ['X-Count']) } }, echo)
        })
      })
    },
    requests: [{ url: '/' }, { url: '/', headers: { 'x-count': '3' } }]
  },
  {
    title: 'a body and a query are coerced, keys that are not named are removed',
    routes(app) {
      const schema = {
        body: { ...object({ age: { type: 'integer' } }, ['age']), additionalProperties: false },
        querystring: object({ page: { type: 'integer', default: 1 } })
      }
      app.post('/', { schema }, echo)
    },
    requests: [
      { method: 'POST', url: '/?page=2', payload: { age: '4', more: 1 } },
      { method: 'POST', url: '/', payload: { age: 'old' } },
      { method: 'POST', url: '/', payload: {} }
    ]
  },
  {
    title: 'a shared schema is found by its name',
    routes(app) {
      app.addSchema({ $id: 'user', ...object({ name: { type: 'string' } }, ['name']) })
      app.post('/', { schema: { body: { $ref: 'user#' }, response: { 200: { $ref: 'user#' } } } }, async () => ({
        name: 'a',
        secret: 'b'
      }))
    },
    requests: [
      { method: 'POST', url: '/', payload: { name: 'a' } },
      { method: 'POST', url: '/', payload: {} }
    ]
  },
  {
    title: 'the options of Ajv hold',
    options: { ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } },
    routes(app) {
      app.post('/', { schema: { body: object({ age: { type: 'integer' } }) } }, echo)
    },
    requests: [
      { method: 'POST', url: '/', payload: { age: '4' } },
      { method: 'POST', url: '/', payload: { age: 4, more: 1 } }
    ]
  },
  {
    title: 'a validator compiler that is set later holds',
    routes(app) {
      app.setValidatorCompiler(() => () => ({ error: new Error('never') }))
      app.post('/', { schema: { body: object({}) } }, echo)
    },
    requests: [{ method: 'POST', url: '/', payload: {} }]
  },
  {
    title: 'a schema controller that is given is taken',
    options: {
      schemaController: { compilersFactory: { buildValidator: () => () => refuseAll as never } }
    },
    routes(app) {
      app.post('/', { schema: { body: object({}) } }, echo)
    },
    requests: [{ method: 'POST', url: '/', payload: {} }]
  }
]

for (const { title, options = {}, routes, requests } of ROWS) {
  t.test(`${title}, as on Fastify`, async (t) => {
    const plain = fastify(options)
    const app = await createApp({ apiDir, fastifyOptions: { ...options, logger: false } })
    routes(plain)
    routes(app)
    for (const request of requests) {
      const [expected, found] = [await plain.inject(request), await app.inject(request)]
      t.strictSame([found.statusCode, found.json()], [expected.statusCode, expected.json()])
    }
  })
}

const PROGRAM = `
  import { createRequire } from 'node:module'
  import { createApp } from 'twinroute'
  const { cache } = createRequire(import.meta.url)
  const isLoaded = (name) => Object.keys(cache).some((file) => file.includes('/node_modules/' + name + '/'))
  const app = await createApp({ apiDir: process.argv[1], mode: 'production', fastifyOptions: { logger: false } })
  const schema = JSON.parse(process.argv[2])
  await app.register(async (scope) => void scope.get('/', { schema }, async () => 'ok'))
  await app.ready()
  console.log(['ajv', '@fastify/fast-json-stringify-compiler', '@fastify/busboy', 'fastify'].filter(isLoaded).join())`

const LOADED: readonly { what: string; schema: object; loaded: string }[] = [
  { what: 'no schema', schema: {}, loaded: 'fastify' },
  { what: 'a schema of a query', schema: { querystring: object({}) }, loaded: 'ajv,fastify' },
  // its compiler has Ajv check the schemas
  {
    what: 'a schema of an answer',
    schema: { response: { 200: object({}) } },
    loaded: 'ajv,@fastify/fast-json-stringify-compiler,fastify'
  }
]

for (const { what, schema, loaded } of LOADED) {
  t.test(`an app with ${what} loads ${loaded}`, async (t) => {
    const given = ['--input-type=module', '--eval', PROGRAM, apiDir, JSON.stringify(schema)]
    t.equal((await run(process.execPath, given)).stdout.trim(), loaded)
  })
}
