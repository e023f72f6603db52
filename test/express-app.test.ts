import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http'
import { createServer as createHttp2, connect } from 'node:http2'
import { Agent as HttpsAgent, createServer as createHttps, get as getHttps } from 'node:https'
import { createRequire } from 'node:module'
import { Socket, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inspect, promisify } from 'node:util'
import fastifyCors from '@fastify/cors'
import realExpress from 'express'
import t from 'tap'
import express, { type TwinrouteExpress } from 'twinroute/express'
import { costOfApps } from './support/app-cost.js'
import { callByInject, callOver, type Call } from './support/hosts.js'
import { writeTree } from './support/route-tree.js'
import { root } from './support/source-tree.js'
import { head, Wire } from './support/wire.js'

const run = promisify(execFile)

/** Ends what an application has started. */
function made(t: any, app: TwinrouteExpress = express()): TwinrouteExpress {
  t.teardown(() => app.fastify.close())
  return app
}

async function addressOf(t: any, server: Server): Promise<string> {
  t.teardown(() => server.close())
  if (!server.listening) await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function over(t: any, server: Server): Promise<Call> {
  return callOver(await addressOf(t, server.listening ? server : server.listen(0, '127.0.0.1')))
}

/** Every way a request reaches an application. */
const WAYS: Record<string, (t: any, app: TwinrouteExpress) => Promise<Call>> = {
  'app.listen()': async (t, app) => callOver(await addressOf(t, app.listen(0, '127.0.0.1'))),
  'createServer(app.serverOptions, app)': (t, app) => over(t, createServer(app.serverOptions, app)),
  'createServer(app)': (t, app) => over(t, createServer(app)),
  'app.fastify.inject()': async (_t, app) => callByInject(app.fastify),
  'app.fastify.listen()': async (_t, app) => callOver(await app.fastify.listen({ port: 0, host: '127.0.0.1' })),
  'a handler of another server': (t, app) =>
    over(
      t,
      createServer((request, response) => app.handle(request, response))
    )
}

const OURS = ['app.listen()', 'createServer(app.serverOptions, app)', 'app.fastify.listen()']

t.test('every way to an application has the whole request and response', async (t) => {
  for (const [way, start] of Object.entries(WAYS)) {
    t.test(way, async (t) => {
      const app = made(t)
      const { IncomingMessage, ServerResponse } = app.serverOptions
      app.use(express.json())
      app.post('/users/:id', (req, res) => {
        const isOurs = req instanceof (IncomingMessage as any) && res instanceof (ServerResponse as any)
        const id = (req as unknown as { requestId: string }).requestId
        res
          .cookie('a', '1')
          .status(201)
          .json({ id: req.params['id'], body: req.body, query: req.query, isOurs, requestId: typeof id })
      })
      const call = await start(t, app)
      const { status, headers, json } = await call('POST /users/7?a=b', {
        headers: { 'content-type': 'application/json' },
        body: '{"n":1}'
      })
      t.equal(status, 201)
      t.match(headers, { 'set-cookie': /^a=1|a=1/, 'x-powered-by': 'Express', etag: /^W/ })
      t.strictSame(json, {
        id: '7',
        body: { n: 1 },
        query: { a: 'b' },
        isOurs: OURS.includes(way),
        requestId: 'string'
      })
      t.match(await call('GET /none'), { status: 404, text: /Cannot GET \/none/ })
    })
  }
})

/** Says whether the server has made the request and the response of our classes. */
function tellingWhoMade(t: any): TwinrouteExpress {
  const app = made(t)
  const isMade = (value: object, kind: unknown): boolean =>
    Object.getPrototypeOf(value) === (kind as { prototype: object }).prototype
  app.get('/', (req, res) => {
    res.json([isMade(req, app.serverOptions.IncomingMessage), isMade(res, app.serverOptions.ServerResponse)])
  })
  return app
}

t.test('a server of ours makes our objects, so that no request is changed afterwards', async (t) => {
  const call = callOver(await addressOf(t, tellingWhoMade(t).listen(0, '127.0.0.1')))
  t.strictSame((await call('GET /')).json, [true, true])
})

t.test('a server of your own makes our objects from its second request on', async (t) => {
  const servers: Record<string, (app: TwinrouteExpress) => Server> = {
    'http.createServer(app)': (app) => createServer(app),
    'http.createServer().on("request", app)': (app) => createServer().on('request', app),
    'a listener that calls app': (app) => createServer((request, response) => app(request, response))
  }
  for (const [way, create] of Object.entries(servers)) {
    const call = await over(t, create(tellingWhoMade(t)))
    t.strictSame(
      (await call('GET /')).json,
      [false, false],
      `${way}: the first pair was there before the app was called`
    )
    t.strictSame((await call('GET /')).json, [true, true], way)
  }
})

t.test('a server of node:https serves the application as one of node:http does', async (t) => {
  // a key that both sides know, so that no certificate is needed
  const known = { identity: 'test', psk: Buffer.alloc(32, 7) }
  const ciphers = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const
  const server = createHttps({ ...ciphers, pskCallback: () => known.psk }, tellingWhoMade(t)).listen(0, '127.0.0.1')
  const { port } = new URL(await addressOf(t, server))
  const agent = new HttpsAgent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const ask = async (): Promise<unknown> => {
    const options = { ...ciphers, agent, port, host: '127.0.0.1', pskCallback: () => known }
    const [answer] = await once(getHttps({ ...options, checkServerIdentity: () => undefined }), 'response')
    return JSON.parse(await text(answer))
  }
  t.strictSame(await ask(), [false, false])
  t.strictSame(await ask(), [true, true], 'on the same connection')
})

t.test('what else a server of your own serves is answered by node as before', async (t) => {
  const app = made(t)
  app.get('/app', (_req, res) => void res.json({ app: true }))
  const server = createServer((request, response) => {
    if (request.url === '/app') return app(request, response)
    response.setHeader('X-Own', '1')
    response.writeHead(203, { 'Content-Type': 'text/x-own' })
    request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end('.'))
  })
  const call = await over(t, server)
  for (let round = 0; round < 2; round++) {
    const answer = await call('POST /own', { body: 'abc' })
    t.match(answer, { status: 203, headers: { 'x-own': '1', 'content-type': 'text/x-own' }, text: 'abc.' })
    t.strictSame((await call('GET /app')).json, { app: true })
  }
})

