// ci: once (rules of this package over what the other files try on every Node version)
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import express5, { type Express } from 'express'
import LinkHeader from 'http-link-header'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import {
  apiVersion,
  envelope,
  pagination,
  paginationMeta,
  rateLimit,
  setPaginationHeaders,
  validate,
  type RateLimitOptions,
  type RedisClient,
  type Schema
} from 'twinroute/http'
import { z } from 'zod'
import { appOf, onEveryHost } from './support/hosts.js'
import { asExpress, listen, onEachEngine, send, type Engine } from './support/express-server.js'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends an error as the global error handler would, with its headers, and what `next` got. */
function showErrors(app: Express): Express {
  return app.use((error: any, _request: any, response: any, next: any) => {
    const { statusCode = 500, code, message, details, headers = {} } = error
    if (response.headersSent) next(error)
    else response.set(headers).status(statusCode).json({ code, message, details })
  })
}

async function jsonAnswer(url: string, init: RequestInit): Promise<{ status: number; body: any }> {
  const response = await fetch(url, init)
  return { status: response.status, body: await response.json() }
}

/** An application that validates and answers what the handler saw. */
function validating(express: Engine, ...middleware: any[]): Express {
  const app = express()
  app.all('/items/:id', ...middleware.map(asExpress), (request: any, response: any) => {
    response.json({ validatedData: request.validatedData, body: request.body ?? null })
  })
  return showErrors(app)
}

const createUser = z.object({
  name: z.string().min(2).max(100),
  email: z.string().trim().toLowerCase().pipe(z.email()),
  role: z.enum(['user', 'admin', 'moderator']).default('user'),
  address: z.object({ streets: z.array(z.string().min(2)) }).optional()
})

const FAILED = 'Request validation failed'

onEachEngine('validate puts what the schema makes of a body into validatedData, or answers 400', async (t, express) => {
  const url = `${await listen(t, validating(express, validate(createUser)))}/items/1`
  const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
    jsonAnswer(url, { method: 'POST', body, headers })

  t.test('validatedData is what the schema makes of it', async (t) => {
    const answer = await post('{"name":"Ada","email":" ADA@Example.test ","unknown":1}')
    t.equal(answer.status, 200)
    t.strictSame(answer.body.validatedData, { name: 'Ada', email: 'ada@example.test', role: 'user' })
  })

  const invalid: { rule: string; body: string; fields: string[] }[] = [
    { rule: 'every problem is listed', body: '{"name":"A","email":"x"}', fields: ['name', 'email'] },
    { rule: 'a missing field', body: '{"name":"Ada"}', fields: ['email'] },
    {
      rule: 'a path into objects and lists is dotted',
      body: '{"name":"Ada","email":"a@b.test","address":{"streets":["ok","x"]}}',
      fields: ['address.streets.1']
    },
    { rule: 'operator objects', body: '{"name":{"$gt":""},"email":{"$ne":null}}', fields: ['name', 'email'] },
    { rule: 'a list', body: '[]', fields: [''] }
  ]
  for (const { rule, body, fields } of invalid) {
    t.test(`${rule}: 400 with details`, async (t) => {
      const answer = await post(body)
      t.match(answer, { status: 400, body: { code: 'VALIDATION_ERROR', message: FAILED } })
      t.strictSame(
        answer.body.details.map(({ field }: any) => field),
        fields
      )
      for (const detail of answer.body.details) {
        t.strictSame(Object.keys(detail), ['field', 'message'])
        t.type(detail.message, 'string')
      }
    })
  }

  const big = JSON.stringify({ name: 'x'.repeat(1024 * 1024) })
  t.test('a body of a type that no handler would get parsed: 400', async (t) => {
    const valid = '{"name":"Ada","email":"a@b.test"}'
    const refused = { status: 400, body: { message: FAILED } }
    t.match(await post('', JSON_TYPE), refused, 'none at all')
    t.match(await post(valid, { 'content-type': 'text/plain' }), refused, 'text is text')
    t.match(await post(valid, { 'content-type': 'application/octet-stream' }), refused, 'bytes')
  })

  t.test('JSON of any type of its family, and forms, are read', async (t) => {
    const json = '{"name":"Ada","email":"a@b.test"}'
    for (const [type, body] of [
      ['application/vnd.api+json', json],
      ['application/x+json; charset=utf-8', json],
      ['APPLICATION/JSON', json],
      ['application/x-www-form-urlencoded', 'name=Ada&email=a%40b.test']
    ] as const) {
      const answer = await post(body, { 'content-type': type })
      t.match(answer, { status: 200, body: { validatedData: { name: 'Ada', email: 'a@b.test' } } }, type)
    }
  })

  t.test('a body that is refused before any schema sees it', async (t) => {
    const url = `${await listen(t, validating(express, validate(z.unknown())))}/items/1`
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    const refused: { rule: string; body: string; status: number; message: RegExp }[] = [
      { rule: 'broken JSON', body: '{"name":', status: 400, message: /not valid JSON/ },
      { rule: '101 levels', body: nested(101), status: 400, message: /deeper than 100/ },
      { rule: '200,000 levels', body: nested(200_000), status: 400, message: /deeper than 100/ },
      { rule: 'a __proto__ key', body: '{"__proto__":{"role":"admin"}}', status: 400, message: /not valid JSON/ },
      {
        rule: 'a __proto__ key further in',
        body: '{"a":[{"__proto__":{"role":"admin"}}]}',
        status: 400,
        message: /not valid JSON/
      },
      {
        rule: 'a constructor.prototype key',
        body: '{"constructor":{"prototype":{"role":"admin"}}}',
        status: 400,
        message: /not valid JSON/
      },
      { rule: 'more than 1 MiB', body: big, status: 413, message: /larger than 1048576 bytes/ }
    ]
    for (const { rule, body, status, message } of refused) {
      const answer = await jsonAnswer(url, { method: 'POST', body, headers: JSON_TYPE })
      const code = status === 413 ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR'
      t.match(answer, { status, body: { code, message } }, rule)
      t.ok(JSON.stringify(answer.body).length < 200, `${rule}: without an echo`)
    }
    const accepted = { method: 'POST', body: nested(100), headers: JSON_TYPE }
    t.equal((await jsonAnswer(url, accepted)).status, 200, '100 levels pass')
    for (const value of ['null', '"text"', '7', 'false']) {
      const answer = await jsonAnswer(url, { method: 'POST', body: value, headers: JSON_TYPE })
      t.strictSame([answer.status, answer.body.validatedData], [200, JSON.parse(value)], `${value} is a value`)
    }
    const harmless = { method: 'POST', body: '{"constructor":"Ada"}', headers: JSON_TYPE }
    t.equal((await jsonAnswer(url, harmless)).status, 200, 'so does a constructor that is text')
  })

  t.test('a compressed body counts as it is inflated', async (t) => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
    t.match(await post(gzipSync('{"name":"Ada","email":"a@b.test"}'), headers), { status: 200 })
    t.match(await post(gzipSync(big), headers), { status: 413 })
  })

  t.test('nothing has reached the prototype of all objects', async (t) => {
    t.equal(({} as any).role, undefined)
  })
})

