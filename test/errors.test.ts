import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import fastify, { LogController, type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'
import {
  ApiError,
  ConflictError,
  createMiddleware,
  errorHandler,
  NotFoundError,
  ValidationError,
  type App,
  type AppOptions,
  type ErrorMiddleware
} from 'twinroute'
import { z } from 'zod'
import {
  addressOf,
  appOf,
  callByInject,
  callOver,
  logBook,
  onEveryHost,
  type Call,
  type Routes
} from './support/hosts.js'
import { connectTo } from './support/connection.js'
import { head, Wire } from './support/wire.js'

const JSON_TYPE = 'application/json; charset=utf-8'

/** An Error with more members. */
function failure(message: string, more: object = {}): Error {
  return Object.assign(new Error(message), more)
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown
  }
}

/** `{ r0: { GET }, ... }`: a route for every row, which throws what the row holds. */
function routesOf(rows: readonly (readonly [rule: string, thrown: unknown])[]): Routes {
  return Object.fromEntries(rows.map(([, thrown], index) => [`r${index}`, { GET: throwing(thrown) }]))
}

function schemaError(): unknown {
  const schema = z.object({
    name: z.string().min(2, 'too short'),
    address: z.object({ streets: z.array(z.string('no text')) })
  })
  return schema.safeParse({ name: 'x', address: { streets: ['a', 1] } }).error
}

const SCHEMA_DETAILS = [
  { field: 'name', message: 'too short' },
  { field: 'address.streets.1', message: 'no text' }
]
const UNEXPECTED = 'An unexpected error occurred'

type Wanted = { code: string; message: string; details?: unknown }
type Row = { rule: string; thrown: unknown; status: number; development: Wanted; production?: Wanted }

const ERRORS: Row[] = [
  {
    rule: 'an ApiError',
    thrown: new ApiError(418, 'TEAPOT', 'no coffee'),
    status: 418,
    development: { code: 'TEAPOT', message: 'no coffee' }
  },
  {
    rule: 'an ApiError with details',
    thrown: new ApiError(400, 'BAD', 'no', { a: 1 }),
    status: 400,
    development: { code: 'BAD', message: 'no', details: { a: 1 } }
  },
  {
    rule: 'an ApiError of 500 says what it says',
    thrown: new ApiError(500, 'LOGIN_FAILED', 'Login failed'),
    status: 500,
    development: { code: 'LOGIN_FAILED', message: 'Login failed' }
  },
  {
    rule: 'NotFoundError with an id',
    thrown: new NotFoundError('User', '7'),
    status: 404,
    development: { code: 'NOT_FOUND', message: 'User with ID 7 not found' }
  },
  {
    rule: 'NotFoundError without an id',
    thrown: new NotFoundError('User'),
    status: 404,
    development: { code: 'NOT_FOUND', message: 'User not found' }
  },
  {
    rule: 'ValidationError',
    thrown: new ValidationError('wrong'),
    status: 400,
    development: { code: 'VALIDATION_ERROR', message: 'wrong' }
  },
  {
    rule: 'a ValidationError with details',
    thrown: new ValidationError('wrong', [{ field: 'a', message: 'b' }]),
    status: 400,
    development: { code: 'VALIDATION_ERROR', message: 'wrong', details: [{ field: 'a', message: 'b' }] }
  },
  {
    rule: 'ConflictError',
    thrown: new ConflictError('taken'),
    status: 409,
    development: { code: 'CONFLICT', message: 'taken' }
  },
  {
    rule: 'a schema-validation exception',
    thrown: schemaError(),
    status: 400,
    development: { code: 'VALIDATION_ERROR', message: 'Request validation failed', details: SCHEMA_DETAILS }
  },
  {
    rule: 'any other error',
    thrown: new TypeError('x is undefined'),
    status: 500,
    development: { code: 'INTERNAL_SERVER_ERROR', message: 'x is undefined' },
    production: { code: 'INTERNAL_SERVER_ERROR', message: UNEXPECTED }
  },
  {
    rule: 'a text that is thrown',
    thrown: 'secret',
    status: 500,
    development: { code: 'INTERNAL_SERVER_ERROR', message: 'secret' },
    production: { code: 'INTERNAL_SERVER_ERROR', message: UNEXPECTED }
  },
  {
    rule: 'an error with the status of the client',
    thrown: failure('no such page', { status: 404 }),
    status: 404,
    development: { code: 'NOT_FOUND', message: 'no such page' }
  },
  {
    rule: 'an error with a statusCode',
    thrown: failure('no', { statusCode: 402 }),
    status: 402,
    development: { code: 'HTTP_402', message: 'no' }
  },
  {
    rule: 'an error that is not to be shown',
    thrown: failure('secret', { status: 403, expose: false }),
    status: 403,
    development: { code: 'HTTP_403', message: 'Forbidden' }
  },
  {
    rule: 'an error with the status of the server',
    thrown: failure('pool is empty', { status: 503 }),
    status: 503,
    development: { code: 'SERVICE_UNAVAILABLE', message: 'pool is empty' },
    production: { code: 'SERVICE_UNAVAILABLE', message: 'Service Unavailable' }
  },
  {
    rule: 'an object with a status',
    thrown: { status: 409, message: 'taken' },
    status: 409,
    development: { code: 'HTTP_409', message: 'taken' }
  },
  ...[99, 200, 399, 600, 1000, 400.5, '404', null, Number.NaN].map((statusCode): Row => ({
    rule: `${String(statusCode)} is no status of an error`,
    thrown: failure('x', { statusCode }),
    status: 500,
    development: { code: 'INTERNAL_SERVER_ERROR', message: 'x' },
    production: { code: 'INTERNAL_SERVER_ERROR', message: UNEXPECTED }
  }))
]