t.test('two applications behind one server answer by their own settings', async (t) => {
  const apps = ['a', 'b'].map((name) => {
    const app = made(t)
    app.set('json spaces', name === 'a' ? 0 : 1)
    app.use((req, res) => void res.json({ name, isOwn: req.app === app && res.app === app }))
    return app
  }) as [TwinrouteExpress, TwinrouteExpress]
  const call = await over(
    t,
    createServer((request, response) => apps[request.url?.startsWith('/b') ? 1 : 0](request, response))
  )
  for (let round = 0; round < 3; round++) {
    t.equal((await call('GET /a')).text, '{"name":"a","isOwn":true}')
    t.equal((await call('GET /b')).text, '{\n "name": "b",\n "isOwn": true\n}')
  }
})

t.test('a server with request classes of its own keeps them', async (t) => {
  class OwnRequest extends IncomingMessage {}
  const app = made(t)
  app.get('/', (req, res) => void res.json({ hasExpress: typeof req.get === 'function', body: typeof res.json }))
  const server = createServer({ IncomingMessage: OwnRequest }, app)
  const kinds: unknown[] = []
  server.prependListener('request', (request) => kinds.push(Object.getPrototypeOf(request)))
  const call = await over(t, server)
  for (let round = 0; round < 2; round++) {
    t.strictSame((await call('GET /')).json, { hasExpress: true, body: 'function' })
  }
  t.strictSame(kinds, [OwnRequest.prototype, OwnRequest.prototype])
})

t.test('hooks and plugins of Fastify take part', async (t) => {
  const answers: Record<string, (res: any) => unknown> = {
    json: (res) => res.json({ a: 1 }),
    send: (res) => res.send('a'),
    end: (res) => res.end('a'),
    empty: (res) => res.end(),
    status: (res) => res.sendStatus(404),
    redirect: (res) => res.redirect('/a')
  }
  const app = made(t)
  const seen: string[] = []
  app.fastify.addHook('onSend', async (_request, reply, payload) => {
    void reply.header('x-on-send', '1')
    return typeof payload === 'string' ? payload.toUpperCase() : payload
  })
  app.fastify.addHook('onResponse', async (request) => void seen.push(request.url))
  void app.fastify.register(fastifyCors, { origin: 'http://a.example' })
  app.fastify.get('/fastify', () => ({ fastify: true }))
  app.fastify.post('/fastify', (request) => ({ body: request.body }))
  for (const [path, answer] of Object.entries(answers)) app.get(`/${path}`, (_req, res) => void answer(res))
  const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))

  for (const path of Object.keys(answers)) {
    const { headers } = await call(`GET /${path}`, { headers: { origin: 'http://a.example' } })
    t.match(headers, { 'x-on-send': '1', 'access-control-allow-origin': 'http://a.example' }, path)
  }
  t.equal((await call('GET /end')).text, 'A', 'a hook sees the payload')
  t.match(await call('GET /none'), { status: 404, headers: { 'x-on-send': '1' } }, 'also on the final answer')
  t.match(await call('GET /fastify'), { text: '{"FASTIFY":TRUE}' }, 'routes of Fastify come first')
  const body = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  t.match(await call('POST /fastify', body), { text: '{"BODY":{"A":1}}' }, 'and have their own body parser')
  t.equal(seen.filter((url) => url === '/json').length, 1)
})

