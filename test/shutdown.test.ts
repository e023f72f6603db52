import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { createApp, fileRoutes, type AppOptions, type Request } from 'twinroute'
import { graphqlRoutes } from 'twinroute/graphql'
import { startProcess, type AppProcess } from './support/app-process.js'
import { BusyClients, connectTo, get, talkOver } from './support/connection.js'
import { addressOf, appOf, hostOf } from './support/hosts.js'
import { writeTree } from './support/route-tree.js'

const ROUNDS = 4
const CLIENTS = 64

/** Tells the test that it runs, and answers when the test says so. */
const HELD = `
import { until } from '../until.js'
export async function GET(request) {
  process.send('held')
  await until('answer')
  return { held: true, isClosing: request.app.locals.isClosing, aborted: request.signal.aborted }
}
export async function POST(request) {
  return { body: request.body }
}
`

const apiDir = writeTree(t, {
  'api/ping/route.js': 'export const GET = (request) => ({ isClosing: request.app.locals.isClosing })\n',
  'api/held/route.js': HELD,
  'api/hangs/route.js': `export const GET = () => {\n  process.send('hangs')\n  return new Promise(() => {})\n}\n`,
  'api/events/route.js': `
export function GET(request, response) {
  response.set('Content-Type', 'text/event-stream').write('data: first\\n\\n')
  request.signal.addEventListener('abort', () => response.end('data: ' + request.signal.reason.code + '\\n\\n'))
  process.send('open ' + request.originalUrl)
}
`,
  'api/yields/route.js': `
import { once } from 'node:events'
export function GET(request) {
  return (async function* () {
    yield 'data: first\\n\\n'
    process.send('open ' + request.originalUrl)
    if (!request.signal.aborted) await once(request.signal, 'abort')
    yield 'data: ' + request.signal.reason.code + '\\n\\n'
  })()
}
`,
  'api/poll/route.js': `
import { once } from 'node:events'
async function poll(request) {
  process.send('open ' + request.originalUrl)
  await once(request.signal, 'abort')
  return { poll: request.signal.reason.code }
}
export { poll as GET, poll as POST }
`,
  'api/work/route.js': `
export const GET = (request) => new Promise((_resolve, reject) => {
  request.signal.addEventListener('abort', () => reject(request.signal.reason))
  process.send('open ' + request.originalUrl)
})
`,
  'api/until.js': `
export const until = (word) => new Promise((resolve) => {
  process.on('message', (message) => message === word && resolve())
})
`,
  'api/stream/route.js': `
import { until } from '../until.js'
export async function GET(_request, response) {
  response.write('first,')
  await until('end')
  response.end('last')
}
`
}).concat('/api')

const startApp = (t: any, options: object = {}): Promise<AppProcess> => startProcess(t, apiDir, options)

/** Either way to end an app; `closed` is said by the program after close() only. */
const WAYS: [way: string, end: (process: AppProcess) => void][] = [
  ['close()', (process) => process.tell('close')],
  ['SIGTERM', (process) => process.kill('SIGTERM')]
]

t.test(`${CLIENTS} busy keep-alive clients lose no request`, async (t) => {
  for (const [way, end] of WAYS) {
    for (let round = 1; round <= ROUNDS; round++) {
      const app = await startApp(t)
      const clients = new BusyClients(app.address, { count: CLIENTS, path: '/api/ping' })
      await clients.haveGot(CLIENTS * 10)
      end(app)
      await clients.ended
      const { sent, answered, refused, lost, told } = clients.tally
      const name = `${way}, round ${round}: of ${sent} requests`
      t.same({ answered, refused, lost }, { answered: sent, refused: 0, lost: 0 }, `${name} each has got its 200`)
      t.equal(told, CLIENTS, `${name}: every client was told`)
      t.match(await app.exit, { code: 0, said: [{}, 'closing', 'onClose'] }, `${name}: exit code`)
    }
  }
})

t.test('idle clients do not hold the exit: it takes less than 5 seconds', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const app = await startApp(t, { shutdown: { graceTime: 60_000 } })
    const idle = await Promise.all(Array.from({ length: 8 }, () => connectTo(app.address)))
    for (const connection of idle.slice(4)) {
      await connection.send(get('/api/ping'))
      await connection.receives(/true|false/)
    }
    const begun = performance.now()
    app.kill(signal)
    t.match(await app.exit, { code: 0, printed: '' }, signal)
    const elapsed = performance.now() - begun
    t.ok(elapsed < 5000, `${signal}: ${Math.round(elapsed)} ms`)
    await Promise.all(idle.map(({ closed }) => closed))
  }
})

