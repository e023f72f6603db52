import { findRoutes } from '../discovery/manifest.js'
import { findMiddlewareFiles } from '../discovery/scan.js'
import { BootError, type BootProblem } from '../errors/boot-error.js'

/** What `createApp` would import for a directory. */
export interface FoundRouteFiles {
  /** Absolute paths. */
  routes: readonly string[]
  /** Absolute paths of the middleware files in the directory and beside it; more than one is a boot problem. */
  middleware: readonly string[]
  /** Each a sentence: what is named almost like a route file, for example. */
  warnings: readonly string[]
}

/**
 * Reads a directory of route files as `createApp` does, and imports none of them.
 * @param apiDir absolute path
 * @throws BootError with every problem of the tree
 */
export function findRouteFiles(apiDir: string): FoundRouteFiles {
  const problems: BootProblem[] = []
  const { files, warnings } = findRoutes({ apiDir, baseRoute: '/', mode: 'development' }, problems)
  if (problems.length > 0) throw new BootError(problems)
  return {
    routes: files.map(({ file }) => file),
    middleware: findMiddlewareFiles(apiDir),
    warnings: warnings.map(({ message }) => message)
  }
}
