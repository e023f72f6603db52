import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { FileRoutesOptions } from '../contract/options.js'
import { keepMode } from '../contract/instance-state.js'
import { isProduction } from '../contract/mode.js'
import { parsePath, toFastify } from '../patterns/pattern.js'
import { currentDevelopment } from '../discovery/development.js'
import { createBinder } from '../middleware/bind.js'
import { removeContentHeaders } from '../answer/content-headers.js'
import { FAILING, kAnswered, type LinkedResponse } from '../link/state.js'
import { depthOf } from '../middleware/chain.js'
import { createNotFoundHandler } from '../dispatch/not-found.js'
import type { RouteContext } from '../dispatch/register-route.js'
import { BASE_ROUTE, type RouteDefaults, routeDefaults } from '../options/defaults.js'
import { routerOptionsOf } from '../patterns/read-path.js'
import type { Runtime } from '../dispatch/runtime.js'
import { checkFileRoutesOptions } from '../options/routes-options.js'
import { reportRoutes } from './describe-routes.js'
import { skipBodyParsers } from '../body/await-body.js'
import { loadManifest } from './load-manifest.js'
import { notFoundScope } from './not-found-scopes.js'
import { showRequestDecorators } from '../express/plugin-members.js'
import { registerWhole } from './register-files.js'
import { registerTogether } from './register-together.js'
import { prepareUploads } from '../body/temporary-files.js'
import { claimNotFound, isApp, keepRoutes, runtimeOf, type RegisteredRoutes } from './server-state.js'

/**
 * Serves a directory of route files: `app.register(fileRoutes, { apiDir })`.
 *
 * The plugin is encapsulated: routes, parsers, hooks and error handlers of the host stay as they are; errors of file routes
 * go to the error handler in force where the plugin is registered. Limits that only Fastify's constructor can set
 * (`maxParamLength`, `requestTimeout`, `frameworkErrors`) stay the host's. A `prefix` of the registration comes before
 * `baseRoute`; keys of the middleware map leave it out.
 *
 * @throws TypeError naming a wrong or unknown option; BootError with every problem of the tree and the map
 */
export const fileRoutes: FastifyPluginAsync<FileRoutesOptions> = async (fastify, options) => {
  checkFileRoutesOptions(options)
  if (options.mode !== undefined) keepMode(fastify, options.mode) // the error handler reads it there
  const defaults = routeDefaults(options)
  const runtime = runtimeOf(fastify, { mode: options.mode, handlerTimeout: defaults.handlerTimeout })
  prepareUploads(fastify, options.uploads)
  const routes = await loadRoutes(fastify, runtime, options)
  if (!isApp(fastify)) logReport(fastify, runtime, routes) // an app reports all at once
  const loaded = { routes, defaults }
  const context = routeContext(fastify, runtime, loaded)
  await fastify.register(filesScope(runtime, (scope) => registerWhole(scope, routes.manifest.routes, context)))
  await registerHostNotFound(fastify, runtime, loaded)
}

/** Builds the manifest and binds the map. */
export async function loadRoutes(
  fastify: FastifyInstance,
  runtime: Runtime,
  options: FileRoutesOptions
): Promise<RegisteredRoutes> {
  const { apiDir, baseRoute = BASE_ROUTE, middleware } = options
  const given = middleware === undefined ? {} : { middleware }
  const manifest = await loadManifest({ apiDir, baseRoute, mode: runtime.mode, ...given })
  const binder = createBinder(manifest.middleware, { ...routerOptionsOf(fastify), mount: fastify.prefix })
  const routes: RegisteredRoutes = { manifest, binder, prefix: fastify.prefix }
  keepRoutes(fastify, routes)
  showRequestDecorators(fastify, runtime.express)
  return routes
}

/** Warnings always, the table of routes in development. */
function logReport(fastify: FastifyInstance, runtime: Runtime, routes: RegisteredRoutes): void {
  const report = reportRoutes(fastify, routes)
  const development = currentDevelopment()
  const warnings = development?.newWarnings(report.warnings) ?? report.warnings
  for (const { code, files, message } of warnings) fastify.log.warn({ code, files }, message)
  if (development !== undefined) development.showRoutes(report.toString())
  else if (!isProduction(runtime.mode)) for (const line of report.toString().split('\n')) fastify.log.info(line)
}

export interface LoadedRoutes {
  routes: RegisteredRoutes
  defaults: RouteDefaults
}

export function routeContext(
  around: FastifyInstance,
  runtime: Runtime,
  { routes, defaults }: LoadedRoutes
): RouteContext {
  const reading = { ...routerOptionsOf(around), depth: depthOf(around.prefix) }
  return { runtime, binder: routes.binder, defaults, reading }
}

/** Registers all routes, in the scope it is registered as: nothing of Fastify's reads a body there. */
export function filesScope(runtime: Runtime, register: (scope: FastifyInstance) => void): FastifyPluginAsync {
  return async function servesFiles(scope) {
    skipBodyParsers(scope)
    if (runtime.kind === 'host') scope.addHook('onError', forgetBody)
    registerTogether(scope, () => register(scope))
  }
}

/** What Fastify itself fails to send goes straight to the host's error handler, without what described the lost body. */
function forgetBody(_request: FastifyRequest, reply: FastifyReply, _error: Error, done: () => void): void {
  if ((reply.raw as LinkedResponse)[kAnswered] !== FAILING) removeContentHeaders(reply)
  done()
}

/** On a host, what no route matches below the base route runs the chain of its prefix; elsewhere the host's own 404 is sent. */
async function registerHostNotFound(
  fastify: FastifyInstance,
  runtime: Runtime,
  { routes, defaults }: LoadedRoutes
): Promise<void> {
  const { baseRoute } = routes.manifest
  if (baseRoute === '/' || !claimNotFound(fastify, fastify.prefix + baseRoute)) return
  const base = fastifyBase(baseRoute)
  const scope = notFoundScope(fastify, {
    runtime,
    binder: routes.binder,
    handlerTimeout: defaults.handlerTimeout,
    base,
    answer: createNotFoundHandler(runtime)
  })
  await fastify.register(scope, { prefix: base })
}

function fastifyBase(baseRoute: string): string {
  const parsed = parsePath(baseRoute)
  return 'segments' in parsed ? (toFastify(parsed.segments).paths[0] as string) : baseRoute
}