t.test('registration is synchronous and never too late', async (t) => {
  const app = made(t)
  app.get('/early', (_req, res) => void res.send('early'))
  const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
  t.equal((await call('GET /early')).text, 'early')
  t.equal((await call('GET /late')).status, 404)
  app.get('/late', (_req, res) => void res.send('late'))
  t.equal((await call('GET /late')).text, 'late')
  app.use(
    '/mounted',
    realExpress().get('/x', (_req, res) => void res.send('mounted'))
  )
  t.equal((await call('GET /mounted/x')).text, 'mounted')
})

t.test('requests that come while Fastify boots are answered', async (t) => {
  const app = made(t)
  let release: (() => void) | undefined
  const booted = new Promise<void>((resolve) => (release = resolve))
  void app.fastify.register(async () => booted)
  app.get('/', (_req, res) => void res.send('here'))
  const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
  const answers = [call('GET /'), call('GET /')]
  release?.()
  t.strictSame(
    (await Promise.all(answers)).map(({ text }) => text),
    ['here', 'here']
  )
})

t.test('a plugin that fails to boot is a 500 for every request, and says nothing of it to clients', async (t) => {
  const app = express()
  void app.fastify.register(async () => Promise.reject(new Error('the database is away')))
  app.get('/', (_req, res) => void res.send('never'))
  const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
  for (const _time of [1, 2]) t.match(await call('GET /'), { status: 500, text: 'The application could not start' })
})

/** Where an application is mounted in another: who holds, what is held. */
const MOUNTS: Record<string, [outer: () => any, inner: () => any]> = {
  'ours in ours': [express, express],
  'Express in ours': [express, realExpress],
  'ours in Express': [realExpress, express]
}

for (const [mount, [createOuter, createInner]] of Object.entries(MOUNTS)) {
  t.test(`${mount}: mounted applications work as in Express`, async (t) => {
    for (const way of ['socket', 'inject']) {
      const outer = createOuter()
      if (way === 'inject' && outer.fastify === undefined) continue
      t.test(way, async (t) => {
        const outer = createOuter()
        const inner = createInner()
        if (outer.fastify !== undefined) made(t, outer)
        let parent: unknown
        inner.on('mount', (app: unknown) => (parent = app))
        outer.set('own setting', 'outer').set('trust proxy', true)
        outer.response.shout = function shout(this: any, text: string) {
          return this.send(text.toUpperCase())
        }
        inner.get('/x', (req: any, res: any) =>
          res.json([req.baseUrl, req.url, req.app === inner, inner.get('own setting'), req.ip])
        )
        inner.get('/shout', (_req: any, res: any) => res.shout('loud'))
        inner.get('/fails', () => {
          throw Object.assign(new Error('inner'), { status: 418 })
        })
        inner.post('/body', express.json(), (req: any, res: any) => res.json(req.body))
        outer.use('/inner', inner)
        outer.use('/in/router', realExpress.Router().use('/deep', inner))
        outer.get('/after', (req: any, res: any) => res.json([req.baseUrl, req.url, req.app === outer]))
        outer.use((error: any, _req: any, res: any, _next: any) =>
          res.status(error.status).send(`outer saw ${error.message}`)
        )
        const call =
          way === 'inject' ? callByInject(outer.fastify) : await over(t, createServer(outer.serverOptions ?? {}, outer))

        t.equal(parent, outer)
        t.equal(inner.mountpath, '/inner')
        const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9' } }
        t.strictSame((await call('GET /inner/x', forwarded)).json, ['/inner', '/x', true, 'outer', '203.0.113.9'])
        t.strictSame((await call('GET /in/router/deep/x', forwarded)).json.slice(0, 2), ['/in/router/deep', '/x'])
        t.equal((await call('GET /inner/shout')).text, 'LOUD')
        t.match(await call('GET /inner/fails'), { status: 418, text: 'outer saw inner' })
        const sent = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
        t.strictSame((await call('POST /inner/body', sent)).json, { a: 1 })
        t.strictSame((await call('GET /after')).json, ['', '/after', true])
        t.equal((await call('GET /inner/none')).status, 404)
      })
    }
  })
}

