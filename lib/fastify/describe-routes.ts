import type { FastifyInstance } from 'fastify'
import type { BootWarning, ManifestRoute, Segment } from '../contract/manifest.js'
import { ROUTE_METHODS, type RouteModule } from '../contract/route-module.js'
import type { Binder, ChainStep } from '../middleware/bind.js'
import { mayNotRun, ownMiddleware, reportCondition } from '../middleware/chain.js'
import { isGuarded, isMethodGuarded, type BoundRoute } from '../middleware/report.js'
import { formatMount, parseFastifyPath } from '../patterns/pattern.js'
import { routerOptionsOf } from '../patterns/read-path.js'
import { nameOf, RouteMatcher, type MatchableRoute } from './match-route.js'
import type { ReportedRoute, ReportedStep } from './reported-route.js'
import { RouteReport, type ReportParts } from './route-report.js'
import { isApp, otherRoutesOf, routesOf, type RegisteredRoutes } from './server-state.js'

/** A middleware map in front of routes. */
interface Source {
  binder: Binder
  /** What the paths of the map begin with, and the routes leave out. */
  mount: readonly Segment[]
  /** Absolute path of the middleware file. */
  file: string | undefined
}

/** What a registration is reported with. */
interface ReportScope {
  /** Routes that come from no file but that the map covers, such as `/graphql`. */
  others?: readonly BoundRoute[]
  /** Routes that another registration reports, though this map guards them, too. */
  covered?: readonly BoundRoute[]
  /** The app's own map, where these routes were registered on an app later. */
  outer?: Source
}

interface Reported extends ReportParts {
  matchable: readonly MatchableRoute[]
}

/**
 * All routes of an app or host that twinroute serves or guards, each with the middleware bound to it, every public hole and
 * every boot warning; `String(describeRoutes(app))` is a table, `describeRoutes(app).match('GET', '/api/users/me')` says
 * which route answers and why the others do not.
 *
 * @param app what `createApp` resolved to, or an instance on which `fileRoutes` was registered (after `ready()`)
 * @throws TypeError when twinroute has no routes there
 */
export function describeRoutes(app: FastifyInstance): RouteReport {
  if (routesOf(app).length === 0)
    throw new TypeError('describeRoutes takes an app of createApp, or one with fileRoutes registered')
  return joinReports(app, reportsOf(app))
}

/** The warnings of that report alone, which need no description of each route. */
export function bootWarnings(app: FastifyInstance): BootWarning[] {
  return reportsOf(app).flatMap(({ warnings }) => warnings)
}

function reportsOf(app: FastifyInstance): Reported[] {
  const registered = routesOf(app)
  return isApp(app) ? reportsOfApp(registered, otherRoutesOf(app)) : registered.map((one) => reportRegistered(one))
}

/** The report of one registration alone. */
export function reportRoutes(fastify: FastifyInstance, registered: RegisteredRoutes): RouteReport {
  return joinReports(fastify, [reportRegistered(registered)])
}

function joinReports(fastify: FastifyInstance, reports: readonly Reported[]): RouteReport {
  const parts: ReportParts = {
    routes: reports.flatMap((report) => report.routes),
    holes: reports.flatMap((report) => report.holes),
    warnings: reports.flatMap((report) => report.warnings)
  }
  const routes = reports.flatMap(({ matchable }) => matchable)
  const [own] = isApp(fastify) ? routesOf(fastify) : []
  const scope = {
    routes,
    router: routerOptionsOf(fastify),
    methods: fastify.supportedMethods,
    whenNotFound: (request: { method: string; url: string }) => (own === undefined ? [] : stepsNotFound(own, request))
  }
  return new RouteReport(parts, () => new RouteMatcher(scope))
}

/** The app's own registration is the first; its map guards all that was registered later, too. */
function reportsOfApp([own, ...later]: readonly RegisteredRoutes[], others: readonly BoundRoute[]): Reported[] {
  if (own === undefined) return []
  const covered = later.flatMap((one) =>
    mountedRoutes(one).map((route) => ({ ...route, segments: wholePath(one, route) }))
  )
  return [
    reportRegistered(own, { others, covered }),
    ...later.map((one) => reportRegistered(one, { outer: { ...sourceOf(own), mount: parseFastifyPath(one.prefix) } }))
  ]
}

function sourceOf({ manifest, binder }: RegisteredRoutes): Source {
  return { binder, mount: [], file: manifest.middlewareFile }
}

