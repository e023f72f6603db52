import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { Counter, Registry } from 'prom-client'
import { createApp, errorHandler, fileRoutes, type AppOptions } from '../../../dist/index.js'
import express from '../../../dist/express.js'
import { observe, type ObserveOptions } from '../../../dist/observe.js'
import { countsOf, seriesOf, withRoutes } from './app.js'

type Row = readonly [name: string, body: () => Promise<void>]

async function withApp(
  options: ObserveOptions,
  work: (app: Awaited<ReturnType<typeof createApp>>) => Promise<void>,
  given: Partial<AppOptions> = {}
): Promise<void> {
  await withRoutes(async (apiDir) => {
    const app = await createApp({ apiDir, mode: 'test', errorHandler, fastifyOptions: { logger: false }, ...given })
    await app.register(observe, options)
    try {
      await work(app)
    } finally {
      await app.close()
    }
  })
}

/** What an app says when it does not start. */
async function refusalOf(options: ObserveOptions, add: (app: Awaited<ReturnType<typeof createApp>>) => void) {
  let message = 'it started'
  await withApp(options, async (app) => {
    await assert.rejects(
      async () => {
        add(app)
        await app.ready()
      },
      (error: Error) => ((message = error.message), true)
    )
  })
  return message
}

export const metricsRows: readonly Row[] = [
  [
    'an app counts requests by the pattern of the route file, and what no route matches as one',
    () =>
      withApp({}, async (app) => {
        app.get('/plain/:name', async () => 'x')
        for (const path of [
          '/api/users/1',
          '/api/users/2',
          '/plain/a',
          '/nothing/1',
          '/nothing/2',
          '/livez',
          '/readyz'
        ]) {
          await app.inject(path)
        }
        await app.inject({ method: 'POST', url: '/api/users/1' })
        await app.inject({ method: 'DELETE', url: '/api/users/1' })
        await app.inject('/metrics')
        const { body, headers, statusCode } = await app.inject('/metrics')
        assert.equal(statusCode, 200)
        assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
        assert.equal(headers['cache-control'], 'no-store')
        assert.deepEqual(countsOf(body), [
          'DELETE /api/users/[id] 405: 1',
          'GET /api/users/[id] 200: 2',
          'GET /plain/:name 200: 1',
          'GET unmatched 404: 2',
          'POST /api/users/[id] 500: 1'
        ])
        for (const path of ['users/1', 'nothing/1', 'plain/a']) assert.ok(!body.includes(path), path)
      })
  ],
  [
    'what middleware of use() answers is counted, and a request that it sends to another route once, as that route',
    () =>
      withApp({}, async (app) => {
        app.use((request, response, next) => {
          if (request.url === '/old') request.url = '/api/hello'
          if (request.url === '/api/users/9') response.status(403).end() // a method that the file refuses, too
          else next()
        })
        for (const path of ['/old', '/api/users/9']) await app.inject(path)
        await app.inject({ method: 'PUT', url: '/api/users/9' })
        const { body } = await app.inject('/metrics')
        const wanted = ['GET /api/hello 200: 1', 'GET /api/users/[id] 403: 1', 'PUT /api/users/[id] 403: 1']
        assert.deepEqual(countsOf(body), wanted)
      })
  ],
  [
    "a route of Express's router below app.use() is its pattern, and a malformed path makes no series",
    () =>
      withApp({}, async (app) => {
        const router = express.Router()
        router.get('/posts/:post', (_request, response) => void response.json({}))
        app.use('/old/:id', router)
        app.use(router)
        for (const path of ['/posts/1', '/posts/2', '/old/7/posts/3', '/%zz/4']) await app.inject(path)
        const { body } = await app.inject('/metrics')
        assert.deepEqual(countsOf(body), ['GET */posts/:post 200: 1', 'GET /posts/:post 200: 2'])
      })
  ],
  [
    'the duration is in seconds, in the buckets that were given',
    () =>
      withApp({ metrics: { buckets: [60, 600] } }, async (app) => {
        await app.inject('/api/hello')
        const series = seriesOf((await app.inject('/metrics')).body)
        const labels = 'method="GET",route="/api/hello",status="200"'
        assert.equal(series.get(`http_request_duration_seconds_bucket{le="60",${labels}}`), 1)
        const sum = series.get(`http_request_duration_seconds_sum{${labels}}`) ?? -1
        assert.ok(sum > 0 && sum < 60, String(sum))
      })
  ],
  [
    'a status may be its class',
    () =>
      withApp({ metrics: { status: 'class' } }, async (app) => {
        await app.inject('/api/hello')
        await app.inject('/nothing')
        assert.deepEqual(countsOf((await app.inject('/metrics')).body), [
          'GET /api/hello 2xx: 1',
          'GET unmatched 4xx: 1'
        ])
      })
  ],
  [
    'metrics of the process are there once, for two apps beside each other, and by option not at all',
    () =>
      withApp({}, (one) =>
        withApp({}, (other) =>
          withApp({ metrics: { processMetrics: false } }, async (none) => {
            await one.inject('/api/hello')
            const [first, second, third] = await Promise.all([one, other, none].map((app) => app.inject('/metrics')))
            for (const answer of [first, second]) {
              assert.equal(answer?.body.match(/^process_cpu_user_seconds_total /gm)?.length, 1)
              assert.match(answer?.body ?? '', /^nodejs_eventloop_lag_p99_seconds /m)
            }
            assert.ok(!third?.body.includes('process_cpu'))
            assert.deepEqual(
              [first, second].map((answer) => countsOf(answer?.body ?? '').length),
              [1, 0]
            )
          })
        )
      )
  ],
  [
    'a registry of the user is served with its own metrics, without those of the process',
    () => {
      const registry = new Registry()
      new Counter({ name: 'orders_total', help: 'Orders', registers: [registry] }).inc(3)
      return withApp({ metrics: { registry } }, async (app) => {
        await app.inject('/api/hello')
        const { body } = await app.inject('/metrics')
        assert.equal(seriesOf(body).get('orders_total'), 3)
        assert.equal(countsOf(body).length, 1)
        assert.ok(!body.includes('process_cpu'))
      })
    }
  ],
  [
    'middleware of the map guards the metrics, and not liveness and readiness',
    () =>
      withApp(
        {},
        async (app) => {
          const paths = ['/metrics', '/livez', '/readyz']
          const answers = await Promise.all(paths.map((path) => app.inject(path)))
          assert.deepEqual(
            answers.map(({ statusCode }) => statusCode),
            [401, 200, 200]
          )
        },
        { middleware: { '/': [(_request, response) => void response.status(401).end()] } }
      )
  ],
  [
    'a prefix comes before all paths',
    () =>
      withApp({ prefix: '/internal' }, async (app) => {
        const paths = ['/internal/metrics', '/internal/livez', '/internal/readyz', '/metrics']
        const answers = await Promise.all(paths.map((path) => app.inject(path)))
        assert.deepEqual(
          answers.map(({ statusCode }) => statusCode),
          [200, 200, 200, 404]
        )
      })
  ],
  [
    'a path that another route has keeps the app from starting: a route file, a route before, a route behind',
    async () => {
      const taken =
        /\/\S+ is a path of observe \((metrics\.path|health\.\w+Path)\), and another route is registered for it \(OBSERVE_PATH_TAKEN\)/
      await assert.rejects(
        withApp({ metrics: { path: '/api/hello' } }, async () => {}),
        taken
      )
      assert.match(await refusalOf({}, (app) => app.get('/metrics', async () => 'mine')), taken)
      assert.match(await refusalOf({}, (app) => app.get('/readyz', async () => 'mine')), taken)
      const host = Fastify()
      host.get('/livez', async () => 'mine')
      await assert.rejects(async () => host.register(observe), taken)
      await withApp({}, async (app) => {
        app.post('/metrics', async () => 'pushed')
        assert.equal((await app.inject({ method: 'POST', url: '/metrics' })).body, 'pushed')
      })
    }
  ],
  [
    "a host's own Fastify is observed with its file routes, and a scope only with what is in it",
    () =>
      withRoutes(async (apiDir) => {
        const host = Fastify()
        await host.register(async (scope) => {
          await scope.register(observe)
          await scope.register(fileRoutes, { apiDir, mode: 'test' })
        })
        host.get('/outside', async () => 'x')
        for (const path of ['/api/users/1', '/outside', '/nothing']) await host.inject(path)
        assert.deepEqual(countsOf((await host.inject('/metrics')).body), ['GET /api/users/[id] 200: 1'])
        await host.close()
      })
  ],
  [
    'methods that no route can have are one label, and any other word of a client of HTTP/2 makes none',
    async () => {
      const host = Fastify({ http2: true })
      await host.register(observe)
      const client = connect(await host.listen({ port: 0, host: '127.0.0.1' }))
      for (const method of ['FOO1', 'PURGE', 'PROPFIND', 'GET']) {
        const stream = client.request({ ':method': method, ':path': '/x' })
        stream.end()
        await once(stream, 'response')
        stream.resume()
        await once(stream, 'close')
      }
      client.close()
      assert.deepEqual(countsOf((await host.inject('/metrics')).body), [
        'GET unmatched 404: 1',
        'other unmatched 404: 2'
      ])
      await host.close()
    }
  ],
  [
    'an application of twinroute/express is observed by the patterns of its routes, which may hold no path',
    async () => {
      const app = express()
      app.fastify.register(observe)
      app.get('/users/:id', (request, response) => void response.json(request.params))
      const router = express.Router()
      router.get('/posts/:post', (_request, response) => void response.json({}))
      app.use('/users/:id', router)
      const server = app.listen(0)
      await once(server, 'listening')
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      for (const path of ['/users/77', '/users/77/posts/88', '/nothing/99']) await (await fetch(origin + path)).text()
      const text = await (await fetch(`${origin}/metrics`)).text()
      assert.deepEqual(countsOf(text), ['GET */posts/:post 200: 1', 'GET /users/:id 200: 1', 'GET unmatched 404: 1'])
      assert.equal((await fetch(`${origin}/readyz`)).status, 200)
      server.close()
      server.closeAllConnections()
      await app.fastify.close()
    }
  ]
]
