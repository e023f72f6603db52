import type { BootWarning } from '../contract/manifest.js'
import type { Handler } from '../contract/route-module.js'
import type { BootProblem } from '../errors/boot-error.js'
import type { LoadedModule } from './jiti-loader.js'

/** What `twinroute dev` does in place of an application that runs under it. */
export interface Development {
  /** Imports files so that they can be evaluated again. */
  loadModules(files: readonly string[]): Promise<Map<string, LoadedModule>>
  /** A directory of route files is about to be loaded: files that appear in it concern the application. */
  servesDirectory(apiDir: string): void
  /** The handler of a route that cannot be served, in place of its own; the problems are shown to the developer. */
  answerProblems(problems: readonly BootProblem[]): Handler
  /** Of the boot warnings of an application those that it did not have when it was loaded before. */
  newWarnings(warnings: readonly BootWarning[]): readonly BootWarning[]
  /** Takes the table of routes, to print it when it is asked for. */
  showRoutes(table: string): void
  /** A path of this server with a script that reloads the page around it after a change. */
  readonly reloadScript: string
}

// Registered by name, because the application may have another copy of this package than the command that runs it.
const DEVELOPMENT = Symbol.for('twinroute.development')

export function beginDevelopment(development: Development): void {
  Object.defineProperty(globalThis, DEVELOPMENT, { value: development })
}

/** Undefined but under `twinroute dev`. */
export function currentDevelopment(): Development | undefined {
  return Reflect.get(globalThis, DEVELOPMENT) as Development | undefined
}
