import http, { type Server } from 'node:http'
import express, { type Express } from 'express'
import type expressFactoryType from '../contract/express-factory.cjs'
import type { TwinrouteExpress } from '../contract/express-factory.cjs'
import { resolveMode } from '../contract/mode.js'
import { adoptServerOf, prepareForeignRequest } from '../express/link-request.js'
import { json } from '../body/express-json.js'
import { createRuntime } from '../dispatch/runtime.js'
import { createEngine, type Engine } from './express-engine.js'

/**
 * Express's `express()` on twinroute's engine: change the import, run on Fastify. Registration is synchronous and allowed
 * at any time, settings, views, routers and mounted apps are Express's own. `app.listen()` and a server made with
 * `http.createServer(app.serverOptions, app)` create our request and response objects; any other server of node's does so
 * behind its first request.
 *
 * Fastify is made when it is first asked for: by a request that is not a mounted application's, or by `app.fastify`.
 */
function createExpressApp(): TwinrouteExpress {
  let made: Engine | undefined
  const engine = (): Engine => (made ??= createEngine(runtime, app))
  const runtime = createRuntime({
    mode: resolveMode(),
    kind: 'express',
    route: (request, response) => engine().fastify.routing(request, response),
    handlerTimeout: 0
  })
  const app = runtime.express.expressApp as Express as TwinrouteExpress
  app.enable('x-powered-by')
  const handleMounted = app.handle
  app.handle = function (request, response, next) {
    if (next === undefined) {
      adoptServerOf(request, response, runtime.express)
      return (made ?? engine()).handle(request, response)
    }
    prepareForeignRequest(request, response)
    handleMounted.call(app, request, response, next)
  }
  const { IncomingMessage, ServerResponse } = runtime.express
  const serverOptions = { IncomingMessage, ServerResponse }
  app.listen = ((...given: unknown[]) => listen(http.createServer(serverOptions, app), given)) as Express['listen']
  // not enumerable: copying or printing an application must not create Fastify
  Object.defineProperty(app, 'fastify', { configurable: true, get: () => engine().fastify })
  return Object.assign(app, { serverOptions })
}

/** As in Express, calls the callback once, for whichever of `listening` and `error` comes first. */
function listen(server: Server, given: unknown[]): Server {
  const last = given.at(-1)
  if (typeof last !== 'function') return Reflect.apply(server.listen, server, given) as Server
  let isTold = false
  const tell = (...told: unknown[]): void => {
    if (isTold) return
    isTold = true
    Reflect.apply(last, server, told)
  }
  server.once('error', tell)
  return Reflect.apply(server.listen, server, [...given.slice(0, -1), tell]) as Server
}

const { application, raw, request, response, Router, static: serveStatic, text, urlencoded } = express

export { json }

/** In Express, though not in its types. */
export const Route: unknown = Reflect.get(express, 'Route')

const statics = { application, json, raw, request, response, Route, Router, static: serveStatic, text, urlencoded }

/** The factory with what Express's own has on it, and itself by name. */
export const expressFactory: typeof expressFactoryType = Object.assign(createExpressApp, statics, {
  express: createExpressApp as typeof expressFactoryType
})