t.test("error pages are Express's own", async (t) => {
  const app = made(t)
  app.get('/broken', () => {
    throw Object.assign(new Error('<broken>'), { status: 503, headers: { 'Retry-After': '5' } })
  })
  app.get('/late', (_req, res, next) => {
    res.write('part')
    next(new Error('late'))
  })
  const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
  app.set('env', 'test')
  const shown = await call('GET /broken')
  t.match(shown, { status: 503, headers: { 'retry-after': '5', 'content-security-policy': "default-src 'none'" } })
  t.match(shown.text, /Error: &lt;broken&gt;<br>/)
  app.set('env', 'production')
  t.match((await call('GET /broken')).text, /<pre>Service Unavailable<\/pre>/)
  t.match(await call('GET /<none>'), { status: 404, text: /Cannot GET \/%3Cnone%3E/ })
  await t.rejects(call('GET /late'), { code: 'ECONNRESET' }, 'a begun answer is cut off')
  t.match(await call('GET /%zz'), { status: 404 })
})

t.test('malformed paths and long parameters meet the hooks of Fastify before any handler of Express', async (t) => {
  const long = 'a'.repeat(300)
  const lines = [
    'GET /admin/%zz',
    'POST /admin/%FF?a=%zz',
    'HEAD /admin/%',
    'PUT /admin/%c3%28/x',
    `GET /admin/${long}`
  ]
  for (const [way, start] of Object.entries(WAYS)) {
    t.test(way, async (t) => {
      const app = made(t)
      app.fastify.addHook('onRequest', async (request, reply) => {
        void reply.header('x-hook', `${request.method} ${request.url}`)
        if (request.headers['x-deny'] !== undefined) await reply.code(401).send('denied')
      })
      app.fastify.get('/admin/:id', () => 'fastify')
      app.use((req, res) => void res.send(`${req.method} ${req.url}`))
      const call = await start(t, app)
      for (const line of lines) {
        const denied = await call(line, { headers: { 'x-deny': '1' } })
        t.match(denied, { status: 401, headers: { 'x-hook': line } }, `denied: ${line}`)
        const { status, headers, text } = await call(line)
        const body = line.startsWith('HEAD') ? '' : line
        t.strictSame([status, headers['x-hook'], text], [200, line, body], `reached: ${line}`)
      }
    })
  }
})

t.test('a target that the router refuses twice is a bad request, and the next one is answered', async (t) => {
  const servers: Record<string, (app: TwinrouteExpress) => Server> = {
    'app.listen()': (app) => app.listen(0, '127.0.0.1'),
    'createServer(app)': (app) => createServer(app).listen(0, '127.0.0.1')
  }
  for (const [way, serve] of Object.entries(servers)) {
    const app = made(t)
    app.use((req, res) => void res.send(`reached ${req.url}`))
    const address = await addressOf(t, serve(app))
    for (const target of ['*?a', '*#', '*/x', 'http://h/a#x', 'http://h/a?b#c']) {
      const wire = await new Wire(t, address).write(head(`GET ${target}`, { connection: 'close' }))
      t.match(await wire.closed(), /^HTTP\/1\.1 400 /, `${way}: ${target}`)
    }
    t.equal((await callOver(address)('GET /next')).text, 'reached /next', way)
  }
})

t.test(
  "a scope with a prefix has its hooks run for malformed paths below it, and its not-found handler's answer",
  async (t) => {
    const app = made(t)
    await app.fastify.register(
      async (scope) => {
        scope.addHook('onRequest', async (_request, reply) => reply.code(401).send('denied'))
        scope.setNotFoundHandler((_request, reply) => void reply.send('not found'))
      },
      { prefix: '/admin' }
    )
    app.use((_req, res) => void res.send('reached'))
    const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
    t.equal((await call('GET /admin/%zz')).status, 401)
    t.equal((await call('GET /%61dmin/%zz')).status, 401)
    t.equal((await call('GET /other/%zz')).text, 'reached')
  }
)

t.test('listen() is as Express has it', async (t) => {
  const app = made(t)
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  const { port } = new URL(await addressOf(t, server))
  const failure = await new Promise((resolve) => app.listen(Number(port), '127.0.0.1', resolve))
  t.match(failure, { code: 'EADDRINUSE' }, 'the callback gets what went wrong')
})

for (const [name, create] of [['Express', realExpress] as const, ['ours', express as typeof realExpress] as const]) {
  t.test(`the callback of listen() is called once, also when the server fails later: ${name}`, async (t) => {
    const told: unknown[][] = []
    const server = create().listen(0, '127.0.0.1', (...given: unknown[]) => void told.push(given))
    await addressOf(t, server)
    server.emit('error', new Error('later'))
    t.strictSame(told, [[]])
  })
}