t.test('the global error handler answers every error in one shape, and production tells less', async (t) => {
  const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  for (const mode of ['development', 'production']) {
    const isProduction = mode === 'production'
    t.test(`the global error handler in ${mode}`, async (t) => {
      const options: Partial<AppOptions> = { mode, errorHandler, fastifyOptions: { logger: false } }
      onEveryHost(
        t,
        { routes: routesOf(ERRORS.map(({ rule, thrown }) => [rule, thrown])), options },
        async (t, call) => {
          for (const [index, { rule, status, development, production = development }] of ERRORS.entries()) {
            const { headers, ...answer } = await call(`GET /api/r${index}`)
            const { error, meta, ...more } = answer.json
            const wanted = { status, error: isProduction ? production : development, more: {} }
            t.same({ status: answer.status, error, more }, wanted, rule)
            const { stack, ...rest } = meta
            t.match(
              { type: headers['content-type'], stack: typeof stack, meta: Object.keys(rest), ...rest },
              {
                type: JSON_TYPE,
                stack: isProduction ? 'undefined' : 'string',
                meta: ['timestamp', 'requestId'],
                timestamp: ISO_TIME,
                requestId: headers['x-request-id'] ?? /./
              },
              `${rule}: what is told beside`
            )
          }
        }
      )
    })
  }
  t.test('headers of an error are sent', async (t) => {
    const rows = [
      ['an object', failure('x', { status: 429, headers: { 'Retry-After': '5', 'X-List': ['a', 'b'] } })],
      ['web Headers', failure('x', { status: 429, headers: new Headers({ 'retry-after': '5', 'x-list': 'a, b' }) })]
    ] as const
    onEveryHost(t, { routes: routesOf(rows), options: { errorHandler } }, async (t, call) => {
      for (const [index, [rule]] of rows.entries()) {
        const { headers, status } = await call(`GET /api/r${index}`)
        t.match(
          { status, retry: headers['retry-after'], list: [headers['x-list']].flat().join(', ') },
          { status: 429, retry: '5', list: 'a, b' },
          rule
        )
      }
    })
  })
  t.test('headers of another error that a handler makes of an error are sent', async (t) => {
    const other = failure('later', { status: 503, headers: { 'retry-after': '9', 'x-other': 'yes' } })
    const rows = [['an error with headers', failure('x', { status: 429, headers: { 'retry-after': '5' } })]] as const
    const handler = (_error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      errorHandler(other, request, reply)
    const options = { errorHandler: handler }
    onEveryHost(t, { routes: routesOf(rows), options }, async (t, call) => {
      const { headers, status } = await call('GET /api/r0')
      t.match(
        { status, retry: headers['retry-after'], other: headers['x-other'] },
        { status: 503, retry: '9', other: 'yes' }
      )
    })
  })
  t.test('headers of an error that cannot be sent or describe another message are left out', async (t) => {
    const upstream = {
      'content-length': '3',
      'content-encoding': 'gzip',
      trailer: 'x-sum',
      'transfer-encoding': 'chunked',
      'content-type': 'image/png',
      'x-bad': 'a\r\nx-evil: 1',
      'x bad': 'b',
      'x-none': undefined,
      'x-kept': '1'
    }
    const rows = [['an error of a request to elsewhere', failure('x', { status: 429, headers: upstream })]] as const
    for (const options of [{ errorHandler }, {}]) {
      onEveryHost(t, { routes: routesOf(rows), options }, async (t, call, place) => {
        if (place === 'host' && !('errorHandler' in options)) return // Fastify's own handler copies what it is given
        const { status, headers, json } = await call('GET /api/r0')
        t.match(
          { status, kept: headers['x-kept'], type: headers['content-type'] },
          { status: 429, kept: '1', type: JSON_TYPE }
        )
        for (const name of ['content-encoding', 'trailer', 'x-evil', 'x-bad', 'x-none']) t.notOk(name in headers, name)
        t.ok(json)
      })
    }
  })
  t.test('over HTTP/2, where node would send it, a Trailer header of an error is left out', async (t) => {
    const headers = { trailer: 'x-sum', 'x-kept': '1' }
    const routes = { a: { GET: throwing(failure('x', { status: 429, headers })) } }
    for (const options of [{ errorHandler }, {}]) {
      const app = await appOf(t, { routes, options: { ...options, fastifyOptions: { http2: true } as never } })
      const session = connectHttp2(await addressOf(app))
      t.teardown(() => session.destroy())
      const [received] = await once(session.request({ ':path': '/api/a' }), 'response')
      t.match(received, { ':status': 429, 'x-kept': '1' })
      t.notOk('trailer' in received, 'the answer has no trailers')
    }
  })
  t.test('details of an error that cannot be written are left out', async (t) => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const rows = [
      ['a circle', new ApiError(400, 'BAD', 'no', circle)],
      ['a BigInt', new ApiError(400, 'BAD', 'no', 1n)]
    ] as const
    onEveryHost(t, { routes: routesOf(rows), options: { errorHandler } }, async (t, call) => {
      for (const [index, [rule]] of rows.entries()) {
        const { status, json } = await call(`GET /api/r${index}`)
        t.strictSame({ status, error: json.error }, { status: 400, error: { code: 'BAD', message: 'no' } }, rule)
      }
    })
  })
  t.test('errors of 500 and above are logged, with or without an error handler', async (t) => {
    for (const options of [{ errorHandler }, {}]) {
      const { logger, entries } = logBook()
      const routes = routesOf([
        ['', failure('of the server')],
        ['', failure('of the client', { status: 400 })]
      ])
      const call = callByInject(
        await appOf(t, { routes, options: { ...options, mode: 'production', fastifyOptions: { logger } as never } })
      )
      await call('GET /api/r0')
      await call('GET /api/r1')
      t.strictSame(
        entries.map(({ err }) => err?.message),
        ['of the server']
      )
    }
  })
})

const guard = createMiddleware({ '/api/mapped': [(_request, _response, next) => next(failure('mapped'))] })

