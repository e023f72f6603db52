import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import Fastify from 'fastify'
import { createPasswordHasher } from '../../../dist/auth.js'
import { graphqlRoutes } from '../../../dist/graphql.js'
import { createApp, errorHandler, fileRoutes, type AppOptions, type Middleware } from '../../../dist/index.js'
import { type Files, withRoutes } from './app.js'
import { Contexts, traceGraphql, traceMiddleware } from './spans.js'

type Row = readonly [name: string, body: () => Promise<void>]

const exporter = new InMemorySpanExporter()
const contexts = new Contexts()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
let otel: FastifyOtelInstrumentation | undefined

/** As telemetry.ts of the page, with the spans kept here. It holds for all apps that are made from now on. */
function startTelemetry(): void {
  if (otel !== undefined) return
  provider.register({ contextManager: contexts })
  otel = new FastifyOtelInstrumentation({ registerOnInitialization: true, instrumentHooks: false })
  otel.setTracerProvider(provider)
  traceMiddleware(contexts)
  traceGraphql(contexts)
}

const hasher = createPasswordHasher({ cost: 4, threads: 1 })

/** What the code of an application does; such as a query, which makes a span of its own. */
const work = (name: string): void => trace.getTracer('app').startSpan(name).end()
Object.assign(globalThis, { work, hash: (password: string) => hasher.hash(password) })

const ROUTES: Files = {
  hello: `export const GET = async () => {
  work('before')
  await new Promise(setImmediate)
  work('behind')
  return {}
}`,
  bodies: `export const POST = async (request) => {
  work('with body')
  await hash('secret-1')
  work('hashed')
  return await request.body
}`,
  own: `export const middleware = { GET: [function ownCheck(request, response, next) { work('own query'); next() }] }
export const GET = () => { work('handled'); return {} }`
}

/** The spans of one request as a tree: each with the names above it, outermost first, in the order in which they ended. */
async function pathsOf(ask: () => Promise<unknown>): Promise<string[]> {
  exporter.reset()
  await ask()
  while (!exporter.getFinishedSpans().some(({ name }) => name === 'request')) await new Promise(setImmediate)
  const spans = exporter.getFinishedSpans()
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]))
  return spans.map((span) => {
    const names: string[] = []
    for (let at: typeof span | undefined = span; at; at = byId.get(at.parentSpanContext?.spanId ?? '')) {
      names.unshift(at.name.replace(/^handler - \w+$/, 'handler'))
    }
    return names.join(' > ')
  })
}

function statusOf(name: string): unknown {
  return exporter.getFinishedSpans().find((span) => span.name === name)?.status
}

type TracedApp = Awaited<ReturnType<typeof createApp>>

async function withApp(options: Partial<AppOptions>, use: (app: TracedApp) => Promise<void>): Promise<void> {
  startTelemetry()
  await withRoutes(async (apiDir) => {
    const app = await createApp({ apiDir, mode: 'test', errorHandler, fastifyOptions: { logger: false }, ...options })
    await use(app)
    await app.close()
  }, ROUTES)
}

const later: Middleware = async function later(_request, _response, next) {
  work('query')
  await new Promise(setImmediate)
  work('second query')
  next()
}

const schema = {
  typeDefs: 'type Query { hello: String, fails: String }',
  resolvers: {
    Query: {
      hello: async () => {
        work('resolver')
        await new Promise(setImmediate)
        work('resolver later')
        return 'world'
      },
      fails: () => {
        throw new Error('no database')
      }
    }
  }
}

const ask = (query: string) => ({ method: 'POST', url: '/graphql', payload: { query } }) as const

