import assert from 'node:assert/strict'
import Fastify from 'fastify'
import createExpress from '../../../dist/express.js'
import { createApp, errorHandler } from '../../../dist/index.js'
import { observe, type SheddingOptions } from '../../../dist/observe.js'
import { countsOf, withRoutes } from './app.js'

type Row = readonly [name: string, body: () => Promise<void>]

const OWN = ['/livez', '/readyz', '/metrics']

/** Waits until the process is measured to be over its limits, as it is from the first sample on. */
async function untilShed(read: () => Promise<{ statusCode: number }>): Promise<void> {
  while ((await read()).statusCode !== 503) await new Promise(setImmediate)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await holds())) {
    assert.ok(performance.now() < end, 'within half a minute')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** A log, and the first warning in it. */
function warningLog(): { logger: object; warning: () => Promise<string> } {
  const warnings: string[] = []
  const write = (line: string): void => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string }
    if (level === 40) warnings.push(msg)
  }
  const warning = async (): Promise<string> => {
    await until(() => warnings.length > 0)
    return warnings[0] ?? ''
  }
  return { logger: { stream: { write } }, warning }
}

/** Every process is over these. */
const OVER: Readonly<Record<string, SheddingOptions>> = {
  heap: { maxEventLoopDelay: 0, maxHeapUsedBytes: 1, sampleInterval: 10, retryAfter: 7 },
  rss: { maxEventLoopDelay: 0, maxRssBytes: 1, sampleInterval: 10, retryAfter: 7 }
}

export const sheddingRows: readonly Row[] = [
  ...Object.entries(OVER).map(([name, shedding]): Row => [
    `an app over its limit of ${name} answers 503 with Retry-After in its error shape, and its own routes as ever`,
    () =>
      withRoutes(async (apiDir) => {
        const app = await createApp({ apiDir, mode: 'production', errorHandler, fastifyOptions: { logger: false } })
        await app.register(observe, { shedding })
        await untilShed(() => app.inject('/api/hello'))
        const { headers, body } = await app.inject('/api/hello')
        assert.equal(headers['retry-after'], '7')
        const { error, meta } = JSON.parse(body)
        assert.deepEqual(error, { code: 'SERVICE_UNAVAILABLE', message: 'The server is overloaded; try again later' })
        assert.equal(meta.stack, undefined)
        for (const path of OWN) assert.equal((await app.inject(path)).statusCode, 200, path)
        const [counted] = countsOf((await app.inject('/metrics')).body).filter((line) => line.includes('503'))
        assert.match(counted ?? '', /^GET \/api\/hello 503: /)
        await app.close()
      })
  ]),
  [
    'a blocked event loop sheds requests until it is free again, and never health',
    async () => {
      const host = Fastify()
      await host.register(observe, { shedding: { maxEventLoopDelay: 50, sampleInterval: 100 } })
      host.get('/work', async () => 'done')
      const block = setInterval(() => {
        const until = performance.now() + 200
        while (performance.now() < until);
      }, 1)
      await untilShed(() => host.inject('/work'))
      assert.equal((await host.inject('/work')).headers['retry-after'], '10')
      for (const path of OWN) assert.equal((await host.inject(path)).statusCode, 200, path)
      clearInterval(block)
      await until(async () => (await host.inject('/work')).statusCode === 200)
      await host.close()
    }
  ],
  [
    'after a handler that blocks for two seconds requests get 503 for a moment, probes 200, and the log names its route',
    async () => {
      const { logger, warning } = warningLog()
      const host = Fastify({ logger })
      await host.register(observe, { shedding: true })
      host.get('/work', async () => 'done')
      host.get('/block/:id', async () => {
        block(2000)
        return 'late'
      })
      const address = await host.listen({ port: 0, host: '127.0.0.1' })
      const get = (path: string) => fetch(`${address}${path}`)
      // more than once only where the next request comes so late that the moment is over
      const next = async (left = 20): Promise<Response> => {
        assert.equal(await (await get('/block/1?token=secret')).text(), 'late', 'what was begun is answered')
        const [work, ...own] = (await Promise.all(['/work', ...OWN].map(get))) as [Response, ...Response[]]
        assert.deepEqual(
          own.map(({ status }) => status),
          OWN.map(() => 200)
        )
        return work.status === 503 || left === 0 ? work : next(left - 1)
      }
      assert.equal((await next()).headers.get('retry-after'), '10')
      await until(async () => (await get('/work')).status === 200)
      assert.match(
        await warning(),
        /^The event loop was blocked for \d+\.\d s: no request could be answered\. The request that began last is GET \/block\/:id$/
      )
      await host.close()
    }
  ],
  [
    'the log names a route that blocks the event loop as the metrics do, for a route file and for Express',
    () =>
      withRoutes(
        async (apiDir) => {
          const { logger, warning } = warningLog()
          const app = await createApp({ apiDir, mode: 'production', fastifyOptions: { logger: logger as never } })
          await app.register(observe, { shedding: true })
          await app.inject('/api/block/1')
          assert.match(await warning(), /is GET \/api\/block\/\[id\]$/)
          await app.close()
          const express = createExpress()
          const warnings: string[] = []
          express.fastify.log.warn = (_data: unknown, text?: string) => void warnings.push(text ?? '')
          await express.fastify.register(observe, { shedding: true })
          express.get('/block/:id', (_request, response) => {
            block(1500)
            response.end()
          })
          await express.fastify.inject('/block/1')
          await until(() => warnings.length > 0)
          assert.match(warnings[0] ?? '', /is GET \/block\/:id$/)
          await express.fastify.close()
        },
        {
          'block/[id]': `export const GET = () => {
            const end = performance.now() + 1500
            while (performance.now() < end);
            return {}
          }`
        }
      )
  ],
  [
    'nothing is shed unless it was asked for',
    async () => {
      const host = Fastify()
      await host.register(observe)
      assert.equal(host.hasDecorator('isUnderPressure'), false)
      await host.close()
    }
  ]
]
