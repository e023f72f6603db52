import { Agent, createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { FastifyInstance } from 'fastify'
import twinrouteExpress from 'twinroute/express'
import { appOf, hostOf } from '../../support/hosts.js'
import type { Case } from './cases.js'
import { ask, currentExchange, Exchange, inject, type Outcome } from './exchange.js'
import { perform } from './perform.js'

/** Runs one case. */
export type Runner = (asked: Case) => Promise<Outcome>

type Where = 'middleware' | 'handler' | 'errors'

/** Counts a function of the case as running until its promise settles. */
function running(where: Where, passes: 'passes' | 'stays', pair: { response: any; next: (error?: unknown) => void }) {
  const exchange = currentExchange()
  exchange.response ??= pair.response
  exchange.running++
  let result: unknown
  try {
    result = perform(exchange.asked[where], { ...pair, trace: exchange.trace }, passes)
  } finally {
    if (!(result instanceof Promise)) exchange.running--
  }
  const done = (): number => exchange.running--
  if (result instanceof Promise) result.then(done, done)
  return result
}

const middleware = (_request: any, response: any, next: any): any => running('middleware', 'passes', { response, next })
const handler = (_request: any, response: any, next: any): any => running('handler', 'stays', { response, next })

function errors(error: any, _request: any, response: any, next: any): any {
  if (currentExchange().asked.errors.steps.length > 0) return running('errors', 'stays', { response, next })
  response.status(error.status ?? 500).send(`failed: ${error.message}`)
}

const teardowns: (() => unknown)[] = []
/** What the test support asks of a test. */
const scope: any = { teardown: (end: () => unknown) => teardowns.push(end) }

export async function closeAll(): Promise<void> {
  for (const end of teardowns.toReversed()) await end()
}

async function overSocket(
  server: Server,
  settings: { set: (name: string, value: unknown) => unknown }
): Promise<Runner> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  server.prependListener('request', (request, response) => {
    const exchange = currentExchange()
    exchange.response = response
    exchange.connection = request.socket
  })
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  teardowns.push(() => {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  })
  return (asked) => {
    settings.set('etag', asked.etag)
    return ask(agent, port, new Exchange(asked))
  }
}

function byInject(app: FastifyInstance, settings: { set: (name: string, value: unknown) => unknown }): Runner {
  return (asked) => {
    settings.set('etag', asked.etag)
    return inject(app as never, new Exchange(asked))
  }
}

type Last = (request: any, response: any, next: (error?: unknown) => void) => unknown

const answered: Last = (_request, response) => response.status(404).send('the end')
/** As createApp sees it: no route is left. */
const failed: Last = (_request, _response, next) =>
  next(Object.assign(new Error('Route not found'), { statusCode: 404, status: 404 }))

function fill(app: any, last: Last): any {
  app.use(middleware)
  app.all('/case', handler)
  app.use(last)
  app.use(errors)
  return app
}

function passOn(app: FastifyInstance): void {
  app.addHook('onSend', (_request, _reply, payload, done) => done(null, payload))
}

async function twinrouteOf(hooks: 'hooks' | 'no hooks'): Promise<Runner> {
  const app = fill(twinrouteExpress(), answered)
  if (hooks === 'hooks') passOn(app.fastify)
  return overSocket(createServer(app.serverOptions, app), app)
}

async function routeFile(place: 'use' | 'chain', hooks: 'hooks' | 'no hooks'): Promise<Runner> {
  const routes = { case: { GET: handler, middleware: place === 'chain' ? [middleware] : [] } }
  const app = await appOf(scope, { routes, options: { baseRoute: '/', mode: 'production' } })
  if (place === 'use') app.use(middleware)
  app.use(errors)
  if (hooks === 'hooks') passOn(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return overSocket(app.server, (app as any).express)
}

/** Values that a handler returns; no error middleware, which a host does not have. */
async function returning(host: 'app' | 'host', way: 'socket' | 'inject'): Promise<Runner> {
  const routes = { case: { GET: handler, middleware: [middleware] } }
  const options = { baseRoute: '/', mode: 'production' } as const
  const app = await (host === 'app' ? appOf : hostOf)(scope, { routes, options })
  const none = { set: () => undefined }
  if (way === 'inject') return byInject(app, none)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return overSocket(app.server, none)
}

async function used(): Promise<Runner> {
  const app = await appOf(scope, { routes: { unused: { GET() {} } }, options: { baseRoute: '/', mode: 'production' } })
  app.use(middleware)
  app.use('/case', handler)
  app.use(failed as never)
  app.use(errors)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return overSocket(app.server, (app as any).express)
}

/** Everything a case can run on, by name. */
export const APPLICATIONS: Record<string, () => Promise<Runner>> = {
  'Express 5': () => {
    const app = fill(express(), answered)
    return overSocket(createServer(app), app)
  },
  'Express 5, without X-Powered-By': () => {
    const app = fill(express(), failed).disable('x-powered-by')
    return overSocket(createServer(app), app)
  },
  'twinroute/express': () => twinrouteOf('no hooks'),
  'twinroute/express, onSend hook': () => twinrouteOf('hooks'),
  'createApp, use()': used,
  'createApp, route file': () => routeFile('use', 'no hooks'),
  'createApp, route file, onSend hook': () => routeFile('use', 'hooks'),
  'createApp, chain': () => routeFile('chain', 'no hooks'),
  returned: () => returning('app', 'socket'),
  'returned, injected': () => returning('app', 'inject'),
  'returned on a host': () => returning('host', 'socket'),
  'returned on a host, injected': () => returning('host', 'inject')
}
