import type { Application } from 'express'
import type { FastifyInstance } from 'fastify'
import { keepMode } from '../contract/instance-state.js'
import { resolveMode, isProduction, type Mode } from '../contract/mode.js'
import type { Middleware } from '../contract/middleware.js'
import type { AppOptions } from '../contract/options.js'
import type { Usable } from '../express/use-stack.js'
import { currentDevelopment } from '../discovery/development.js'
import { createAppEntry } from '../dispatch/app-entry.js'
import { RefusedMethods } from '../dispatch/refused-methods.js'
import { routerOptionsOf } from '../patterns/read-path.js'
import { createRuntime, type Runtime } from '../dispatch/runtime.js'
import { filesScope, type LoadedRoutes, loadRoutes, routeContext } from '../fastify/file-routes.js'
import { watchClaims } from '../fastify/method-claims.js'
import { FileRegistration } from '../fastify/register-files.js'
import { routeDefaults, TRUST_PROXY, type RouteDefaults } from '../options/defaults.js'
import { keepRuntime } from '../fastify/server-state.js'
import { prepareUploads } from '../body/temporary-files.js'
import { checkAppOptions, fastifyOptions } from './app-options.js'
import { createCorsHook } from './cors.js'
import { createFastify } from './create-fastify.js'
import { createRequestLog, hookOf } from './request-log.js'
import { installErrorHandler } from './install-error-handler.js'
import { guardOtherRoutes, timeOtherRoutes } from './other-routes.js'
import { installNotFound } from '../fastify/not-found-scopes.js'
import { ignoreProcessEvents, isLogging, start } from './start.js'
import { registerLast } from './register-last.js'
import { reservePaths } from './reserved-paths.js'
import { prepareServers } from './servers.js'
import { Shutdown } from './shutdown.js'
import { bootWarnings, describeRoutes } from '../fastify/describe-routes.js'
import { replaceMethod } from '../fastify/replace-method.js'

type UsePath = string | RegExp | readonly (string | RegExp)[]

/** A Fastify instance with Express's `use` and a `start` of its own. */
export interface App extends FastifyInstance {
  /**
   * Registers middleware for all requests, as Express's `app.use(path?, ...middleware)`; also after boot. As in Express, the
   * parameters of a function that is written here are inferred, but for error middleware: `const onError: ErrorMiddleware`.
   */
  use(...middleware: (Middleware | Middleware[])[]): App
  use(path: UsePath, ...middleware: (Middleware | Middleware[])[]): App
  use(...middleware: (Usable | Usable[])[]): App
  use(path: UsePath, ...middleware: (Usable | Usable[])[]): App
  /**
   * Listens on the `port` and `host` options, else on `PORT` and `HOST` of the environment, else on port 5000 of
   * `localhost`; resolves to the address, such as `http://127.0.0.1:5000`. From then on SIGTERM, SIGINT and uncaught
   * errors close the app and end the process (option `shutdown`).
   */
  start(): Promise<string>
  /** The Express-side application, which is `request.app`: settings (`app.express.set('etag', false)`), locals, engines. */
  readonly express: Application
  /** True once closing has begun, which is before the listener closes: what a readiness check answers with. */
  readonly isClosing: boolean
}

/**
 * Creates an application: Fastify with the route files of `apiDir`, the middleware map, Express's request and response.
 * The result is a Fastify instance (`register`, `inject`, `get`, `close`, `server` work as everywhere); it is not `ready()`
 * yet. Hooks, decorators and plugins that are added before it is hold for the routes of files, which are registered last.
 *
 * @throws TypeError naming a wrong option; BootError with every problem of the tree and the map
 */
