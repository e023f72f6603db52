// ci: once (the same on every Node); metrics and load shedding, which need packages of their own: test/observe/
import { tracingChannel } from 'node:diagnostics_channel'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { createApp, fileRoutes, type Middleware } from 'twinroute'
import { graphqlRoutes } from 'twinroute/graphql'
import { openapi } from 'twinroute/openapi'
import { observe, type ObserveOptions, type ProbeOptions } from 'twinroute/observe'
import { writeRoutes } from './support/hosts.js'

/** The parts of tap that are used here. */
interface Test {
  teardown(end: () => unknown): void
}

/** Something to wait for, and what ends the wait. */
class Gate<Value = void> {
  open: (value: Value) => void = () => {}
  readonly passed = new Promise<Value>((resolve) => (this.open = resolve))
}

interface Given {
  mode?: string
  /** Gets the lines of the log. */
  log?: (line: any) => void
}

async function hostWith(t: Test, health: ProbeOptions, { mode = 'test', log }: Given = {}): Promise<FastifyInstance> {
  const stream = { write: (line: string) => log?.(JSON.parse(line)) }
  const host = Fastify({ logger: { level: 'info', stream }, disableRequestLogging: true })
  t.teardown(() => host.close())
  await host.register(observe, { metrics: false, health, mode })
  return host
}

async function readyOf(app: Pick<FastifyInstance, 'inject'>): Promise<[number, any]> {
  const { statusCode, body } = await app.inject('/readyz')
  return [statusCode, JSON.parse(body)]
}

t.test('liveness and readiness answer 200 without any check, and are not cached', async (t) => {
  const host = await hostWith(t, {})
  for (const path of ['/livez', '/readyz']) {
    const { statusCode, headers, body } = await host.inject(path)
    t.equal(statusCode, 200)
    t.equal(headers['cache-control'], 'no-store')
    t.equal(JSON.parse(body).status, 'ok')
    t.equal((await host.inject({ method: 'HEAD', url: path })).statusCode, 200)
  }
})

t.test('the paths are options', async (t) => {
  const host = await hostWith(t, { livePath: '/internal/alive', readyPath: '/internal/ready' })
  const paths = ['/internal/alive', '/internal/ready', '/livez', '/readyz']
  const answers = await Promise.all(paths.map((path) => host.inject(path)))
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 404, 404]
  )
})

t.test('its routes are not in the OpenAPI document', async (t) => {
  const host = Fastify()
  t.teardown(() => host.close())
  await host.register(openapi, { mode: 'test', page: false })
  await host.register(observe, { metrics: false })
  host.get('/mine', { schema: { summary: 'Mine' } as object }, async () => 'x')
  t.strictSame(Object.keys((await host.inject('/docs/openapi.json')).json().paths), ['/mine'])
})

const FAILING: { how: string; check: ProbeOptions['checks']; message: string }[] = [
  {
    how: 'throws',
    check: {
      database: () => {
        throw new Error('no connection to 10.0.0.7')
      }
    },
    message: 'no connection to 10.0.0.7'
  },
  {
    how: 'rejects',
    check: { database: async () => Promise.reject(new Error('password of app refused')) },
    message: 'password of app refused'
  },
  {
    how: 'rejects with no error',
    check: { database: async () => Promise.reject(null) },
    message: 'Rejected without a reason'
  },
  { how: 'gives false', check: { database: async () => false }, message: 'it gave false' },
  { how: 'never ends', check: { database: () => new Promise(() => {}) }, message: 'it took more than 5 ms' }
]

for (const { how, check, message } of FAILING) {
  t.test(`a check that ${how} makes the app not ready, and production does not tell why`, async (t) => {
    const checks = { ...check, cache: () => 'here' }
    const shown = await hostWith(t, { checks, timeout: 5 })
    t.strictSame(await readyOf(shown), [
      503,
      { status: 'failed', checks: { database: { status: 'failed', message }, cache: { status: 'ok' } } }
    ])
    const lines: any[] = []
    const hidden = await hostWith(t, { checks, timeout: 5 }, { mode: 'production', log: (line) => lines.push(line) })
    t.strictSame(await readyOf(hidden), [
      503,
      { status: 'failed', checks: { database: { status: 'failed' }, cache: { status: 'ok' } } }
    ])
    t.strictSame(
      lines.map(({ level, check, err }) => ({ level, check, message: err.message })),
      [{ level: 40, check: 'database', message }]
    )
    t.equal((await hidden.inject('/livez')).statusCode, 200)
  })
}