interface Agreement {
  name: string
  /** Of the route file. */
  config?: object
  /** Of the app, or of the plugin. */
  bodyLimit?: number
  options?: { bodyLimit?: number }
  type?: string
  body: string
  status: number
  /** What handler and schema see. */
  value?: unknown
}

const KIB = 1024
const AGREEMENTS: Agreement[] = [
  { name: 'a route of 1 KiB', config: { bodyLimit: KIB }, body: JSON.stringify('x'.repeat(KIB)), status: 413 },
  {
    name: 'a route of 5 MiB',
    config: { bodyLimit: 5 * KIB * KIB },
    body: JSON.stringify('x'.repeat(2 * KIB * KIB)),
    status: 200
  },
  { name: 'an app of 1 KiB', bodyLimit: KIB, body: JSON.stringify('x'.repeat(KIB)), status: 413 },
  { name: 'an app of 3 MiB', bodyLimit: 3 * KIB * KIB, body: JSON.stringify('x'.repeat(2 * KIB * KIB)), status: 200 },
  {
    name: 'a route above its app',
    bodyLimit: KIB,
    config: { bodyLimit: 4 * KIB },
    body: JSON.stringify('x'.repeat(2 * KIB)),
    status: 200
  },
  {
    name: 'the option below the route',
    options: { bodyLimit: KIB },
    body: JSON.stringify('x'.repeat(KIB)),
    status: 413
  },
  {
    name: 'the option above the route',
    config: { bodyLimit: KIB },
    options: { bodyLimit: KIB * KIB },
    body: JSON.stringify('x'.repeat(KIB)),
    status: 413
  },
  {
    name: 'a route that parses early',
    config: { bodyLimit: KIB, bodyParser: 'early' },
    body: JSON.stringify('x'.repeat(KIB)),
    status: 413
  },
  { name: 'null', body: 'null', status: 200, value: null },
  { name: 'false', body: 'false', status: 200, value: false },
  { name: 'JSON of the family', type: 'application/x+json', body: '{"a":1}', status: 200, value: { a: 1 } },
  {
    name: 'a form',
    type: 'application/x-www-form-urlencoded',
    body: 'a=1&a=2&b=',
    status: 200,
    value: { a: ['1', '2'], b: '' }
  },
  { name: 'text', type: 'text/plain', body: 'a=1', status: 200, value: 'a=1' },
  { name: 'nothing', body: '', status: 200, value: undefined },
  {
    name: 'a type that is not parsed',
    type: 'application/octet-stream',
    body: '{"a":1}',
    status: 200,
    value: undefined
  }
]

t.test('validate reads a body as the body step of the route file does', async (t) => {
  for (const { name, config = {}, bodyLimit, options, type, body, status, ...seen } of AGREEMENTS) {
    t.test(name, async (t) => {
      const told: { schema?: unknown; handler?: unknown } = {}
      const schema = schemaOf((value) => {
        told.schema = value
        return { value }
      })
      const POST = (request: any): object => {
        told.handler = request.body
        return { ran: true }
      }
      const routes = { a: { POST, middleware: [validate(schema, options)], config }, b: { POST, config } }
      const scenario = { routes, options: bodyLimit === undefined ? {} : { bodyLimit } }
      onEveryHost(t, scenario, async (t, call) => {
        for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
          if (body === '' && 'transfer-encoding' in headers) continue
          const sent = { headers: { 'content-type': type ?? 'application/json', ...headers }, body }
          Object.assign(told, { schema: 'not called', handler: 'not called' })
          const answer = await call('POST /api/a', sent)
          t.equal(answer.status, status)
          t.strictSame(
            told.schema,
            status === 200 ? told.handler : 'not called',
            'the schema sees what the handler sees'
          )
          if ('value' in seen) t.same(told.handler, seen.value)
          const without = (await call('POST /api/b', sent)).status
          if (options === undefined) t.equal(without, status, 'as without validate')
        }
      })
    })
  }
})

onEachEngine('validate: a body that is too large is refused before it has arrived', async (t, express) => {
  const url = `${await listen(t, validating(express, validate(createUser, { bodyLimit: 1000 })))}/items/1`
  for (const { rule, headers, sent } of [
    { rule: 'a declared length of 1 GB, nothing sent', headers: { 'content-length': '1073741824' }, sent: '' },
    { rule: 'chunks without a declared length', headers: { 'transfer-encoding': 'chunked' }, sent: 'x'.repeat(1001) }
  ] as const) {
    t.test(rule, async (t) => {
      const request = httpRequest(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, agent: false })
      request.on('error', () => undefined) // the server closes while we could go on sending
      request.flushHeaders()
      if (sent !== '') request.write(sent)
      const response: any = await new Promise((resolve) => request.on('response', resolve))
      t.equal(response.statusCode, 413)
      t.equal(response.headers.connection, 'close')
      request.destroy()
    })
  }
})