t.test('a handler at work finishes, and its answer closes the connection', async (t) => {
  for (const [way, end] of WAYS) {
    const app = await startApp(t)
    const connection = await connectTo(app.address)
    await connection.send(get('/api/held'))
    await app.says('held')
    end(app)
    await app.says('closing')
    app.tell('answer')
    t.match(
      await connection.closed,
      /^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*"held":true,"isClosing":true,"aborted":false}$/i,
      way
    )
    t.match(await app.exit, { code: 0, printed: '' }, way)
  }
})

t.test('an answer under way is sent to its end', async (t) => {
  const app = await startApp(t)
  const connection = await connectTo(app.address)
  await connection.send(get('/api/stream'))
  await connection.receives(/first,/)
  app.kill('SIGTERM')
  await app.says('closing')
  app.tell('end')
  t.match(await connection.closed, /first,\r\n4\r\nlast\r\n0\r\n\r\n$/)
  t.match(await app.exit, { code: 0, printed: '' })
})

const ENDINGS: { path: string; answer: RegExp; does: string }[] = [
  { does: 'a stream ends on its signal', path: '/api/events', answer: /first[^]*data: SERVICE_UNAVAILABLE/ },
  { does: 'a returned iterable ends on its signal', path: '/api/yields', answer: /first[^]*data: SERVICE_UNAVAILABLE/ },
  { does: 'a long poll answers on its signal', path: '/api/poll', answer: /"poll":"SERVICE_UNAVAILABLE"/ },
  { does: 'work that fails with the reason of its signal is a 503', path: '/api/work', answer: /The server is closing/ }
]

t.test('request.signal is aborted when closing begins, so that streams do not hold it', async (t) => {
  const uncut = { code: 0, printed: /^(?![^]*grace time)/ }
  for (const [way, end] of WAYS) {
    const app = await startApp(t, { shutdown: { graceTime: 4000 } })
    const connections = await Promise.all(ENDINGS.map(() => connectTo(app.address)))
    for (const [index, { path }] of ENDINGS.entries()) {
      await connections[index]?.send(get(path))
      await app.says(`open ${path}`)
    }
    end(app)
    for (const [index, { does, answer }] of ENDINGS.entries()) {
      t.match(await connections[index]?.closed, answer, `${does}, ${way}`)
      t.match(await app.exit, uncut, `${does}, ${way}: not cut off`)
    }
  }
  const fastifyOptions = { logger: { level: 'warn' }, http2: true }
  const app = await startApp(t, { fastifyOptions, shutdown: { graceTime: 4000 } })
  const answers = ENDINGS.map(({ path }) => text(connectHttp2(app.address).request({ ':path': path })))
  for (const { path } of ENDINGS) await app.says(`open ${path}`)
  app.kill('SIGTERM')
  for (const [index, { does, answer }] of ENDINGS.entries()) {
    t.match(await answers[index], answer, `${does}, HTTP/2`)
    t.match(await app.exit, uncut, `${does}, HTTP/2: not cut off`)
  }
})

t.test(
  'request.signal is aborted at closing also by inject, in middleware, hooks and resolvers, and on a host',
  async (t) => {
    const seen: Record<string, unknown> = {}
    let opened = (): void => {}
    const wait = async (name: string, { signal }: Pick<Request, 'signal'>): Promise<string> => {
      opened()
      await once(signal, 'abort')
      seen[name] = signal.reason.code
      return name
    }
    const rows: { name: string; url: string; sent?: object }[] = [
      { name: 'a handler', url: '/api/wait' },
      { name: 'a middleware', url: '/api/wait/guarded' },
      { name: 'a hook', url: '/hooked' },
      { name: 'a resolver', url: '/graphql', sent: { method: 'POST', payload: { query: '{wait}' } } }
    ]
    const routes = {
      wait: { GET: (request: Request) => wait('a handler', request) },
      'wait/guarded': {
        GET: () => 'guarded',
        middleware: [
          (request: Request, _response: unknown, next: () => void) =>
            void wait('a middleware', request).then(() => next())
        ]
      }
    }
    const start = async (build: typeof appOf | typeof hostOf) => {
      const app: FastifyInstance = await build(t, { routes })
      app.addHook('preHandler', async (request) => {
        if (request.url === '/hooked') await wait('a hook', request.raw as IncomingMessage & Request)
      })
      app.get('/hooked', () => 'hooked')
      return app
    }
    for (const { name, url } of rows.slice(0, 2)) {
      const host = await start(hostOf)
      const isOpen = new Promise<void>((resolve) => (opened = resolve))
      const answer = fetch((await addressOf(host)) + url).then(({ status }) => status)
      await isOpen
      await host.close()
      t.strictSame(
        { status: await answer, code: seen[name] },
        { status: 200, code: 'SERVICE_UNAVAILABLE' },
        `${name}, host`
      )
      delete seen[name]
    }
    for (const { name, url, sent } of rows) {
      const app = await start(appOf)
      const resolvers = {
        Query: { wait: (_: unknown, __: unknown, context: any) => wait('a resolver', context.request) }
      }
      await app.register(graphqlRoutes, { typeDefs: 'type Query { wait: String }', resolvers })
      await app.ready()
      const isOpen = new Promise<void>((resolve) => (opened = resolve))
      const answer = app.inject({ url, ...sent }).then(({ statusCode }) => statusCode)
      await isOpen
      await app.close()
      t.strictSame(
        { status: await answer, code: seen[name] },
        { status: 200, code: 'SERVICE_UNAVAILABLE' },
        `${name}, inject`
      )
      delete seen[name]
    }
  }
)

