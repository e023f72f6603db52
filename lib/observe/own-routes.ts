import type { FastifyInstance, LogLevel, RouteHandlerMethod, RouteOptions } from 'fastify'
import { fileRouteOf, UNGUARDED } from '../contract/instance-state.js'
import { BootError } from '../errors/boot-error.js'
import { routesOf } from '../fastify/server-state.js'
import type { ObserveOptions } from './observe-options.js'

/** A route of `observe` itself. */
export interface OwnRoute {
  path: string
  /** The option that gives it another path. */
  option: string
  /** Whether middleware of the map runs before it. */
  isGuarded: boolean
  handler: RouteHandlerMethod
}

const kOwn: unique symbol = Symbol('twinroute.observe')

/** In the `config` of such a route; `pressureHandler` is read by @fastify/under-pressure, and lets the request pass. */
const OWN_CONFIG: object = { [kOwn]: true, pressureHandler: () => undefined }

export function isOwn({ config }: { config?: object }): boolean {
  return config !== undefined && kOwn in config
}

/** A route of observe whose path another one has. */
interface Taken {
  url: string
  route: OwnRoute
  /** Of the other route, where it comes from a file. */
  file: string | undefined
}

/**
 * Registers the routes, each of which needs its path for itself, before other routes and behind them.
 * @throws BootError
 */
export async function serveOwnRoutes(
  app: FastifyInstance,
  routes: readonly OwnRoute[],
  { prefix, logLevel = 'error' }: Pick<ObserveOptions, 'prefix' | 'logLevel'>
): Promise<void> {
  const outer = `${app.prefix}${prefix ?? ''}`
  const byUrl = new Map(routes.map((route) => [`${outer}${route.path}`, route]))
  const taken = [...byUrl].filter(([url]) => app.hasRoute({ method: 'GET', url }))
  if (taken.length > 0) throw pathsTaken(taken.map(([url, route]) => ({ url, route, file: fileOf(app, url) })))
  app.addHook('onRoute', (other: RouteOptions) => {
    const { url } = other
    const route = byUrl.get(url)
    const file = fileRouteOf(other)?.file
    if (route !== undefined && !isOwn(other) && mayMeet(other)) throw pathsTaken([{ url, route, file }])
  })
  await app.register(
    async (scope) => routes.forEach((route) => serve(scope, route, logLevel)),
    prefix === undefined ? {} : { prefix }
  )
}

function serve(scope: FastifyInstance, { path, isGuarded, handler }: OwnRoute, logLevel: LogLevel): void {
  const config = isGuarded ? OWN_CONFIG : { ...OWN_CONFIG, ...UNGUARDED }
  const schema: object = { hide: true } // not in the OpenAPI document
  scope.get(path, { config, schema, logLevel }, handler)
}

/** The route file that was registered for a path. */
function fileOf(app: FastifyInstance, url: string): string | undefined {
  return routesOf(app)
    .flatMap(({ manifest, prefix }) => manifest.routes.map((route) => ({ route, prefix })))
    .find(({ route, prefix }) => route.fastifyPaths.some((path) => `${prefix}${path}` === url))?.route.file
}

/** A route of another method, or for one host or version, may share the path. */
function mayMeet({ method, constraints = {} }: RouteOptions): boolean {
  const methods = [method].flat()
  return (methods.includes('GET') || methods.includes('HEAD')) && Object.keys(constraints).length === 0
}

function pathsTaken(taken: readonly Taken[]): BootError {
  return new BootError(
    taken.map(({ url, route: { option }, file }) => ({
      code: 'OBSERVE_PATH_TAKEN',
      message: `${url} is a path of observe (${option}), and another route is registered for it`,
      files: file === undefined ? [] : [file],
      fix: `Give observe another path with its option ${option}, or rename the other route`
    }))
  )
}