onEachEngine('validate: a body that somebody has parsed is taken as it is', async (t, express) => {
  const parse = (request: any, _response: any, next: any): void => {
    request.body = { name: 'Grace', email: 'grace@example.test' }
    next()
  }
  const url = await listen(t, validating(express, parse, validate(createUser)))
  const response = await fetch(`${url}/items/1`, { method: 'POST', body: '{"name":', headers: JSON_TYPE })
  t.match(await response.json(), { validatedData: { name: 'Grace' } })

  t.test('validate takes forms behind a parser of Express', async (t) => {
    const url = await listen(t, validating(express, express.urlencoded(), validate(createUser)))
    const body = new URLSearchParams({ name: 'Ada', email: 'a@b.test' })
    t.match(await (await fetch(`${url}/items/1`, { method: 'POST', body })).json(), { validatedData: { name: 'Ada' } })
  })
})

onEachEngine('validate takes body, query and params by name', async (t, express) => {
  const sources = validate({
    params: z.object({ id: z.coerce.number().int() }),
    query: z.object({ sort: z.enum(['name', 'email']).optional() }),
    body: z.object({ name: z.string() })
  })
  const url = await listen(t, validating(express, sources))
  const put = (path: string, body: string) => jsonAnswer(url + path, { method: 'PUT', body, headers: JSON_TYPE })

  t.test('validatedData has a key for each part that has a schema', async (t) => {
    const { body } = await put('/items/7?sort=name&other=1', '{"name":"Ada"}')
    t.strictSame(body.validatedData, { params: { id: 7 }, query: { sort: 'name' }, body: { name: 'Ada' } })
  })

  t.test('the fields of the details start with the part they are of', async (t) => {
    const { status, body } = await put('/items/x?sort=password', '{}')
    t.equal(status, 400)
    t.strictSame(body.details.map(({ field }: any) => field).toSorted(), ['body.name', 'params.id', 'query.sort'])
  })

  t.test('validate without a body schema leaves the body unread', async (t) => {
    const url = await listen(t, validating(express, validate({ query: z.object({}) }), express.text({ type: '*/*' })))
    const response = await fetch(`${url}/items/1`, { method: 'POST', body: '{broken', headers: JSON_TYPE })
    t.match(await response.json(), { body: '{broken' })
  })
})

