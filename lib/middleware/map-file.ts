import type { MiddlewareMap } from '../contract/middleware.js'
import { BootError, displayPath, type BootProblem } from '../errors/boot-error.js'
import { adviseImport } from '../discovery/import-advice.js'
import { describeType } from '../options/values.js'
import type { LoadedModule } from '../discovery/loaded-module.js'
import { checkMiddlewareMap } from './map.js'
import { findMiddlewareFiles } from '../discovery/scan.js'

/** The middleware map of the application, and the file it came from, if it came from one. */
export interface ChosenMiddleware {
  map: MiddlewareMap
  file: string | undefined
}

interface FindOptions {
  apiDir: string
  given: MiddlewareMap | undefined
  problems: BootProblem[]
}

/** The one middleware file in `apiDir` or beside it. Not looked for when the map was given as an option. */
export function findMiddlewareFile({ apiDir, given, problems }: FindOptions): string | undefined {
  if (given !== undefined) return undefined
  const files = findMiddlewareFiles(apiDir)
  if (files.length < 2) return files[0]
  problems.push({
    code: 'MIDDLEWARE_FILE_TWICE',
    message: `${files.length} middleware files were found in apiDir and beside it`,
    files,
    fix: 'Keep one, or give the map as the option middleware'
  })
  return undefined
}

interface ChooseOptions {
  file: string | undefined
  given: MiddlewareMap | undefined
  modules: ReadonlyMap<string, LoadedModule>
  problems: BootProblem[]
}

/** The checked map: the given one, the file's export, or an empty one. */
export function chooseMiddleware({ file, given, modules, problems }: ChooseOptions): ChosenMiddleware {
  const map = given ?? (file === undefined ? {} : readExport(file, modules.get(file), problems))
  const checked = checkMiddlewareMap(map, file === undefined ? [] : [file])
  problems.push(...checked.problems)
  return { map: checked.map, file }
}

function readExport(
  file: string,
  loaded: LoadedModule | undefined,
  problems: BootProblem[]
): Readonly<Record<string, unknown>> {
  if (loaded === undefined) return {}
  if ('error' in loaded) {
    problems.push(...importProblems(file, loaded.error))
    return {}
  }
  const map: unknown = loaded.exports['middleware']
  if (isMap(map)) return map
  problems.push({
    code: 'MIDDLEWARE_FILE_INVALID',
    message:
      map === undefined
        ? `${displayPath(file)} exports no middleware`
        : `${displayPath(file)} exports middleware as ${describeType(map)}`,
    files: [file],
    fix: 'Write: export const middleware = createMiddleware({ "/api/admin/": [authenticate] })'
  })
  return {}
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What `createMiddleware` threw inside the file is listed problem by problem, with the file's name added. */
function importProblems(file: string, cause: unknown): readonly BootProblem[] {
  if (cause instanceof BootError) {
    return cause.problems.map((problem) => ({ ...problem, files: problem.files.length === 0 ? [file] : problem.files }))
  }
  return [
    {
      code: 'MIDDLEWARE_IMPORT_FAILED',
      message: `${displayPath(file)} cannot be imported`,
      files: [file],
      fix: adviseImport(file, cause, 'Mend the error; without its middleware the application does not start'),
      cause
    }
  ]
}