/** What is heard of a server that cannot listen, in order: by the callback, by listeners, by the program. */
const REFUSED = `
import { once } from 'node:events'
import { createServer } from 'node:net'
import create from 'PACKAGE'
const other = createServer().listen(0, '127.0.0.1')
await once(other, 'listening')
const { port } = other.address()
const call = async (name, ...given) => {
  const tell = (who) => function (...told) {
    console.log(name, who, this === server, told.map(({ code, syscall }) => code + ' ' + syscall))
  }
  const hasCallback = name.startsWith('called')
  const server = create().listen(...given, ...(hasCallback ? [tell('callback')] : []))
  if (name !== 'called alone') server.on('error', tell('listener'))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  console.log(name, server.listening, server.listenerCount('error'))
  server.close()
}
await call('called alone', port, '127.0.0.1')
await call('called', port, '127.0.0.1')
await call('called with a backlog', port, '127.0.0.1', 5)
await call('called with options', { port, host: '127.0.0.1' })
await call('not called', port, '127.0.0.1')
process.on('uncaughtException', ({ code }, origin) => {
  console.log('uncaught', code, origin)
  other.close()
})
create().listen(port, '127.0.0.1')
`

t.test('listen() on a port in use tells callback, listeners and program what Express tells them', async (t) => {
  const heard = async (name: string): Promise<string> => {
    const top = writeTree(t, { 'program.mjs': REFUSED.replace('PACKAGE', name) })
    return (await run(process.execPath, [join(top, 'program.mjs')])).stdout
  }
  const expected = await heard('express')
  t.match(
    expected,
    /^called alone callback true \[ 'EADDRINUSE listen' \]\n[^]*\nuncaught EADDRINUSE uncaughtException\n$/
  )
  t.equal(await heard('twinroute/express'), expected)
})

/** What an application holds and does before its first request. */
t.test('an application makes its Fastify when it is first asked for, and is light until then', async (t) => {
  const madeFastify: unknown[] = []
  const note = (message: unknown): void => void madeFastify.push(message)
  subscribe('fastify.initialization', note)
  t.teardown(() => unsubscribe('fastify.initialization', note))
  const inner = express()
  inner.get('/', (_req, res) => void res.send('inner'))
  const outer = express().set('view engine', 'ejs').use('/inner', inner)
  outer.get('/', (_req, res) => void res.send('outer'))
  t.ok('fastify' in outer)
  t.ok(inspect({ ...outer }))
  t.equal(madeFastify.length, 0, 'neither registration nor a look at it makes one')
  const call = callOver(await addressOf(t, outer.listen(0, '127.0.0.1')))
  t.equal((await call('GET /inner')).text, 'inner')
  t.equal(madeFastify.length, 1, 'a mounted application needs none')
  t.equal(outer.fastify, outer.fastify)
  await outer.fastify.close()
})

t.test('500 applications hold at most 20 KB each', async (t) => {
  const { heapKilobytes } = costOfApps(express)
  t.ok(heapKilobytes <= 20, `${heapKilobytes.toFixed(1)} KB`)
})

t.test('HTTP/2 requests are answered, mounted applications included', async (t) => {
  const app = made(t)
  app.use(
    '/sub',
    realExpress().get('/x', (req, res) => void res.json({ host: req.get('host'), version: req.httpVersion }))
  )
  app.get('/', (_req, res) => void res.cookie('a', '1').send('root'))
  app.get('/cut', (_req, res) => {
    res.write('first')
    throw new Error('failed')
  })
  const server = createHttp2(app as never).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => client.close())
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const stream = client.request({ ':path': path })
    const [headers] = await once(stream, 'response')
    let text = ''
    for await (const part of stream) text += String(part)
    return { status: headers[':status'], text }
  }
  t.match(await get('/'), { status: 200, text: 'root' })
  t.match(JSON.parse((await get('/sub/x')).text), { host: /^127\.0\.0\.1:\d+$/, version: '2.0' })
  t.match(await get('/none'), { status: 404 })
  await t.rejects(get('/cut'), { code: 'ERR_HTTP2_STREAM_ERROR' }, 'an answer that was cut off is not taken for whole')
})

t.test('the factory has what Express has on its own', async (t) => {
  for (const name of Object.keys(realExpress)) t.ok(name in express, name)
  t.equal(express.Router, realExpress.Router)
})

type Create = typeof realExpress
const FACTORIES: readonly (readonly [name: string, create: Create])[] = [
  ['Express', realExpress],
  ['ours', express as unknown as Create]
]

const LICENSE = join(root, 'LICENSE')