/** A place for errors to come from, and the call that provokes one there. */
const SOURCES: readonly {
  rule: string
  line: string
  status: number
  code: string
  sent?: Parameters<Call>[1]
}[] = [
  { rule: 'an error thrown by a handler', line: 'GET /api/throws', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'a rejection of an async handler', line: 'GET /api/rejects', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: "an error in a route's middleware", line: 'GET /api/own', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'an error in the middleware map', line: 'GET /api/mapped', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'the handler timeout', line: 'GET /api/never', status: 503, code: 'SERVICE_UNAVAILABLE' },
  {
    rule: 'a malformed body',
    line: 'POST /api/echo',
    status: 400,
    code: 'VALIDATION_ERROR',
    sent: { headers: { 'content-type': 'application/json' }, body: '{' }
  },
  {
    rule: 'a body that is too large',
    line: 'POST /api/echo',
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    sent: { headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(1001) }
  },
  {
    rule: 'a charset nobody knows',
    line: 'POST /api/echo',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    sent: { headers: { 'content-type': 'text/plain; charset=x-none' }, body: 'x' }
  },
  { rule: 'a path without a route', line: 'GET /api/none', status: 404, code: 'NOT_FOUND' },
  { rule: 'a method the route has not', line: 'DELETE /api/echo', status: 405, code: 'METHOD_NOT_ALLOWED' },
  { rule: 'a control character', line: 'GET /api/users/%00', status: 400, code: 'VALIDATION_ERROR' },
  { rule: 'a result that cannot be sent', line: 'GET /api/circle', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'a stream that fails', line: 'GET /api/stream', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'an error handed to request.next', line: 'GET /api/next', status: 500, code: 'INTERNAL_SERVER_ERROR' }
]
/** Those for which Fastify's constructor is needed: not on a host. */
const APP_SOURCES: typeof SOURCES = [
  { rule: 'a malformed url', line: 'GET /%zz', status: 400, code: 'VALIDATION_ERROR' },
  { rule: 'a malformed parameter', line: 'GET /api/users/%E0%A4%A', status: 400, code: 'VALIDATION_ERROR' },
  {
    rule: 'a parameter that is too long',
    line: `GET /api/users/${'x'.repeat(1025)}`,
    status: 414,
    code: 'URI_TOO_LONG'
  },
  { rule: 'a url that is too long', line: `GET /api/users/1?${'x'.repeat(8200)}`, status: 414, code: 'URI_TOO_LONG' },
  { rule: 'an error in a route of Fastify', line: 'GET /native', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  {
    rule: 'an error in a body parser of Fastify',
    line: 'POST /native',
    status: 400,
    code: 'VALIDATION_ERROR',
    sent: { headers: { 'content-type': 'application/json' }, body: '{' }
  },
  {
    rule: 'a media type Fastify does not parse',
    line: 'POST /native',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    sent: { headers: { 'content-type': 'x/y' }, body: '{' }
  },
  { rule: 'an error in a hook of Fastify', line: 'GET /hooked', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  { rule: 'an error in use()', line: 'GET /used', status: 500, code: 'INTERNAL_SERVER_ERROR' }
]

function sourceRoutes(): Routes {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  return {
    throws: { GET: throwing(failure('thrown')) },
    rejects: { GET: async () => throwing(failure('rejected'))() },
    own: { GET: () => ({}), middleware: [throwing(failure('own'))] },
    mapped: { GET: () => ({}) },
    never: { GET: () => {}, config: { timeout: 10 } },
    echo: { POST: () => ({}), config: { bodyLimit: 1000 } },
    'users/[id]': { GET: () => ({}) },
    circle: { GET: () => circle },
    stream: {
      GET: async function* () {
        yield throwing(failure('stream'))()
      }
    },
    next: { GET: (request: any) => request.next(failure('next')) }
  }
}

function addNative(app: App): void {
  app.get('/native', async () => throwing(failure('native'))())
  app.post('/native', async () => ({}))
  app.get('/hooked', { preHandler: async () => throwing(failure('hooked'))() }, async () => ({}))
  app.use('/used', throwing(failure('used')))
}

interface Refused {
  name: string
  GET?: unknown
  POST?: (request: any, response: any) => unknown
  sent?: { headers?: Record<string, string>; body?: string }
  status: number
  /** Without the error handler: Fastify does not know schemas. Default: the same. */
  plain?: number
  /** Thrown by the framework, not by the handler. */
  isOurs?: true
}

const wrongItems = JSON.stringify(Array.from({ length: 40_000 }, () => 'a'))
const numbers = z.array(z.number())
const strict = z.strictObject({})
const text = 'q'.repeat(1_000_000)
const quotes = '"'.repeat(12_000)
/** Three bytes a character, and six when JSON escapes it. */
const wide = JSON.stringify({ text: '\u0001\u20ac'.repeat(100_000) })

/** An exception of a schema library of no name. */
function issues(list: readonly unknown[]): Error {
  return failure('wrong', { issues: list })
}

const REFUSED: Refused[] = [
  {
    name: 'a schema that the handler runs',
    POST: ({ body }) => numbers.parse(body),
    sent: { body: wrongItems },
    status: 400,
    plain: 500
  },
  {
    name: 'a schema that names 20 000 unknown keys',
    POST: ({ body }) => strict.parse(body),
    sent: { body: JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]))) },
    status: 400,
    plain: 500
  },
  {
    name: 'a list of all issues, given to a ValidationError',
    POST({ body }) {
      throw new ValidationError('wrong', numbers.safeParse(body).error?.issues)
    },
    sent: { body: wrongItems },
    status: 400
  },
  {
    name: 'long entries of a ValidationError',
    POST({ body }) {
      throw new ValidationError('wrong', [{ field: body.text, message: body.text }, body.text, { long: body.text }])
    },
    sent: { body: wide },
    status: 400
  },
  {
    name: 'long names and messages of issues',
    POST({ body: { text } }) {
      throw issues([{ path: Array.from({ length: 1000 }, () => text), message: text }, { path: [{ key: text }] }])
    },
    sent: { body: wide },
    status: 400,
    plain: 500
  },
  {
    name: "100 000 entries of Fastify's kind of validation",
    POST({ body: { text } }) {
      const entry = { instancePath: `/${text}`, message: text }
      throw failure('wrong', { validation: Array.from({ length: 100_000 }, () => entry), statusCode: 400 })
    },
    sent: { body: wide },
    status: 400
  },
  {
    name: 'an id of a megabyte that is not found',
    POST({ body }) {
      throw new NotFoundError('User', body.id)
    },
    sent: { body: JSON.stringify({ id: text }) },
    status: 404
  },
  {
    name: 'a message that quotes the body',
    POST({ body }) {
      throw new ApiError(409, 'TAKEN', `${body.text} is taken`)
    },
    sent: { body: wide },
    status: 409
  },
  {
    name: 'an error of a package that quotes the body',
    POST({ body }) {
      throw failure(`${body.text} is wrong`, { status: 422 })
    },
    sent: { body: wide },
    status: 422
  },
  {
    name: 'a content encoding',
    POST: String,
    sent: { headers: { 'content-encoding': quotes }, body: '{}' },
    status: 415,
    isOurs: true
  },
  {
    name: 'a charset',
    POST: String,
    sent: { headers: { 'content-type': `application/json; charset=${'x'.repeat(12_000)}` }, body: '{}' },
    status: 415,
    isOurs: true
  },
  {
    name: 'a type that is no form',
    POST: (request) => request.formData(),
    sent: { headers: { 'content-type': `a/${'x'.repeat(12_000)}` }, body: '{}' },
    status: 415,
    isOurs: true
  },
  { name: 'a long target', status: 414, isOurs: true }
]

