// ci: once (environment variables and log lines are the same on every Node version)
import { execFile } from 'node:child_process'
import dns from 'node:dns'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { createApp, type AppOptions, type Request } from 'twinroute'
import { addressOf, appOf, callByInject, callOver, type Call, type Routes, type Scenario } from './support/hosts.js'
import { answerOf } from './support/pieces.js'
import { writeTree } from './support/route-tree.js'

const run = promisify(execFile)

type Environment = Readonly<Record<'PORT' | 'HOST', string | undefined>>

/** Sets variables of this process until the test ends. */
function setEnvironment(t: Pick<Test, 'teardown'>, values: Environment): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name]
    const set = (text: string | undefined): void => {
      if (text === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = text
    }
    set(value)
    t.teardown(() => set(before))
  }
}

const PLACES: { rule: string; env: Environment; options?: Partial<AppOptions>; place: RegExp }[] = [
  {
    rule: 'PORT and HOST of the environment',
    env: { PORT: '0', HOST: '127.0.0.2' },
    place: /^http:\/\/127\.0\.0\.2:\d{4,5}$/
  },
  {
    rule: 'blanks around them do not count',
    env: { PORT: ' 0 ', HOST: ' 127.0.0.2 ' },
    place: /^http:\/\/127\.0\.0\.2:/
  },
  {
    rule: 'an option wins',
    env: { PORT: '1', HOST: '127.0.0.2' },
    options: { port: 0, host: '127.0.0.3' },
    place: /^http:\/\/127\.0\.0\.3:/
  },
  {
    rule: 'each by itself',
    env: { PORT: '0', HOST: '127.0.0.2' },
    options: { host: '127.0.0.3' },
    place: /^http:\/\/127\.0\.0\.3:\d{4,5}$/
  },
  {
    rule: 'an empty HOST is as good as none',
    env: { PORT: '0', HOST: '' },
    place: /^http:\/\/(127\.0\.0\.1|\[::1\]):/
  },
  {
    rule: 'PORT is not read where the option is given',
    env: { PORT: 'x', HOST: undefined },
    options: { port: 0 },
    place: /^http:/
  }
]

for (const { rule, env, options = {}, place } of PLACES) {
  t.test(`start() listens where it is told: ${rule}`, async (t) => {
    setEnvironment(t, env)
    const app = await appOf(t, { routes: { a: { GET: () => 1 } }, options })
    t.match(await app.start(), place)
  })
}

for (const text of ['x', '-1', '65536', '3000.5', '0x10', '\\\\.\\pipe\\name']) {
  t.test(`start() refuses PORT=${text} with what is expected`, async (t) => {
    setEnvironment(t, { PORT: text, HOST: undefined })
    const app = await appOf(t, { routes: { a: { GET: () => 1 } } })
    await t.rejects(app.start(), {
      name: 'TypeError',
      message: `The environment variable PORT must be an integer from 0 to 65535; it is ${JSON.stringify(text)}`
    })
  })
}

/** Gives the name localhost two addresses, as most machines do: 127.0.0.1 and one that every Linux has, too. */
function twoAddresses(t: Test): void {
  const { lookup } = dns
  t.intercept(dns, 'lookup', {
    value: (name: string, ...rest: unknown[]) => {
      const done = rest.at(-1) as (error: null, ...found: unknown[]) => void
      if (name !== 'localhost') return Reflect.apply(lookup, dns, [name, ...rest])
      const all = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
      if ((rest[0] as { all?: boolean }).all === true) setImmediate(done, null, all)
      else setImmediate(done, null, '127.0.0.1', 4)
    }
  })
}

async function appOnTwoAddresses(t: Test) {
  twoAddresses(t)
  const lines: { level: number; msg: string }[] = []
  const app = await appOf(t, {
    routes: { hello: { GET: () => 'hello' } },
    options: {
      port: 0,
      host: 'localhost', // a server for each of its addresses
      mode: 'production',
      shutdown: { signals: false },
      fastifyOptions: { logger: { level: 'error', stream: { write: (text) => lines.push(JSON.parse(text)) } } }
    }
  })
  const first = `${await app.start()}/api/hello`
  const second = first.replace('127.0.0.1', '127.0.0.2')
  const statuses = async () => [(await fetch(first)).status, (await fetch(second)).status]
  return { app, lines, statuses }
}