/** An application that answers in every way that a door to it could treat differently. */
function answering(create: Create): ReturnType<Create> {
  const app = create().set('env', 'test')
  app.use(realExpress.json())
  app.get('/json', (req, res) => void res.json([req.query, req.ip, req.secure, req.hostname, res.req === req]))
  app.get('/send', (_req, res) => void res.send('text'))
  app.get('/end', (_req, res) => void res.end('ended'))
  app.get('/write', (_req, res) => {
    res.write('a')
    res.end('b')
  })
  app.get('/cookies', (_req, res) => void res.cookie('a', '1').cookie('b', '2').status(201).json({}))
  app.get('/redirect', (_req, res) => res.redirect('/x'))
  app.get('/status', (_req, res) => void res.sendStatus(204))
  app.get('/stream', (_req, res) => void createReadStream(LICENSE).pipe(res))
  app.get('/file', (_req, res) => res.sendFile(LICENSE))
  app.post('/body', (req, res) => void res.json(req.body))
  return app
}

const PATHS = ['/json', '/send', '/end', '/write', '/cookies', '/redirect', '/status', '/file']
const LINES: readonly { line: string; body?: string }[] = [
  ...PATHS.map((path) => ({ line: `GET ${path}` })),
  { line: 'HEAD /send' },
  { line: 'POST /body', body: '{"a":1}' }
]

// Adapters the project does not depend on are installed beside the middleware matrix.
const matrix = createRequire(join(root, 'test/matrix/package.json'))
const isInstalled = existsSync(join(root, 'test/matrix/node_modules/serverless-http'))
const skip = isInstalled ? false : 'the packages of the matrix are not installed: npm ci --prefix test/matrix'

/** An event of an HTTP API gateway, as adapters of serverless platforms take it. */
function eventOf(line: string, body: string | undefined): object {
  const [method, path] = line.split(' ')
  const http = { method, path, sourceIp: '203.0.113.9', protocol: 'HTTP/1.1' }
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: 'a=1',
    headers: { host: 'x.example', 'content-type': 'application/json' },
    requestContext: { http, domainName: 'x.example', stage: '$default', timeEpoch: 1 },
    isBase64Encoded: false,
    ...(body === undefined ? {} : { body })
  }
}

const ADAPTERS: Record<string, (app: unknown) => (event: object, context: object) => Promise<unknown>> = {
  'serverless-http': (app) => matrix('serverless-http')(app),
  '@codegenie/serverless-express': (app) => matrix('@codegenie/serverless-express').configure({ app })
}

for (const [name, adapt] of Object.entries(ADAPTERS)) {
  t.test(`an application behind ${name} answers as Express behind it`, { skip }, async (t) => {
    for (const { line, body } of [...LINES, { line: 'GET /stream', body: undefined }]) {
      const answers = []
      for (const [, create] of FACTORIES) answers.push(await adapt(answering(create))(eventOf(line, body), {}))
      t.match(answers[0], { statusCode: Number }, line)
      t.strictSame(answers[1], answers[0], line)
    }
  })
}

/** What a mocked pair has seen when its answer ends: the mock's own events, data and headers. */
async function mocked(app: any, how: string, { line, body }: (typeof LINES)[number]): Promise<unknown> {
  const [method, path] = line.split(' ')
  const { createRequest, createResponse } = matrix('node-mocks-http')
  const headers = { host: 'x.example', 'content-type': 'application/json' }
  const request = createRequest({ method, url: `${path}?a=1`, headers, body: body && JSON.parse(body) })
  const response = createResponse({ eventEmitter: EventEmitter, req: request })
  const events: string[] = []
  for (const event of ['send', 'end', 'finish']) response.on(event, () => void events.push(event))
  const finished = once(response, 'finish')
  if (how === 'app(req, res)') app(request, response)
  else app.handle(request, response, (error: unknown) => events.push(`next ${String(error)}`))
  await finished
  const lengthless = { ...response._getHeaders(), 'x-request-id': undefined }
  return [events, response._getStatusCode(), response._getData(), lengthless]
}

for (const how of ['app(req, res)', 'app.handle(req, res, next)']) {
  t.test(`${how} with a pair of node-mocks-http emits what it emits with Express`, { skip }, async (t) => {
    for (const sent of LINES) {
      const [theirs, ours] = await Promise.all(FACTORIES.map(([, create]) => mocked(answering(create), how, sent)))
      t.ok((theirs as [string[]])[0].includes('finish'), sent.line)
      t.strictSame(ours, theirs, sent.line)
    }
  })
}