t.test('the client does not decide how long the answer to a refused request is', async (t) => {
  const routes = Object.fromEntries(
    REFUSED.map(({ POST = String }, index): [string, Record<string, unknown>] => [`r${index}`, { POST }])
  )
  const handlers: { name: string; options: Partial<AppOptions> }[] = [
    { name: 'refused requests, with the error handler', options: { errorHandler } },
    { name: 'refused requests, without an error handler', options: {} }
  ]
  for (const { name, options } of handlers) {
    t.test(name, async (t) => {
      const { logger, entries } = logBook()
      const scenario = { routes, options: { mode: 'production', fastifyOptions: { logger }, ...options } }
      onEveryHost(t, scenario, async (t, call, place) => {
        for (const [index, { name, isOurs, sent, status, plain = status }] of REFUSED.entries()) {
          // what Fastify's own handler says of an app's errors, on a server of the user's, is not ours to cut
          if (place === 'host' && options.errorHandler === undefined && !isOurs) continue
          const headers = { 'content-type': 'application/json', ...sent?.headers }
          const query = status === 414 ? `?${text.slice(0, 12_000)}` : ''
          const answer = await call(`POST /api/r${index}${query}`, { headers, body: sent?.body ?? '{}' })
          t.equal(answer.status, options.errorHandler === undefined ? plain : status, name)
          t.ok(answer.bytes.length <= 16_384 && answer.bytes.length > 40, `${name}: ${answer.bytes.length} bytes`)
        }
      })
      t.test('the client does not decide how long the log of a refused request is', async (t) =>
        t.ok(JSON.stringify(entries).length < 50_000)
      )
    })
  }
})

t.test('an id taken from the wire is not repeated at any length', async (t) => {
  const options = { errorHandler, mode: 'production', fastifyOptions: { requestIdHeader: 'x-id' } }
  const app = await appOf(t, { routes: { a: { GET: throwing(new NotFoundError('It')) } }, options })
  const call = callOver(await addressOf(app))
  const { bytes, json } = await call('GET /api/a', { headers: { 'x-id': '"'.repeat(14_000) } })
  t.ok(bytes.length <= 16_384 && json.meta.requestId.startsWith('""'), `${bytes.length} bytes`)
})

t.test('of a list of problems the first are told, as many as there is room for', async (t) => {
  const details = Array.from({ length: 40 }, (_, at) => ({ field: `f${at}`, message: 'm'.repeat(200), more: at }))
  const rows: { thrown: unknown; kept: number }[] = [
    { thrown: new ValidationError('wrong', details), kept: 40 },
    { thrown: new ValidationError('wrong', [...details, ...details, ...details]), kept: 50 },
    { thrown: issues(details.map(({ field, message }) => ({ path: [field], message }))), kept: 40 },
    { thrown: new ApiError(409, 'TAKEN', 'as many as the app says', [...details, ...details, ...details]), kept: 120 }
  ]
  const routes = Object.fromEntries(rows.map(({ thrown }, at) => [`r${at}`, { GET: throwing(thrown) }]))
  const call = callByInject(await appOf(t, { routes, options: { errorHandler } }))
  for (const [at, { kept }] of rows.entries()) {
    const { json } = await call(`GET /api/r${at}`)
    const told: any[] = json.error.details
    t.ok(told.length >= kept && told.length <= 120, `${told.length} of at least ${kept}`)
    t.match(told, details.map(({ field, message }) => ({ field, message })).slice(0, kept < 50 ? kept : 40))
  }
})

t.test('P8: every error of the framework is in the shape of the error handler', async (t) => {
  const options = { errorHandler, middleware: guard }
  onEveryHost(t, { routes: sourceRoutes(), options }, async (t, call) => {
    for (const { rule, line, status, code, sent } of SOURCES) {
      const { json, ...answer } = await call(line, sent)
      t.match(
        { status: answer.status, code: json.error?.code, meta: json.meta },
        { status, code, meta: { timestamp: /Z$/, requestId: /./ } },
        rule
      )
    }
  })
  onEveryHost(t, { routes: sourceRoutes(), options, use: addNative }, async (t, call) => {
    for (const { rule, line, status, code, sent } of [...SOURCES, ...APP_SOURCES]) {
      const { json, headers, ...answer } = await call(line, sent)
      t.match({ status: answer.status, code: json.error?.code }, { status, code }, rule)
      t.equal(json.meta.requestId, headers['x-request-id'], rule)
    }
  })
})

t.test('a 4xx is not logged, at whatever level, and a 5xx is logged as an error', async (t) => {
  for (const [handling, options] of Object.entries({ 'with an error handler': { errorHandler }, 'without one': {} })) {
    const { logger, entries } = logBook()
    const fastifyOptions = { logger: { ...logger, level: 'trace' } } as never
    const app = await appOf(t, {
      routes: sourceRoutes(),
      options: { ...options, middleware: guard, fastifyOptions },
      use: addNative
    })
    const call = callByInject(app)
    for (const { rule, line, status, sent } of [...SOURCES, ...APP_SOURCES]) {
      entries.length = 0
      t.equal((await call(line, sent)).status, status, rule)
      const levels = entries.map(({ level }) => level)
      if (status < 500) t.strictSame(levels, [], `${rule}, ${handling}: no line`)
      else t.ok(levels.includes(50), `${rule}, ${handling}: ${levels.join(', ')}`)
    }
  }
})