t.test('a request that comes while the app closes is answered, its signal not aborted', async (t) => {
  const app = await startApp(t)
  const [late, poll] = await Promise.all([connectTo(app.address), connectTo(app.address)])
  await late.send(get('/api/ping'))
  await late.receives(/false}$/)
  await poll.send(get('/api/poll'))
  await app.says('open /api/poll')
  app.kill('SIGTERM')
  await app.says('closing')
  await late.send(get('/api/held'))
  await app.says('held')
  app.tell('answer')
  t.match(await late.closed, /"held":true,"isClosing":true,"aborted":false}$/)
  t.match(await app.exit, { code: 0, printed: '' })
})

t.test('a request of which a part has come is answered', async (t) => {
  const app = await startApp(t)
  const head = await connectTo(app.address)
  const body = await connectTo(app.address)
  await head.send('GET /api/ping HT')
  await body.send(
    'POST /api/held HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n'
  )
  const held = await connectTo(app.address) // answered last, so that the others have been read before
  await held.send(get('/api/held'))
  await app.says('held')
  app.kill('SIGTERM')
  await app.says('closing')
  await Promise.all([head.send('TP/1.1\r\nHost: test\r\n\r\n'), body.send('{"a":1}')])
  t.match(await head.closed, /^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*{"isClosing":true}$/i, 'the head')
  t.match(await body.closed, /^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*{"body":{"a":1}}$/i, 'the body')
  app.tell('answer')
  t.match(await held.closed, /"held":true/)
  t.match(await app.exit, { code: 0, printed: '' })
})

t.test('while the app closes, every answer closes its connection, whoever gives it', async (t) => {
  const app = await startApp(t)
  const rows: [path: string, status: number][] = [
    ['/api/ping', 200],
    ['/api/unknown', 404],
    ['/api/%zz', 400]
  ]
  const connections = await Promise.all(rows.map(() => connectTo(app.address)))
  app.kill('SIGTERM')
  await app.says('closing')
  for (const [index, [path, status]] of rows.entries()) {
    const connection = connections[index] as (typeof connections)[number]
    await connection.send(get(path))
    t.match(await connection.closed, new RegExp(`^HTTP/1.1 ${status} [^]*connection: close\r\n`, 'i'), path)
  }
  t.match(await app.exit, { code: 0 })
})

t.test('a handler that hangs is cut off after the grace time, and hooks run all the same', async (t) => {
  for (const [way, end] of WAYS) {
    const app = await startApp(t, { handlerTimeout: 0, shutdown: { graceTime: 300 } })
    const connection = await connectTo(app.address)
    await connection.send(get('/api/hangs'))
    await app.says('hangs')
    end(app)
    t.equal(await connection.closed, '', way)
    t.match(await app.exit, { code: 0, said: [{}, 'hangs', 'closing', 'onClose'], printed: /over the grace time/ }, way)
  }
})

t.test('a second signal forces the process to end', async (t) => {
  const app = await startApp(t, { shutdown: { graceTime: 600_000 } })
  const connection = await connectTo(app.address)
  await connection.send(get('/api/hangs'))
  await app.says('hangs')
  app.kill('SIGTERM')
  await app.says('closing')
  app.kill('SIGTERM')
  t.match(await app.exit, { code: 1, printed: /second SIGTERM/ })
})