/** A schema of no library: Standard Schema is only a shape. */
function schemaOf(validate: Schema['~standard']['validate']): Schema {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

onEachEngine('validate takes any Standard Schema', async (t, express) => {
  const ask = async (schema: Schema) => {
    const url = await listen(t, validating(express, validate(schema)))
    return jsonAnswer(`${url}/items/1`, { method: 'POST', body: '{"a":1}', headers: JSON_TYPE })
  }

  t.test('a Standard Schema that answers later is waited for', async (t) => {
    const later = schemaOf(async (value) => ({ value: { seen: value } }))
    t.match(await ask(later), { status: 200, body: { validatedData: { seen: { a: 1 } } } })
  })

  t.test('a Standard Schema whose paths hold objects names its fields', async (t) => {
    const keyed = schemaOf(() => ({ issues: [{ message: 'no', path: ['list', { key: 0 }, { key: 'name' }] }] }))
    t.match(await ask(keyed), { status: 400, body: { details: [{ field: 'list.0.name', message: 'no' }] } })
  })

  t.test('the error of a Standard Schema that throws goes on', async (t) => {
    const throwing = schemaOf(() => {
      throw new Error('the schema is broken')
    })
    t.match(await ask(throwing), { status: 500, body: { message: 'the schema is broken' } })
  })

  t.test('the client does not decide how long the details are', async (t) => {
    const issue = { message: 'm'.repeat(10_000), path: ['k'.repeat(10_000)] }
    const { body } = await ask(schemaOf(() => ({ issues: Array.from({ length: 5000 }, () => issue) })))
    t.ok(body.details.length <= 100 && JSON.stringify(body).length < 100_000, `${JSON.stringify(body).length} bytes`)
  })
})

onEachEngine('validate: the async context of the request is kept while the body arrives', async (t, express) => {
  const storage = new AsyncLocalStorage<string>()
  const app = express()
  app.use((request, _response, next) => storage.run(String(request.query.id), next))
  app.post('/', asExpress(validate(z.object({}))), (_request, response) => {
    response.json({ id: storage.getStore() })
  })
  const url = await listen(t, app)
  const ids = Array.from({ length: 20 }, () => randomUUID())
  const seen = await Promise.all(
    ids.map(async (id) => {
      const { body } = await jsonAnswer(`${url}/?id=${id}`, { method: 'POST', body: '{}', headers: JSON_TYPE })
      return body.id
    })
  )
  t.strictSame(seen, ids)
})

/** An application with a limiter on POST /login, behind a proxy that is believed. */
function limited(express: Engine, options: RateLimitOptions): Express {
  const app = express().set('trust proxy', true)
  app.all('/login', asExpress(rateLimit(options)), (_request, response) => {
    response.json({ passed: true })
  })
  return showErrors(app)
}

/** Statuses of one request for each address, in turn. */
async function statuses(url: string, addresses: readonly string[], path = '/login'): Promise<number[]> {
  const seen = []
  for (const address of addresses) {
    const { status } = await send(url + path, ['x-forwarded-for', address])
    seen.push(status ?? 0)
  }
  return seen
}

const times = (count: number, address: string): string[] => Array.from({ length: count }, () => address)

onEachEngine('rateLimit counts the attempts of each client in a window', async (t, express) => {
  t.test('five attempts pass, then 429 in the flat shape with Retry-After', async (t) => {
    const url = await listen(t, limited(express, {}))
    t.strictSame(await statuses(url, times(5, '192.0.2.1')), [200, 200, 200, 200, 200])
    const answer = await send(`${url}/login`, ['x-forwarded-for', '192.0.2.1'])
    t.match(answer, { status: 429, body: { error: 'TOO_MANY_ATTEMPTS', message: String } })
    t.strictSame(Object.keys(answer.body), ['error', 'message'])
    const wait = Number(answer.headers['retry-after'])
    t.ok(Number.isInteger(wait) && wait > 0 && wait <= 900, `Retry-After: ${wait}`)
  })

  t.test('after the window the client starts anew', async (t) => {
    const url = await listen(t, limited(express, { attempts: 1 }))
    t.strictSame(await statuses(url, times(2, '192.0.2.1')), [200, 429])
    const { now } = Date
    t.intercept(Date, 'now', { value: () => now() + 900_000 })
    t.strictSame(await statuses(url, times(2, '192.0.2.1')), [200, 429])
  })

  t.test('a clock that is set back makes nobody wait longer than the window', async (t) => {
    const url = await listen(t, limited(express, { attempts: 1, windowMs: 2000 }))
    t.strictSame(await statuses(url, ['192.0.2.1']), [200])
    const { now } = Date
    t.intercept(Date, 'now', { value: () => now() - 3_600_000 })
    const { status, headers } = await send(`${url}/login`, ['x-forwarded-for', '192.0.2.1'])
    t.strictSame([status, headers['retry-after']], [429, '2'])
  })

  const clients: { rule: string; first: string; second: string; shared: boolean }[] = [
    { rule: 'another IPv4 address is another client', first: '192.0.2.1', second: '192.0.2.2', shared: false },
    {
      rule: 'an IPv4 address in IPv6 notation is the same client',
      first: '::ffff:192.0.2.1',
      second: '192.0.2.1',
      shared: true
    },
    {
      rule: 'two IPv4 addresses in IPv6 notation are two clients',
      first: '::ffff:192.0.2.1',
      second: '::ffff:192.0.2.2',
      shared: false
    },
    {
      rule: 'a /64 network is one client',
      first: '2001:db8:1:2::1',
      second: '2001:db8:1:2:ffff:ffff:ffff:ffff',
      shared: true
    },
    {
      rule: 'another /64 network is another client',
      first: '2001:db8:1:2::1',
      second: '2001:db8:1:3::1',
      shared: false
    },
    { rule: 'a port is no part of an IPv4 address', first: '192.0.2.1:4711', second: '192.0.2.1:4712', shared: true },
    {
      rule: 'a port of an IPv4 address does not make it another client',
      first: '192.0.2.1:4711',
      second: '192.0.2.2:4711',
      shared: false
    },
    {
      rule: 'an address with a port is the client of the address without',
      first: '192.0.2.1:4711',
      second: '192.0.2.1',
      shared: true
    },
    {
      rule: 'a port is no part of an IPv6 address',
      first: '[2001:db8::1]:4711',
      second: '[2001:db8::1]:4712',
      shared: true
    },
    { rule: 'brackets are no part of an IPv6 address', first: '[2001:db8::1]', second: '2001:db8::1', shared: true },
    {
      rule: 'a port in brackets does not make an IPv6 address another client',
      first: '[2001:db8:1:2::1]:80',
      second: '[2001:db8:1:3::1]:80',
      shared: false
    },
    { rule: 'a zone is no part of an address', first: '2001:db8::1%eth0', second: '2001:db8::1%eth1.7', shared: true },
    {
      rule: 'a zone in brackets, escaped, with a port, is no part of an address',
      first: '[2001:db8::1%25eth0]:80',
      second: '[2001:db8::1%25wlan-0]:81',
      shared: true
    },
    { rule: 'quotes are no part of an address', first: '"[2001:db8::1]:4711"', second: '2001:db8::1', shared: true },
    {
      rule: 'an IPv4 address in IPv6 notation with a port is the same client',
      first: '[::ffff:192.0.2.1]:4711',
      second: '192.0.2.1:80',
      shared: true
    },
    {
      rule: 'every text that is no address is one and the same client',
      first: '_hidden',
      second: 'unknown:4711',
      shared: true
    },
    { rule: 'an open bracket is no address', first: '[2001:db8::1', second: '[', shared: true },
    {
      rule: 'an IPv6 address written otherwise is the same client',
      first: '2001:db8::1',
      second: '2001:0DB8:0:0:0:0:0:1',
      shared: true
    }
  ]
  for (const { rule, first, second, shared } of clients) {
    t.test(rule, async (t) => {
      const url = await listen(t, limited(express, { attempts: 1 }))
      t.strictSame(await statuses(url, [first, second]), shared ? [200, 429] : [200, 200])
    })
  }

  t.test('clients without an address share a count, and the first of them is told', async (t) => {
    const warned: Error[] = []
    const onWarning = (warning: Error): void => void warned.push(warning)
    process.on('warning', onWarning)
    t.teardown(() => process.off('warning', onWarning))
    const url = await listen(t, limited(express, { attempts: 2 }))
    t.strictSame(await statuses(url, ['192.0.2.1', '[2001:db8::1]:80', '192.0.2.2:80']), [200, 200, 200])
    await turn()
    t.strictSame(warned, [], 'not where there is one')
    t.strictSame(await statuses(url, ['_a', '_b', '_c']), [200, 200, 429])
    await turn()
    t.match(warned, [{ code: 'TWINROUTE_NO_CLIENT_ADDRESS', message: /trustProxy.*keyFor/ }])
    t.equal(warned.length, 1)
  })

  t.test('another spelling of the route is no new budget', async (t) => {
    const app = limited(express, { attempts: 1 })
    app.use('/mounted', asExpress(rateLimit({ attempts: 1 })), (_request, response) => {
      response.json({ passed: true })
    })
    const url = await listen(t, app)
    for (const [first, ...others] of [
      ['/login', '/login/', '/LOGIN', '/login?x=1', '/login?y'],
      ['/mounted', '/mounted/', '/Mounted', '/mounted?x=1', '/mounted/below']
    ] as const) {
      t.strictSame(await statuses(url, ['192.0.2.1'], first), [200])
      for (const path of others) t.strictSame(await statuses(url, ['192.0.2.1'], path), [429], path)
    }
    const other = await fetch(`${url}/login`, { method: 'HEAD', headers: { 'x-forwarded-for': '192.0.2.1' } })
    t.equal(other.status, 429, 'nor is another method')
  })

  t.test('one limiter on two routes counts them apart', async (t) => {
    const app = express()
    const limiter = asExpress(rateLimit({ attempts: 1 }))
    app.get(['/one'], limiter, (_request, response) => void response.json({}))
    app.get('/two', limiter, (_request, response) => void response.json({}))
    const url = await listen(t, app)
    t.equal((await send(`${url}/one`)).status, 200)
    t.equal((await send(`${url}/two`)).status, 200)
    t.equal((await send(`${url}/one`)).status, 429)
  })

  t.test('keyFor decides who is counted', async (t) => {
    const url = await listen(t, limited(express, { attempts: 1, keyFor: (request) => String(request.query.account) }))
    t.strictSame(await statuses(url, ['192.0.2.1'], '/login?account=a'), [200])
    t.strictSame(await statuses(url, ['192.0.2.2'], '/login?account=a'), [429])
    t.strictSame(await statuses(url, ['192.0.2.2'], '/login?account=b'), [200])
  })

  t.test('a keyFor that throws is handed to next', async (t) => {
    const keyFor = (): string => {
      throw new Error('no account')
    }
    t.match(await send(`${await listen(t, limited(express, { keyFor }))}/login`), {
      status: 500,
      body: { message: 'no account' }
    })
  })

  t.test('no more clients are remembered than maxKeys', async (t) => {
    const url = await listen(t, limited(express, { attempts: 1, maxKeys: 2 }))
    t.strictSame(await statuses(url, ['192.0.2.1', '192.0.2.2', '192.0.2.2']), [200, 200, 429])
    t.strictSame(await statuses(url, ['192.0.2.3', '192.0.2.2', '192.0.2.3']), [200, 429, 429], 'the newer stay')
    t.strictSame(await statuses(url, ['192.0.2.1']), [200], 'the oldest was forgotten')
  })

  t.test('the client that is forgotten is the one whose window began first', async (t) => {
    const url = await listen(t, limited(express, { attempts: 1, maxKeys: 2, windowMs: 60_000 }))
    const { now } = Date
    let passed = 0
    t.intercept(Date, 'now', { value: () => now() + passed })
    t.strictSame(await statuses(url, ['192.0.2.1']), [200])
    passed = 40_000
    t.strictSame(await statuses(url, ['192.0.2.2']), [200])
    passed = 80_000
    t.strictSame(await statuses(url, ['192.0.2.1', '192.0.2.3']), [200, 200], 'a new window, and one client too many')
    t.strictSame(await statuses(url, ['192.0.2.1', '192.0.2.2']), [429, 200])
  })

  t.test('every client of the redis package is taken, also one that does not tell whether it is ready', (t) => {
    const query = { eval: async () => null, connect: async () => undefined }
    for (const redis of [query, { ...query, isReady: true }, { ...query, isReady: false }]) {
      t.doesNotThrow(() => rateLimit({ redis }), JSON.stringify(redis))
    }
    t.end()
  })

  t.test('options that make no sense are refused at boot', async (t) => {
    const query = { eval: async (_script: string, _keys: number, ..._args: string[]) => null }
    const ioredis = { ...query, connect: async () => undefined, status: 'ready' }
    const rows: readonly (readonly [options: unknown, message: RegExp | string])[] = [
      [{ attempts: 0 }, 'The option attempts of rateLimit must be a whole number of at least 1; it is 0'],
      [{ attempts: 1.5 }, /attempts .*it is 1\.5$/],
      [{ attempts: NaN }, /attempts .*it is NaN$/],
      [{ attempts: '5' }, /attempts .*it is "5"$/],
      [{ attempts: 5n }, /attempts .*it is a bigint$/],
      [{ windowMs: 999 }, /windowMs .*at least 1000; it is 999$/],
      [{ windowMs: NaN }, /windowMs .*NaN$/],
      [{ windowMs: Infinity }, /windowMs .*Infinity$/],
      [{ maxKeys: 0 }, /maxKeys .*it is 0$/],
      [{ windowMs: -1 }, /windowMs .*it is -1$/],
      [{ redis: 'redis://localhost' }, /redis of \w+ must be a client of the redis package, .*; it is "redis:/],
      [
        { redis: ioredis },
        /redis of \w+ must be a client of the redis package, not of another such as ioredis; it is /
      ],
      [{ redis: query }, /redis of \w+ must be a client of the redis package, not of another such as ioredis; it is /],
      [{ keyFor: 'ip' }, /keyFor of \w+ must be a function/],
      [{ keyPrefix: 1 }, /keyPrefix of \w+ must be a string/],
      [{ message: null }, /message of \w+ must be a string; it is null$/],
      [{ attempt: 3 }, /^rateLimit has no option attempt; it has attempts, /],
      [null, /^rateLimit takes an object of options; it was given null$/]
    ]
    for (const [options, message] of rows) {
      t.throws(() => rateLimit(options as object), { name: 'TypeError', message }, String(message))
    }
    t.throws(() => validate(z.object({}), { bodyLimit: '1mb' as never }), /bodyLimit of validate must be .*"1mb"$/)
    t.throws(() => validate(z.object({}), { limit: 5 } as object), /validate has no option limit/)
    const schemas: [given: unknown, message: RegExp][] = [
      [undefined, /schema of validate must be a Standard Schema, or an object with .*it is undefined$/],
      [{ boddy: z.object({}) }, /schema of validate has no field boddy; its fields are body, query, params$/],
      [{ body: {} }, /schema\.body of validate must be a Standard Schema; it is \{\}$/]
    ]
    for (const [given, message] of schemas) {
      t.throws(() => validate(given as never), { name: 'TypeError', message }, String(message))
    }
    t.throws(() => apiVersion(2 as never), { message: 'The option version of apiVersion must be a string; it is 2' })
    t.throws(() => apiVersion('v2', {} as never), {
      message: /transform of apiVersion must be a function; it is \{\}$/
    })
  })
})

/** A connected client, or why there is none. */
async function connectRedis(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2000 } })
  client.on('error', () => undefined)
  const reason = await client.connect().then(
    () => undefined,
    (error: Error) => `no Redis at ${url}: ${error.message}`
  )
  return { client, reason }
}