t.test('what the framework turns a request down with has no stack, even in development', async (t) => {
  const refusals = SOURCES.filter(({ status }) => status < 500)
  onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler, mode: 'development' } }, async (t, call) => {
    for (const { rule, line, sent } of refusals) {
      const { json } = await call(line, sent)
      t.equal(json.meta.stack.replace(/^\w*Error: /, ''), json.error.message, rule)
    }
    const { json } = await call('GET /api/throws')
    t.match(json.meta.stack, /^Error: thrown\n {4}at /, 'errors of the application keep theirs')
  })
})

t.test("without an error handler every error is in Fastify's shape", async (t) => {
  onEveryHost(t, { routes: sourceRoutes(), options: { middleware: guard }, use: addNative }, async (t, call) => {
    for (const { rule, line, status, sent } of [...SOURCES, ...APP_SOURCES]) {
      const { json, ...answer } = await call(line, sent)
      t.match({ status: answer.status, json }, { status, json: { statusCode: status, message: /./ } }, rule)
    }
  })
})

t.test('Express error middleware answers every error once, wherever it is registered', async (t) => {
  let calls = 0
  const taking: ErrorMiddleware = (error, request, response, _next) => {
    calls++
    const status = error.statusCode ?? error.status
    response.status(status >= 400 ? status : 500).json({ taken: error.message, url: request.originalUrl })
  }
  const check = async (t: any, call: Call): Promise<void> => {
    for (const { rule, line, status, sent } of [...SOURCES, ...APP_SOURCES]) {
      calls = 0
      const answer = await call(line, sent)
      t.match(
        { status: answer.status, json: answer.json },
        { status, json: { taken: /./, url: line.split(' ')[1] } },
        rule
      )
      t.equal(calls, 1, `${rule}: once`)
    }
  }
  t.test('Express error middleware as the errorHandler option', async (t) => {
    onEveryHost(
      t,
      { routes: sourceRoutes(), options: { middleware: guard, errorHandler: taking }, use: addNative },
      check
    )
  })
  t.test('given to use(), behind all routes', async (t) => {
    const use = (app: App): void => {
      addNative(app)
      app.use(taking)
    }
    onEveryHost(t, { routes: sourceRoutes(), options: { middleware: guard }, use }, check)
  })
  t.test('given to use() before a global error handler, which gets the rest', async (t) => {
    const some: ErrorMiddleware = (error, _request, response, next) => {
      if (error.message === 'thrown') response.status(418).send('taken')
      else next(error)
    }
    onEveryHost(
      t,
      { routes: sourceRoutes(), options: { middleware: guard, errorHandler }, use: (app) => void app.use(some) },
      async (t, call) => {
        t.match(await call('GET /api/throws'), { status: 418, text: 'taken' })
        t.match((await call('GET /api/rejects')).json, {
          error: { code: 'INTERNAL_SERVER_ERROR', message: 'rejected' }
        })
        t.match((await call('GET /api/none')).json, { error: { code: 'NOT_FOUND' } })
      }
    )
  })
  t.test(
    'several Express error middleware run in their order, by path, each passing on or changing the error',
    async (t) => {
      const seen: string[] = []
      const pass =
        (name: string): ErrorMiddleware =>
        (error, _request, _response, next) => {
          seen.push(`${name}: ${error.message}`)
          next(error)
        }
      const change: ErrorMiddleware = (error, _request, _response, next) =>
        next(failure(`changed ${error.message}`, { status: 409 }))
      const use = (app: App): void => {
        app.use(pass('first'))
        app.use('/api/other', pass('other'))
        app.use('/api/throws', pass('path'))
        app.use(change, [pass('last')])
        app.use((_request: any, _response: any, next: any) => {
          seen.push('no error here')
          next()
        })
      }
      onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler }, use }, async (t, call) => {
        seen.length = 0
        t.match((await call('GET /api/throws')).json, { error: { code: 'HTTP_409', message: 'changed thrown' } })
        t.strictSame(seen, ['no error here', 'first: thrown', 'path: thrown', 'last: changed thrown'])
      })
    }
  )
  t.test('error middleware that fails itself', async (t) => {
    const rows: readonly (readonly [string, ErrorMiddleware])[] = [
      ['throws', (_error, _request, _response, _next) => throwing(failure('second'))()],
      ['rejects', async (_error, _request, _response, _next) => throwing(failure('second'))()],
      ['passes a new error on', (_error, _request, _response, next) => next(failure('second'))]
    ]
    for (const [rule, failing] of rows) {
      onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler: failing }, use: () => {} }, async (t, call) => {
        t.match((await call('GET /api/throws')).json, { statusCode: 500, message: 'second' }, `${rule}, as option`)
      })
      onEveryHost(
        t,
        { routes: sourceRoutes(), options: { errorHandler }, use: (app) => void app.use(failing) },
        async (t, call) => {
          t.match((await call('GET /api/throws')).json, { error: { message: 'second' } }, `${rule}, in use()`)
        }
      )
    }
  })
  t.test('error middleware that never answers: 503', async (t) => {
    const silent: ErrorMiddleware = (_error, _request, _response, _next) => {}
    const options = { handlerTimeout: 20 }
    onEveryHost(
      t,
      { routes: sourceRoutes(), options: { ...options, errorHandler }, use: (app) => void app.use(silent) },
      async (t, call) => {
        t.match((await call('GET /api/throws')).json, { error: { code: 'SERVICE_UNAVAILABLE' } }, 'in use()')
        t.match((await call('GET /api/never')).json, { error: { code: 'SERVICE_UNAVAILABLE' } }, 'after a timeout')
      }
    )
    onEveryHost(
      t,
      { routes: sourceRoutes(), options: { ...options, errorHandler: silent }, use: () => {} },
      async (t, call) => {
        t.equal((await call('GET /api/throws')).status, 503, 'as option')
      }
    )
  })
  t.test('finds the request and response of Express', async (t) => {
    const showing: ErrorMiddleware = (_error, request, response, _next) =>
      void response
        .status(400)
        .json({ type: request.get('x-a'), cookies: request.cookies.all(), locals: response.locals })
    const use = (app: App): void => {
      app.use((_request: any, response: any, next: any) => {
        response.locals.a = 1
        next()
      })
    }
    onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler: showing }, use }, async (t, call) => {
      const expected = { type: 'b', cookies: { c: '1' }, locals: { a: 1 } }
      for (const line of ['GET /api/throws', 'GET /api/none', 'GET /%zz']) {
        t.strictSame((await call(line, { headers: { 'x-a': 'b', cookie: 'c=1' } })).json, expected, line)
      }
    })
  })
  t.test('keeps headers that were set, and statuses of its own', async (t) => {
    const use = (app: App): void => {
      app.use((_request: any, response: any, next: any) => {
        response.set('X-Set', '1').cookie('a', '1').vary('Origin')
        next()
      })
    }
    for (const errorHandlerOption of [errorHandler, taking]) {
      onEveryHost(
        t,
        { routes: sourceRoutes(), options: { errorHandler: errorHandlerOption }, use },
        async (t, call) => {
          for (const line of ['GET /api/throws', 'GET /api/none', 'GET /%zz', 'DELETE /api/echo']) {
            const { headers } = await call(line)
            t.match(
              { set: headers['x-set'], cookie: [headers['set-cookie']].flat(), vary: headers.vary },
              { set: '1', cookie: ['a=1; Path=/'], vary: 'Origin' },
              line
            )
          }
        }
      )
    }
  })
})