t.test('the log says once that a check fails, and once that it passes again', async (t) => {
  const lines: string[] = []
  let isThere = false
  const checks = { store: () => isThere }
  const host = await hostWith(t, { checks, cacheFor: 0 }, { log: ({ msg }) => lines.push(msg) })
  for (const there of [false, false, true, true]) {
    isThere = there
    t.equal((await readyOf(host))[0], there ? 200 : 503)
  }
  t.strictSame(lines, ['Readiness: the check store fails: it gave false', 'Readiness: the check store passes again'])
})

t.test('a check gets a signal that is aborted at its time limit', async (t) => {
  const given = new Gate<AbortSignal>()
  const checks = {
    store: (signal: AbortSignal) => {
      given.open(signal)
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
  }
  const host = await hostWith(t, { checks, timeout: 5 })
  t.equal((await readyOf(host))[0], 503)
  t.equal((await given.passed).aborted, true)
})

t.test('results hold for the time that was given, and many who ask at once share one run', async (t) => {
  let runs = 0
  const checks = { store: async () => void runs++ }
  const kept = await hostWith(t, { checks, cacheFor: 1_000_000 })
  for (let asked = 0; asked < 3; asked++) await readyOf(kept)
  t.equal(runs, 1)
  runs = 0
  const fresh = await hostWith(t, { checks, cacheFor: 0 })
  for (let asked = 0; asked < 3; asked++) await readyOf(fresh)
  t.equal(runs, 3)
  runs = 0
  const gate = new Gate()
  const slow = await hostWith(t, { checks: { store: () => (runs++, gate.passed) }, cacheFor: 0, timeout: 60_000 })
  const asked = Array.from({ length: 5 }, () => readyOf(slow))
  setImmediate(gate.open)
  await Promise.all(asked)
  t.equal(runs, 1)
})

t.test('a check that has not ended is not begun again, and what it says then counts', async (t) => {
  let runs = 0
  const gate = new Gate()
  const checks = { store: () => (runs++, gate.passed) }
  const host = await hostWith(t, { checks, cacheFor: 0, timeout: 200 })
  t.match((await readyOf(host))[1].checks.store, { message: 'it took more than 200 ms' })
  t.match((await readyOf(host))[1].checks.store, { message: 'it has not ended since it was begun the last time' })
  t.equal(runs, 1)
  gate.open()
  await gate.passed
  t.equal((await readyOf(host))[0], 200)
  t.equal(runs, 2)
})

t.test('an app that closes is alive and not ready, while it still accepts connections', async (t) => {
  const app = await createApp({
    apiDir: writeRoutes(t, { hello: { GET: () => ({}) } }),
    mode: 'test',
    fastifyOptions: { logger: false },
    shutdown: { delay: 500, signals: false },
    port: 0
  })
  await app.register(observe, { metrics: false })
  const origin = await app.start()
  t.equal((await fetch(`${origin}/readyz`)).status, 200)
  const closed = app.close()
  const ready = await fetch(`${origin}/readyz`)
  t.strictSame([ready.status, await ready.json()], [503, { status: 'closing' }])
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  await closed
})

const POLLED = ['/livez', '/readyz', '/api/hello']

for (const { logLevel, logged } of [
  { logLevel: undefined, logged: ['/api/hello'] },
  { logLevel: 'info', logged: POLLED }
] as const) {
  t.test(`the request log has ${logLevel === undefined ? 'no' : 'its'} polls with logLevel ${logLevel}`, async (t) => {
    const lines: any[] = []
    const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
    const app = await createApp({
      apiDir: writeRoutes(t, { hello: { GET: () => ({}) } }),
      mode: 'production',
      requestLog: true,
      fastifyOptions: { logger: { level: 'info', stream } }
    })
    t.teardown(() => app.close())
    await app.register(observe, { metrics: false, ...(logLevel !== undefined && { logLevel }) })
    for (const path of POLLED) t.equal((await app.inject(path)).statusCode, 200)
    t.strictSame(
      lines.filter(({ http }) => http !== undefined).map(({ http }) => http.url),
      logged
    )

    const others: any[] = []
    const host = Fastify({ logger: { level: 'info', stream: { write: (line) => void others.push(JSON.parse(line)) } } })
    t.teardown(() => host.close())
    await host.register(observe, { metrics: false, ...(logLevel !== undefined && { logLevel }) })
    host.get('/api/hello', async () => ({}))
    for (const path of POLLED) await host.inject(path)
    t.strictSame(
      others.filter(({ req }) => req !== undefined).map(({ req }) => req.url),
      logged,
      'neither have the lines of Fastify'
    )
  })
}

t.test('a path that a route file has is named with the file', async (t) => {
  const apiDir = writeRoutes(t, { hello: { GET: () => ({}) } })
  const health = { readyPath: '/api/hello' }
  const wanted: any = {
    problems: [{ code: 'OBSERVE_PATH_TAKEN', files: [/hello.route\.\w+$/], fix: /health\.readyPath/ }]
  }
  await t.rejects(async () => {
    const app = await createApp({ apiDir, mode: 'test' })
    t.teardown(() => app.close())
    await app.register(observe, { metrics: false, health })
    await app.ready()
  }, wanted)
  await t.rejects(async () => {
    const host = Fastify()
    t.teardown(() => host.close())
    await host.register(fileRoutes, { apiDir, mode: 'test' })
    await host.register(observe, { metrics: false, health })
  }, wanted)
})

/** What the channels tell, in words. */
function listen(t: Test, name: string): string[] {
  const told: string[] = []
  const channel = tracingChannel<unknown, any>(name)
  const says = (event: string) => (message: any) => {
    const { name, prefix, operationType, operationName, error } = message
    const what = name === undefined ? `${operationType} ${operationName}` : `${name} of ${prefix}`
    told.push(`${event}: ${what}${error === undefined ? '' : ` (${error.message})`}`)
  }
  const handlers = {
    start: says('start'),
    end: says('end'),
    asyncStart: says('asyncStart'),
    asyncEnd: says('asyncEnd'),
    error: says('error')
  }
  channel.subscribe(handlers)
  t.teardown(() => channel.unsubscribe(handlers))
  return told
}

t.test(
  'middleware of the map and of route files is told on a tracing channel, and answers as without it',
  async (t) => {
    const later: Middleware = async function later(_request, _response, next) {
      await new Promise(setImmediate)
      next()
    }
    const fails: Middleware = async function fails() {
      throw new Error('no key')
    }
    const guarded = { GET: () => ({ hello: 'world' }), middleware: [later] }
    const routes = { hello: guarded, failing: guarded }
    const middleware = { '/api/hello': [later], '/api/failing': [fails] }
    const before = await createApp({ apiDir: writeRoutes(t, routes), mode: 'test', middleware })
    await before.ready()
    const told = listen(t, 'twinroute.middleware')
    const app = await createApp({ apiDir: writeRoutes(t, routes), mode: 'test', middleware })
    for (const one of [before, app]) t.teardown(() => one.close())
    for (const path of ['/api/hello', '/api/failing']) {
      const [wanted, answer] = [await before.inject(path), await app.inject(path)]
      t.equal(answer.statusCode, wanted.statusCode)
      t.strictSame(Object.keys(answer.json()), Object.keys(wanted.json()))
    }
    t.strictSame(told, [
      'start: later of /api/hello',
      'end: later of /api/hello',
      'asyncStart: later of /api/hello',
      'start: later of undefined',
      'end: later of undefined',
      'asyncEnd: later of /api/hello',
      'asyncStart: later of undefined',
      'asyncEnd: later of undefined',
      'start: fails of /api/failing',
      'end: fails of /api/failing',
      'error: fails of /api/failing (no key)',
      'asyncStart: fails of /api/failing (no key)',
      'asyncEnd: fails of /api/failing (no key)'
    ])
  }
)

t.test(
  'a middleware that calls next twice, or fails behind it, is told once, and the log says so as without it',
  async (t) => {
    const late: Middleware[] = [
      function twice(_request, _response, next) {
        next()
        next()
      },
      function fails(_request, _response, next) {
        next()
        throw new Error('behind')
      },
      async function rejects(_request, _response, next) {
        next()
        throw new Error('behind')
      }
    ]
    for (const middleware of late) {
      await t.test(middleware.name, async (t) => {
        const lines: string[] = []
        const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } }
        const build = async (): Promise<FastifyInstance> => {
          const apiDir = writeRoutes(t, { hello: { GET: () => ({ hello: 'world' }), middleware: [middleware] } })
          const app = await createApp({ apiDir, mode: 'production', fastifyOptions: { logger } })
          t.teardown(() => app.close())
          return app
        }
        const untraced = await build()
        await untraced.ready()
        const told = listen(t, 'twinroute.middleware')
        const traced = await build()
        const seen = []
        for (const app of [untraced, traced]) {
          const { statusCode } = await app.inject('/api/hello')
          seen.push({ statusCode, lines: lines.splice(0) })
        }
        t.strictSame(seen[1], seen[0], 'answered and logged alike')
        const events = ['start', 'asyncStart', 'asyncEnd', 'end'].map(
          (event) => `${event}: ${middleware.name} of undefined`
        )
        t.strictSame(told.toSorted(), events.toSorted())
      })
    }
  }
)

