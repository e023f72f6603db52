import type { BootWarning, RouteManifest } from '../contract/manifest.js'
import { ROUTE_METHODS, type RouteModule } from '../contract/route-module.js'
import type { Middleware } from '../contract/middleware.js'
import { displayPath } from '../errors/boot-error.js'
import type { Binder } from '../middleware/bind.js'
import { conditionText, ownMiddleware, reportCondition, type ReportedCondition } from '../middleware/chain.js'
import { isGuarded, type PublicHole, type BoundRoute } from '../middleware/report.js'
import type { FastifyInstance } from 'fastify'
import { isApp, otherRoutesOf, routesOf, type RegisteredRoutes } from './server-state.js'

/** The middleware of one prefix in front of a route. */
export interface ReportedStep extends ReportedCondition {
  /** The key of the middleware map. */
  prefix: string
  /** The names of the functions. */
  names: readonly string[]
}

export interface ReportedRoute {
  /** Those a request can use, HEAD of a GET included. */
  methods: readonly string[]
  /** `/api/users/[userId]` */
  pattern: string
  /** Absolute path of the route file. */
  file: string | undefined
  /** From the middleware map, in the order it runs. */
  middleware: readonly ReportedStep[]
  /** The names of the route file's own middleware, by method. Methods without any are left out. */
  own: Readonly<Record<string, readonly string[]>>
  /** True when at least one method can be called without passing any middleware. */
  public: boolean
  /** The key of the empty array that makes it public. */
  publicBy: string | undefined
}

/** All routes with what guards them. */
export class RouteReport {
  /** The most specific first. */
  readonly routes: readonly ReportedRoute[]
  /** Every place that is public although something around it is guarded. */
  readonly holes: readonly PublicHole[]
  /** What was odd at boot. */
  readonly warnings: readonly BootWarning[]

  constructor(routes: readonly ReportedRoute[], holes: readonly PublicHole[], warnings: readonly BootWarning[]) {
    this.routes = routes
    this.holes = holes
    this.warnings = warnings
  }

  /** The report as a table, with the holes and warnings below it. */
  toString(): string {
    const rows = this.routes.map((route) => [
      route.methods.join(' '),
      route.pattern,
      describeGuards(route),
      route.file === undefined ? '' : displayPath(route.file)
    ])
    return [
      table([['methods', 'path', 'middleware', 'file'], ...rows]),
      section('public inside a guarded prefix', this.holes.filter(isPrefixHole).map(describeHole)),
      section('without any middleware', this.holes.filter((hole) => !isPrefixHole(hole)).map(describeHole)),
      section(
        'warnings',
        this.warnings.map(({ code, message }) => `${message} (${code})`)
      )
    ].join('')
  }
}

/** What a report needs beside a manifest. */
export interface ReportScope {
  /** Routes that come from no file but that the map covers, such as `/graphql`. */
  others?: readonly BoundRoute[]
  /** Routes that another registration reports, though this map guards them, too. */
  covered?: readonly BoundRoute[]
  /** The binding of the app's own map, where these routes were registered on an app later. */
  outer?: Binder
}

/** Puts the manifest and the binding together. */
export function reportRoutes(manifest: RouteManifest, binder: Binder, around: ReportScope = {}): RouteReport {
  const { others = [], covered = [], outer } = around
  const routes: readonly BoundRoute[] = [...manifest.routes, ...others]
  const binders = outer === undefined ? [binder] : [outer, binder]
  return new RouteReport(
    routes.map((route) => describeRoute(route, binders)),
    binder.report(routes).holes.filter(({ path }) => !isGuardedBy(outer, routes, path)),
    [...manifest.warnings, ...binder.report([...routes, ...covered]).warnings]
  )
}

/** Whether the app's own map guards what this binding alone would call a hole. */
function isGuardedBy(outer: Binder | undefined, routes: readonly BoundRoute[], path: string): boolean {
  const route = routes.find(({ pattern }) => pattern === path)
  return outer !== undefined && route !== undefined && isGuarded(outer.chainFor(route.segments), undefined)
}

