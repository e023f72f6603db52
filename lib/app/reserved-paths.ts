import type { FastifyInstance, RouteOptions } from 'fastify'
import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { fileRouteOf } from '../contract/instance-state.js'
import type { ManifestRoute } from '../contract/manifest.js'
import { BootError } from '../errors/boot-error.js'
import { replaceMethod } from '../fastify/replace-method.js'
import { routerOptionsOf, type RouterOptions } from '../patterns/read-path.js'

/**
 * Keeps the paths of route files for them, although they are registered last: another route for one of them is refused
 * where it is registered, with the name of the file, and `hasRoute` knows them. A route with a constraint (a host, a
 * version) may share a path with a file.
 *
 * @throws BootError when the router's options make one path of two files
 */
export function reservePaths(app: FastifyInstance, routes: readonly ManifestRoute[]): void {
  const reserved = new ReservedPaths(routes, routerOptionsOf(app))
  const own = new Set<unknown>(routes)
  app.addHook('onRoute', (other: RouteOptions) => {
    if (own.has(fileRouteOf(other)) || isConstrained(other)) return
    const route = pathsOf(other.url)
      .map((path) => reserved.find(path))
      .find((found) => found !== undefined)
    if (route !== undefined) throw pathTaken(route, other)
  })
  replaceMethod(app, 'hasRoute', (scope, given, hasRoute) => {
    if (hasRoute(...given)) return true
    const asked = given[0] as Parameters<FastifyInstance['hasRoute']>[0]
    const isServed = scope.supportedMethods.includes(String(asked.method).toUpperCase())
    return isServed && !isConstrained(asked) && reserved.find(asked.url ?? '') !== undefined
  })
}

type Paths = Instance<HTTPVersion.V1>

/** Paths that begin alike. */
interface Group {
  readonly paths: [path: string, route: ManifestRoute][]
  /** Made when it is asked for: the router takes long to take a path. */
  router?: Paths
}

/**
 * Whether a path is that of a route file is for the router to say, which knows the names of parameters apart from their places.
 * It is asked only among paths with the same text before their first parameter, of which there are few, or none.
 */
class ReservedPaths {
  readonly #options: RouterOptions
  readonly #groups = new Map<string, Group>()

  constructor(routes: readonly ManifestRoute[], options: RouterOptions) {
    this.#options = options
    for (const route of routes) for (const path of route.fastifyPaths) this.#add(path, route)
    // the paths of files differ, which was checked, but not by case alone
    if (!options.caseSensitive) for (const group of this.#groups.values()) this.#routerOf(group)
  }

  find(path: string): ManifestRoute | undefined {
    const group = this.#groups.get(this.#beginningOf(path))
    return group === undefined ? undefined : reservedBy(this.#routerOf(group), path)
  }

  #add(path: string, route: ManifestRoute): void {
    const beginning = this.#beginningOf(path)
    const group = this.#groups.get(beginning)
    if (group === undefined) this.#groups.set(beginning, { paths: [[path, route]] })
    else group.paths.push([path, route])
  }

  #routerOf(group: Group): Paths {
    if (group.router !== undefined) return group.router
    // the expressions of other routes are only compared here, and never run
    const router = findMyWay({ ...this.#options, allowUnsafeRegex: true })
    for (const [path, route] of group.paths) {
      const other = reservedBy(router, path)
      if (other !== undefined) throw samePath(other, route)
      router.on('GET', path, noop, route)
    }
    return (group.router = router)
  }

  /** The text before the first parameter, as the router reads it; `*` alone is everything, as `/*` is. */
  #beginningOf(path: string): string {
    const { caseSensitive, ignoreDuplicateSlashes, ignoreTrailingSlash } = this.#options
    const end = path.search(/[:*]/)
    let text = end === -1 ? path : path.slice(0, end)
    if (ignoreDuplicateSlashes) text = text.replaceAll(/\/{2,}/g, '/')
    if (end === -1 && ignoreTrailingSlash) text = text.replace(/\/$/, '')
    return (caseSensitive ? text : text.toLowerCase()) || '/'
  }
}

function reservedBy(paths: Paths, url: string): ManifestRoute | undefined {
  const found = paths.findRoute('GET', url) as { store?: unknown } | null
  return found?.store as ManifestRoute | undefined
}

/** An optional last parameter makes two paths of one. */
function pathsOf(url: string): string[] {
  const optional = /^(.*)(\/:[^/()]*)\?(\/?)$/.exec(url)
  if (optional === null) return [url]
  const [, before = '', parameter = '', slash = ''] = optional
  return [`${before}${parameter}${slash}`, `${before}${slash}` || '/']
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