t.test('GraphQL operations are told on a tracing channel', async (t) => {
  const host = Fastify()
  t.teardown(() => host.close())
  await host.register(graphqlRoutes, {
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: () => 'world' } }
  })
  const ask = (query: string) => host.inject({ method: 'POST', url: '/graphql', payload: { query } })
  await ask('{ hello }')
  const told = listen(t, 'twinroute.graphql')
  t.strictSame((await ask('query Greeting { hello }')).json(), { data: { hello: 'world' } })
  await ask('{ unknown }')
  t.strictSame(
    told,
    ['start', 'end', 'asyncStart', 'asyncEnd'].map((event) => `${event}: query Greeting`)
  )
})

t.test('what is not installed is named with the command that installs it', async (t) => {
  const rows: { options: ObserveOptions; wanted: RegExp }[] = [
    { options: {}, wanted: /observe needs prom-client, which is not installed[^]*npm install prom-client@15$/ },
    {
      options: { metrics: false, shedding: true },
      wanted: /observe needs @fastify\/under-pressure, which[^]*npm install @fastify\/under-pressure@9$/
    },
    { options: { shedding: {} }, wanted: /npm install prom-client@15 @fastify\/under-pressure@9$/ }
  ]
  for (const { options, wanted } of rows) {
    await t.rejects(async () => Fastify().register(observe, options), { message: wanted })
  }
})

