import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http2, { createServer as createHttp2 } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fastifyCookie from '@fastify/cookie'
import fastifyCors from '@fastify/cors'
import fastifySession from '@fastify/session'
import express from 'express'
import t from 'tap'
import { createMiddleware, type App } from 'twinroute'
import twinrouteExpress from 'twinroute/express'
import { addressOf, appOf, callByInject, callOver, type Answer, type Call, type Sent } from './support/hosts.js'

// What users of Express on Fastify have run into, each as a row: public bugs of Express-like frameworks and adapters (the
// issue is named), the ways a compatibility layer goes wrong, and middleware that misbehaves.

type Handle = (req: any, res: any, next: any) => unknown

/** One application and what it answers; asked over a socket and by inject. */
interface Row {
  rule: string
  /** Route files below `/api`, all methods with one handler: `{ 'users/[id]': handler }`. */
  routes?: Record<string, Handle>
  middleware?: Record<string, readonly Handle[]>
  options?: object
  use?: (app: any) => void
  plugins?: (app: App) => void
  ask: string | readonly [line: string, sent: Sent]
  wanted: Partial<Pick<Answer, 'status' | 'text'>> & { headers?: Record<string, unknown>; json?: unknown }
  /** What the wire alone shows. */
  only?: 'socket'
}

const json = { 'content-type': 'application/json' }
const METHODS = ['GET', 'POST', 'PUT', 'DELETE']

async function start(t: any, { routes = {}, middleware, options, use, plugins }: Row): Promise<App> {
  const files = Object.entries({ unused: () => null, ...routes }).map(([path, handler]) => [
    path,
    Object.fromEntries(METHODS.map((method) => [method, handler]))
  ])
  const given = middleware === undefined ? {} : { middleware: createMiddleware(middleware) }
  const app = await appOf(t, { routes: Object.fromEntries(files), options: { ...options, ...given } as object })
  plugins?.(app)
  use?.(app)
  return app
}

function checkRows(t: any, rows: readonly Row[]): void {
  for (const row of rows) {
    t.test(row.rule, async (t: any) => {
      for (const place of ['socket', 'inject'] as const) {
        if (row.only === 'socket' && place === 'inject') continue
        const app = await start(t, row)
        const call: Call = place === 'socket' ? callOver(await addressOf(app)) : callByInject(app)
        const [line, sent] = typeof row.ask === 'string' ? [row.ask, {}] : row.ask
        const { status, headers, text } = await call(line, sent)
        const { json, ...wanted } = row.wanted
        t.match({ status, headers, text }, wanted, place)
        if (json !== undefined) t.strictSame(JSON.parse(text), json, place)
      }
    })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'twinroute-traps-'))
t.teardown(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'blog'))
writeFileSync(join(folder, 'blog/index.html'), 'blog')
writeFileSync(join(folder, 'ä b.txt'), 'encoded')

