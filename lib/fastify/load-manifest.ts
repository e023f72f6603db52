import type { RouteManifest } from '../contract/manifest.js'
import { withBrokenRoutes } from '../discovery/broken-routes.js'
import { currentDevelopment } from '../discovery/development.js'
import { loadModules, mergeByCause } from '../discovery/load-module.js'
import { buildRoutes, findRoutes, warnOfTypeScript, type ManifestOptions } from '../discovery/manifest.js'
import { BootError, type BootProblem } from '../errors/boot-error.js'
import { chooseMiddleware, findMiddlewareFile, type MapEntry } from '../middleware/map.js'
import { checkDefinitions } from '../schema/check-definitions.js'
import { formatPattern } from '../patterns/pattern.js'

/** The routes, and the middleware map beside them. */
export interface LoadedManifest extends RouteManifest {
  middleware: readonly MapEntry[]
}

/**
 * Scans `apiDir`, imports its route files and the middleware file, and checks all of it in one pass.
 * @returns all routes, the most specific first, and the middleware map
 * @throws BootError with every problem found
 */
export async function loadManifest(options: ManifestOptions): Promise<LoadedManifest> {
  const problems: BootProblem[] = []
  const development = currentDevelopment()
  const { apiDir, base, files, warnings } = findRoutes(options, problems)
  development?.servesDirectory(apiDir)
  const file = findMiddlewareFile({ apiDir, given: options.middleware, problems })
  const paths = [...files.map((route) => route.file), ...(file === undefined ? [] : [file])]
  // in one call, so that route files and the middleware file share each module they import
  const modules = await (development ?? { loadModules }).loadModules(paths)
  const middleware = chooseMiddleware({ file, given: options.middleware, modules, problems })
  const built = buildRoutes(files, modules, problems)
  problems.push(...checkDefinitions(built))
  const routes = development === undefined ? built : withBrokenRoutes(built, files, { problems, development })
  if (problems.length > 0) throw new BootError(mergeByCause(problems))
  return {
    apiDir,
    baseRoute: formatPattern(base),
    middlewareFile: file,
    routes,
    middleware,
    warnings: [...warnings, ...warnOfTypeScript(paths, options.mode)]
  }
}
