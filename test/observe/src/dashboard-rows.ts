import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from '../../../dist/index.js'
import { observe } from '../../../dist/observe.js'
import { seriesOf, withRoutes } from './app.js'
import { fillIn, namesIn, queries, variables } from './dashboard.js'
import { prometheus, withPrometheus } from './prometheus.js'

type Row = readonly [name: string, body: () => Promise<void>]

/** What Prometheus itself adds: a metric, and labels of each series. */
const ADDED = { metrics: new Map([['up', new Set<string>()]]), labels: ['job', 'instance'] }

/** Milliseconds that two scrapes may take on a machine that is busy. */
const PATIENCE = 60_000

/** An app whose metrics hold answers of each kind, and a collection of garbage. */
async function withMetrics(work: (origin: string, ask: () => Promise<void>) => Promise<void>): Promise<void> {
  await withRoutes(async (apiDir) => {
    const app = await createApp({ apiDir, mode: 'test', port: 0, host: '127.0.0.1', fastifyOptions: { logger: false } })
    await app.register(observe)
    const origin = await app.start()
    const ask = async (): Promise<void> => {
      for (const path of ['/api/hello', '/api/users/1', '/nothing']) await app.inject(path)
      await app.inject({ method: 'POST', url: '/api/users/1' }) // it fails
      for (let round = 0; round < 200; round++) Array.from({ length: 10_000 }, (_, index) => ({ index }))
    }
    await ask()
    while (!(await metricsOf(origin)).has('nodejs_gc_duration_seconds_sum')) await ask()
    await work(origin, ask)
    await app.close()
  })
}

/** The labels of each metric of a scrape. */
async function metricsOf(origin: string): Promise<Map<string, Set<string>>> {
  const metrics = new Map(ADDED.metrics)
  for (const series of seriesOf(await (await fetch(`${origin}/metrics`)).text()).keys()) {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? []
    const known = metrics.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
    metrics.set(name, known)
  }
  return metrics
}

const staticRows: readonly Row[] = [
  [
    'each query of the Grafana dashboard names metrics and labels that a scrape has',
    () =>
      withMetrics(async (origin) => {
        const metrics = await metricsOf(origin)
        assert.ok(queries.length >= 15, `${queries.length} queries`)
        for (const { title, expr } of queries) {
          const named = namesIn(expr)
          assert.deepEqual(named.errors, [], title)
          assert.ok(named.metrics.length > 0, `${title} names a metric`)
          const labels = new Set([...ADDED.labels, ...named.metrics.flatMap((name) => [...(metrics.get(name) ?? [])])])
          assert.deepEqual(
            named.metrics.filter((name) => !metrics.has(name)),
            [],
            `${title}: metrics`
          )
          assert.deepEqual(
            named.labels.filter((name) => !labels.has(name)),
            [],
            `${title}: labels`
          )
        }
      })
  ],
  [
    'a metric, a label and a query that are wrong are found in this way',
    async () => {
      assert.deepEqual(namesIn('sum by (path) (rate(http_requests_total{status=~"5.+"}[1m]))'), {
        metrics: ['http_requests_total'],
        labels: ['path', 'status'],
        errors: []
      })
      assert.equal(namesIn('sum(rate(up[1m])').errors.length, 1)
    }
  ],
  [
    'the variables of the dashboard ask for labels of a metric that a scrape has',
    () =>
      withMetrics(async (origin) => {
        const metrics = await metricsOf(origin)
        const asked = variables.filter(({ type }) => type === 'query')
        assert.deepEqual(
          asked.map(({ name }) => name),
          ADDED.labels
        )
        for (const { name, definition = '' } of asked) {
          const [, selector = '', label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? []
          assert.equal(label, name)
          assert.ok(
            namesIn(fillIn(selector)).metrics.every((metric) => metrics.has(metric)),
            selector
          )
        }
      })
  ]
]

const prometheusRow = (program: string): Row => [
  'Prometheus has a value for each query of the dashboard, over scrapes of its own',
  () =>
    withMetrics((origin, request) =>
      withPrometheus(program, new URL(origin).host, async (ask) => {
        const deadline = performance.now() + PATIENCE
        let open = queries
        while (open.length > 0 && performance.now() < deadline) {
          await request()
          const answers = await Promise.all(open.map(async ({ expr }) => ask(expr)))
          open = open.filter((_query, index) => !answers[index]?.some((value) => value !== 'NaN'))
          if (open.length > 0) await wait(200)
        }
        assert.deepEqual(open, [], 'queries without a value')
      })
    )
]

if (prometheus === undefined) {
  process.stdout.write('left out: the queries of the dashboard by Prometheus (it is not installed)\n')
}

export const dashboardRows: readonly Row[] = [
  ...staticRows,
  ...(prometheus === undefined ? [] : [prometheusRow(prometheus)])
]
