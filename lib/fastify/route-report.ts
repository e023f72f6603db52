import type { BootWarning } from '../contract/manifest.js'
import { displayPath } from '../errors/boot-error.js'
import { conditionText } from '../middleware/chain.js'
import type { PublicHole } from '../middleware/report.js'
import type { RouteMatch } from './match-route.js'
import type { ReportedRoute } from './reported-route.js'

/** What a report is made of. */
export interface ReportParts {
  routes: readonly ReportedRoute[]
  holes: readonly PublicHole[]
  warnings: readonly BootWarning[]
}

/** Tells which route answers a request. */
export interface Matching {
  match(method: string, url: string): RouteMatch
}

/** All routes with what guards them. */
export class RouteReport {
  /** The most specific first. */
  readonly routes: readonly ReportedRoute[]
  /** Every place that is public although something around it is guarded. */
  readonly holes: readonly PublicHole[]
  /** What was odd at boot. */
  readonly warnings: readonly BootWarning[]
  readonly #prepare: () => Matching
  #matching: Matching | undefined

  constructor({ routes, holes, warnings }: ReportParts, prepare: () => Matching) {
    this.routes = routes
    this.holes = holes
    this.warnings = warnings
    this.#prepare = prepare
  }

  /**
   * Which route answers a request, with the middleware that runs for it, and why each other route that matches the path
   * loses. Nothing of the application runs. Routes of plugins are known once the app is ready; their constraints (a host, a
   * version) are left out.
   *
   * @param method in capitals: `'DELETE'`
   * @param url path, with or without a query: `'/api/users/me'`
   */
  match(method: string, url: string): RouteMatch {
    this.#matching ??= this.#prepare()
    return this.#matching.match(method, url)
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