t.test('readiness fails first: with a delay, requests are served until the listener closes', async (t) => {
  const app = await startApp(t, { shutdown: { delay: 1000 } })
  const before = await connectTo(app.address)
  await before.send(get('/api/ping'))
  await before.receives(/{"isClosing":false}$/)
  app.kill('SIGTERM')
  let answer = ''
  while (!answer.endsWith('true}')) {
    const probe = await connectTo(app.address)
    await probe.send(get('/api/ping'))
    await probe.receives(/{"isClosing":(true|false)}$/)
    answer = probe.text
    probe.socket.destroy()
  }
  t.match(answer, /^HTTP\/1.1 200 /, 'a new connection was served while the app was closing')
  t.match(await app.exit, { code: 0 })
  await t.rejects(connectTo(app.address), { code: 'ECONNREFUSED' })
})

t.test('a connection that was handed over (WebSocket) is ended', async (t) => {
  const app = await startApp(t, { shutdown: { graceTime: 600_000 } })
  const connection = await connectTo(app.address)
  await connection.send('GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
  await connection.receives(/101 Switching/)
  app.kill('SIGTERM')
  await connection.closed
  t.match(await app.exit, { code: 0 })
})

t.test('an error outside of a request: requests are answered, then the process ends with 1', async (t) => {
  const rows: [command: string, logger: boolean][] = [
    ['throw', true],
    ['reject', true],
    ['throw', false]
  ]
  for (const [command, logger] of rows) {
    const app = await startApp(t, logger ? {} : { fastifyOptions: { logger: false } })
    const connection = await connectTo(app.address)
    await connection.send(get('/api/held'))
    await app.says('held')
    app.tell(command)
    await app.says('closing')
    app.tell('answer')
    t.match(await connection.closed, /"held":true/, command)
    const name = `${command}, ${logger ? 'logged' : 'printed, where there is no log'}`
    t.match(await app.exit, { code: 1, printed: /(thrown|rejected) outside of a request/ }, name)
  }
})

t.test('a process with several apps closes them all', async (t) => {
  const app = await startApp(t, { apps: 2 })
  const connection = await connectTo(app.addresses[0] as string)
  await connection.send(get('/api/held'))
  await app.says('held')
  const other = await connectTo(app.addresses[1] as string)
  app.kill('SIGTERM')
  await other.closed
  app.tell('answer')
  t.match(await connection.closed, /"held":true/, 'the busy one finishes, though the idle one is closed')
  const { code, said } = await app.exit
  t.same({ code, hooks: said.filter((message) => message === 'onClose').length }, { code: 0, hooks: 2 })
})

t.test('every address of a host name is drained', async (t) => {
  const app = await startApp(t, { host: 'localhost', addresses: ['127.0.0.1', '127.0.0.2'] })
  const { port } = new URL(app.address)
  const further = `http://127.0.0.2:${port}`
  const malformed = await connectTo(further)
  await malformed.send('GET / HTTP/9\r\n\r\n')
  t.match(
    await malformed.closed,
    /^HTTP\/1.1 400 [^]*"Malformed request"/,
    'malformed requests are answered as on the first'
  )
  const connection = await connectTo(further)
  await connection.send(get('/api/held'))
  await app.says('held')
  const clients = new BusyClients(further, { count: 8, path: '/api/ping' })
  await clients.haveGot(80)
  app.kill('SIGTERM')
  await clients.ended
  t.match(clients.tally, { lost: 0, refused: 0, told: 8 })
  app.tell('answer')
  t.match(await connection.closed, /connection: close\r\n[^]*"held":true/i)
  t.match(await app.exit, { code: 0, printed: '' })
})

t.test('HTTP/2: streams finish, idle sessions are closed', async (t) => {
  const app = await startApp(t, { fastifyOptions: { logger: { level: 'warn' }, http2: true } })
  const [busy, idle] = [connectHttp2(app.address), connectHttp2(app.address)]
  const ends = [once(busy, 'close'), once(idle, 'close')]
  await text(idle.request({ ':path': '/api/ping' }))
  const stream = busy.request({ ':path': '/api/held' })
  await app.says('held')
  app.kill('SIGTERM')
  await app.says('closing')
  app.tell('answer')
  t.equal(await text(stream), '{"held":true,"isClosing":true,"aborted":false}')
  await Promise.all(ends)
  t.match(await app.exit, { code: 0, printed: /^(?![^]*grace time)/ })
})

const certificate = await makeCertificate()
const withoutTls = certificate === undefined && 'openssl is not installed'

t.test(
  'TLS: requests finish, idle connections and those without a handshake are closed',
  { skip: withoutTls },
  async (t) => {
    const fastifyOptions = { logger: { level: 'warn' }, https: { key: certificate, cert: certificate } }
    const app = await startApp(t, { fastifyOptions, shutdown: { graceTime: 600_000 } })
    const port = Number(new URL(app.address).port)
    const secure = async () => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      return talkOver(socket)
    }
    const [held, idle, without] = await Promise.all([secure(), secure(), connectTo(app.address)])
    await idle.send(get('/api/ping'))
    await idle.receives(/false}/)
    await held.send(get('/api/held'))
    await app.says('held')
    app.kill('SIGTERM')
    await Promise.all([idle.closed, without.closed])
    app.tell('answer')
    t.match(await held.closed, /connection: close\r\n[^]*"held":true/i)
    t.match(await app.exit, { code: 0, printed: '' })
  }
)

