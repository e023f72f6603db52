import http, { type Server } from 'node:http'
import type { Express } from 'express'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import finalhandler from 'finalhandler'
import type { TwinrouteExpress } from '../contract/express-factory.cjs'
import { resolveMode } from '../contract/mode.js'
import { readableThrown } from '../errors/to-error.js'
import { link, prepareForeignPair } from '../compat/attach.js'
import { kInStack, type LinkedRequest, type LinkedResponse } from '../compat/slots.js'
import { indexRouter } from '../compat/route-index.js'
import { createRuntime, type Runtime } from '../dispatch/runtime.js'
import { prepareUploads } from '../plugins/uploads.js'

type Handle = TwinrouteExpress['handle']

/**
 * Express's `express()` on twinroute's engine: change the import, run on Fastify. Registration is synchronous and allowed
 * at any time, settings, views, routers and mounted apps are Express's own. `app.listen()` and a server made with
 * `http.createServer(app.serverOptions, app)` create our request and response objects; a server made without the options
 * works, but upgrades its objects one by one.
 */
export function createExpressApp(): TwinrouteExpress {
  const runtime = createRuntime({
    mode: resolveMode(),
    linksAtRoot: true,
    route: (request, response) => fastify.routing(request, response),
    handlerTimeout: 0
  })
  const app = runtime.compat.expressApp as Express as TwinrouteExpress
  app.enable('x-powered-by')
  const fastify = createEngine(runtime, app)
  const handleMounted = app.handle
  const handleFirst = bootOnFirstRequest(fastify)
  app.handle = function (request, response, next) {
    if (next === undefined) return handleFirst(request, response)
    prepareForeignPair(request, response)
    handleMounted.call(app, request, response, next)
  }
  const { IncomingMessage, ServerResponse } = runtime.compat
  const serverOptions = { IncomingMessage, ServerResponse }
  app.listen = ((...given: unknown[]) => listen(http.createServer(serverOptions, app), given)) as Express['listen']
  return Object.assign(app, { fastify, serverOptions })
}

/**
 * A Fastify whose answer to what it has no route for is Express's router. It runs behind the onRequest hooks of all
 * plugins, and before Fastify would parse a body. Malformed paths, for which Fastify runs no hooks, meet it too.
 */
function createEngine(runtime: Runtime, app: TwinrouteExpress): FastifyInstance {
  const { compat } = runtime
  const fastify: FastifyInstance = Fastify({
    http: { IncomingMessage: compat.IncomingMessage, ServerResponse: compat.ServerResponse },
    frameworkErrors(_error, request, reply) {
      link(compat, request, reply)
      runRouter(app, reply)
    }
  })
  prepareUploads(fastify)
  fastify.addHook('onRequest', (request, reply, done) => {
    link(compat, request, reply)
    done()
  })
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) runRouter(app, reply)
    else done(null, payload)
  })
  fastify.setErrorHandler((error, _request, reply) => finish(app, reply, error))
  return fastify
}

function runRouter(app: TwinrouteExpress, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  if (app.enabled('x-powered-by')) response.setHeader('X-Powered-By', 'Express')
  const request = reply.request.raw as LinkedRequest
  request[kInStack] = true // cookies are what cookie-parser leaves, as in Express
  indexRouter(app.router)
  app.router(request, response, (error: unknown) => finish(app, reply, error))
}

/** What no route or error middleware took: Express's own final answer, a page with 404 or the error. */
function finish(app: TwinrouteExpress, reply: FastifyReply, thrown: unknown): void {
  const response = reply.raw as LinkedResponse
  const error = readableThrown(thrown)
  const env = String(app.get('env'))
  finalhandler(reply.request.raw, response, { env, onerror: (thrown) => logError(env, thrown) })(error as Error)
}

function logError(env: string, error: unknown): void {
  if (env !== 'test')
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

/** Fastify boots on the first request, so that everything registered until then counts. */
function bootOnFirstRequest(fastify: FastifyInstance): Handle {
  let isReady = false
  let booting: Promise<void> | undefined
  return (request, response) => {
    if (isReady) return fastify.routing(request, response)
    booting ??= Promise.resolve(fastify.ready()).then(() => {
      isReady = true
    })
    booting.then(
      () => fastify.routing(request, response),
      (error: unknown) => {
        logError('boot', error)
        response.statusCode = 500
        response.end('The application could not start')
      }
    )
  }
}

function listen(server: Server, given: unknown[]): Server {
  const last = given.at(-1)
  if (typeof last === 'function') server.once('error', last as (error: Error) => void)
  return Reflect.apply(server.listen, server, given) as Server
}