t.test('wrong options are refused by name', async (t) => {
  const rows: [object, RegExp][] = [
    [{ metric: true }, /observe has no option metric; it has metrics, health, shedding/],
    [{ metrics: 'yes' }, /metrics of observe must be true, false or an object; it is "yes"/],
    [{ metrics: { path: 'metrics' } }, /metrics\.path of observe must be a path such as/],
    [{ metrics: { path: '/' } }, /metrics\.path of observe must be a path such as/],
    [{ metrics: { path: '/:name' } }, /metrics\.path of observe must be a path such as/],
    [{ metrics: { status: 'codes' } }, /metrics\.status of observe must be "code" or "class"; it is "codes"/],
    [{ metrics: { buckets: [] } }, /metrics\.buckets of observe must be a list of seconds, ascending/],
    [{ metrics: { buckets: [1, 0.5] } }, /metrics\.buckets of observe must be a list of seconds, ascending/],
    [{ metrics: { registry: {} } }, /metrics\.registry of observe must be a Registry of prom-client/],
    [{ health: { checks: [] } }, /health\.checks of observe must be functions by name/],
    [{ health: { checks: { database: true } } }, /health\.checks of observe must be functions by name/],
    [{ health: { timeout: 0 } }, /health\.timeout of observe must be a whole number of at least 1; it is 0/],
    [{ health: { cacheFor: -1 } }, /health\.cacheFor of observe must be a whole number; it is -1/],
    [{ health: { readypath: '/r' } }, /health of observe has no field readypath; its fields are livePath, readyPath/],
    [{ health: { livePath: '/readyz' } }, /must differ; two are "\/readyz"/],
    [{ shedding: { maxEventLoopUtilization: 80 } }, /maxEventLoopUtilization of observe must be a share from 0 to 1/],
    [
      { shedding: { maxRssBytes: '1GB' } },
      /shedding\.maxRssBytes of observe must be a number of at least 0; it is "1GB"/
    ],
    [{ shedding: { maxEventLoopDelay: 0 } }, /shedding of observe sets no limit/],
    [
      { metrics: { processMetrics: true, registry: { metrics() {}, registerMetric() {} } } },
      /for a registry of its own only/
    ]
  ]
  for (const [options, message] of rows) {
    await t.rejects(async () => Fastify().register(observe, options as ObserveOptions), {
      name: 'TypeError',
      message
    })
  }
})
