import type { ManifestRoute } from '../contract/manifest.js'
import { ROUTE_METHODS } from '../contract/route-module.js'
import type { BootProblem } from '../errors/boot-error.js'
import { compareSpecificity } from '../patterns/segment.js'
import { formatPattern, toFastify } from '../patterns/pattern.js'
import type { PlacedFile } from './conflicts.js'
import type { Development } from './development.js'

/**
 * In development a route file with a problem does not keep the others from being served: every method of its path answers
 * with the problem.
 * @param problems those that can be kept to the routes of a file are removed
 * @returns all routes, the most specific first
 */
export function withBrokenRoutes(
  routes: readonly ManifestRoute[],
  files: readonly PlacedFile[],
  { problems, development }: { problems: BootProblem[]; development: Development }
): readonly ManifestRoute[] {
  if (!problems.every((problem) => isOfFiles(problem, files))) return routes
  const found = problems.splice(0)
  const named = files.filter(({ file }) => found.some((problem) => problem.files.includes(file)))
  const whole = routes.filter((route) => !named.some(({ file }) => file === route.file))
  const broken = firstOfEachSlot(named).map((placed) => {
    const own = found.filter((problem) => problem.files.includes(placed.file))
    return brokenRoute(placed, development.answerProblems(own))
  })
  return [...whole, ...broken].toSorted((a, b) => compareSpecificity(a.segments, b.segments))
}

function isOfFiles(problem: BootProblem, files: readonly PlacedFile[]): boolean {
  if (problem.code === 'ROUTE_REST_NOT_LAST') return false // its path cannot be told to the router
  return problem.files.length > 0 && problem.files.every((path) => files.some(({ file }) => file === path))
}

/** Two files for one path are one broken route. */
function firstOfEachSlot(files: readonly PlacedFile[]): PlacedFile[] {
  const slots = new Map<string, PlacedFile>()
  for (const placed of files) {
    const slot = formatPattern(placed.segments, 'blank')
    if (!slots.has(slot)) slots.set(slot, placed)
  }
  return [...slots.values()]
}

function brokenRoute({ file, pattern, segments }: PlacedFile, handler: ReturnType<Development['answerProblems']>) {
  const { paths, params } = toFastify(segments)
  const handlers = Object.fromEntries(ROUTE_METHODS.map((method) => [method, handler]))
  const module = { handlers, middleware: [], config: {} }
  return { pattern, segments, fastifyPaths: paths, params, file, module } satisfies ManifestRoute
}