t.test('a pair of another kind keeps its own members and listeners, and its response has the request', async (t) => {
  const app = made(t)
  app.get('/', (req, res) => void res.end(String(res.req === req)))
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/', headers: {} })
  const response = new ServerResponse({ method: 'GET' } as IncomingMessage)
  const ended: unknown[] = []
  const seen: string[] = []
  response.end = ((chunk: unknown) => {
    ended.push(chunk)
    response.emit('mine')
    return response
  }) as ServerResponse['end']
  response.on('mine', () => void seen.push('mine'))
  app(request as never, response as never)
  while (ended.length === 0) await new Promise(setImmediate)
  t.strictSame([ended, seen], [['true'], ['mine']])
})

/** What a handler can tell of its objects, and the requests it is asked with; the answers must be Express's. */
interface Told {
  name: string
  tell: (req: any, res: any) => unknown
  path?: string
  set?: (app: any) => unknown
  use?: (req: any, res: any, next: () => void) => void
}

const own = (value: object, names: readonly string[]): boolean[] => names.map((name) => Object.hasOwn(value, name))
const query = ({ query: values }: any): unknown => Object.entries(values)

function readsQuery(req: any, _res: unknown, next: () => void): void {
  if (query(req) !== undefined) next()
}

const TOLD: readonly Told[] = [
  {
    name: 'the own members of a request',
    tell: (req) => own(req, ['params', 'baseUrl', 'originalUrl', 'next', 'route', 'res', 'url', 'query', 'cookies'])
  },
  {
    name: 'members by `in`',
    tell: (req) => ['cookies', 'signedCookies', 'session', 'body', 'query'].map((name) => name in req)
  },
  {
    name: 'a copy of a request by spreading',
    path: '/told/7?a=1',
    tell: (req) => {
      const { params, baseUrl, originalUrl, url, method, next, route } = { ...req }
      return [{ ...params }, baseUrl, originalUrl, url, method, typeof next, route?.path]
    }
  },
  {
    name: 'the members Express adds for a handler, by name',
    tell: (req) =>
      Object.keys(req).filter((name) => ['params', 'baseUrl', 'originalUrl', 'next', 'route'].includes(name))
  },
  {
    name: 'locals',
    tell: (_req, res) => [
      Object.hasOwn(res, 'locals'),
      Object.getPrototypeOf(res.locals),
      Object.keys({ ...res.locals })
    ],
    use: (_req, res, next) => {
      res.locals.user = 'ada'
      next()
    }
  },
  {
    name: 'members that a middleware adds',
    tell: (req) => [req.cookies, 'cookies' in req, Object.hasOwn(req, 'cookies')],
    use: (req, _res, next) => {
      req.cookies = { a: '1' }
      next()
    }
  },
  { name: 'a query that is not encoded well', path: '/told/7?q=100%+pure%20cotton&r=%FC&s=%C3%BC&%zz=%', tell: query },
  { name: 'plus signs, empty names and values', path: '/told/7?a=b+c&d+e&=f&&g=&h==i', tell: query },
  {
    name: 'repeated keys, brackets and __proto__',
    path: '/told/7?a=1&a=2&b[]=3&b[]=4&c[d]=5&__proto__=6&constructor=7',
    tell: query
  },
  {
    name: 'a plain query: repeated names, names without values, values with equal signs, dots and tildes',
    path: '/told/7?a=1&a=2&b&&c==d=&.e=~-f.g&=h&a=3',
    tell: (req) => [query(req), Object.getPrototypeOf(req.query)]
  },
  { name: 'a plain query with the name __proto__', path: '/told/7?__proto__=1&a=2', tell: query },
  { name: 'a plain query behind a parameter of 300 characters', path: `/told/${'7'.repeat(300)}?a=1&b=2`, tell: query },
  { name: 'a plain query longer than most', path: `/told/7?${'abc=12345&'.repeat(120)}`, tell: query },
  { name: 'a request without a query, and one with an empty query', path: '/told/7?', tell: query },
  { name: 'a query of 1 500 pairs', path: `/told/7?${'a=1&'.repeat(1500)}`, tell: (req) => req.query.a.length },
  { name: 'the prototype of a query', path: '/told/7?a=1', tell: (req) => Object.getPrototypeOf(req.query) },
  {
    name: 'a query by the extended parser',
    path: '/told/7?a[b]=1&c[]=2',
    tell: query,
    set: (app) => app.set('query parser', 'extended')
  },
  { name: 'a query by no parser', path: '/told/7?a=1', tell: query, set: (app) => app.set('query parser', false) },
  {
    name: 'a query whose url has changed after it was read',
    path: '/told/7?page=1',
    tell: query,
    use: (req, _res, next) => {
      if (req.query.page === '1') req.url = `${req.path}?page=2`
      next()
    }
  },
  {
    name: 'a query whose url lost it',
    path: '/told/7?page=1',
    tell: query,
    use: (req, _res, next) => {
      if (req.query.page === '1') req.url = req.path
      next()
    }
  },
  {
    name: 'the parser of a mounted application',
    path: '/told/7?a[b]=1',
    tell: query,
    use: readsQuery,
    set: (app) => {
      const inner = realExpress().set('query parser', 'extended')
      inner.get('/told/:id', (req, res) => void res.json(['inner', query(req)]))
      app.use(readsQuery)
      app.use(inner)
    }
  }
]