/** Key and certificate in one text; undefined where there is no openssl. */
async function makeCertificate(): Promise<string | undefined> {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const args = ['req', '-x509', ...curve, '-nodes', '-keyout', '-', '-out', '-', '-days', '2', '-subj', '/CN=localhost']
  try {
    return (await promisify(execFile)('openssl', args)).stdout
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const PROCESS_EVENTS = ['SIGTERM', 'SIGINT', 'uncaughtException', 'unhandledRejection', 'beforeExit']
const handlers = () => PROCESS_EVENTS.map((event) => process.listenerCount(event))

t.test('only start() installs process handlers, and close() takes them away', async (t) => {
  const before = handlers()
  const rows: { rule: string; options: Partial<AppOptions>; installs: boolean }[] = [
    { rule: 'production', options: { mode: 'production' }, installs: true },
    { rule: 'development', options: { mode: 'development' }, installs: true },
    { rule: 'mode test', options: { mode: 'test' }, installs: false },
    { rule: 'mode test, asked for', options: { mode: 'test', shutdown: { signals: true } }, installs: true },
    { rule: 'turned off', options: { mode: 'production', shutdown: { signals: false } }, installs: false }
  ]
  for (const { rule: says, options, installs } of rows) {
    const app = await createApp({
      apiDir,
      port: 0,
      host: '127.0.0.1',
      fastifyOptions: { logger: false },
      ...options
    })
    await app.inject('/api/ping')
    t.same(handlers(), before, `${says}: none before start()`)
    await app.start()
    t.same(
      handlers().slice(0, 4),
      before.slice(0, 4).map((count) => count + (installs ? 1 : 0)),
      `${says}: start()`
    )
    t.equal(handlers()[4], before[4], `${says}: a process may come to its own end`)
    await app.close()
    t.same(handlers(), before, `${says}: close()`)
  }
})

t.test('a start that fails leaves no handlers', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const before = handlers()
  const { port } = taken.address() as { port: number }
  const app = await createApp({
    apiDir,
    port,
    host: '127.0.0.1',
    mode: 'production',
    fastifyOptions: { logger: false }
  })
  t.teardown(() => app.close())
  await t.rejects(app.start(), { code: 'EADDRINUSE' })
  // the one that tells why, in case that nobody handles the error, stays for a moment
  while (JSON.stringify(handlers()) !== JSON.stringify(before)) await turn()
  t.same(handlers(), before)
})

t.test('an app that never listened closes, and server.close() alone drains', async (t) => {
  const quiet = await createApp({ apiDir, mode: 'test' })
  t.equal(quiet.isClosing, false)
  await quiet.close()
  t.equal(quiet.isClosing, true)

  const app = await createApp({ apiDir, mode: 'test', port: 0, host: '127.0.0.1' })
  const connection = await connectTo(await app.start())
  await connection.send(get('/api/ping'))
  await connection.receives(/false}/)
  const failure = await new Promise((resolve) => app.server.close(resolve))
  t.equal(failure, undefined)
  await connection.closed
  await app.close()
})

t.test('on a host, closing is the host’s', async (t) => {
  const host = fastify()
  const own = host.server.close
  await host.register(fileRoutes, { apiDir, mode: 'production' })
  await host.ready()
  t.equal(host.server.close, own)
  t.notOk('isClosing' in host)
  await host.close()
})

t.test('a wrong option is named', async (t) => {
  const rows: [shutdown: unknown, message: RegExp][] = [
    [true, /option shutdown of createApp must be an object/],
    [{ signals: 'SIGTERM' }, /option shutdown\.signals of createApp must be true or false; it is "SIGTERM"/],
    [{ delay: -1 }, /option shutdown\.delay of createApp must be milliseconds; it is -1/],
    [{ graceTime: '5s' }, /option shutdown\.graceTime of createApp must be milliseconds; it is "5s"/],
    [{ grace: 5 }, /option shutdown of createApp has no field grace; its fields are signals, delay, graceTime/]
  ]
  for (const [shutdown, message] of rows) {
    const options = { apiDir, mode: 'test', shutdown } as AppOptions
    await t.rejects(createApp(options), { name: 'TypeError', message }, JSON.stringify(shutdown))
  }
})
