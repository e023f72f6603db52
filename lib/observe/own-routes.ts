import type { FastifyInstance, RouteHandlerMethod, RouteOptions } from 'fastify'
import { UNGUARDED } from '../contract/instance-state.js'
import { BootError } from '../errors/boot-error.js'

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

/**
 * Registers the routes, each of which needs its path for itself, before other routes and behind them.
 * @throws BootError
 */
export async function serveOwnRoutes(
  app: FastifyInstance,
  routes: readonly OwnRoute[],
  prefix: string | undefined
): Promise<void> {
  const outer = `${app.prefix}${prefix ?? ''}`
  const byUrl = new Map(routes.map((route) => [`${outer}${route.path}`, route]))
  const taken = [...byUrl].filter(([url]) => app.hasRoute({ method: 'GET', url }))
  if (taken.length > 0) throw pathsTaken(taken)
  app.addHook('onRoute', (other: RouteOptions) => {
    const route = byUrl.get(other.url)
    if (route !== undefined && !isOwn(other) && mayMeet(other)) throw pathsTaken([[other.url, route]])
  })
  await app.register(
    async (scope) => routes.forEach((route) => serve(scope, route)),
    prefix === undefined ? {} : { prefix }
  )
}

function serve(scope: FastifyInstance, { path, isGuarded, handler }: OwnRoute): void {
  const config = isGuarded ? OWN_CONFIG : { ...OWN_CONFIG, ...UNGUARDED }
  const schema: object = { hide: true } // not in the OpenAPI document
  scope.get(path, { config, schema }, handler)
}

/** A route of another method, or for one host or version, may share the path. */
function mayMeet({ method, constraints = {} }: RouteOptions): boolean {
  const methods = [method].flat()
  return (methods.includes('GET') || methods.includes('HEAD')) && Object.keys(constraints).length === 0
}

function pathsTaken(taken: readonly (readonly [string, OwnRoute])[]): BootError {
  return new BootError(
    taken.map(([url, { option }]) => ({
      code: 'OBSERVE_PATH_TAKEN',
      message: `${url} is a path of observe (${option}), and another route is registered for it`,
      files: [],
      fix: `Give observe another path with its option ${option}, or rename the other route`
    }))
  )
}
