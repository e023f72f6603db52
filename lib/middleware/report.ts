import type { BootWarning, Segment } from '../contract/manifest.js'
import type { RouteModule } from '../contract/route-module.js'
import type { BootWarningCode } from '../errors/boot-error.js'
import { bindChain, coverSegments, mayNotRun, ownMiddleware, type BindOptions, type BoundChain } from './chain.js'
import type { MapEntry } from './map.js'

/** A route as the report needs it: from a file, or registered by a plugin (then without file and module). */
export interface BoundRoute {
  pattern: string
  segments: readonly Segment[]
  file?: string
  module?: RouteModule
  /** Of a route that comes from no file. */
  methods?: readonly string[]
}

/** A place where requests pass without middleware although others are guarded. */
export interface PublicHole {
  /** A prefix of the map, or the pattern of a route. */
  path: string
  /** Which of the two `path` is. */
  kind: 'prefix' | 'route'
  /** For a prefix: the guarded prefixes whose middleware does not run below it. */
  inside: readonly string[]
  /** For a route: its file, when it has one. */
  file: string | undefined
}

export interface BindingReport {
  warnings: readonly BootWarning[]
  holes: readonly PublicHole[]
}

interface ReportInput {
  prefixes: readonly MapEntry[]
  routes: readonly BoundRoute[]
  options: BindOptions
}

/** What boot reports: keys without effect, parameters beside guarded names, and every public place. Each is found when it is read. */
export function reportBinding(input: ReportInput): BindingReport {
  return {
    get warnings() {
      return [...input.prefixes.flatMap((prefix) => warnOfKey(prefix, input)), ...warnOfSiblings(input)]
    },
    get holes() {
      return [...prefixHoles(input), ...routeHoles(input)]
    }
  }
}

function warnOfKey(prefix: MapEntry, { routes, options }: ReportInput): BootWarning[] {
  const covers = routes.map(({ segments }) => coverSegments(prefix.segments, segments, options))
  if (covers.includes('always')) return []
  const key = JSON.stringify(prefix.key)
  const otherCase = routes.find(
    ({ segments }) => coverSegments(prefix.segments, segments, { caseSensitive: false }) === 'always'
  )
  if (otherCase !== undefined) {
    const message = `The key ${key} of the middleware map covers nothing: ${otherCase.pattern} differs from it by case`
    return [warning('MIDDLEWARE_KEY_CASE', message, otherCase.file)]
  }
  // Where a parameter may match the key's name, the warning about that says more.
  if (covers.some((cover) => cover !== 'never')) return []
  return [warning('MIDDLEWARE_KEY_UNUSED', `The key ${key} of the middleware map matches no route`)]
}

function warnOfSiblings({ prefixes, routes, options }: ReportInput): BootWarning[] {
  return routes.flatMap(({ pattern, segments, file }) => {
    const conditional = bindChain(prefixes, segments, options).steps.filter(mayNotRun)
    if (conditional.length === 0) return []
    const keys = conditional.map((step) => step.prefix).join(', ')
    const message = `${pattern} can stand in for ${keys}: the middleware of the prefix runs where the value equals it`
    return [warning('MIDDLEWARE_PARAM_SIBLING', message, file)]
  })
}

function warning(code: BootWarningCode, message: string, file?: string): BootWarning {
  return { code, message, files: file === undefined ? [] : [file] }
}

function prefixHoles({ prefixes, options }: ReportInput): PublicHole[] {
  return prefixes.flatMap((hole) => {
    if (hole.middleware.length > 0) return []
    const others = prefixes.slice(0, prefixes.indexOf(hole))
    const inside = certainSteps(bindChain(others, hole.segments, options)).map((step) => step.prefix)
    return inside.length === 0 ? [] : [{ path: hole.key, kind: 'prefix', inside, file: undefined }]
  })
}

/** Routes without middleware of their own or from the map, and without a key that declares them public. */
function routeHoles({ prefixes, routes, options }: ReportInput): PublicHole[] {
  if (prefixes.every(({ middleware }) => middleware.length === 0)) return []
  return routes.flatMap(({ pattern, segments, file, module }) => {
    const chain = bindChain(prefixes, segments, options)
    if (chain.publicBy !== undefined || isGuarded(chain, module)) return []
    return [{ path: pattern, kind: 'route', inside: [], file }]
  })
}

function certainSteps(chain: BoundChain) {
  return chain.steps.filter((step) => !mayNotRun(step))
}

/** True when every method of the route has middleware in front of it, whatever the parameters are. */
export function isGuarded(chain: BoundChain, module: RouteModule | undefined): boolean {
  if (module === undefined) return certainSteps(chain).length > 0
  return Object.keys(module.handlers).every((method) => isMethodGuarded(chain, module, method))
}

/** The same for one method. */
export function isMethodGuarded(chain: BoundChain, module: RouteModule | undefined, method: string): boolean {
  return certainSteps(chain).length > 0 || (module !== undefined && ownMiddleware(module, method).length > 0)
}