t.test('error middleware that calls next() without an error has dealt with it: 404, as under Express', async (t) => {
  const clearing: ErrorMiddleware = (_error, _request, _response, next) => next()
  const routes = {
    ...sourceRoutes(),
    guarded: { GET: () => 'the handler' },
    chained: { GET: () => 'the handler', middleware: [throwing(failure('no'))] }
  }
  const useGuard = (app: App): void => void app.use('/api/guarded', throwing(failure('no')))
  const rows: { rule: string; options?: Partial<AppOptions>; use: (app: App) => void }[] = [
    { rule: 'error middleware as the errorHandler option', options: { errorHandler: clearing }, use: useGuard },
    {
      rule: 'error middleware in use(), behind the middleware that fails',
      use: (app) => {
        useGuard(app)
        app.use(clearing)
      }
    },
    {
      rule: 'error middleware in a list and below a path',
      use: (app) => {
        useGuard(app)
        app.use('/api', [clearing])
      }
    }
  ]
  for (const { rule, options = {}, use } of rows) {
    t.test(rule, async (t) => {
      onEveryHost(t, { routes, options, use }, async (t, call) => {
        for (const line of ['GET /api/throws', 'GET /api/rejects', 'GET /api/chained', 'GET /api/guarded']) {
          const { status, text } = await call(line)
          t.equal(status, 404, `${line}: nothing is left to answer`)
          t.notMatch(text, 'the handler', `${line}: the handler behind a guard that failed has not run`)
        }
      })
    })
  }
})

t.test('an error that comes when the head has left', async (t) => {
  const begin = (_request: any, response: any): void => {
    response.write('begun')
    throw failure('too late')
  }
  const seen: string[] = []
  const seeing: ErrorMiddleware = (error, _request, response, next) => {
    seen.push(`${error.message}, head has left: ${response.headersSent}`)
    next(error)
  }
  const closing: ErrorMiddleware = (_error, _request, response, _next) => void response.end(', closed')
  const silent: ErrorMiddleware = (_error, _request, _response, _next) => {}
  const rows: { rule: string; middleware?: ErrorMiddleware; received: RegExp; timeout?: number }[] = [
    {
      rule: 'cuts the answer off, and the client gets what was written',
      received: /^HTTP\/1\.1 200 [^]*\r\nbegun\r\n$/
    },
    {
      rule: 'an error of a stream that has begun is shown to error middleware before it is cut off',
      middleware: seeing,
      received: /^HTTP\/1\.1 200 [^]*\r\nbegun\r\n$/
    },
    { rule: 'may be dealt with by error middleware', middleware: closing, received: /, closed\r\n0\r\n\r\n$/ },
    {
      rule: 'an answer that has begun is cut off after the timeout where error middleware does nothing',
      middleware: silent,
      received: /begun\r\n$/,
      timeout: 20
    }
  ]
  for (const { rule, middleware, received, timeout } of rows) {
    t.test(rule, async (t) => {
      seen.length = 0
      const options = timeout === undefined ? {} : { handlerTimeout: timeout }
      const app = await appOf(t, { routes: { late: { GET: begin } }, options })
      if (middleware !== undefined) app.use(middleware)
      const wire = await connectTo(await addressOf(app))
      await wire.send('GET /api/late HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n')
      t.match(await wire.closed, received)
      if (middleware === seeing) t.strictSame(seen, ['too late, head has left: true'])
    })
  }
})

t.test(
  'an error of a file that middleware sends, although it has passed the request on, meets error middleware',
  async (t) => {
    const app = await appOf(t, { routes: { file: { GET: () => undefined } } })
    app.use((_request: any, response: any, next: any) => {
      response.sendFile('missing', { root: process.cwd() })
      next()
    })
    app.use(((error, _request, response, _next) => void response.status(418).send(error.code)) as ErrorMiddleware)
    t.match(await callByInject(app)('GET /api/file'), { status: 418, text: 'ENOENT' })
  }
)

