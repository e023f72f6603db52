import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { createApp, errorHandler } from '../../../dist/index.js'
import { withRoutes } from './app.js'

type Row = readonly [name: string, body: () => Promise<void>]

interface Span {
  name: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: { stringValue?: string } }[]
}

interface Traces {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

/** A collector: what was posted to it as OTLP over HTTP. */
async function withCollector(work: (url: string, spans: readonly Span[]) => Promise<void>): Promise<void> {
  const spans: Span[] = []
  const server = createServer((request, response) => {
    void json(request).then((traces) => {
      const { resourceSpans } = traces as Traces
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.setHeader('content-type', 'application/json').end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, spans)
  server.close()
  server.closeAllConnections()
}

/** The recipe of docs/observe.md. */
export const tracesRows: readonly Row[] = [
  [
    'spans of @fastify/otel reach a collector, named by the method and the pattern of the route',
    () =>
      withCollector((url, spans) =>
        withRoutes(async (apiDir) => {
          const provider = new NodeTracerProvider({
            spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))]
          })
          provider.register()
          const otel = new FastifyOtelInstrumentation({
            requestHook: (span, { method, routeOptions }) =>
              void span.updateName(`${method} ${routeOptions.url ?? 'unmatched'}`)
          })
          otel.setTracerProvider(provider)
          const app = await createApp({ apiDir, mode: 'test', errorHandler, fastifyOptions: { logger: false } })
          await app.register(otel.plugin())
          assert.equal((await app.inject('/api/users/5')).statusCode, 200)
          await app.inject('/nothing/5')
          await app.close()
          await provider.shutdown()
          const roots = spans.filter(({ parentSpanId }) => !parentSpanId)
          assert.deepEqual(roots.map(({ name }) => name).toSorted(), ['GET /api/users/:id', 'GET unmatched'])
          const [root] = roots.filter(({ name }) => name === 'GET /api/users/:id')
          const route = root?.attributes.find(({ key }) => key === 'http.route')
          assert.equal(route?.value.stringValue, '/api/users/:id')
          assert.ok(
            spans.some(({ parentSpanId }) => parentSpanId === root?.spanId),
            'hooks and handler are its children'
          )
        })
      )
  ]
]
