import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'
import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { fileRouteOf } from '../contract/instance-state.js'
import type { ManifestRoute } from '../contract/manifest.js'
import { BootError } from '../errors/boot-error.js'
import { routerOptionsOf } from '../patterns/read-path.js'
import { replaceMethod } from '../fastify/replace-method.js'

/** How Fastify's list of plugins ends the line of one that is still loading. The first line is the root, open until ready. */
const LOADING = / -1 ms$/gm

/**
 * Registers plugins behind everything else that is registered before the app boots, whenever that is: Fastify shows a
 * route to the `onRoute` hooks that are there when it is registered, and to no later ones, and gives it the decorators of
 * that moment. Plugins that are registered on the result of `createApp` must not miss the routes of files.
 *
 * Boot begins with the first `ready()`, which `listen` and `inject` call, too. A plugin may call it while it loads itself;
 * what is registered then would become a part of that plugin, so these wait until nothing is loading.
 */
export function registerLast(app: FastifyInstance, plugins: readonly FastifyPluginAsync[]): void {
  let registered: Promise<void> | undefined
  const bootBehind = (instance: FastifyInstance): void => {
    replaceMethod(instance, 'ready', (_scope, given, ready) => {
      registered ??= registerWhenIdle(app, plugins)
      const booted = registered.then(() => ready(...given))
      return typeof given[0] === 'function' ? undefined : booted
    })
  }
  bootBehind(app)
  // Fastify gives each scope a `ready` of its own
  app.addHook('onRegister', bootBehind)
}

async function registerWhenIdle(app: FastifyInstance, plugins: readonly FastifyPluginAsync[]): Promise<void> {
  await new Promise(process.nextTick) // what is registered in the same turn as `ready()` still comes before
  // Fastify tells of no plugin that it has failed but by `ready`, so that there is no event to wait for
  while (isLoading(app)) await wait(1)
  for (const plugin of plugins) void app.register(plugin)
}

function isLoading(app: FastifyInstance): boolean {
  return (app.printPlugins().match(LOADING)?.length ?? 0) > 1
}

type Paths = Instance<HTTPVersion.V1>

/**
 * Keeps the paths of route files for them, although they are registered last: another route for one of them is refused
 * where it is registered, with the name of the file, and `hasRoute` knows them. A route with a constraint (a host, a
 * version) may share a path with a file.
 *
 * @throws BootError when the router's options make one path of two files
 */
export function reservePaths(app: FastifyInstance, routes: readonly ManifestRoute[]): void {
  const paths = findMyWay({ ...routerOptionsOf(app) })
  for (const route of routes) for (const path of route.fastifyPaths) reserve(paths, path, route)
  const own = new Set<unknown>(routes)
  app.addHook('onRoute', (other: RouteOptions) => {
    if (own.has(fileRouteOf(other)) || isConstrained(other)) return
    const route = pathsOf(other.url)
      .map((path) => reservedBy(paths, path))
      .find((found) => found !== undefined)
    if (route !== undefined) throw pathTaken(route, other)
  })
  replaceMethod(app, 'hasRoute', (scope, given, hasRoute) => {
    if (hasRoute(...given)) return true
    const asked = given[0] as Parameters<FastifyInstance['hasRoute']>[0]
    const isServed = scope.supportedMethods.includes(String(asked.method).toUpperCase())
    return isServed && !isConstrained(asked) && reservedBy(paths, asked.url) !== undefined
  })
}

function reserve(paths: Paths, path: string, route: ManifestRoute): void {
  const other = reservedBy(paths, path)
  if (other !== undefined) throw samePath(other, route)
  paths.on('GET', path, noop, route)
}

/** An optional last parameter makes two paths of one. */
function pathsOf(url: string): string[] {
  const optional = /^(.*)(\/:[^/()]*)\?(\/?)$/.exec(url)
  if (optional === null) return [url]
  const [, before = '', parameter = '', slash = ''] = optional
  return [`${before}${parameter}${slash}`, `${before}${slash}` || '/']
}

function reservedBy(paths: Paths, url: string): ManifestRoute | undefined {
  const found = paths.findRoute('GET', url) as { store?: unknown } | null
  return found?.store as ManifestRoute | undefined
}

function isConstrained({ constraints = {} }: { constraints?: object }): boolean {
  return Object.keys(constraints).length > 0
}

function samePath(one: ManifestRoute, other: ManifestRoute): BootError {
  return new BootError([
    {
      code: 'ROUTE_SLOT_CONFLICT',
      message: `${one.pattern} and ${other.pattern} match the same requests with the router options of this server`,
      files: [one.file, other.file],
      fix: 'Choose one name, and put all methods into one of the files'
    }
  ])
}

function pathTaken(route: ManifestRoute, other: RouteOptions): BootError {
  const file = fileRouteOf(other)?.file
  return new BootError([
    {
      code: 'ROUTE_PATH_TAKEN',
      message: `${[other.method].flat().join(' ')} ${other.url} is registered beside the route file of ${route.pattern}`,
      files: file === undefined ? [route.file] : [route.file, file],
      fix: 'A route file answers all methods of its path: export the method there, or give the other route another path'
    }
  ])
}

function noop(): void {}