function describeRoute(
  { pattern, segments, file, module, methods = [] }: BoundRoute,
  binders: readonly Binder[]
): ReportedRoute {
  const chains = binders.map((binder) => binder.chainFor(segments))
  return {
    methods: module === undefined ? methods : servedMethods(module),
    pattern,
    file,
    middleware: chains
      .flatMap(({ steps }) => steps)
      .map((step) => ({ prefix: step.prefix, names: step.middleware.map(nameOf), ...reportCondition(step) })),
    own: module === undefined ? {} : ownNames(module),
    public: chains.every((chain) => !isGuarded(chain, module)),
    publicBy: chains.at(-1)?.publicBy
  }
}

function servedMethods({ handlers }: RouteModule): string[] {
  return ROUTE_METHODS.filter((method) => handlers[method] ?? (method === 'HEAD' && handlers.GET))
}

function ownNames(module: RouteModule): Record<string, readonly string[]> {
  const named = servedMethods(module).map((method) => [method, ownMiddleware(module, method).map(nameOf)] as const)
  return Object.fromEntries(named.filter(([, names]) => names.length > 0))
}

function nameOf(middleware: Middleware): string {
  return middleware.name === '' ? '(anonymous)' : middleware.name
}

function describeGuards({ middleware, own, publicBy, public: isPublic }: ReportedRoute): string {
  const fromMap = middleware.map((step) => `${step.prefix}${conditionText(step)}: ${step.names.join(', ')}`)
  const guards = [...fromMap, ...describeOwn(own)]
  if (isPublic) guards.unshift(publicBy === undefined ? 'public' : `public by ${publicBy}`)
  return guards.join('; ')
}

/** Methods with the same list are named together. */
function describeOwn(own: ReportedRoute['own']): string[] {
  const methods = new Map<string, string[]>()
  for (const [method, names] of Object.entries(own)) {
    const list = names.join(', ')
    methods.set(list, [...(methods.get(list) ?? []), method])
  }
  return [...methods].map(([list, names]) => `${names.join(' ')}: ${list}`)
}

function isPrefixHole(hole: PublicHole): boolean {
  return hole.kind === 'prefix'
}

function describeHole({ path, inside }: PublicHole): string {
  return inside.length === 0 ? path : `${path} (inside ${inside.join(', ')})`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/**
 * All routes of an app or host that twinroute serves or guards, each with the middleware bound to it, every public hole and
 * every boot warning; `String(describeRoutes(app))` is a table.
 *
 * @param app what `createApp` resolved to, or an instance on which `fileRoutes` was registered (after `ready()`)
 * @throws TypeError when twinroute has no routes there
 */
export function describeRoutes(app: FastifyInstance): RouteReport {
  const registered = routesOf(app)
  if (registered.length === 0)
    throw new TypeError('describeRoutes takes an app of createApp, or one with fileRoutes registered')
  const reports = isApp(app) ? reportsOfApp(registered, otherRoutesOf(app)) : registered.map(reportAlone)
  const [only] = reports
  if (reports.length === 1 && only !== undefined) return only
  return new RouteReport(
    reports.flatMap((report) => report.routes),
    reports.flatMap((report) => report.holes),
    reports.flatMap((report) => report.warnings)
  )
}

function reportAlone({ manifest, binder }: RegisteredRoutes): RouteReport {
  return reportRoutes(manifest, binder)
}

/** The app's own registration is the first; its map guards all that was registered later, too. */
function reportsOfApp([own, ...later]: readonly RegisteredRoutes[], others: readonly BoundRoute[]): RouteReport[] {
  if (own === undefined) return []
  const covered = later.flatMap(({ manifest }) => manifest.routes)
  return [
    reportRoutes(own.manifest, own.binder, { others, covered }),
    ...later.map(({ manifest, binder }) => reportRoutes(manifest, binder, { outer: own.binder }))
  ]
}
