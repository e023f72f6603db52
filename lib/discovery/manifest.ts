import { isAbsolute, resolve } from 'node:path'
import type { BootWarning, ManifestRoute, Segment } from '../contract/manifest.js'
import type { MiddlewareMap } from '../contract/middleware.js'
import { isProduction, type Mode } from '../contract/mode.js'
import { displayPath, type BootProblem } from '../errors/boot-error.js'
import { currentDevelopment } from './development.js'
import { findConflicts, type PlacedFile } from './conflicts.js'
import { builtDirectory } from './built-routes.js'
import { importProblem, isTypeScript } from './load-module.js'
import type { LoadedModule } from './jiti-loader.js'
import { formatPattern, parsePath, toFastify } from '../patterns/pattern.js'
import { checkRouteModule } from './check-route-module.js'
import { entryKindAt, scanRoutes, type Scan, type ScannedFile } from './scan.js'
import { compareSpecificity } from '../patterns/segment.js'
import { toFilePath } from '../options/values.js'

export interface ManifestOptions {
  /** A path (relative to the working directory) or a file URL. */
  apiDir: string | URL
  /** `/api`; `/` for none. May hold `[name]`. */
  baseRoute: string
  mode: Mode
  /** In place of a middleware file. */
  middleware?: MiddlewareMap
}

/** What a tree of route files holds before any of them is imported. */
export interface FoundRoutes {
  /** Absolute. */
  apiDir: string
  base: readonly Segment[]
  files: readonly PlacedFile[]
  warnings: readonly BootWarning[]
}

/**
 * Scans `apiDir`, unless the program was built with its route files, and checks the names in it.
 * @param problems gets every problem found
 */
export function findRoutes(options: ManifestOptions, problems: BootProblem[]): FoundRoutes {
  const apiDir = resolve(toFilePath(options.apiDir))
  const base = parseBaseRoute(options.baseRoute, problems)
  const built = builtDirectory(apiDir)
  const scan = built === undefined ? scanApiDir(apiDir, options.apiDir, problems) : scanOf(built.files)
  const files = scan.files.map((file) => place(file, base))
  problems.push(...scan.problems, ...findConflicts(files))
  return { apiDir, base, files, warnings: scan.warnings }
}

/** The routes of imported route files, the most specific first. */
export function buildRoutes(
  files: readonly PlacedFile[],
  modules: ReadonlyMap<string, LoadedModule>,
  problems: BootProblem[]
): ManifestRoute[] {
  const routes = files.flatMap((file) => buildRoute(file, modules.get(file.file), problems))
  return routes.toSorted((a, b) => compareSpecificity(a.segments, b.segments))
}

function parseBaseRoute(baseRoute: string, problems: BootProblem[]): readonly Segment[] {
  const parsed = parsePath(baseRoute === '' ? '/' : baseRoute)
  const valid = 'segments' in parsed && parsed.segments.every((segment) => segment.kind !== 'rest')
  if (valid) return parsed.segments
  const { wrong, fix } = 'wrong' in parsed ? parsed : { wrong: 'holds a rest segment', fix: 'Leave it out' }
  problems.push({
    code: 'BASE_ROUTE_INVALID',
    message: `The option baseRoute ${JSON.stringify(baseRoute)} ${wrong}`,
    files: [],
    fix
  })
  return []
}

/** Of a directory that was scanned when the program was built; its warnings were given then. */
function scanOf(files: readonly ScannedFile[]): Scan {
  return { files: [...files], problems: [], warnings: [] }
}

/** The tree below apiDir; an empty one, with the problem that says what was searched, when there is none. */
function scanApiDir(apiDir: string, given: string | URL, problems: BootProblem[]): Scan {
  const nothing: Scan = { files: [], problems: [], warnings: [] }
  const kind = entryKindAt(apiDir)
  const files = [apiDir]
  if (kind === 'other') {
    const message = `The option apiDir, ${String(given)}, is a file`
    problems.push({
      code: 'API_DIR_NOT_DIRECTORY',
      message,
      files,
      fix: 'Give the directory that holds the route files'
    })
    return nothing
  }
  if (kind === undefined) {
    const shown = given instanceof URL ? displayPath(apiDir) : given
    const message = `The option apiDir, ${shown}, leads to a directory that does not exist`
    problems.push({ code: 'API_DIR_NOT_FOUND', message, files, fix: adviseMissing(given) })
    return nothing
  }
  const scan = scanRoutes(apiDir)
  if (scan.files.length === 0 && scan.problems.length === 0) problems.push(emptyApiDir(files, scan))
  return scan
}

function adviseMissing(given: string | URL): string {
  const ways = ['Create it']
  if (currentDevelopment() === undefined) ways.push('build the program first')
  if (typeof given === 'string' && !isAbsolute(given)) {
    const place = 'give a place that does not depend on the working directory'
    ways.push(`${place} (${process.cwd()}): new URL('./api', import.meta.url)`)
  }
  return ways.join(', or ')
}

function emptyApiDir(files: readonly string[], scan: Scan): BootProblem {
  const hints = scan.warnings.map(({ message }) => `. ${message}`).join('')
  return {
    code: 'API_DIR_EMPTY',
    message: `No route file was found in apiDir or any folder below it${hints}`,
    files,
    fix: `Add one, such as health/route.ts${currentDevelopment() === undefined ? ', or build the program first' : ''}`
  }
}

function place(file: ScannedFile, base: readonly Segment[]): PlacedFile {
  const segments = [...base, ...file.segments]
  return { ...file, segments, pattern: formatPattern(segments) }
}

function buildRoute(placed: PlacedFile, loaded: LoadedModule | undefined, problems: BootProblem[]): ManifestRoute[] {
  const { file, pattern, segments } = placed
  if (loaded === undefined) return []
  if ('error' in loaded) {
    problems.push({
      code: 'ROUTE_IMPORT_FAILED',
      ...importProblem(file, loaded.error, 'Fix the error; every route file is imported when the application starts')
    })
    return []
  }
  const checked = checkRouteModule(file, loaded.exports)
  if ('problems' in checked) {
    problems.push(...checked.problems)
    return []
  }
  const { paths, params } = toFastify(segments)
  return [{ pattern, segments, fastifyPaths: paths, params, file, module: checked.module }]
}

/** In production: files that were not compiled. */
export function warnOfTypeScript(paths: readonly string[], mode: Mode): BootWarning[] {
  const files = paths.filter(isTypeScript)
  const [first] = files
  if (!isProduction(mode) || first === undefined) return []
  const count = files.length === 1 ? '1 TypeScript file was' : `${files.length} TypeScript files were`
  const message = `${count} loaded in production, ${displayPath(first)} first: compile them, and let apiDir lead there`
  return [{ code: 'ROUTE_TYPESCRIPT_IN_PRODUCTION', message, files }]
}