function blockFor(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** Stands between a client and Redis: may fall silent, or drop its connections and hold new ones until it opens again. */
async function startProxy(t: Test) {
  const sockets = new Set<Socket>()
  const held: Socket[] = []
  const proxy = { port: 0, silent: false, holding: false, drop, open }

  function join(near: Socket): void {
    const far = connect(6379, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('data', (bytes) => proxy.silent || to.write(bytes))
    }
  }
  function drop(): void {
    proxy.holding = true
    for (const socket of sockets) socket.destroy()
  }
  function open(): void {
    proxy.holding = false
    for (const near of held.splice(0)) join(near)
  }
  const server = createServer((near) => (proxy.holding ? void held.push(near) : join(near))).listen(0, '127.0.0.1')
  t.teardown(() => {
    drop()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  proxy.port = (server.address() as AddressInfo).port
  return proxy
}

const redis = await connectRedis('redis://127.0.0.1:6379')

t.test('over a Unix socket all clients share a count, unless a proxy tells who they are', async (t) => {
  const warned: (Error & { code?: string })[] = []
  const onWarning = (warning: Error): void => void warned.push(warning)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-socket-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const [trustProxy, wanted] of [
    [false, [200, 429]],
    [true, [200, 200]]
  ] as const) {
    const socketPath = join(folder, String(trustProxy))
    const app = await appOf(t, {
      routes: { a: { GET: () => ({}), middleware: [rateLimit({ attempts: 1 })] } },
      options: { trustProxy }
    })
    await app.listen({ path: socketPath })
    const statuses: unknown[] = []
    for (const ip of ['192.0.2.1', '192.0.2.2']) {
      const headers = { 'x-forwarded-for': ip }
      const request = httpRequest({ socketPath, path: '/api/a', headers, agent: false }).end()
      const [response] = await once(request, 'response')
      response.resume()
      statuses.push(response.statusCode)
    }
    t.strictSame(statuses, wanted, `trustProxy: ${trustProxy}`)
  }
  await turn()
  t.equal(warned.filter(({ code }) => code === 'TWINROUTE_NO_CLIENT_ADDRESS').length, 1)
})

t.test('rateLimit counts in Redis what several processes allow', { skip: redis.reason ?? false }, async (t) => {
  const keyPrefix = `twinroute-test:${randomUUID()}`
  t.teardown(async () => {
    const keys = await redis.client.keys(`${keyPrefix}*`)
    if (keys.length > 0) await redis.client.del(keys)
    await redis.client.close()
  })

  t.test('two processes share one count, which ends with the window', async (t) => {
    const options = { redis: redis.client, keyPrefix: `${keyPrefix}:shared`, attempts: 2, windowMs: 60_000 }
    const [first, second] = [await listen(t, limited(express5, options)), await listen(t, limited(express5, options))]
    t.strictSame(await statuses(first, times(1, '192.0.2.1')), [200])
    t.strictSame(await statuses(second, times(2, '192.0.2.1')), [200, 429])
    const answer = await send(`${first}/login`, ['x-forwarded-for', '192.0.2.1'])
    t.equal(answer.status, 429)
    t.match(answer.headers['retry-after'], /^\d+$/)
    const keys = await redis.client.keys(`${keyPrefix}:shared*`)
    t.equal(keys.length, 1)
    const left = await redis.client.pTTL(keys[0] ?? '')
    t.ok(left > 0 && left <= 60_000, `${left} ms left`)
  })

  t.test('limiters with other limits have counts of their own', async (t) => {
    const shared = { redis: redis.client, keyPrefix: `${keyPrefix}:limits` }
    const strict = await listen(t, limited(express5, { ...shared, attempts: 1 }))
    const generous = await listen(t, limited(express5, { ...shared, attempts: 3 }))
    t.strictSame(await statuses(strict, times(2, '192.0.2.1')), [200, 429])
    t.strictSame(await statuses(generous, times(4, '192.0.2.1')), [200, 200, 200, 429])
  })

  t.test('while a Redis client is not connected the count goes on in the process', async (t) => {
    const unconnected = createClient({ url: 'redis://127.0.0.1:6379' })
    const url = await listen(t, limited(express5, { redis: unconnected, keyPrefix, attempts: 2 }))
    t.strictSame(await statuses(url, times(3, '192.0.2.1')), [200, 200, 429])
  })

  t.test('when Redis falls silent the count goes on in the process', async (t) => {
    const proxy = await startProxy(t)
    const { client, reason } = await connectRedis(`redis://127.0.0.1:${proxy.port}`)
    t.equal(reason, undefined)
    t.teardown(() => client.destroy())
    const url = await listen(t, limited(express5, { redis: client, keyPrefix: `${keyPrefix}:silent`, attempts: 2 }))
    t.strictSame(await statuses(url, times(1, '192.0.2.1')), [200])
    proxy.silent = true
    t.strictSame(await statuses(url, times(3, '192.0.2.1')), [200, 200, 429])
  })

  t.test('a process that was busy for longer than Redis may take does not take it for slow', async (t) => {
    const { client } = redis
    const busy: Record<string, RedisClient['eval']> = {
      'before it has sent': (script, options) =>
        new Promise((resolve, reject) => {
          setImmediate(() => {
            client.eval(script, options).then(resolve, reject) // the client sends in the next turn
            blockFor(400)
          })
        }),
      'after it has sent'(script, options) {
        const answer = client.eval(script, options)
        setImmediate(() => setImmediate(blockFor, 400)) // the client sends in the first of these turns
        return answer
      }
    }
    for (const [when, answer] of Object.entries(busy)) {
      const blocking: RedisClient = { isReady: true, eval: answer }
      const options = { keyPrefix: `${keyPrefix}:busy`, attempts: 1, keyFor: () => when }
      const idle = await listen(t, limited(express5, { ...options, redis: client }))
      const blocked = await listen(t, limited(express5, { ...options, redis: blocking }))
      t.strictSame(await statuses(idle, times(1, '192.0.2.1')), [200], when)
      t.strictSame(await statuses(blocked, times(1, '192.0.2.1')), [429], `${when}: counted with the others`)
    }
  })

  t.test('attempts counted in the process while Redis is away are not counted again when it is back', async (t) => {
    const proxy = await startProxy(t)
    const client = createClient({ url: `redis://127.0.0.1:${proxy.port}`, socket: { reconnectStrategy: () => 20 } })
    client.on('error', () => undefined)
    await client.connect()
    t.teardown(() => client.destroy())
    const lost = new Promise((resolve) => client.once('reconnecting', resolve))
    proxy.drop()
    await lost
    const url = await listen(t, limited(express5, { redis: client, keyPrefix: `${keyPrefix}:away`, attempts: 2 }))
    t.strictSame(await statuses(url, times(3, '192.0.2.1')), [200, 200, 429])
    const back = new Promise((resolve) => client.once('ready', resolve))
    proxy.open()
    await back
    await client.ping()
    t.strictSame(await client.keys(`${keyPrefix}:away*`), [])
  })
})

onEachEngine('apiVersion runs middleware and transforms of the version that is asked for', async (t, express) => {
  const app = express()
  app.use(asExpress(apiVersion('v2', (body: any) => ({ version: 2, was: body }))))
  app.use('/v1', asExpress(apiVersion('v1')))
  app.get(['/json', '/v1/json'], (request: any, response) => void response.json({ seen: request.apiVersion ?? null }))
  app.get('/send', (_request, response) => void response.send({ a: 1 }))
  app.get('/text', (_request, response) => void response.send('text'))
  app.get('/error', (_request, response) => void response.status(404).json({ error: 'NOT_FOUND' }))
  const url = await listen(t, app)

  const plain = { seen: null }
  const rows: { rule: string; path: string; version: string | undefined; body: unknown }[] = [
    {
      rule: 'its own version sets request.apiVersion and transforms the answer',
      path: '/json',
      version: 'v2',
      body: { version: 2, was: { seen: 'v2' } }
    },
    {
      rule: 'no header means v1, which the middleware of v2 lets pass',
      path: '/json',
      version: undefined,
      body: plain
    },
    { rule: 'a version that another middleware is for', path: '/json', version: 'v1', body: plain },
    { rule: 'a version that the middleware does not know', path: '/json', version: 'v3', body: plain },
    { rule: 'other letters are another version', path: '/json', version: 'V2', body: plain },
    { rule: 'a list is no version', path: '/json', version: 'v2, v1', body: plain },
    { rule: 'middleware of v1 acts without a header', path: '/v1/json', version: undefined, body: { seen: 'v1' } },
    {
      rule: 'an object given to send is transformed as JSON',
      path: '/send',
      version: 'v2',
      body: { version: 2, was: { a: 1 } }
    },
    { rule: 'text is not touched', path: '/text', version: 'v2', body: 'text' },
    { rule: 'errors are the same in all versions', path: '/error', version: 'v2', body: { error: 'NOT_FOUND' } }
  ]
  for (const { rule, path, version, body } of rows) {
    t.test(rule, async (t) => {
      const answer = await send(url + path, version === undefined ? [] : ['X-API-Version', version])
      t.strictSame(answer.body, body)
      t.match(answer.headers.vary, /x-api-version/i, 'caches are told')
    })
  }
})

t.test('pagination reads page, limit and offset from the query within its limits', async (t) => {
  const first = { page: 1, limit: 20, offset: 0 }
  const rows: { rule: string; query: object; expected: object; options?: object }[] = [
    { rule: 'neither page nor limit is given', query: {}, expected: first },
    {
      rule: 'page and limit are given',
      query: { page: '3', limit: '10' },
      expected: { page: 3, limit: 10, offset: 20 }
    },
    { rule: '100 rows are a page', query: { limit: '100' }, expected: { page: 1, limit: 100, offset: 0 } },
    {
      rule: 'more than 100 rows are reduced to 100',
      query: { limit: '101', page: '2' },
      expected: { page: 2, limit: 100, offset: 100 }
    },
    {
      rule: 'very many rows are reduced to 100',
      query: { limit: '1000000000' },
      expected: { page: 1, limit: 100, offset: 0 }
    },
    {
      rule: 'a far page',
      query: { page: '1000000000' },
      expected: { page: 1_000_000_000, limit: 20, offset: 19_999_999_980 }
    },
    { rule: 'zero', query: { page: '0', limit: '0' }, expected: first },
    { rule: 'negative numbers', query: { page: '-1', limit: '-1' }, expected: first },
    { rule: 'fractions are no page', query: { page: '1.5', limit: '2.5' }, expected: first },
    { rule: 'no numbers', query: { page: 'NaN', limit: 'ten' }, expected: first },
    { rule: 'other ways to write a number', query: { page: '0x10', limit: '1e1' }, expected: first },
    { rule: 'signs and spaces', query: { page: '+2', limit: ' 5' }, expected: first },
    { rule: 'empty text', query: { page: '', limit: '' }, expected: first },
    { rule: 'repeated keys', query: { page: ['2', '3'], limit: ['5'] }, expected: first },
    { rule: 'objects', query: { page: { $gt: 1 }, limit: true }, expected: first },
    { rule: 'numbers', query: { page: 2, limit: 5 }, expected: { page: 2, limit: 5, offset: 5 } },
    { rule: 'more digits than a number has', query: { page: '9'.repeat(30), limit: '9'.repeat(30) }, expected: first },
    { rule: 'an offset beyond what can be counted', query: { page: '9007199254740991' }, expected: first },
    {
      rule: 'limits of the caller',
      query: { limit: '60' },
      expected: { page: 1, limit: 50, offset: 0 },
      options: { maxLimit: 50, defaultLimit: 5 }
    },
    {
      rule: 'a default of the caller',
      query: { page: '2' },
      expected: { page: 2, limit: 5, offset: 5 },
      options: { maxLimit: 50, defaultLimit: 5 }
    }
  ]
  for (const { rule, query, expected, options } of rows) t.strictSame(pagination(query, options), expected, rule)

  for (const [total, totalPages] of [
    [0, 0],
    [1, 1],
    [20, 1],
    [21, 2]
  ] as const) {
    t.strictSame(paginationMeta(1, 20, total), { page: 1, limit: 20, total, totalPages }, `${total} rows`)
  }
})

onEachEngine('setPaginationHeaders writes the counts and the links of a list', async (t, express) => {
  const app = express()
  app.use((request: any, response: any) => {
    if (request.query.preload !== undefined) response.set('Link', '</style.css>; rel="preload"')
    const { page, limit } = pagination(request.query)
    setPaginationHeaders(request, response, paginationMeta(page, limit, 60))
    response.json({})
  })
  const url = await listen(t, app)
  const linksOf = async (path: string) => {
    const { headers } = await send(url + path)
    const link = String(headers.link ?? '')
    return { headers, link, links: Object.fromEntries(LinkHeader.parse(link).refs.map(({ rel, uri }) => [rel, uri])) }
  }

  t.test('setPaginationHeaders writes the four headers', async (t) => {
    const { headers } = await linksOf('/api/posts?page=2&limit=25')
    t.match(headers, {
      'x-pagination-page': '2',
      'x-pagination-limit': '25',
      'x-pagination-total': '60',
      'x-pagination-totalpages': '3'
    })
  })

  const rows: { rule: string; path: string; links: Record<string, string> }[] = [
    { rule: 'the first page has a next one', path: '/api/posts', links: { next: '/api/posts?page=2' } },
    {
      rule: 'a page in the middle has a next and a previous one',
      path: '/api/posts?page=2',
      links: { prev: '/api/posts?page=1', next: '/api/posts?page=3' }
    },
    { rule: 'the last page has a previous one', path: '/api/posts?page=3', links: { prev: '/api/posts?page=2' } },
    {
      rule: 'a page beyond the last has a previous one',
      path: '/api/posts?page=9',
      links: { prev: '/api/posts?page=8' }
    },
    { rule: 'a single page has none', path: '/api/posts?limit=100', links: {} },
    {
      rule: 'other parameters of the query are kept, repeated ones included',
      path: '/api/posts?tag=a&limit=30&tag=b&page=1&sortBy=title',
      links: { next: '/api/posts?tag=a&limit=30&tag=b&page=2&sortBy=title' }
    },
    {
      rule: 'letters of all languages are kept',
      path: '/api/posts?search=%C3%A9+%26',
      links: { next: '/api/posts?search=%C3%A9+%26&page=2' }
    },
    { rule: 'a repeated page counts once', path: '/api/posts?page=1&page=7', links: { next: '/api/posts?page=2' } },
    {
      rule: 'a character of the query that could end the target is encoded',
      path: '/p?a=%3E%3B%20rel=x&b=>',
      links: { next: '/p?a=%3E%3B+rel%3Dx&b=%3E&page=2' }
    },
    {
      rule: 'a character of the path that could end the target is encoded',
      path: '/p>;"<x',
      links: { next: '/p%3E;%22%3Cx?page=2' }
    },
    { rule: 'broken escapes are data', path: '/p?a=%zz', links: { next: '/p?a=%25zz&page=2' } },
    { rule: 'a path never names another host', path: '//evil.example/p', links: { next: '/evil.example/p?page=2' } },
    {
      rule: 'dots in a path never name another host',
      path: '/.//evil.example/p',
      links: { next: '/evil.example/p?page=2' }
    },
    {
      rule: 'a backslash in a path never names another host',
      path: '/\\evil.example/p',
      links: { next: '/evil.example/p?page=2' }
    },
    { rule: 'a link longer than 2,048 characters is left out', path: `/p?a=${'x'.repeat(2048)}`, links: {} }
  ]
  for (const { rule, path, links: expected } of rows) {
    t.test(rule, async (t) => {
      const { port } = new URL(url)
      const seen = await rawTarget(Number(port), path)
      const links = Object.fromEntries(LinkHeader.parse(seen).refs.map(({ rel, uri }) => [rel, uri]))
      t.strictSame(links, expected)
    })
  }

  t.test('relations stand in quotes', async (t) => {
    const { link } = await linksOf('/api/posts?page=2')
    t.equal(link, '</api/posts?page=1>; rel="prev", </api/posts?page=3>; rel="next"')
  })

  t.test('a Link header that is there already is kept', async (t) => {
    const { links } = await linksOf('/p?preload')
    t.strictSame(links, { preload: '/style.css', next: '/p?preload=&page=2' })
  })
})

/** The Link header for a request target that no URL parser has touched. */
function rawTarget(port: number, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => (text += bytes.toString('latin1'))).on('error', reject)
    socket.on('end', () => resolve(/^link: (.*)$/im.exec(text)?.[1] ?? ''))
    socket.write(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`, 'latin1')
  })
}

t.test('the envelope holds data, a message and what is known of the request', async (t) => {
  const meta = paginationMeta(1, 20, 21)
  const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  const rows: { rule: string; given: object | undefined; expected: object }[] = [
    { rule: 'the envelope of data alone', given: undefined, expected: { data: [1], meta: { timestamp: ISO } } },
    {
      rule: 'the envelope with a message',
      given: { message: 'done' },
      expected: { data: [1], meta: { timestamp: ISO }, message: 'done' }
    },
    {
      rule: 'the envelope with a request',
      given: { request: { requestId: 'r-1' } },
      expected: { data: [1], meta: { timestamp: ISO, requestId: 'r-1' } }
    },
    {
      rule: 'the envelope with a request that has no id',
      given: { request: {} },
      expected: { data: [1], meta: { timestamp: ISO } }
    },
    {
      rule: 'the envelope with pagination',
      given: { pagination: meta },
      expected: { data: [1], meta: { timestamp: ISO, pagination: { page: 1, limit: 20, total: 21, totalPages: 2 } } }
    }
  ]
  for (const { rule, given, expected } of rows) {
    const made = JSON.parse(JSON.stringify(envelope([1], given)))
    t.match(made, expected, rule)
    t.strictSame(Object.keys(made), Object.keys(expected), `${rule}: no other keys`)
    t.strictSame(Object.keys(made.meta), Object.keys((expected as any).meta), `${rule}: no other keys in meta`)
  }
  t.strictSame(envelope.plain({ id: 1 }), { data: { id: 1 } })
  t.strictSame(envelope.plain({ id: 1 }, 'done'), { data: { id: 1 }, message: 'done' })
})