t.test('a connection that cannot be accepted ends nothing, and the log says so, not ever again', async (t) => {
  const { app, lines, statuses } = await appOnTwoAddresses(t)
  t.strictSame(await statuses(), [200, 200])
  for (let count = 0; count < 100; count++) {
    app.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }))
  }
  t.strictSame([await statuses(), app.isClosing], [[200, 200], false])
  t.match(lines, [{ level: 50, msg: 'A connection could not be accepted: accept EMFILE' }])
  t.equal(lines.length, 1)
})

t.test('a server that is not to hold the process goes on listening, on each of its addresses', async (t) => {
  const holding = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length
  const before = holding()
  const { app, statuses } = await appOnTwoAddresses(t)
  t.equal(holding(), before + 2)
  app.server.unref()
  t.equal(holding(), before)
  t.strictSame([await statuses(), app.isClosing], [[200, 200], false])
})

interface Line {
  level: number
  msg: string
  reqId?: string
  http?: Record<string, unknown>
}

/** A logger whose lines about requests can be waited for. */
function requestLines() {
  const lines: Line[] = []
  let wake = (): void => {}
  const stream = {
    write(text: string): void {
      const line = JSON.parse(text) as Line
      if (line.http === undefined) return
      lines.push(line)
      wake()
    }
  }
  const until = async (count: number): Promise<Line[]> => {
    while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return lines
  }
  return { logger: { level: 'info', stream }, until, lines }
}

const ROUTES: Routes = {
  'users/[id]': { GET: (request: Request) => ({ id: request.params.id }), POST: () => ({ status: 201 }) },
  fails: {
    GET() {
      throw new Error('broken')
    }
  }
}

/** What is asked, and the line about it: level, status, route. */
const ASKED = [
  { line: 'GET /api/users/7?page=2', level: 30, status: 200, route: '/api/users/[id]' },
  { line: 'HEAD /api/users/7', level: 30, status: 200, route: '/api/users/[id]' },
  { line: 'POST /api/users/7', level: 30, status: 201, route: '/api/users/[id]' },
  { line: 'GET /plugin', level: 30, status: 200, route: '/plugin' },
  { line: 'GET /rewritten', level: 30, status: 200, route: '/api/users/[id]' },
  { line: 'DELETE /api/users/7', level: 30, status: 405, route: '/api/users/[id]' },
  { line: 'GET /nowhere', level: 30, status: 404, route: undefined },
  { line: 'GET /stopped', level: 30, status: 401, route: undefined },
  { line: 'GET /%zz', level: 30, status: 400, route: undefined },
  { line: 'GET /api/fails', level: 40, status: 500, route: '/api/fails' }
]

function scenarioOf(requestLog: AppOptions['requestLog'], logger: object): Scenario {
  return {
    routes: ROUTES,
    options: { mode: 'production', requestLog, fastifyOptions: { logger }, trustProxy: true } as Partial<AppOptions>,
    use(app) {
      app.get('/plugin', async () => ({}))
      app.use('/stopped', (_request, response) => response.status(401).json({}))
      app.use((request, _response, next) => {
        if (request.url === '/rewritten') request.url = '/api/users/8'
        next()
      })
    }
  }
}

for (const way of ['socket', 'inject'] as const) {
  const callOn = async (t: any, scenario: Scenario): Promise<Call> => {
    const app = await appOf(t, scenario)
    return way === 'inject' ? callByInject(app) : callOver(await addressOf(app))
  }

  t.test(`requestLog: true writes one line for each request, by ${way}`, async (t) => {
    const { logger, until } = requestLines()
    const call = await callOn(t, scenarioOf(true, logger))
    for (const [index, { line, level, status, route }] of ASKED.entries()) {
      const answer = await call(line, { headers: { 'x-forwarded-for': '203.0.113.9' } })
      const found = (await until(index + 1)).at(-1)
      const [method, url] = line.split(' ')
      t.match(found, { level, http: { method, url, status, ip: '203.0.113.9' } }, line)
      t.equal(found?.http?.['route'], route, `${line}: the route`)
      t.match(found?.msg, new RegExp(`^${method} \\S+ ${status} [\\d.]+ ms$`), `${line}: the text`)
      t.ok(found?.msg.includes(` ${url} `))
      t.ok(found?.reqId, `${line}: the request id`)
      if (answer.headers['x-request-id'] !== undefined) t.equal(found?.reqId, answer.headers['x-request-id'])
    }
    t.equal((await until(0)).length, ASKED.length, 'and no more')
  })

  t.test(`requestLog: 'errors' writes a line for each status from 400 on, by ${way}`, async (t) => {
    const { logger, until } = requestLines()
    const call = await callOn(t, scenarioOf('errors', logger))
    for (const { line } of ASKED) await call(line)
    const wrong = ASKED.filter(({ status }) => status >= 400)
    t.strictSame(
      (await until(wrong.length)).map(({ http }) => `${http?.['method']} ${http?.['url']}`),
      wrong.map(({ line }) => line)
    )
  })

  for (const requestLog of [false, undefined] as const) {
    t.test(`requestLog: ${requestLog} writes none, by ${way}`, async (t) => {
      const { logger, lines } = requestLines()
      const call = await callOn(t, scenarioOf(requestLog, logger))
      for (const { line } of ASKED) await call(line)
      t.strictSame(lines, [])
    })
  }
}

