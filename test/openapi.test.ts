// ci: once (the document is made of descriptions that have tests of their own); its page in a browser: test/browser/
import fastify, { type FastifyInstance } from 'fastify'
import { gunzipSync } from 'node:zlib'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import t from 'tap'
import { createApp, defineHandler, errorHandler, fileRoutes, type Middleware, type MiddlewareMap } from 'twinroute'
import { authenticate, requireRole } from 'twinroute/auth'
import { rateLimit, validate } from 'twinroute/http'
import { describeMiddleware, openapi, type OpenapiOptions } from 'twinroute/openapi'
import * as v from 'valibot'
import { z } from 'zod'
import { JWT_SECRET, REFRESH_TOKEN_SECRET } from './support/example.js'
import { writeRoutes, type Routes } from './support/hosts.js'
import { createExample } from '../routes-example/dist/app.js'
import { readConfig } from '../routes-example/dist/config.js'

/** The parts of tap that are used here. */
interface Test {
  test(name: string, body: (t: any) => Promise<void>): unknown
  teardown(end: () => unknown): void
  equal(found: unknown, wanted: unknown): unknown
  strictSame(found: unknown, wanted: unknown): unknown
}

interface Given {
  routes: Routes
  middleware?: MiddlewareMap
  options?: OpenapiOptions
  /** Adds routes of Fastify's own, behind the plugin. */
  add?: (app: FastifyInstance) => void
  mode?: string
}

async function appWith(t: Test, { routes, middleware, options, add, mode = 'test' }: Given) {
  const app = await createApp({
    apiDir: writeRoutes(t, routes),
    mode,
    errorHandler,
    ...(middleware && { middleware }),
    fastifyOptions: { logger: false }
  })
  t.teardown(() => app.close())
  await app.register(openapi, options ?? {})
  add?.(app as FastifyInstance)
  return app
}

/** The document as a client gets it, which a strict validator has accepted. */
async function documentOf(t: Test, given: Given | FastifyInstance): Promise<any> {
  const app = 'inject' in given ? given : await appWith(t, given)
  const answer = await app.inject('/docs/openapi.json')
  t.equal(answer.statusCode, 200)
  await valid(t, answer.json())
  return answer.json()
}

async function valid(t: Test, document: object): Promise<void> {
  t.strictSame(await new Validator().validate(structuredClone(document) as Record<string, unknown>), { valid: true })
}

const tokens = { verifyAccess: () => ({ userId: 'user-1', role: 'user' }) }
const signedIn = authenticate({ form: 'flat', tokens })
const none: Middleware = (_request, _response, next) => next()
const ok = (): object => ({})