t.test("an error handler of Fastify's kind", async (t) => {
  const rows: readonly {
    rule: string
    handler: (error: any, request: any, reply: any) => unknown
    wanted: object
  }[] = [
    {
      rule: 'sends',
      handler: (error, _request, reply) => void reply.code(418).send({ sent: error.message }),
      wanted: { status: 418, json: { sent: 'thrown' } }
    },
    {
      rule: 'returns',
      handler: (error, _request, reply) => {
        reply.code(418)
        return { sent: error.message }
      },
      wanted: { status: 418, json: { sent: 'thrown' } }
    },
    {
      rule: 'returns a promise',
      handler: async (error, _request, reply) => {
        reply.code(418)
        return { sent: error.message }
      },
      wanted: { status: 418, json: { sent: 'thrown' } }
    },
    {
      rule: 'writes the response itself',
      handler: (error, _request, reply) => void reply.raw.writeHead(418).end(JSON.stringify({ sent: error.message })),
      wanted: { status: 418, json: { sent: 'thrown' } }
    },
    {
      rule: "throws: Fastify's answer",
      handler: () => {
        throw failure('second')
      },
      wanted: { status: 500, json: { message: 'second' } }
    },
    {
      rule: "rejects: Fastify's answer",
      handler: async () => {
        throw failure('second')
      },
      wanted: { status: 500, json: { message: 'second' } }
    }
  ]
  for (const { rule, handler, wanted } of rows) {
    t.test(rule, async (t) => {
      onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler: handler as never } }, async (t, call) => {
        const { status, json } = await call('GET /api/throws')
        t.match({ status, json }, wanted)
      })
      if (/throws|rejects/.test(rule)) return
      const app = await appOf(t, { routes: sourceRoutes(), options: { errorHandler: handler as never } })
      t.equal((await callByInject(app)('GET /%zz')).status, 418, 'for a malformed url, too')
    })
  }
  t.test("an error handler of Fastify's kind that never answers gets Fastify's 503", async (t) => {
    const never = async (): Promise<unknown> => new Promise(() => {})
    onEveryHost(
      t,
      { routes: sourceRoutes(), options: { errorHandler: never as never, handlerTimeout: 20 } },
      async (t, call) => {
        for (const line of ['GET /api/throws', 'GET /api/none', 'GET /api/never']) {
          const { status, json } = await call(line)
          t.match({ status, json }, { status: 503, json: { statusCode: 503, code: 'SERVICE_UNAVAILABLE' } }, line)
        }
      }
    )
  })
  t.test("an error handler of Fastify's kind that answers late, with a stream, is waited for", async (t) => {
    const late = async (_error: unknown, _request: unknown, reply: any): Promise<unknown> => {
      await turn()
      return reply.code(418).send(Readable.from(['la', 'te']))
    }
    onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler: late as never } }, async (t, call) => {
      t.match(await call('GET /api/throws'), { status: 418, text: 'late' })
    })
  })
  t.test('set on the app by setErrorHandler', async (t) => {
    const handlers = {
      "of Fastify's kind": (error: Error, _request: any, reply: any) => reply.code(418).send({ sent: error.message }),
      'Express error middleware': (error: Error, _request: any, response: any, _next: any) =>
        response.status(418).json({ sent: error.message })
    }
    for (const [rule, handler] of Object.entries(handlers)) {
      const app = await appOf(t, { routes: sourceRoutes(), options: { errorHandler } })
      app.setErrorHandler(handler as never)
      for (const line of ['GET /api/throws', 'GET /api/none', 'GET /%zz'])
        t.equal((await callByInject(app)(line)).status, 418, `${rule}: ${line}`)
    }
    const app = await appOf(t, { routes: sourceRoutes() })
    t.throws(() => app.setErrorHandler({ handle: errorHandler } as never), {
      message: 'setErrorHandler takes a function; it was given an object'
    })
  })
})