t.test('public bugs do not happen here', async (t) => {
  checkRows(t, [
    {
      rule: 'fastify-express 73: a parser in use() fills the body that later middleware reads',
      use: (app) => app.use(express.json(), (req: any, res: any) => res.json(req.body)),
      ask: ['POST /x', { headers: json, body: '{"a":1}' }],
      wanted: { json: { a: 1 } }
    },
    {
      rule: 'fastify-express 79: a parser in use() and a handler that wants the body',
      use: (app) => app.use(express.json()),
      routes: { a: (req) => req.body },
      ask: ['POST /api/a', { headers: json, body: '{"a":1}' }],
      wanted: { json: { a: 1 } }
    },
    {
      rule: 'fastify-express 20: an Express router answers, and the session cookie of a Fastify plugin is there',
      plugins: (app) => {
        void app.register(fastifyCookie)
        void app.register(fastifySession, {
          secret: 'x'.repeat(32),
          cookie: { secure: false },
          saveUninitialized: true
        })
      },
      routes: { a: (_req, res) => res.json({ a: 1 }) },
      ask: 'GET /api/a',
      wanted: { headers: { 'set-cookie': /sessionId=/ }, json: { a: 1 } }
    },
    {
      rule: 'fastify-express 13: a header of a Fastify hook, and a raw answer',
      plugins: (app) => void app.addHook('onRequest', async (_request, reply) => void reply.header('x-hook', '1')),
      routes: { a: (_req, res) => void res.end('a') },
      ask: 'GET /api/a',
      wanted: { headers: { 'x-hook': '1' }, text: 'a' }
    },
    {
      rule: 'fastify-express 177: the query reaches the handler behind middleware',
      use: (app) => app.use('/api', (_req: any, _res: any, next: any) => next()),
      routes: { a: (req) => req.query },
      ask: 'GET /api/a?a=1',
      wanted: { json: { a: '1' } }
    },
    {
      rule: 'middie 245, fastify-express 174: an encoded letter does not walk round a guard',
      middleware: { '/api/admin': [(_req, res) => res.status(401).json({})] },
      routes: { admin: () => 'secret' },
      ask: 'GET /api/%61dmin',
      wanted: { status: 401 }
    },
    {
      rule: 'a guard in use() is not passed by another spelling of its path',
      use: (app) => app.use('/api/admin', (_req: any, res: any) => res.status(401).json({})),
      routes: { admin: () => 'secret' },
      ask: 'GET /api/%61dmin',
      wanted: { status: 401 }
    },
    ...['/api//admin', '/api/admin;x', '/api/%61dmin;x'].map((path): Row => ({
      rule: `and where the router is told to read ${path} as /api/admin`,
      options: { fastifyOptions: { routerOptions: { ignoreDuplicateSlashes: true, useSemicolonDelimiter: true } } },
      use: (app) => app.use('/api/admin', (_req: any, res: any) => res.status(401).json({})),
      routes: { admin: () => 'secret' },
      ask: `GET ${path}`,
      wanted: { status: 401 }
    })),
    {
      rule: 'middie 16, fastify 559: static files below a path redirect below that path',
      use: (app) => app.use('/static', express.static(folder)),
      ask: 'GET /static/blog',
      wanted: { status: 301, headers: { location: '/static/blog/' } }
    },
    {
      rule: 'middie 27: one slash remains of the url below a mount',
      use: (app) => app.use('/tasks-api', (req: any, res: any) => res.json({ url: req.url })),
      ask: 'GET /tasks-api/task',
      wanted: { json: { url: '/task' } }
    },
    {
      rule: 'nest 17350: middleware of a prefix runs once, whoever else has that prefix',
      middleware: { '/api/queues': [(_req, res, next) => next(void res.append('x-ran', '1'))] },
      routes: { 'queues/[id]': (_req, res) => res.json({ ran: res.get('x-ran') }) },
      ask: 'GET /api/queues/1',
      wanted: { json: { ran: '1' } }
    },
    {
      rule: 'webpack-dev-middleware 2304: req.url stays encoded, so that files with such names are found',
      use: (app) => app.use('/files', express.static(folder)),
      ask: 'GET /files/%C3%A4%20b.txt',
      wanted: { text: 'encoded' }
    },
    {
      rule: 'fastify help 513: end() after send() does no harm',
      routes: { a: (_req, res) => void res.status(201).send('once').end() },
      ask: 'GET /api/a',
      wanted: { status: 201, text: 'once' }
    },
    {
      rule: 'passport 798: middleware gets a response with setHeader and end, and redirects by them',
      middleware: {
        '/api': [
          (_req, res) => {
            res.statusCode = 302
            res.setHeader('Location', '/login')
            res.setHeader('Content-Length', '0')
            res.end()
          }
        ]
      },
      routes: { a: () => 'never' },
      ask: 'GET /api/a',
      wanted: { status: 302, headers: { location: '/login' }, text: '' }
    },
    {
      rule: 'next.js 24894: a handler that reads the stream finds it whole, although the body was parsed',
      options: { bodyParser: 'early' },
      routes: {
        async a(req) {
          const parts: Buffer[] = []
          for await (const part of req) parts.push(part)
          return { parsed: req.body, read: Buffer.concat(parts).toString() }
        }
      },
      ask: ['POST /api/a', { headers: json, body: '{"a":1}' }],
      wanted: { json: { parsed: { a: 1 }, read: '{"a":1}' } }
    },
    {
      rule: 'better-sse 107: a stream of events has the CORS headers',
      plugins: (app) => void app.register(fastifyCors, { origin: 'http://a.example' }),
      routes: {
        a(_req, res) {
          res.writeHead(200, { 'Content-Type': 'text/event-stream' })
          res.write('data: 1\n\n')
          res.end()
        }
      },
      ask: ['GET /api/a', { headers: { origin: 'http://a.example' } }],
      wanted: { headers: { 'access-control-allow-origin': 'http://a.example' }, text: 'data: 1\n\n' }
    },
    {
      rule: 'tinyhttp 314, 242: parameters of a mount are there for its middleware',
      use: (app) => app.use('/t/:test', (req: any, res: any) => res.json(req.params)),
      ask: 'GET /t/42/x',
      wanted: { json: { test: '42' } }
    },
    {
      rule: 'tinyhttp 209, 279: two applications on one path; what the first has not, the second is asked for',
      use: (app) =>
        app
          .use(
            '/s',
            express().get('/a', (_q, s) => void s.send('a'))
          )
          .use(
            '/s',
            express().get('/b', (_q, s) => void s.send('b'))
          ),
      ask: 'GET /s/b',
      wanted: { status: 200, text: 'b' }
    },
    {
      rule: 'tinyhttp 345: redirect() to who accepts only pictures',
      routes: { a: (_req, res) => res.redirect('/b') },
      ask: ['GET /api/a', { headers: { accept: 'image/webp' } }],
      wanted: { status: 302, headers: { location: '/b' }, text: '' }
    },
    ...[true, 123, 'x', null].map((value): Row => ({
      rule: `tinyhttp 426: json(${JSON.stringify(value)})`,
      routes: { a: (_req, res) => res.json(value) },
      ask: 'GET /api/a',
      wanted: { text: JSON.stringify(value), headers: { 'content-type': 'application/json; charset=utf-8' } }
    })),
    {
      rule: 'express 6005, 5959, 6432: POST without a body behind json(): undefined, as in Express 5',
      use: (app) => app.use(express.json()),
      routes: { a: (req) => ({ body: typeof req.body }) },
      ask: 'POST /api/a',
      wanted: { json: { body: 'undefined' } }
    },
    {
      rule: 'ultimate-express 193: a Buffer is octets',
      routes: { a: (_req, res) => res.send(Buffer.from('a')) },
      ask: 'GET /api/a',
      wanted: { headers: { 'content-type': 'application/octet-stream' } }
    },
    {
      rule: 'ultimate-express 5: parameters of wildcards',
      use: (app) => app.use(express.Router().get('/w/*rest', (req, res) => void res.json(req.params))),
      ask: 'GET /w/a/b',
      wanted: { json: { rest: ['a', 'b'] } }
    },
    {
      rule: 'hyper-express 334: a text has type and ETag',
      routes: { a: (_req, res) => res.send('hello') },
      ask: 'GET /api/a',
      wanted: { headers: { 'content-type': 'text/html; charset=utf-8', etag: /^W\/"/ } }
    },
    {
      rule: 'hyper-express 203: an object is JSON',
      routes: { a: (_req, res) => res.send({}) },
      ask: 'GET /api/a',
      wanted: { text: '{}' }
    },
    {
      rule: 'hyper-express 18: the second asynchronous middleware rejects',
      middleware: { '/api': [async (_q, _s, next) => next(), async () => Promise.reject(new Error('second'))] },
      routes: { a: () => 'never' },
      ask: 'GET /api/a',
      wanted: { status: 500, text: /second/ as never }
    },
    {
      rule: 'express 5933: redirect("back") is literal',
      routes: { a: (_req, res) => res.redirect('back') },
      ask: ['GET /api/a', { headers: { referer: '/there' } }],
      wanted: { headers: { location: 'back' } }
    }
  ])

  t.test('express 6606, 6664: a bare star is refused when it is registered', async (t) => {
    const app = await appOf(t, { routes: { a: { GET() {} } } })
    t.throws(
      () => app.use('*', (_req: unknown, _res: unknown, next: () => void) => next()),
      /path-to-regexp|parameter name/i
    )
    t.throws(() => twinrouteExpress().get('*', (_req, res) => void res.end()), /parameter name/i)
  })
})

t.test('a compatibility layer can go wrong in these ways', async (t) => {
  checkRows(t, [
    {
      rule: 'a pipe that is returned is the answer, not the response object',
      routes: { a: (_req, res) => Readable.from(['one', 'two']).pipe(res) },
      ask: 'GET /api/a',
      wanted: { status: 200, text: 'onetwo' }
    },
    {
      rule: 'an asynchronous handler that returns nothing may answer later',
      routes: { a: async (_req, res) => void setImmediate(() => res.end('later')) },
      ask: 'GET /api/a',
      wanted: { text: 'later' }
    },
    {
      rule: 'what is returned after an answer is dropped',
      routes: { a: (_req, res) => (res.json({ sent: 1 }), { returned: 1 }) },
      ask: 'GET /api/a',
      wanted: { json: { sent: 1 } }
    },
    {
      rule: 'cookies and Vary of both sides arrive',
      plugins: (app) =>
        void app.addHook('onRequest', async (_request, reply) => void reply.header('set-cookie', 'f=1')),
      use: (app) => app.use((_q: any, res: any, next: any) => next(void res.cookie('e', '2').vary('Accept'))),
      routes: { a: () => ({ status: 200, headers: { 'set-cookie': 'h=3', vary: 'Cookie' }, body: {} }) },
      ask: 'GET /api/a',
      wanted: { headers: { 'set-cookie': ['e=2; Path=/', 'f=1', 'h=3'], vary: 'Accept, Cookie' } }
    },
    {
      rule: 'a url rewritten in use() is routed anew, past the guard of the new place',
      use: (app) => app.use((req: any, _res: any, next: any) => next(void (req.url = req.url.replace('/old', '/api')))),
      middleware: { '/api/admin': [(_req, res) => res.status(401).send('guard')] },
      routes: { admin: () => 'secret' },
      ask: 'GET /old/admin',
      wanted: { status: 401, text: 'guard' }
    },
    {
      rule: 'a method rewritten in a chain is routed anew',
      middleware: { '/api': [(req, _res, next) => next(void (req.method = 'PUT'))] },
      routes: { a: (req) => ({ method: req.method }) },
      ask: 'POST /api/a',
      wanted: { json: { method: 'PUT' } }
    },
    {
      rule: 'headers of middleware are on a 404 and on a malformed path',
      use: (app) => app.use((_q: any, res: any, next: any) => next(void res.set('x-a', '1'))),
      ask: 'GET /%zz',
      wanted: { status: 400, headers: { 'x-a': '1' } }
    },
    {
      rule: 'body is a plain value: in `in`, in an assignment, in await',
      middleware: { '/api': [express.json() as never] },
      routes: {
        async a(req) {
          const before = await req.body
          req.body = { own: true }
          return { before, after: req.body, isIn: 'body' in req }
        }
      },
      ask: ['POST /api/a', { headers: json, body: '{"a":1}' }],
      wanted: { json: { before: { a: 1 }, after: { own: true }, isIn: true } }
    },
    {
      rule: 'every getter of Express can be assigned',
      routes: {
        a(req) {
          const names = [
            'query',
            'ip',
            'ips',
            'hostname',
            'host',
            'protocol',
            'secure',
            'xhr',
            'path',
            'fresh',
            'stale',
            'subdomains'
          ]
          for (const name of names) req[name] = name
          return names.map((name) => req[name] === name)
        }
      },
      ask: 'GET /api/a',
      wanted: { json: Array.from({ length: 12 }, () => true) }
    },
    {
      rule: 'no member of ours is on the raw names that pino-http and users own',
      routes: { a: (req, res) => ({ log: typeof req.log, id: typeof req.id, reply: typeof res.log }) },
      ask: 'GET /api/a',
      wanted: { json: { log: 'undefined', id: 'undefined', reply: 'undefined' } }
    },
    {
      rule: 'a mounted Express application answers, and what it passes on is ours again',
      use: (app) => app.use(express().get('/sub', (req, res) => void res.json({ base: req.baseUrl }))),
      routes: {
        a: (req) => ({ id: typeof req.requestId, cookies: typeof req.cookies.get, form: typeof req.formData })
      },
      ask: 'GET /api/a',
      wanted: { json: { id: 'string', cookies: 'function', form: 'function' } }
    },
    {
      rule: 'the answer of a mounted Express application is whole',
      use: (app) =>
        app.use(
          '/sub',
          express().use(
            '/in',
            express().get('/x', (req, res) => void res.json({ base: req.baseUrl }))
          )
        ),
      ask: 'GET /sub/in/x',
      wanted: { json: { base: '/sub/in' } }
    },
    {
      rule: 'an Express application in a middleware map passes on to the handler',
      middleware: { '/api': [express().use((req, _res, next) => next(void ((req as any).seen = req.url))) as never] },
      routes: { a: (req) => ({ seen: req.seen, id: typeof req.requestId }) },
      ask: 'GET /api/a',
      wanted: { json: { seen: '/a', id: 'string' } }
    },
    {
      rule: 'an Express application in a middleware map answers',
      middleware: {
        '/api': [express().get('/a', (req, res) => void res.json({ base: req.baseUrl, url: req.url })) as never]
      },
      routes: { a: () => 'never' },
      ask: 'GET /api/a',
      wanted: { json: { base: '/api', url: '/a' } }
    },
    {
      rule: 'an Express router in a middleware map restores url and parameters',
      middleware: { '/api': [express.Router().use('/:any', (_q, _s, next) => next()) as never] },
      routes: { 'users/[id]': (req) => ({ params: req.params, url: req.url, base: req.baseUrl }) },
      ask: 'GET /api/users/7?x=1',
      wanted: { json: { params: { id: '7' }, url: '/api/users/7?x=1', base: '' } }
    },
    {
      rule: 'a status set before an error without one is the status of its answer',
      middleware: { '/api': [(_req, res, next) => ((res.statusCode = 403), next(new Error('no')))] },
      routes: { a: () => 'never' },
      ask: 'GET /api/a',
      wanted: { status: 403 }
    },
    {
      rule: 'a request id of a middleware is not replaced',
      use: (app) => app.use((_q: any, res: any, next: any) => next(void res.set('X-Request-Id', 'mine'))),
      routes: { a: () => ({}) },
      ask: 'GET /api/a',
      wanted: { headers: { 'x-request-id': 'mine' } }
    },
    {
      rule: 'a patched end may still set headers, on returned objects',
      use: (app) => app.use(stampEnd),
      routes: { a: () => ({ a: 1 }) },
      ask: 'GET /api/a',
      wanted: { headers: { 'x-stamp': '1' }, json: { a: 1 } }
    },
    {
      rule: 'a patched end may still set headers, on errors',
      use: (app) => app.use(stampEnd, (_q: any, _s: any, next: any) => next(new Error('broken'))),
      ask: 'GET /api/a',
      wanted: { status: 500, headers: { 'x-stamp': '1' }, text: /broken/ as never }
    },
    {
      rule: 'a patched end may still set headers, on a returned stream that is short',
      use: (app) => app.use((_q: any, res: any, next: any) => (stampWrite(res), next())),
      routes: { a: () => Readable.from(['one']) },
      ask: 'GET /api/a',
      wanted: { headers: { 'x-stamp': '1' }, text: 'one' }
    },
    {
      rule: 'the query of a request without one inherits nothing',
      routes: { a: (req) => ({ inherits: 'toString' in req.query }) },
      ask: 'GET /api/a',
      wanted: { json: { inherits: false } }
    },
    {
      rule: 'unusual methods reach use()',
      only: 'socket',
      use: (app) => app.use((req: any, res: any) => res.send(req.method)),
      ask: 'PURGE /x',
      wanted: { text: 'PURGE' }
    }
  ])

  t.test(
    'HTTP/2: a mounted Express application answers, the process lives, and node has nothing to warn of',
    async (t) => {
      const warnings: string[] = []
      const note = ({ message }: Error): unknown => warnings.push(message)
      process.on('warning', note)
      t.teardown(() => process.off('warning', note))
      const ours = twinrouteExpress()
      ours.use(
        '/sub',
        express().get('/x', (req, res) => void res.json({ host: req.get('host') }))
      )
      const server = createHttp2(ours as never).listen(0, '127.0.0.1')
      t.teardown(() => server.close())
      await once(server, 'listening')
      const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      t.teardown(() => client.close())
      const stream = client.request({ ':path': '/sub/x' })
      let text = ''
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      await once(stream, 'end')
      t.match(JSON.parse(text), { host: /^127\.0\.0\.1:\d+$/ })
      t.strictSame(warnings, [])
    }
  )
})

/** The habit of middleware that measures: a header, set when the answer is known. */
function stampEnd(_req: unknown, res: any, next: () => void): void {
  const end = res.end
  res.end = function stamped(...given: unknown[]) {
    res.setHeader('X-Stamp', '1')
    return Reflect.apply(end, res, given)
  }
  next()
}

function stampWrite(res: any): void {
  const write = res.write
  res.write = function stamped(...given: unknown[]) {
    if (!res.headersSent) res.setHeader('X-Stamp', '1')
    return Reflect.apply(write, res, given)
  }
}

/** Middleware that misbehaves, and what the client gets, in `use()` and in a middleware map. */
const BAD: readonly {
  rule: string
  middleware: Handle
  wanted: Row['wanted'] | 'closed'
  /** Where `use()` answers otherwise: it is Express's router. */
  wantedOfUse?: Row['wanted']
}[] = [
  {
    rule: 'throws',
    middleware: () => {
      throw new Error('thrown')
    },
    wanted: { status: 500, text: /thrown/ as never }
  },
  {
    rule: 'throws a text',
    middleware: () => {
      throw 'a text'
    },
    wanted: { status: 500, text: /a text/ as never }
  },
  {
    rule: 'throws null',
    middleware: () => {
      throw null
    },
    wanted: { status: 500 },
    wantedOfUse: { status: 200 } // Express takes it for next(null)
  },
  {
    rule: 'rejects',
    middleware: () => Promise.reject(new Error('rejected')),
    wanted: { status: 500, text: /rejected/ as never }
  },
  { rule: 'rejects without a reason', middleware: () => Promise.reject(), wanted: { status: 500 } },
  {
    rule: 'hands an error with a status to next',
    middleware: (_q, _s, next) => next(Object.assign(new Error('gone'), { status: 410 })),
    wanted: { status: 410 }
  },
  {
    rule: 'calls next twice',
    middleware: (_q, _s, next) => (next(), next()),
    wanted: { status: 200, text: '{"calls":1}' }
  },
  {
    rule: 'calls next a second time, later',
    middleware: (_q, _s, next) => (next(), void setImmediate(() => next())),
    wanted: { status: 200, text: '{"calls":1}' }
  },
  {
    rule: 'throws after next()',
    middleware: (_q, _s, next) => {
      next()
      throw new Error('late')
    },
    wanted: { status: 500 }, // the handler waits, and its answer is dropped
    wantedOfUse: { status: 200 } // Express's router is slower than this handler
  },
  { rule: 'calls next not at all', middleware: () => {}, wanted: { status: 503 } },
  {
    rule: 'answers and calls next',
    middleware: (_q, res, next) => (res.json({ mine: 1 }), next()),
    wanted: { status: 200, text: '{"mine":1}' }
  },
  {
    rule: 'answers and calls next with an error',
    middleware: (_q, res, next) => (res.json({ mine: 1 }), next(new Error('late'))),
    wanted: { status: 200, text: '{"mine":1}' }
  },
  {
    rule: 'answers and throws',
    middleware: (_q, res) => {
      res.json({ mine: 1 })
      throw new Error('late')
    },
    wanted: { status: 200, text: '{"mine":1}' }
  },
  {
    rule: 'answers twice',
    middleware: (_q, res) => (res.json({ mine: 1 }), res.json({ mine: 2 })),
    wanted: { status: 200, text: '{"mine":1}' }
  },
  {
    rule: 'ends raw and calls next',
    middleware: (_q, res, next) => (res.end('raw'), next()),
    wanted: { status: 200, text: 'raw' }
  },
  {
    rule: 'writes a part and calls next with an error',
    middleware: (_q, res, next) => (res.write('part'), next(new Error('late'))),
    wanted: 'closed'
  },
  {
    rule: 'changes the url to one that is not there',
    middleware: (req, _s, next) => next(void (req.url = '/nowhere')),
    wanted: { status: 404 }
  },
  {
    rule: 'changes the url to one that cannot be decoded',
    middleware: (req, _s, next) => next(void (req.url = '/%zz')),
    wanted: { status: 400 }
  },
  {
    rule: 'changes the url on every turn',
    middleware: (req, _s, next) => next(void (req.url += 'x')),
    wanted: { status: 404 }
  },
  {
    rule: 'changes the method to one that is not there',
    middleware: (req, _s, next) => next(void (req.method = 'PATCH')),
    wanted: { status: 405 }
  },
  {
    rule: 'replaces end',
    middleware: (_q, res, next) => {
      const end = res.end
      res.end = (...given: unknown[]) => Reflect.apply(end, res, given)
      next()
    },
    wanted: { status: 200, text: '{"calls":1}' }
  },
  {
    rule: 'replaces end by one that ends later',
    middleware: (_q, res, next) => {
      const end = res.end
      res.end = (...given: unknown[]) => (setImmediate(() => Reflect.apply(end, res, given)), res)
      next()
    },
    wanted: { status: 200, text: '{"calls":1}' }
  },
  {
    rule: 'replaces send by one that throws',
    middleware: (_q, res, next) => {
      res.send = () => {
        throw new Error('replaced')
      }
      next()
    },
    wanted: { status: 500, text: /replaced/ as never }
  },
  {
    rule: 'replaces json by one that does not answer',
    middleware: (_q, res, next) => {
      res.json = () => {}
      next()
    },
    wanted: { status: 503 }
  },
  { rule: 'destroys the socket', middleware: (req) => req.socket.destroy(), wanted: 'closed' },
  {
    rule: 'destroys the socket and calls next',
    middleware: (req, _s, next) => (req.socket.destroy(), next()),
    wanted: 'closed'
  },
  { rule: 'destroys the response', middleware: (_q, res, next) => (res.destroy(), next()), wanted: 'closed' }
]

for (const [place, at] of [
  ['use()', 'use'],
  ['a middleware map', 'map']
] as const) {
  t.test(`middleware in ${place} may misbehave: the answer is defined and the process lives`, async (t) => {
    for (const { rule, middleware, wanted: wantedOfMap, wantedOfUse } of BAD) {
      const wanted = at === 'use' ? (wantedOfUse ?? wantedOfMap) : wantedOfMap
      t.test(rule, async (t) => {
        let calls = 0
        const app = await start(t, {
          rule,
          ask: '',
          wanted: {},
          options: { handlerTimeout: 60 },
          routes: {
            async a() {
              await null
              return { calls: ++calls }
            },
            alive: () => ({ alive: true })
          },
          ...(at === 'use'
            ? { use: (app: App) => app.use('/api/a', middleware as never) }
            : { middleware: { '/api/a': [middleware] } })
        })
        const address = await addressOf(app)
        const call = callOver(address)
        const answer = await call('GET /api/a').catch((error: NodeJS.ErrnoException) => error)
        if (wanted === 'closed') t.match(answer, { code: 'ECONNRESET' })
        else t.match(answer, wanted)
        t.match(await call('GET /api/alive'), { text: '{"alive":true}' }, 'the next request is answered')
      })
    }
  })
}

t.test('a client that leaves in the middle of an answer ends nothing but its own request', async (t) => {
  let gone: (() => void) | undefined
  const left = new Promise<void>((resolve) => (gone = resolve))
  const app = await start(t, {
    rule: '',
    ask: '',
    wanted: {},
    routes: {
      a(req, res) {
        res.on('close', () => gone?.())
        res.write('part')
        return new Promise<void>(() => void req)
      },
      alive: () => ({ alive: true })
    }
  })
  const { port } = new URL(await addressOf(app))
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /api/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  await left
  t.match(await callByInject(app)('GET /api/alive'), { text: '{"alive":true}' })
})