export async function createApp(options: AppOptions): Promise<App> {
  checkAppOptions(options)
  const mode = resolveMode(options.mode)
  const defaults = routeDefaults(options)
  const runtime = createRuntime({
    mode,
    kind: 'app',
    route: (request, response) => app.routing(request, response),
    handlerTimeout: defaults.handlerTimeout
  })
  const cors = options.expressOptions?.enableCors && createCorsHook(options.expressOptions.enableCors)
  const watch = createRequestLog(options)
  const app: FastifyInstance = createFastify(fastifyOptions(options, runtime, { app: () => app, cors, watch }))
  runtime.express.expressApp.set('trust proxy', options.trustProxy ?? TRUST_PROXY)
  if (Reflect.has(options.fastifyOptions ?? {}, 'logController')) runtime.errorsMayBeSeen = true
  /*
   * From here on the order counts:
   * - the runtime and the mode are looked for on the server by all that follows;
   * - onRequest hooks run as they are added: the request log, which sees all requests, CORS, so that refusals have its
   *   headers, then the entry with the Express side, then the hooks of the user, who adds them to the result;
   * - a route keeps the error handler that is there when it is registered, so that comes before the first one;
   * - routes of files are registered behind all that the user adds to the result, so that no plugin misses them.
   */
  keepRuntime(app, runtime)
  keepMode(app, mode)
  prepareUploads(app, options.uploads)
  if (watch !== undefined) app.addHook('onRequest', hookOf(watch))
  if (cors !== undefined) app.addHook('onRequest', cors)
  runtime.stack.setPathReading(routerOptionsOf(app))
  app.addHook('onRequest', entryOf(runtime, defaults))
  prepareServers(app, new Shutdown(app, runtime.express, options.shutdown))
  installErrorHandler(app, runtime, options)
  const routes = await loadRoutes(app, runtime, { ...options, mode })
  reservePaths(app, routes.manifest.routes)
  guardOtherRoutes(app, runtime, { ...defaults, ...routes })
  timeOtherRoutes(app, runtime, defaults.handlerTimeout)
  registerFiles(app, runtime, { routes, defaults })
  reportWhenReady(app, mode)
  return addMethods(app, runtime, options)
}

/** What no route matches, and the routes of files, behind all else. */
function registerFiles(app: FastifyInstance, runtime: Runtime, loaded: LoadedRoutes): void {
  const { binder, manifest } = loaded.routes
  const refusedMethods = new RefusedMethods(runtime, routerOptionsOf(app))
  const claims = watchClaims(app, manifest.routes)
  const notFound = installNotFound(app, { ...loaded.defaults, runtime, binder, refusedMethods }, claims)
  const files = new FileRegistration({ claims, refusedMethods }, routeContext(app, runtime, loaded))
  const register = (scope: FastifyInstance): void => files.register(scope, manifest.routes)
  registerLast(app, [notFound, filesScope(runtime, register), files.finish])
}

function entryOf(runtime: Runtime, { handlerTimeout, bodyParser, bodyLimit }: RouteDefaults) {
  const earlyBodyLimit = bodyParser === 'early' ? bodyLimit : undefined
  return createAppEntry(runtime, { handlerTimeout, earlyBodyLimit })
}

function addMethods(app: FastifyInstance, runtime: Runtime, options: AppOptions): App {
  const methods: Pick<App, 'use' | 'start'> = {
    use(...given: unknown[]) {
      runtime.stack.use(...given)
      return app as App
    },
    start: () => start(app, runtime.mode, options)
  }
  app.decorate('express', runtime.express.expressApp)
  app.decorate('use', methods.use)
  app.decorate('start', methods.start)
  app.addHook('onClose', async () => ignoreProcessEvents(app))
  refuseSecondUse(app)
  refuseExpressListen(app)
  return app as App
}

/** Plugins that bring a `use` of their own would run Express code a second time, beside the stack and behind the guards. */
function refuseSecondUse(app: FastifyInstance): void {
  replaceMethod(app, 'decorate', (_scope, given, decorate) => {
    if (given[0] !== 'use') return decorate(...given)
    throw new TypeError(
      'An app of createApp has use() already: drop @fastify/express or @fastify/middie, or register them on a Fastify ' +
        'instance of your own and serve the routes there with app.register(fileRoutes, { apiDir })'
    )
  })
}

/** Fastify would fail on a port or path in the place of its options with a message that names neither. */
function refuseExpressListen(app: FastifyInstance): void {
  replaceMethod(app, 'listen', (_scope, given, listen) => {
    const [where, host] = given
    if (typeof where !== 'number' && typeof where !== 'string') return listen(...given)
    const place = Number.isInteger(Number(where)) ? `port: ${where}` : `path: ${JSON.stringify(where)}`
    const options = typeof host === 'string' ? `${place}, host: ${JSON.stringify(host)}` : place
    throw new TypeError(
      `app.listen takes an object here: app.listen({ ${options} }), or pass port and host to createApp and call app.start()`
    )
  })
}

/**
 * When the app is ready, boot warnings go to the log; in development the table of routes is printed as text, unless logging
 * is off, or `twinroute dev` keeps it until it is asked for. Not earlier, because plugins may add the routes that a key of the map matches.
 */
function reportWhenReady(app: FastifyInstance, mode: Mode): void {
  app.addHook('onReady', async () => {
    const development = currentDevelopment()
    const all = bootWarnings(app)
    for (const { code, files, message } of development?.newWarnings(all) ?? all) app.log.warn({ code, files }, message)
    if (development !== undefined) development.showRoutes(describeRoutes(app).toString())
    else if (!isProduction(mode) && isLogging(app.log)) process.stdout.write(`${describeRoutes(app).toString()}\n`)
  })
}