t.test('what the HTTP parser refuses', async (t) => {
  const slow: any[] = []
  const routes: Routes = {
    begun: { GET: (_: any, response: any) => void slow.push(response.type('txt').write('begun') && response) },
    waits: { GET: (_: any, response: any) => void slow.push(response) }
  }
  const refused: readonly { rule: string; bytes: string; status: number; code: string }[] = [
    { rule: 'garbage', bytes: 'garbage\r\n\r\n', status: 400, code: 'VALIDATION_ERROR' },
    { rule: 'a method nobody knows', bytes: head('NONSENSE /api/a'), status: 400, code: 'VALIDATION_ERROR' },
    {
      rule: 'a header line without a name',
      bytes: 'GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n',
      status: 400,
      code: 'VALIDATION_ERROR'
    },
    {
      rule: 'a bare line feed in a header',
      bytes: 'GET / HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n',
      status: 400,
      code: 'VALIDATION_ERROR'
    },
    {
      rule: 'headers that are too large',
      bytes: head('GET /', { x: 'x'.repeat(17_000) }),
      status: 431,
      code: 'HTTP_431'
    },
    {
      rule: 'a url of more than all headers may have',
      bytes: head(`GET /${'x'.repeat(17_000)}`),
      status: 431,
      code: 'HTTP_431'
    },
    {
      rule: 'two lengths',
      bytes: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      status: 400,
      code: 'VALIDATION_ERROR'
    }
  ]
  for (const { name, options, shape } of [
    {
      name: 'what the HTTP parser refuses, with an error handler',
      options: { errorHandler },
      shape: (code: string) => ({ error: { code, message: /./ }, meta: { timestamp: /Z$/ } })
    },
    {
      name: 'what the HTTP parser refuses, without an error handler',
      options: {},
      shape: (_: string, statusCode: number) => ({ statusCode, error: /./, message: /./ })
    }
  ] as const) {
    t.test(name, async (t) => {
      const address = await addressOf(await appOf(t, { routes, options }))
      for (const { rule, bytes, status, code } of refused) {
        const received = await new Wire(t, address).write(bytes).then((wire) => wire.closed())
        t.match(received, new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'), rule)
        t.match(JSON.parse(received.slice(received.indexOf('\r\n\r\n'))), shape(code, status), rule)
        t.notMatch(received, /stack|node:internal/, `${rule}: nothing of the inside`)
      }
    })
  }
  t.test('a refusal of the HTTP parser is not written into an answer that has begun', async (t) => {
    const address = await addressOf(await appOf(t, { routes, options: { errorHandler } }))
    const wire = await new Wire(t, address).write(head('GET /api/begun'))
    await wire.until(/begun/)
    await wire.write('garbage\r\n\r\n')
    t.notMatch((await wire.closed()).slice(12), /HTTP\/1\.1/, 'it is cut off')
    t.equal((await callOver(address)('GET /api/none')).status, 404, 'the server goes on')
  })
})

t.test('the process goes on whatever an error handler does', async (t) => {
  const late: any[] = []
  const handler = (_error: unknown, _request: unknown, reply: any): void => {
    late.push(reply)
    reply.code(500).send('first')
    reply.send('second')
    reply.raw.json({ third: true })
    reply.raw.write('fourth')
  }
  onEveryHost(t, { routes: sourceRoutes(), options: { errorHandler: handler as never } }, async (t, call) => {
    t.match(await call('GET /api/throws'), { status: 500, text: 'first' })
    t.throws(() => late.pop().raw.setHeader('x-late', '1'), { code: 'ERR_HTTP_HEADERS_SENT' })
    await turn()
  })
})

t.test('a 404 that nobody watches tells the client what a watched one does', async (t) => {
  const rows: Record<string, { line?: string; more?: (app: App) => void; wanted: object }> = {
    'nothing else': {
      wanted: {
        status: 404,
        text: '{"statusCode":404,"code":"NOT_FOUND","error":"Not Found","message":"Route not found"}',
        headers: { 'content-type': JSON_TYPE, 'content-length': '85' }
      }
    },
    HEAD: { line: 'HEAD /api/none', wanted: { status: 404, text: '', headers: { 'content-length': '85' } } },
    'what described another answer': {
      more: (app) =>
        app.use((_request, response, next) => {
          response.set({ 'content-encoding': 'gzip', 'content-type': 'text/css', etag: '"1"', 'x-kept': '1' })
          response.statusMessage = 'Fine'
          response.status(418)
          next()
        }),
      wanted: {
        status: 404,
        headers: { 'content-type': JSON_TYPE, 'content-encoding': undefined, etag: undefined, 'x-kept': '1' }
      }
    },
    'an onSend hook that changes the text': {
      more: (app) => app.addHook('onSend', async (_request, _reply, payload) => `${payload as string}\n`),
      wanted: { status: 404, text: /Route not found"}\n$/, headers: { 'content-length': '86' } }
    },
    'an onSend hook that fails': {
      more: (app) => app.addHook('onSend', throwing(failure('broken')) as never),
      wanted: { status: 404, text: /"message":"broken"/ }
    },
    'a serializer of the reply, which is for values': {
      more: (app) => app.addHook('onRequest', async (_request, reply) => void reply.serializer(() => 'serialized')),
      wanted: { status: 404, text: /^{"statusCode":404,/ }
    },
    'an answer that has begun': {
      more: (app) =>
        app.use((_request, response, next) => {
          response.writeHead(202)
          response.end('begun')
          next()
        }),
      wanted: { status: 202, text: 'begun' }
    }
  }
  for (const [rule, { line = 'GET /api/none', more, wanted }] of Object.entries(rows)) {
    t.test(rule, async (t) => {
      const watched = await appOf(t, { routes: { a: { GET: () => 'a' } } })
      const unwatched = await appOf(t, { routes: { a: { GET: () => 'a' } } })
      for (const app of [watched, unwatched]) more?.(app)
      let seen = 0
      watched.addHook('onError', async () => void seen++)
      for (const call of [callByInject(watched), callOver(await addressOf(watched))]) t.match(await call(line), wanted)
      for (const call of [callByInject(unwatched), callOver(await addressOf(unwatched))]) {
        t.match(await call(line), wanted)
      }
      if (rule !== 'an answer that has begun') t.ok(seen >= 2, 'the hook saw each error')
    })
  }
  t.test('an error handler and error middleware that come after boot see it', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    const call = callByInject(app)
    t.match(await call('GET /api/none'), { status: 404, text: /"Not Found"/ })
    const onError: ErrorMiddleware = (error, _request, response, _next) => response.status(404).send(String(error.code))
    app.use(onError)
    t.match(await call('GET /api/none'), { status: 404, text: 'NOT_FOUND' })
  })
  t.test('an onSend hook that fails is answered for, as on plain Fastify', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    const plain = fastify()
    t.teardown(() => plain.close())
    for (const host of [app, plain]) {
      host.addHook('onSend', async (request) => {
        throw failure('broken', request.url === '/api/status' ? { statusCode: 502 } : {})
      })
    }
    for (const [url, wanted] of Object.entries({
      '/api/status': { status: 502, text: '{"statusCode":502,"error":"Bad Gateway","message":"broken"}' },
      '/api/none': { status: 404, text: '{"statusCode":404,"error":"Not Found","message":"broken"}' }
    }))
      for (const host of [app, plain]) t.match(await callByInject(host)(`GET ${url}`), wanted)
  })
  t.test("the app's own log controller sees it", async (t) => {
    const seen: string[] = []
    class Log extends LogController {
      override defaultErrorLog(error: Error): void {
        seen.push(error.message)
      }
    }
    const options = { fastifyOptions: { logController: new Log() } }
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } }, options })
    t.match(await callByInject(app)('GET /api/none'), { status: 404 })
    t.strictSame(seen, ['Route not found'])
  })
  t.test('a middleware whose setHeader throws ends nothing but its request', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    app.use((request, response, next) => {
      if (request.url === '/api/none') response.setHeader = throwing(failure('broken'))
      next()
    })
    const call = callByInject(app)
    t.ok((await call('GET /api/none')).status >= 400)
    t.equal((await call('GET /api/a')).status, 200)
  })
  t.test('a hook may ask for it of an object that is made of the reply', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    app.addHook('onRequest', async (_request, reply) => {
      ;(Object.create(reply) as FastifyReply).callNotFound()
      return reply
    })
    t.match(await callByInject(app)('GET /api/none'), { status: 404 })
  })
  t.test('an error handler sees it', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    app.setErrorHandler((error, _request, reply) =>
      reply.code(404).send({ code: Reflect.get(error as object, 'code') })
    )
    t.match(await callByInject(app)('GET /api/none'), { status: 404, text: '{"code":"NOT_FOUND"}' })
  })
  t.test('an onSend hook that hangs is cut off after the handler timeout', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } }, options: { handlerTimeout: 20 } })
    app.addHook('onSend', async () => new Promise<never>(() => {}))
    for (const call of [callByInject(app), callOver(await addressOf(app))])
      t.match(await call('GET /api/none'), { status: 503, text: '' })
  })
})