/** What errors look like in the document. */
function error(description: string, form: 'Error' | 'FlatError' = 'Error'): object {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${form}` } } } }
}

const INVALID = error('The request is not valid')
const TOKEN = error('The token is missing, expired or invalid', 'FlatError')
const UNCHECKED = error('The token could not be checked', 'FlatError')
/** What the flat form of `authenticate` answers. */
const GUARDED = { 401: TOKEN, 500: UNCHECKED }
const UNTYPED = { default: { description: 'An answer without a schema' } }
/** Of a route with response schemas: what it may answer beside them. */
const OTHERS = { '4XX': error('The request was refused'), '5XX': error('The server failed') }
const TEXT = { type: 'string' }

t.test('a typed route is described by its schemas and words', async (t) => {
  const Note = z.object({ id: z.number(), title: z.string(), created: z.date() })
  const document = await documentOf(t, {
    options: {
      info: { title: 'Notes', version: '2.1.0', description: 'All notes' },
      servers: [{ url: 'https://api.example.com' }],
      tags: [{ name: 'notes', description: 'What is *noted*' }]
    },
    routes: {
      'teams/[team]/notes': {
        GET: defineHandler(
          {
            params: z.object({ team: z.string().min(2).describe('Its short name') }),
            query: z.object({ limit: z.coerce.number().max(100).default(20), tag: z.array(z.string()) }),
            errors: { 404: 'No such team', 503: 'Come back later' },
            headers: z.object({ 'x-trace': z.string().optional(), authorization: z.string().optional() }),
            cookies: z.object({ theme: z.enum(['dark', 'light']).optional() }),
            response: z.array(Note),
            summary: 'Lists notes',
            description: 'The *newest* first',
            tags: ['notes'],
            operationId: 'listNotes',
            deprecated: true
          },
          () => []
        ),
        POST: defineHandler(
          {
            body: z.object({ title: z.string() }),
            response: { 201: Note, 204: null, 409: z.object({ message: z.string() }) }
          },
          () => ({ status: 204 as const })
        )
      },
      secret: { GET: defineHandler({ hidden: true }, ok) }
    }
  })
  const note = {
    type: 'object',
    properties: { id: { type: 'number' }, title: TEXT, created: { type: 'string', format: 'date-time' } },
    required: ['id', 'title', 'created'],
    additionalProperties: false
  }
  t.equal(document.openapi, '3.1.0')
  t.strictSame(document.info, { title: 'Notes', version: '2.1.0', description: 'All notes' })
  t.strictSame(document.servers, [{ url: 'https://api.example.com' }])
  t.strictSame(document.tags, [{ name: 'notes', description: 'What is *noted*' }])
  t.strictSame(Object.keys(document.paths), ['/api/teams/{team}/notes'], 'hidden routes are left out')
  t.strictSame(document.paths['/api/teams/{team}/notes'], {
    get: {
      summary: 'Lists notes',
      description: 'The *newest* first',
      tags: ['notes'],
      operationId: 'listNotes',
      deprecated: true,
      parameters: [
        {
          name: 'team',
          in: 'path',
          required: true,
          description: 'Its short name',
          schema: { type: 'string', minLength: 2 }
        },
        { name: 'limit', in: 'query', schema: { default: 20, type: 'number', maximum: 100 } },
        { name: 'tag', in: 'query', required: true, schema: { type: 'array', items: TEXT } },
        { name: 'x-trace', in: 'header', schema: TEXT },
        { name: 'theme', in: 'cookie', schema: { type: 'string', enum: ['dark', 'light'] } }
      ],
      responses: {
        200: { description: 'OK', content: { 'application/json': { schema: { type: 'array', items: note } } } },
        400: INVALID,
        404: error('No such team'),
        503: error('Come back later'),
        ...OTHERS
      }
    },
    post: {
      operationId: 'postApiTeamsByTeamNotes',
      parameters: [{ name: 'team', in: 'path', required: true, schema: TEXT }],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { type: 'object', properties: { title: TEXT }, required: ['title'] } }
        }
      },
      responses: {
        201: { description: 'Created', content: { 'application/json': { schema: note } } },
        204: { description: 'No Content' },
        400: INVALID,
        409: {
          description: 'Conflict',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { message: TEXT },
                required: ['message'],
                additionalProperties: false
              }
            }
          }
        },
        ...OTHERS
      }
    }
  })
  t.strictSame(document.components.schemas.Error.required, ['error', 'meta'], 'the envelope is a component')
  t.strictSame(document.components.schemas.Error.properties.error.required, ['code', 'message'])
})

t.test('every kind of schema says the same', async (t) => {
  const bodies = {
    zod: z.object({ title: z.string(), count: z.number().optional() }),
    valibot: v.object({ title: v.string(), count: v.optional(v.number()) }),
    arktype: type({ title: 'string', 'count?': 'number' }),
    typebox: Type.Object({ title: Type.String(), count: Type.Optional(Type.Number()) }),
    json: { type: 'object', required: ['title'], properties: { title: TEXT, count: { type: 'number' } } }
  }
  const routes = Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, { POST: defineHandler({ body }, ok) }])
  )
  const { paths } = await documentOf(t, { routes })
  for (const name of Object.keys(bodies)) {
    const { required, content } = paths[`/api/${name}`].post.requestBody
    const { type, properties, required: keys } = content['application/json'].schema
    t.strictSame(
      { required, type, properties, keys },
      { required: true, type: 'object', properties: { title: TEXT, count: { type: 'number' } }, keys: ['title'] },
      name
    )
  }
})

t.test('bodies have the media type that a client sends or gets', async (t) => {
  const form = z.object({ title: z.string(), picture: z.file() })
  const rows: { name: string; definition: object; operation: object }[] = [
    {
      name: 'optional',
      definition: { body: z.object({ a: z.string() }).optional() },
      operation: { requestBody: { required: undefined, content: { 'application/json': {} } } }
    },
    {
      name: 'text',
      definition: { body: z.string() },
      operation: { requestBody: { required: true, content: { 'text/plain': { schema: TEXT } } } }
    },
    {
      name: 'form',
      definition: { form },
      operation: {
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: { properties: { title: TEXT, picture: { type: 'string', format: 'binary' } } }
            }
          }
        }
      }
    },
    {
      name: 'page',
      definition: { response: z.string() },
      operation: { responses: { 200: { content: { 'text/html': { schema: TEXT } } } } }
    },
    {
      name: 'page-or-json',
      definition: { response: z.union([z.string(), z.object({ a: z.string() }), z.null()]) },
      operation: {
        responses: {
          200: {
            content: {
              'text/html': { schema: TEXT },
              'application/json': { schema: { anyOf: [{ properties: { a: TEXT } }, { type: 'null' }] } }
            }
          }
        }
      }
    },
    {
      name: 'bytes',
      definition: { response: { type: 'string', format: 'binary' } },
      operation: { responses: { 200: { content: { 'application/octet-stream': {} } } } }
    },
    {
      name: 'picture',
      definition: { response: { type: 'string', contentMediaType: 'image/png' } },
      operation: { responses: { 200: { content: { 'image/png': {} } } } }
    }
  ]
  const routes = Object.fromEntries(
    rows.map(({ name, definition }) => [name, { POST: defineHandler(definition as object, ok) }])
  )
  const { paths } = await documentOf(t, { routes })
  for (const { name, operation } of rows) t.match(paths[`/api/${name}`].post, operation, name)
})

t.test('paths are written as OpenAPI writes them', async (t) => {
  const rest = { name: 'path', in: 'path', required: true, schema: TEXT }
  const note = 'The rest of the path: it may hold slashes.'
  const { paths } = await documentOf(t, {
    routes: {
      'plain text/ä{x}': { GET: ok },
      '[id].json': { GET: ok },
      '[from]-[to]': { GET: ok },
      '(group)/in-group': { GET: ok, HEAD: ok, OPTIONS: ok },
      'files/[...path]': { GET: ok },
      'optional/[[...path]]': {
        GET: defineHandler(
          { params: z.object({ path: z.array(z.string()).describe('A file.') }), operationId: 'read' },
          ok
        )
      }
    }
  })
  t.strictSame(Object.keys(paths), [
    '/api/files/{path}',
    '/api/in-group',
    '/api/optional',
    '/api/optional/{path}',
    '/api/plain%20text/%C3%A4%7Bx%7D',
    '/api/{from}-{to}',
    '/api/{id}.json'
  ])
  t.strictSame(Object.keys(paths['/api/in-group']), ['get', 'head', 'options'])
  t.strictSame(paths['/api/files/{path}'].get.parameters, [{ ...rest, description: note }])
  t.strictSame(paths['/api/optional/{path}'].get.parameters, [{ ...rest, description: `A file. ${note}` }])
  t.equal(paths['/api/optional/{path}'].get.operationId, 'read')
  t.notOk('parameters' in paths['/api/optional'].get)
  t.equal(paths['/api/optional'].get.operationId, 'getApiOptional', 'an operationId is there once')
  t.strictSame(paths['/api/{from}-{to}'].get, {
    operationId: 'getApiByFromByTo',
    parameters: ['from', 'to'].map((name) => ({ name, in: 'path', required: true, schema: TEXT })),
    responses: UNTYPED
  })
})

t.test('operations without an id get one of their own, made of method and path', async (t) => {
  const schema = { querystring: { type: 'object', properties: { a: TEXT } } }
  const { paths } = await documentOf(t, {
    routes: {
      '[id].json': { GET: ok, DELETE: ok },
      'files/[...path]': { GET: ok },
      größe: { GET: ok },
      'a-b': { GET: ok },
      aB: { GET: ok },
      given: { GET: defineHandler({ operationId: 'getApiTaken' }, ok) },
      taken: { GET: ok }
    },
    add(app) {
      app.route({ method: ['GET', 'POST'], url: '/', schema, handler: ok })
    }
  })
  const ids = Object.entries<any>(paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId }]) => `${method} ${path} ${operationId}`)
  )
  t.strictSame(ids.toSorted(), [
    'delete /api/{id}.json deleteApiByIdJson',
    'get / getRoot',
    'get /api/a-b getApiAB',
    'get /api/aB getApiAB2',
    'get /api/files/{path} getApiFilesByPath',
    'get /api/given getApiTaken',
    'get /api/gr%C3%B6%C3%9Fe getApiGroE',
    'get /api/taken getApiTaken2',
    'get /api/{id}.json getApiByIdJson',
    'post / postRoot'
  ])
})

t.test('the chain shows by itself', async (t) => {
  const adminOnly = requireRole(['admin', 'owner'], { form: 'nested' })
  const { paths, components } = await documentOf(t, {
    middleware: { '/api': [rateLimit()], '/api/users': [signedIn], '/api/login': [] },
    routes: {
      users: {
        GET: ok,
        POST: ok,
        middleware: {
          POST: [adminOnly, validate({ body: z.object({ name: z.string() }), query: z.object({ dry: z.string() }) })]
        }
      },
      login: { POST: ok }
    }
  })
  const limited = error('Too many requests', 'FlatError')
  t.strictSame(paths['/api/login'].post, { operationId: 'postApiLogin', responses: UNTYPED, security: [] })
  t.strictSame(paths['/api/users'].get, {
    operationId: 'getApiUsers',
    responses: { ...GUARDED, 429: limited, ...UNTYPED },
    security: [{ bearer: [] }]
  })
  t.strictSame(paths['/api/users'].post, {
    operationId: 'postApiUsers',
    parameters: [{ name: 'dry', in: 'query', required: true, schema: TEXT }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'object', properties: { name: TEXT }, required: ['name'] } } }
    },
    responses: {
      400: INVALID,
      401: {
        description: 'The token is missing, expired or invalid; No user is signed in',
        content: {
          'application/json': {
            schema: { anyOf: [{ $ref: '#/components/schemas/FlatError' }, { $ref: '#/components/schemas/Error' }] }
          }
        }
      },
      403: error("The user's role is not admin or owner"),
      429: limited,
      500: UNCHECKED,
      ...UNTYPED
    },
    security: [{ bearer: [] }]
  })
  t.strictSame(components.securitySchemes, { bearer: { type: 'http', scheme: 'bearer' } })
})

t.test('what another prefix may run for some requests asks nothing of all', async (t) => {
  const { paths } = await documentOf(t, {
    middleware: { '/api/users/me': [signedIn] },
    routes: { 'users/[id]': { GET: ok } }
  })
  t.strictSame(paths['/api/users/{id}'].get, {
    operationId: 'getApiUsersById',
    parameters: [{ name: 'id', in: 'path', required: true, schema: TEXT }],
    responses: { ...GUARDED, ...UNTYPED },
    security: [{}, { bearer: [] }]
  })
})

t.test('any middleware can be described, and keeps what it wraps', async (t) => {
  const key = { type: 'apiKey', in: 'header', name: 'x-api-key' } as const
  const byKey = describeMiddleware((request, response, next) => none(request, response, next), {
    security: { key },
    responses: {
      401: 'The key is missing',
      402: { description: 'Pay first', schema: z.object({ price: z.number() }) },
      404: { description: 'No such customer', schema: null }
    },
    request: { headers: z.object({ 'x-tenant': z.string() }) }
  })
  const wrapping: Middleware = (request, response, next) => signedIn(request, response, next)
  const described = describeMiddleware(wrapping, { wraps: signedIn, responses: { 423: 'Locked' }, form: 'flat' })
  t.equal(described, wrapping, 'it is the same function')
  const { paths, components } = await documentOf(t, {
    routes: { both: { GET: ok, middleware: [byKey, wrapping] }, plain: { GET: ok, middleware: [none] } }
  })
  t.strictSame(paths['/api/both'].get, {
    operationId: 'getApiBoth',
    parameters: [{ name: 'x-tenant', in: 'header', required: true, schema: TEXT }],
    responses: {
      401: {
        description: 'The key is missing; The token is missing, expired or invalid',
        content: {
          'application/json': {
            schema: { anyOf: [{ $ref: '#/components/schemas/Error' }, { $ref: '#/components/schemas/FlatError' }] }
          }
        }
      },
      402: {
        description: 'Pay first',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { price: { type: 'number' } },
              required: ['price'],
              additionalProperties: false
            }
          }
        }
      },
      404: { description: 'No such customer' },
      423: error('Locked', 'FlatError'),
      500: UNCHECKED,
      ...UNTYPED
    },
    security: [{ key: [], bearer: [] }]
  })
  t.strictSame(paths['/api/plain'].get, { operationId: 'getApiPlain', responses: UNTYPED, security: [] })
  t.strictSame(components.securitySchemes, { key, bearer: { type: 'http', scheme: 'bearer' } })
})

t.test('schemas with names, and recursive ones, are components', async (t) => {
  const User = z.object({ name: z.string() }).meta({ id: 'User' })
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree)
    }
  })
  const Node = Type.Recursive((This) => Type.Object({ next: Type.Optional(This) }), { $id: 'Node' })
  const Linked = {
    $defs: { Link: { type: 'object', properties: { next: { $ref: '#/$defs/Link' } } } },
    type: 'array',
    items: { $ref: '#/$defs/Link' }
  }
  const { paths, components } = await documentOf(t, {
    routes: {
      users: {
        POST: defineHandler({ body: User, response: z.object({ users: z.array(User) }) }, () => ({ users: [] }))
      },
      tree: { POST: defineHandler({ body: Tree }, ok) },
      node: { POST: defineHandler({ body: Type.Object({ first: Node }) }, ok) },
      linked: { POST: defineHandler({ body: Linked }, ok) }
    }
  })
  const bodyOf = (path: string) => paths[path].post.requestBody.content['application/json'].schema
  const { Error: _error, ...schemas } = components.schemas
  const user = { type: 'object', properties: { name: TEXT }, required: ['name'] }
  t.strictSame(schemas, {
    Link: { type: 'object', properties: { next: { $ref: '#/components/schemas/Link' } } },
    Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } },
    Schema: {
      type: 'object',
      properties: { name: TEXT, children: { type: 'array', items: { $ref: '#/components/schemas/Schema' } } },
      required: ['name', 'children']
    },
    User: user,
    UserOutput: { ...user, additionalProperties: false }
  })
  t.strictSame(bodyOf('/api/users'), { $ref: '#/components/schemas/User' })
  t.strictSame(paths['/api/users'].post.responses[200].content['application/json'].schema.properties, {
    users: { type: 'array', items: { $ref: '#/components/schemas/UserOutput' } }
  })
  t.strictSame(bodyOf('/api/tree'), { $ref: '#/components/schemas/Schema' })
  t.strictSame(bodyOf('/api/node').properties, { first: { $ref: '#/components/schemas/Node' } })
  t.strictSame(bodyOf('/api/linked'), { type: 'array', items: { $ref: '#/components/schemas/Link' } })
})

t.test('routes of Fastify with a schema are in it, behind the middleware map', async (t) => {
  const { paths } = await documentOf(t, {
    middleware: { '/plain': [signedIn], '/other': [signedIn] },
    routes: { hello: { GET: ok } },
    add(app) {
      const params = { type: 'object', properties: { id: { type: 'integer' } } }
      const answer = { type: 'object', properties: { name: { type: 'string', nullable: true } } }
      app.get('/plain/:id', { schema: { params, response: { 200: answer }, summary: 'One', tags: ['plain'] } }, ok)
      app.get('/other/public', { schema: { security: [], response: { 401: answer } } }, ok)
      app.get('/plain/unseen', ok)
    }
  })
  t.strictSame(Object.keys(paths), ['/api/hello', '/other/public', '/plain/{id}'])
  t.strictSame(paths['/plain/{id}'].get, {
    operationId: 'getPlainById',
    summary: 'One',
    tags: ['plain'],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    responses: {
      200: {
        description: 'Default Response',
        content: {
          'application/json': { schema: { type: 'object', properties: { name: { type: ['string', 'null'] } } } }
        }
      },
      400: INVALID,
      ...GUARDED
    },
    security: [{ bearer: [] }]
  })
  const { security, responses } = paths['/other/public'].get
  t.strictSame(security, [], 'what a route says of itself stays')
  t.equal(responses[401].description, 'Default Response')
})

t.test('Standard Schemas of plain Fastify routes are described, too', async (t) => {
  const Note = z.object({ id: z.number(), at: z.date() }).meta({ id: 'Note' })
  const Tree = z.object({
    get children() {
      return z.array(Tree)
    }
  })
  const add = (app: FastifyInstance, schema: object): void => {
    app.setValidatorCompiler(() => () => ({ value: {} }))
    app.setSerializerCompiler(() => JSON.stringify)
    app.post('/plain/:id', { schema }, ok)
  }
  const { paths, components } = await documentOf(t, {
    routes: { hello: { GET: ok } },
    add: (app) =>
      add(app, {
        params: v.object({ id: v.string() }),
        querystring: type({ 'page?': 'number' }),
        body: Tree,
        response: {
          200: z.array(Note),
          404: { content: { 'application/json': { schema: z.string() } }, description: 'No' }
        }
      })
  })
  const { parameters, requestBody, responses } = paths['/plain/{id}'].post
  t.match(parameters, [
    { name: 'page', in: 'query', schema: { type: 'number' } },
    { name: 'id', in: 'path', schema: TEXT }
  ])
  t.strictSame(requestBody.content['application/json'].schema, { $ref: '#/components/schemas/Schema' })
  t.match(responses[200].content['application/json'].schema, {
    type: 'array',
    items: { $ref: '#/components/schemas/Note' }
  })
  t.match(responses[404].content['application/json'].schema, TEXT)
  t.match(components.schemas.Note.properties, { at: { type: 'string', format: 'date-time' } })

  const wrong = await appWith(t, {
    routes: { hello: { GET: ok } },
    add: (app) => add(app, { response: { 200: z.bigint() } })
  })
  await t.rejects(
    async () => wrong.ready(),
    /POST \/plain\/:id has response\[200\], which the document cannot describe/
  )
})

t.test('the host may be any Fastify, with prefixes, and several trees', async (t) => {
  const host = fastify()
  t.teardown(() => host.close())
  await host.register(openapi, { mode: 'test', prefix: '/internal', path: '/reference', page: false })
  const notes = writeRoutes(t, { 'notes/[id]': { GET: ok } })
  await host.register(fileRoutes, {
    apiDir: notes,
    prefix: '/:tenant',
    middleware: { '/api': [signedIn] },
    mode: 'test'
  })
  await host.register(fileRoutes, { apiDir: writeRoutes(t, { info: { GET: ok } }), baseRoute: '/v2', mode: 'test' })
  await host.ready()
  const answer = await host.inject('/internal/reference/openapi.json')
  await valid(t, answer.json())
  t.strictSame(answer.json().paths, {
    '/v2/info': { get: { operationId: 'getV2Info', responses: UNTYPED, security: [] } },
    '/{tenant}/api/notes/{id}': {
      get: {
        operationId: 'getByTenantApiNotesById',
        parameters: ['tenant', 'id'].map((name) => ({ name, in: 'path', required: true, schema: TEXT })),
        responses: { ...GUARDED, ...UNTYPED },
        security: [{ bearer: [] }]
      }
    }
  })
  t.strictSame(host.swagger(), answer.json(), 'app.swagger() is the document')
  t.equal((await host.inject('/internal/reference')).statusCode, 404, 'page: false')
})

t.test('errors of another error handler have the schema that is given', async (t) => {
  const { paths, components } = await documentOf(t, {
    options: { errorSchema: z.object({ problem: z.string() }) },
    routes: {
      a: {
        GET: defineHandler({ query: z.object({}) }, ok),
        middleware: [requireRole(['admin'], { form: 'nested' })]
      }
    }
  })
  t.strictSame(paths['/api/a'].get.responses[400], INVALID)
  t.strictSame(components.schemas.Error.properties, { problem: TEXT })
  t.strictSame(paths['/api/a'].get.responses[403].content['application/json'].schema, {
    $ref: '#/components/schemas/NestedError'
  })
  t.strictSame(components.schemas.NestedError.required, ['error', 'meta'])
})

t.test('what cannot be described keeps the app from starting, and is named', async (t) => {
  const rows: { routes: Routes; lines: RegExp[] }[] = [
    {
      routes: {
        a: { GET: defineHandler({ response: z.object({ at: z.string().transform(Number) }) }, () => ({ at: '1' })) },
        b: { POST: defineHandler({ body: z.object({ id: z.bigint() }) }, ok) }
      },
      lines: [
        /GET of .*a\/route\.js has response\[200\], which the document cannot describe \(OPENAPI_SCHEMA_UNDESCRIBED\)/,
        /POST of .*b\/route\.js has body, which the document cannot describe/,
        /z\.bigint\(\) cannot be described as JSON Schema \(at properties\.id\)/,
        /Fix: Use types that JSON has, say what it is on the wire .* hidden: true/
      ]
    },
    {
      routes: { a: { GET: defineHandler({ response: z.instanceof(Uint8Array) }, () => new Uint8Array()) } },
      lines: [
        /GET of .*a\/route\.js has response\[200\], which the document cannot describe/,
        /z\.custom\(\) cannot be described as JSON Schema \(at the top\)/,
        /Fix: .*zod: \.meta\(\{ type: "string" \}\)/
      ]
    },
    {
      routes: { a: { GET: defineHandler({ response: type.instanceOf(Uint8Array) }, () => new Uint8Array()) } },
      lines: [/GET of .*a\/route\.js has response\[200\], /, /A type of arktype cannot be described as JSON Schema/]
    },
    {
      routes: {
        a: { GET: defineHandler({ operationId: 'read' }, ok) },
        b: { GET: defineHandler({ operationId: 'read' }, ok) }
      },
      lines: [/GET \/api\/a and GET \/api\/b have the operationId read \(OPENAPI_OPERATION_ID_TWICE\)/]
    },
    {
      routes: {
        a: { GET: ok, middleware: [signedIn] },
        b: {
          GET: ok,
          middleware: [describeMiddleware((_q, _s, next) => next(), { security: { bearer: { type: 'mutualTLS' } } })]
        }
      },
      lines: [/GET of .*b\/route\.js describes "bearer" otherwise than another middleware \(OPENAPI_SCHEME_CONFLICT\)/]
    }
  ]
  for (const { routes, lines } of rows) {
    const app = await appWith(t, { routes })
    const message: string = await app.ready().then(
      () => 'it started',
      (failure: Error) => failure.message
    )
    for (const line of lines) t.match(message, line)
  }
})

t.test('wrong options are refused by name', async (t) => {
  const app = await createApp({ apiDir: writeRoutes(t, { a: { GET: ok } }), mode: 'test' })
  t.teardown(() => app.close())
  const rows: [options: object, message: RegExp][] = [
    [{ titel: 'x' }, /^openapi has no option titel; it has info, servers, tags, path,/],
    [{ info: { title: 'x' } }, /^The option info\.version of openapi must be a string; it is undefined$/],
    [{ path: 'docs' }, /^The option path of openapi must be a path such as "\/docs"; it is "docs"$/],
    [{ enabled: 'no' }, /^The option enabled of openapi must be true or false; it is "no"$/],
    [{ servers: ['https://a'] }, /^The option servers of openapi must be a list such as \[\{ url: /]
  ]
  for (const [options, message] of rows) {
    const host = fastify()
    t.teardown(() => host.close())
    await t.rejects(async () => host.register(openapi, options), { name: 'TypeError', message })
  }
  const described: [description: object, message: RegExp][] = [
    [{ securty: 'bearer' }, /^describeMiddleware has no option securty; it has security, responses,/],
    [{ security: 'basic' }, /^The option security of describeMiddleware must be 'bearer', or schemes by name/],
    [{ responses: { teapot: 'x' } }, /^The option responses of describeMiddleware must be an object of status/],
    [{ wraps: 'signedIn' }, /^The option wraps of describeMiddleware must be a middleware/]
  ]
  for (const [description, message] of described)
    t.throws(() => describeMiddleware(() => {}, description), { name: 'TypeError', message })
  t.throws(() => describeMiddleware('x' as never, {}), /^describeMiddleware takes a middleware; it was given a string/)
})

t.test('@fastify/swagger beside it is refused with what to do', async (t) => {
  const host = fastify()
  t.teardown(() => host.close())
  await host.register((await import('@fastify/swagger')).default)
  await t.rejects(async () => host.register(openapi, { mode: 'test' }), /remove the other registration/)
})

t.test('production has neither document nor page, unless asked', async (t) => {
  const urls = ['/docs', '/docs/openapi.json', '/docs/assets/scalar.js', '/docs/assets/start.js']
  const routes = { a: { GET: ok, POST: defineHandler({ body: z.bigint() }, ok) } }
  const off = await appWith(t, { routes, mode: 'production' })
  for (const url of urls) t.equal((await off.inject(url)).statusCode, 404, url)
  const on = await appWith(t, { routes: { a: { GET: ok } }, mode: 'production', options: { enabled: true } })
  for (const url of urls) t.equal((await on.inject(url)).statusCode, 200, url)
})

t.test('the middleware map guards the document and the page', async (t) => {
  const middleware = { '/docs': [signedIn] }
  const app = await appWith(t, { routes: { a: { GET: ok } }, middleware })
  for (const url of ['/docs', '/docs/openapi.json', '/docs/assets/scalar.js']) {
    t.equal((await app.inject(url)).statusCode, 401, url)
    t.equal((await app.inject({ url, headers: { authorization: 'Bearer x' } })).statusCode, 200, url)
  }
})

t.test('page and document are sent as browsers like them', async (t) => {
  const app = await appWith(t, {
    routes: { a: { GET: ok } },
    options: { info: { title: '<b>"A" & B</b>', version: '1' }, servers: [{ url: 'https://api.example.com/v1' }] }
  })
  const page = await app.inject('/docs')
  t.match(page.body, '<title>&#60;b&#62;&#34;A&#34; &#38; B&#60;&#47;b&#62;</title>')
  const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(String(page.headers['content-security-policy'])) ?? []
  t.equal(nonce.length, 24)
  t.match(page.headers['content-security-policy'], "connect-src 'self' https://api.example.com;")
  t.not(String((await app.inject('/docs')).headers['content-security-policy']).includes(nonce), 'each page has its own')
  const links = [...page.body.matchAll(/src="([^"]+)"( nonce="[^"]+")?/g)]
  t.equal(links.length, 2)
  for (const [, link = '', attribute] of links) {
    t.equal(attribute, ` nonce="${nonce}"`)
    t.match(link, /^docs\/assets\/(start|scalar)\.js\?v=/)
    const asset = await app.inject({ url: `/${link}`, headers: { 'accept-encoding': 'gzip' } })
    t.match(asset.headers, { 'content-encoding': 'gzip', 'content-type': 'text/javascript; charset=utf-8' })
    t.ok(gunzipSync(asset.rawPayload).length > 100)
  }
  const document = await app.inject('/docs/openapi.json')
  const again = await app.inject({ url: '/docs/openapi.json', headers: { 'if-none-match': document.headers.etag } })
  t.equal(again.statusCode, 304)
})

t.test('the document of the example is valid, and says who may do what', async (t) => {
  // Its document needs no database: none is at this port, and the embedded one takes seconds to start.
  const DATABASE_URL = 'postgres://postgres@127.0.0.1:1/none'
  const config = { JWT_SECRET, REFRESH_TOKEN_SECRET, DATABASE_URL, LOG_LEVEL: 'silent', NODE_ENV: 'test' }
  const app = await createExample(readConfig(config))
  t.teardown(() => app.close())
  const { paths, components } = await documentOf(t, app as FastifyInstance)
  t.strictSame(paths['/api/profile'].get.security, [{ bearer: [] }])
  const others = ['4XX', '5XX']
  t.strictSame(Object.keys(paths['/api/admin/stats'].get.responses), ['200', '401', '403', '500', ...others])
  t.strictSame(Object.keys(paths['/api/users/{userId}'].put.responses), ['200', '400', '404', '409', ...others])
  const statuses = ['200', '400', '401', '429', '500', '503']
  t.strictSame(Object.keys(paths['/api/auth/login'].post.responses), [...statuses, ...others])
  t.ok(paths['/api/uploads'].post.requestBody.content['multipart/form-data'].schema.properties.file)
  const plain = Object.values<object>(paths).flatMap((item) =>
    Object.values<any>(item).filter(({ summary }) => !summary)
  )
  t.strictSame(plain, [], 'every route has schemas and words')
  t.strictSame(paths['/api/posts/{postId}'].put.security, [{ bearer: [] }])
  t.ok(paths['/api/posts'].post.requestBody.content['application/json'].schema.properties.title)
  t.strictSame(paths['/api/posts'].get.security, [])
  t.ok('/session/draft' in paths)
  t.strictSame(Object.keys(components.securitySchemes), ['bearer'])

  for (const [API_DOCS, status] of [
    ['', 404],
    ['on', 200]
  ] as const) {
    const production = await createExample(readConfig({ ...config, NODE_ENV: 'production', API_DOCS }))
    t.teardown(() => production.close())
    t.equal((await production.inject('/docs')).statusCode, status, `production with API_DOCS=${API_DOCS}`)
  }
})