/** Its routes, with the prefix of the registration in their patterns. Their segments leave it out, as the keys of its map do. */
function mountedRoutes({ manifest, prefix }: RegisteredRoutes): ManifestRoute[] {
  const mount = formatMount(prefix)
  if (mount === '') return [...manifest.routes]
  return manifest.routes.map((route) => ({ ...route, pattern: route.pattern === '/' ? mount : mount + route.pattern }))
}

function wholePath({ prefix }: RegisteredRoutes, { segments }: BoundRoute): Segment[] {
  return [...parseFastifyPath(prefix), ...segments]
}

/** Each part is made when it is read: a start in production reads the warnings alone. */
function reportRegistered(registered: RegisteredRoutes, around: ReportScope = {}): Reported {
  const { manifest, binder, prefix } = registered
  const { others = [], covered = [], outer } = around
  const own = sourceOf(registered)
  const sources = outer === undefined ? [own] : [outer, own]
  const files = mountedRoutes(registered)
  const routes: readonly BoundRoute[] = [...files, ...others]
  let described: readonly MatchableRoute[] | undefined
  const describe = (): readonly MatchableRoute[] => [
    ...files.map((route) => ({
      ...describeRoute(route, sources),
      segments: wholePath(registered, route),
      paths: mountPaths(route, prefix)
    })),
    ...others.map((route) => ({ ...describeRoute(route, sources), paths: [route.pattern] }))
  ]
  return {
    get matchable() {
      return (described ??= describe())
    },
    get routes() {
      return this.matchable.map(({ route }) => route)
    },
    get holes() {
      return binder.report(routes).holes.filter(({ path }) => !isGuardedBy(outer, routes, path))
    },
    get warnings() {
      return [...manifest.warnings, ...binder.report([...routes, ...covered]).warnings]
    }
  }
}

function mountPaths({ fastifyPaths }: ManifestRoute, prefix: string): string[] {
  const mount = prefix.replace(/\/$/, '')
  return fastifyPaths.map((path) => (path === '/' && mount !== '' ? mount : mount + path))
}

/** Whether the app's own map guards what this binding alone would call a hole. */
function isGuardedBy(outer: Source | undefined, routes: readonly BoundRoute[], path: string): boolean {
  const route = routes.find(({ pattern }) => pattern === path)
  if (outer === undefined || route === undefined) return false
  return isGuarded(outer.binder.chainFor([...outer.mount, ...route.segments]), undefined)
}

function describeRoute(bound: BoundRoute, sources: readonly Source[]): Omit<MatchableRoute, 'paths'> {
  const { pattern, segments, file, module } = bound
  const chains = sources.map(({ binder, mount, file }) => ({
    ...binder.chainFor([...mount, ...segments]),
    binder,
    file
  }))
  const methods = module === undefined ? (bound.methods ?? []) : servedMethods(module)
  const publicMethods = methods.filter((method) => chains.every((chain) => !isMethodGuarded(chain, module, method)))
  const route: ReportedRoute = {
    methods,
    pattern,
    file,
    middleware: chains.flatMap(({ steps, file }) => steps.map((step) => reportStep(step, file))),
    own: module === undefined ? {} : ownNames(module),
    public: publicMethods.length > 0,
    publicMethods,
    publicBy: chains.at(-1)?.publicBy
  }
  const running: MatchableRoute['running'] = (request) =>
    chains.flatMap(({ steps, binder, file }) => {
      const covering = steps.some(mayNotRun) ? binder.covering(request) : new Set<string>()
      return steps
        .filter((step) => !mayNotRun(step) || covering.has(step.prefix))
        .map((step) => ({ ...reportStep(step, file), conditional: false }))
    })
  return { route, segments, module, running }
}

/** What the app's map asks of a path that no route has. */
function stepsNotFound(own: RegisteredRoutes, request: { method: string; url: string }): ReportedStep[] {
  const guards = own.binder.guards(request)
  return own.binder.everything.steps
    .filter(({ prefix }) => guards.has(prefix))
    .map((step) => ({ ...reportStep(step, own.manifest.middlewareFile), conditional: false }))
}

function reportStep(step: ChainStep, file: string | undefined): ReportedStep {
  return { prefix: step.prefix, names: step.middleware.map(nameOf), file, ...reportCondition(step) }
}

function servedMethods({ handlers }: RouteModule): string[] {
  return ROUTE_METHODS.filter((method) => handlers[method] ?? (method === 'HEAD' && handlers.GET))
}

function ownNames(module: RouteModule): Record<string, readonly string[]> {
  const named = servedMethods(module).map((method) => [method, ownMiddleware(module, method).map(nameOf)] as const)
  return Object.fromEntries(named.filter(([, names]) => names.length > 0))
}
