/* The process of check-routes.ts: imports route files, and tells what is wrong with them. */
import { beginDevelopment } from '../discovery/development.js'
import type { LoadedModule } from '../discovery/jiti-loader.js'
import { BootError, displayPath, type BootProblem } from '../errors/boot-error.js'
import { toReadableError } from '../errors/readable-error.js'
import { loadManifest } from '../fastify/load-manifest.js'
import { BASE_ROUTE } from '../options/defaults.js'
import type { RoutesCheck } from './check-routes.js'
import { Compiler } from './compile.js'
import { readEnvironmentFile } from './environment.js'
import { ModuleGraph } from './module-graph.js'

const [, , entry = '', apiDir = '', map] = process.argv
process.argv.splice(1, 4, entry) // as if Node ran the program
process.on('uncaughtException', () => undefined) // what a file has begun says nothing about what it exports
process.on('disconnect', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')) // the build was killed
process.channel?.unref() // an import that waits for ever still ends the process

const before = { ...process.env }
readEnvironmentFile()
/** Of the file with the secrets; what is shorter is none. */
const secrets = Object.entries(process.env).flatMap(([name, value = '']) =>
  value.length > 5 && before[name] !== value ? [value] : []
)

const graph = new ModuleGraph(new Compiler(entry, { sourceMaps: false }), { reads() {}, runs() {} })
const problems = new Set<BootProblem>()

beginDevelopment({
  async loadModules(files) {
    const modules = await Promise.all(files.map(loadModule))
    return new Map(modules.map((module) => [module.file, module]))
  },
  servesDirectory: () => undefined,
  answerProblems(found) {
    for (const problem of found) problems.add(problem)
    return () => undefined
  },
  newWarnings: (all) => all,
  showRoutes: () => undefined,
  reloadScript: ''
})

async function loadModule(file: string): Promise<LoadedModule> {
  try {
    return { file, exports: { ...(await graph.importNames(file)) } }
  } catch (error) {
    return { file, error }
  }
}

/** What was thrown may be for want of what the environment has where the program runs; the build knows broken sources itself. */
function isOfEnvironment({ code }: BootProblem): boolean {
  return code === 'ROUTE_IMPORT_FAILED' || code === 'MIDDLEWARE_IMPORT_FAILED'
}

function unchecked({ files, cause }: BootProblem): string {
  const { name, message } = toReadableError(cause)
  let [line = ''] = message.split('\n')
  for (const secret of secrets) line = line.replaceAll(secret, '***') // a log of CI keeps what is printed
  return `Not checked, for it cannot be imported here: ${files.map(displayPath).join(', ')} (${name}: ${line})`
}

try {
  const given = map === 'given' ? { middleware: {} } : {}
  await loadManifest({ apiDir, baseRoute: BASE_ROUTE, mode: 'development', ...given })
} catch (error) {
  if (!(error instanceof BootError)) throw error
  for (const problem of error.problems) problems.add(problem)
}
const own = [...problems].filter((problem) => !isOfEnvironment(problem))
const check: RoutesCheck = {
  problems: own.length === 0 ? undefined : new BootError(own).message,
  unchecked: [...problems].filter(isOfEnvironment).map(unchecked)
}
process.send?.({ twinrouteCheck: check })