for (const { name, tell, path = '/told/7', use, set } of TOLD) {
  t.test(`a handler is told what Express tells it: ${name}`, async (t) => {
    const told: unknown[] = []
    for (const [factory, create] of FACTORIES) {
      const app = create()
      if (factory === 'ours') made(t, app as TwinrouteExpress)
      set?.(app)
      if (use !== undefined) app.use(use)
      app.get('/told/:id', (req, res) => void res.json(tell(req, res)))
      const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
      const { status, text } = await call(`GET ${path}`)
      told.push([status, text])
      if (factory === 'Express') t.equal(status, 200)
      else t.strictSame((await callByInject((app as TwinrouteExpress).fastify)(`GET ${path}`)).text, text, 'by inject')
    }
    t.strictSame(told[1], told[0])
  })
}

/** Members of Express's own prototypes that other packages replace, for all applications of a process. */
const PATCHES: readonly { name: string; on: 'request' | 'response'; patch: (original: any) => unknown }[] = [
  {
    name: 'response.json',
    on: 'response',
    patch: (original) =>
      function json(this: any, body: unknown) {
        return original.call(this, { wrapped: body })
      }
  },
  {
    name: 'response.send',
    on: 'response',
    patch: (original) =>
      function send(this: any, body: unknown) {
        this.set('x-sent', typeof body)
        return original.call(this, body)
      }
  },
  {
    name: 'response.status',
    on: 'response',
    patch: (original) =>
      function status(this: any, code: number) {
        this.set('x-status', String(code))
        return original.call(this, code)
      }
  },
  {
    name: 'response.redirect',
    on: 'response',
    patch: (original) =>
      function redirect(this: any, ...given: unknown[]) {
        this.set('x-redirected', '1')
        return original.apply(this, given)
      }
  },
  {
    name: 'response.end',
    on: 'response',
    patch: (original) =>
      function end(this: any, ...given: unknown[]) {
        this.setHeader('x-ended', '1')
        return original.apply(this, given)
      }
  },
  {
    name: 'request.get',
    on: 'request',
    patch: (original) =>
      function get(this: any, name: string) {
        return `got ${original.call(this, name)}`
      }
  },
  {
    name: 'request.query',
    on: 'request',
    patch: () => ({ get: () => ({ mine: '1' }), configurable: true, enumerable: true })
  },
  { name: 'request.ip', on: 'request', patch: () => ({ get: () => 'mine', configurable: true, enumerable: true }) }
]

for (const { name, on, patch } of PATCHES) {
  t.test(`what another package has put in the place of ${name} is used, as in Express`, async (t) => {
    const member = name.split('.')[1] as string
    const target = realExpress[on] as Record<string, any>
    const before = Object.getOwnPropertyDescriptor(target, member)
    const isAccessor = member === 'query' || member === 'ip'
    const original = isAccessor ? undefined : target[member]
    const replaced: any = isAccessor ? patch(undefined) : { value: patch(original), writable: true, configurable: true }
    Object.defineProperty(target, member, replaced)
    t.teardown(() => {
      if (before === undefined) Reflect.deleteProperty(target, member)
      else Object.defineProperty(target, member, before)
    })
    const seen = []
    for (const [factory, create] of FACTORIES) {
      const app = create()
      if (factory === 'ours') made(t, app as TwinrouteExpress)
      app.get('/json', (req, res) => void res.status(201).json([req.get('host'), req.query, req.ip]))
      app.get('/send', (_req, res) => void res.send('text'))
      app.get('/end', (_req, res) => void res.end('text'))
      app.get('/redirect', (_req, res) => res.redirect('/json'))
      const call = callOver(await addressOf(t, app.listen(0, '127.0.0.1')))
      const answers = []
      for (const path of ['/json', '/send', '/end', '/redirect']) {
        const { status, headers, text } = await call(`GET ${path}`)
        const marks = Object.entries(headers).filter(
          ([header]) => /^(x-|etag|content-)/.test(header) && header !== 'x-request-id'
        )
        answers.push([status, Object.fromEntries(marks), text])
      }
      seen.push(answers)
    }
    t.strictSame(seen[1], seen[0])
  })
}