export const spansRows: readonly Row[] = [
  [
    'each middleware of the map is a span below that of the request; what it does is below it, and the handler is not',
    () =>
      withApp({ middleware: { '/api/': [later, (_request, _response, next) => next()] } }, async (app) => {
        assert.deepEqual((await pathsOf(() => app.inject('/api/hello'))).toSorted(), [
          'request',
          'request > handler',
          'request > handler > before',
          'request > handler > behind',
          'request > middleware anonymous',
          'request > middleware later',
          'request > middleware later > query',
          'request > middleware later > second query'
        ])
      })
  ],
  [
    "a route file's own middleware is one, too, and so is middleware on a Fastify host with fileRoutes",
    async () => {
      startTelemetry()
      await withRoutes(async (apiDir) => {
        const host = Fastify()
        await host.register(fileRoutes, { apiDir, mode: 'test', middleware: { '/api/own': [later] } })
        const paths = await pathsOf(() => host.inject('/api/own'))
        assert.ok(paths.includes('request > middleware ownCheck > own query'), String(paths))
        assert.ok(paths.includes('request > middleware later > second query'), String(paths))
        assert.ok(paths.includes('request > handler > handled'), String(paths))
        await host.close()
      }, ROUTES)
    }
  ],
  [
    'a guard that answers ends its span with the answer, and one that fails, throws or rejects has the error',
    async () => {
      const guards: Record<string, Middleware> = {
        answers: (_request, response) => setImmediate(() => response.status(401).end()),
        hands: (_request, _response, next) => next(new Error('no key')),
        throws: () => {
          throw new Error('no key')
        },
        rejects: async () => Promise.reject(new Error('no key'))
      }
      for (const [name, guard] of Object.entries(guards)) {
        await withApp({ middleware: { '/': [guard] } }, async (app) => {
          const paths = await pathsOf(() => app.inject('/api/hello'))
          assert.deepEqual(paths.toSorted(), ['request', `request > middleware ${name}`])
          const wanted = name === 'answers' ? { code: 0 } : { code: 2, message: 'no key' }
          assert.deepEqual(statusOf(`middleware ${name}`), wanted)
        })
      }
    }
  ],
  [
    "next('route') is no error of the middleware",
    () =>
      withApp(
        {
          middleware: {
            '/': [
              function skips(_request, _response, next) {
                next('route')
              }
            ]
          }
        },
        async (app) => {
          await pathsOf(() => app.inject('/api/hello'))
          assert.deepEqual(statusOf('middleware skips'), { code: 0 })
        }
      )
  ],
  ...[false, true].map((jit): Row => [
    `a GraphQL operation is a span below that of the request, with its resolvers below it${jit ? ', compiled' : ''}`,
    () =>
      withApp({}, async (app) => {
        await app.register(graphqlRoutes, { ...schema, jit })
        const query = 'query Greeting { hello }'
        await app.inject(ask(query)) // compiled from its second request on
        await app.inject(ask(query))
        const paths = await pathsOf(() => app.inject(ask(query)))
        const operation = 'request > handler > graphql query'
        assert.deepEqual(paths.toSorted(), [
          'request',
          'request > handler',
          operation,
          `${operation} > resolver`,
          `${operation} > resolver later`
        ])
        const [span] = exporter.getFinishedSpans().filter(({ name }) => name === 'graphql query')
        assert.equal(span?.attributes['graphql.operation.name'], 'Greeting')
        await pathsOf(() => app.inject(ask('{ fails }')))
        assert.deepEqual(statusOf('graphql query'), { code: 2, message: 'no database' })
      })
  ]),
  [
    'the span of the request holds through a body that arrives in parts, a hashing thread and middleware that goes on later',
    () =>
      withApp({ middleware: { '/api/bodies': [later] }, port: 0 }, async (app) => {
        const origin = await app.start()
        const paths = await pathsOf(async () => {
          const headers = { 'content-type': 'application/json' }
          const sent = httpRequest(`${origin}/api/bodies`, { method: 'POST', headers })
          const answered = new Promise<string>((resolve, reject) => {
            sent.on('response', (response) => void text(response).then(resolve, reject)).on('error', reject)
          })
          await new Promise((resolve) => sent.write('{"a":', resolve))
          await new Promise(setImmediate)
          sent.end('1}')
          assert.equal(await answered, '{"a":1}')
        })
        for (const path of ['with body', 'hashed'].map((name) => `request > handler > ${name}`)) {
          assert.ok(paths.includes(path), `${path} in ${paths.join(', ')}`)
        }
      })
  ],
  [
    'middleware of app.use() runs inside the span of the request',
    () =>
      withApp({}, async (app) => {
        app.use((_request, _response, next) => {
          work('in use')
          next()
        })
        const paths = await pathsOf(() => app.inject('/api/hello'))
        assert.ok(paths.includes('request > in use'), String(paths))
      })
  ]
]