t.test('a request that its client gives up has a line that says so', async (t) => {
  const { logger, until } = requestLines()
  let reached = (): void => {}
  const waiting = new Promise<void>((resolve) => (reached = resolve))
  const routes = { slow: { GET: () => reached() } }
  const options = { mode: 'production', requestLog: 'errors', fastifyOptions: { logger } } as const
  const app = await appOf(t, { routes, options: options as never })
  const { port } = new URL(await addressOf(app))
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /api/slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await waiting
  socket.destroy()
  const [line] = await until(1)
  t.match(line, { level: 30, msg: /^GET \/api\/slow aborted by the client [\d.]+ ms$/, http: { route: '/api/slow' } })
  t.equal(line?.http?.['status'], undefined)
})

t.test('a preflight that CORS answers is logged, too', async (t) => {
  const { logger, until } = requestLines()
  const options = {
    mode: 'production',
    requestLog: true,
    fastifyOptions: { logger },
    expressOptions: { enableCors: { allowAnyOrigin: true } }
  } as const
  const call = callByInject(await appOf(t, { routes: ROUTES, options: options as never }))
  await call('OPTIONS /api/users/7', {
    headers: { origin: 'http://a.example', 'access-control-request-method': 'POST' }
  })
  t.match(await until(1), [{ http: { method: 'OPTIONS', status: 204 } }])
})

t.test('requests over HTTP/2 are logged alike', async (t) => {
  const { logger, until } = requestLines()
  const options = { mode: 'production', requestLog: true, fastifyOptions: { logger, http2: true } } as never
  const session = connectHttp2(await addressOf(await appOf(t, { routes: ROUTES, options })))
  t.teardown(() => session.close())
  t.match(await answerOf(session.request({ ':path': '/api/users/7' })), { status: 200 })
  t.match(await answerOf(session.request({ ':path': '/nowhere' })), { status: 404 })
  t.match(await until(2), [
    { http: { method: 'GET', url: '/api/users/7', status: 200, route: '/api/users/[id]', ip: '127.0.0.1' } },
    { http: { method: 'GET', url: '/nowhere', status: 404 } }
  ])
})

t.test('requestLog is checked', async (t) => {
  await t.rejects(createApp({ apiDir: 'x', requestLog: 'all' as never }), {
    name: 'TypeError',
    message: 'The option requestLog of createApp must be true, false or "errors"; it is "all"'
  })
})

const SERVER = `
import { createApp } from 'twinroute'
const [mode, logger] = process.argv.slice(2)
const fastifyOptions = logger === undefined ? {} : { logger: JSON.parse(logger) }
const app = await createApp({ apiDir: new URL('./api', import.meta.url), mode, requestLog: true, fastifyOptions })
await app.inject('/api/a')
await app.close()
`

/** Prints what it is given, as pino-pretty would, in its own way. */
const PRETTY = `
module.exports = (options) => ({
  write: (line) => void process.stdout.write('pretty: ' + JSON.parse(line).msg.replace(/[\\d.]+ ms/, 'N ms') + '\\n')
})`

t.test('in development the log is readable where pino-pretty is installed', async (t) => {
  const tree = { 'server.js': SERVER, 'api/a/route.js': 'export const GET = () => 1' }
  const pretty = {
    'node_modules/pino-pretty/package.json': '{"name":"pino-pretty","main":"pretty.cjs"}',
    'node_modules/pino-pretty/pretty.cjs': PRETTY
  }
  const withIt = writeTree(t, { ...tree, ...pretty })
  const without = writeTree(t, tree)
  const print = async (cwd: string, ...args: string[]): Promise<string[]> => {
    const { stdout } = await run(process.execPath, [join(cwd, 'server.js'), ...args], { cwd })
    return stdout.split('\n').filter((line) => line.startsWith('pretty: ') || line.startsWith('{'))
  }
  t.strictSame(await print(withIt, 'development'), ['pretty: GET /api/a 200 N ms'])
  t.match(
    await print(withIt, 'production'),
    [/^\{"level":30,.*"http":\{"method":"GET","url":"\/api\/a"/],
    'JSON in production'
  )
  t.match(await print(withIt, 'development', '{"level":"info"}'), [/^\{"level":30/], 'JSON with a logger that is given')
  t.strictSame(await print(withIt, 'test'), [], 'nothing in mode test')
  t.match(await print(without, 'development'), [/^\{"level":30/], 'JSON without it')
})

/** A program that cannot listen: its argument says what it does about it. */
const REFUSED = `
import { createServer } from 'node:net'
import { createApp } from 'twinroute'
const [way, port] = process.argv.slice(2)
const other = createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => other.once('listening', resolve))
process.env.HOST = '127.0.0.1'
if (way.startsWith('second')) {
  const first = { apiDir: new URL('./api', import.meta.url), mode: 'production', port: 0 }
  await (await createApp({ ...first, fastifyOptions: { logger: way === 'second logging' } })).start()
}
process.env.PORT = port ?? String(other.address().port)
const fastifyOptions = way.endsWith('logging') ? {} : { logger: false }
const apiDir = new URL(way === 'second without routes' ? './none' : './api', import.meta.url)
const app = await createApp({ apiDir, mode: 'production', fastifyOptions })
if (way === 'handled') {
  await app.start().catch((error) => console.log(error.code))
  throw new Error('of the program')
} else if (way.endsWith('floating')) app.start()
else if (way === 'listened') {
  process.on('uncaughtException', (error) => console.log('heard', error.code))
  app.start()
  setTimeout(() => process.exit(7), 200)
} else await app.start()
`

const BUSY =
  /^Port \d+ is in use \(127\.0\.0\.1\)\nEnd the process that listens there, or set another port: PORT=\d+\n$/

const REFUSALS: { rule: string; args: string[]; code?: number; stdout?: RegExp; stderr?: RegExp }[] = [
  { rule: 'a port in use, awaited', args: ['awaited'], stderr: BUSY },
  { rule: 'a port in use, not awaited', args: ['floating'], stderr: BUSY },
  {
    rule: 'a port in use, with a log',
    args: ['logging'],
    stdout: /^\{"level":60,[^\n]*"msg":"Port \d+ is in use \(127\.0\.0\.1\): end the process [^\n]* PORT=\d+"\}\n$/
  },
  {
    rule: 'a PORT that is none',
    args: ['awaited', 'abc'],
    stderr:
      /^The environment variable PORT must be an integer from 0 to 65535; it is "abc"\nSet it to a port: PORT=3000\n$/
  },
  {
    rule: 'an error that the program handles is its own; another one is printed by node',
    args: ['handled'],
    stdout: /^EADDRINUSE\n$/,
    stderr: /Error: of the program\n +at .*server\.js/
  },
  { rule: 'the port of a second app in use, awaited', args: ['second'], stderr: BUSY },
  { rule: 'the port of a second app in use, not awaited', args: ['second floating'], stderr: BUSY },
  {
    rule: 'the port of a second app in use, with a log',
    args: ['second logging'],
    stdout: /^(?:\{"level":30,.*\n)+\{"level":60,.*"msg":"Port \d+ is in use .* PORT=\d+"\}\n$/
  },
  {
    rule: 'a second app that cannot be made',
    args: ['second without routes'],
    stderr: /^BootError: 1 problem keeps the application from starting\n(?!(?:.*\n)* +at )/
  },
  { rule: 'a program that listens for errors', args: ['listened'], code: 7, stdout: /^heard EADDRINUSE\n$/ }
]

for (const { rule, args, code = 1, stdout = /^$/, stderr = /^$/ } of REFUSALS) {
  t.test(`start() that cannot listen ends a program with what to do, and without a stack: ${rule}`, async (t) => {
    const top = writeTree(t, { 'server.js': REFUSED, 'api/a/route.js': 'export const GET = () => 1' })
    const result = await run(process.execPath, [join(top, 'server.js'), ...args], { cwd: top }).catch(
      (error: unknown) => error
    )
    t.match(result, { code, stdout, stderr })
  })
}
