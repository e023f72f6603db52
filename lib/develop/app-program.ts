/*
 * The process that runs the application under development: a child of the development server, which owns the sockets and
 * watches the files.
 */
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { beginDevelopment } from '../discovery/development.js'
import type { LoadedModule } from '../discovery/jiti-loader.js'
import { AppRun } from './app-run.js'
import { BootWarnings } from './boot-warnings.js'
import { Compiler } from './compile.js'
import { isDebugged, onDebugger } from './debugged.js'
import { readEnvironmentFile } from './environment.js'
import { reasonOf } from './failure.js'
import { failureHandler } from './failure-page.js'
import { digestOf } from './file-state.js'
import type { FromApp, ToApp } from './messages.js'
import { ModuleGraph } from './module-graph.js'
import { RELOAD_SCRIPT } from './reload-signal.js'
import { tell, tellError } from './terminal.js'

const [, , entry = '', turn, server] = process.argv
process.argv.splice(1, 4, entry) // as if Node ran the program
const unread = readEnvironmentFile()
if (unread !== undefined) tell(unread)

quietWarnings()
const compiler = new Compiler(entry, { sourceMaps: process.execArgv.some((option) => option.startsWith('--inspect')) })
const graph = new ModuleGraph(compiler, {
  reads: (file, source) => send({ type: 'reads', file, digest: digestOf(source) }),
  runs: (file) => send({ type: 'runs', file })
})
const run = new AppRun({ entry, graph, send, isFirst: turn === 'first' })
const exit = process.exit.bind(process)
const warnings = new BootWarnings()
let routes = ''

beginDevelopment({
  async loadModules(files) {
    run.changes.serves(files)
    const modules = await Promise.all(files.map(loadModule))
    return new Map(modules.map((module) => [module.file, module]))
  },
  servesDirectory: (apiDir) => run.servesDirectory(apiDir),
  answerProblems(problems) {
    const failure = problems.map(reasonOf)
    run.attempt.broken.push(...failure)
    return failureHandler(failure)
  },
  newWarnings: (all) => warnings.takeNew(all, graph.generation),
  showRoutes: (table) => (routes = table),
  reloadScript: RELOAD_SCRIPT
})

async function loadModule(file: string): Promise<LoadedModule> {
  try {
    return { file, exports: { ...(await graph.importNames(file)) } }
  } catch (error) {
    return { file, error }
  }
}

/** Node 20 warns of a part of its own that later versions have for good. */
function quietWarnings(): void {
  const warn = process.emitWarning
  process.emitWarning = (...given: unknown[]) => {
    if (!String(given[0]).startsWith('vm.USE_MAIN_CONTEXT')) Reflect.apply(warn, process, given)
  }
}

function send(message: FromApp): void {
  if (process.connected) process.send?.(message)
}

let isStopping = false

function stop(): void {
  if (isStopping) return
  isStopping = true
  void run.stop().then(
    () => exit(0),
    (error: unknown) => {
      tellError(error)
      exit(1)
    }
  )
}

/** Milliseconds in which clients leave that have no open request; streams end only when the application closes. */
const LEAVING_TIME = 1500

async function retire(): Promise<void> {
  await Promise.race([run.doors.close(), wait(LEAVING_TIME)])
  stop()
}

const reactions: { [Type in ToApp['type']]: (message: Extract<ToApp, { type: Type }>, socket?: Socket) => void } = {
  connection({ door, id }, socket) {
    send({ type: 'connected', id })
    if (socket !== undefined) run.doors.accept(door, socket) // the client may have left
  },
  listening: ({ door, address }) => run.doors.answer(door, address),
  'not-listening': ({ door, code, message }) => run.doors.answer(door, Object.assign(new Error(message), { code })),
  file: ({ event, file }) => send({ type: 'seen', isChange: run.changes.add(event, file) }),
  ask: () => send({ type: 'alive', isDebugged: isDebugged() }),
  retire() {
    send({ type: 'stops' })
    void retire()
  },
  stop() {
    send({ type: 'stops' })
    stop()
  },
  routes: () => tell(routes === '' ? 'no route files are served' : `routes\n${routes}`)
}

process.on('message', (message: ToApp, socket: Socket | undefined) => {
  const react = reactions[message.type] as (message: ToApp, socket?: Socket) => void
  react(message, socket)
})
/** Milliseconds for closing when the development server has gone. */
const ORPHAN_TIME = 3000

process.removeAllListeners('disconnect') // those of the time before there was anything to close
process.on('disconnect', () => {
  stop()
  setTimeout(() => exit(1), ORPHAN_TIME)
})
// nobody reads any more (`twinroute dev | head -1`): to tell that would be the same error again, without an end
for (const stream of [process.stdout, process.stderr]) stream.on('error', stop)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

/** The program ends itself because it cannot start; later it may end as it likes. */
class ProgramExit extends Error {}

process.exit = (code) => {
  const { attempt } = run
  if (!attempt.isPending || isStopping) return exit(code)
  const error = new ProgramExit(
    `The program has called process.exit(${code ?? ''}); above is what it has written before`
  )
  attempt.fail(error)
  throw error
}

function fault(error: unknown): void {
  if (error instanceof ProgramExit) return
  const { attempt } = run
  if (attempt.isPending && attempt.isEvaluated) return attempt.fail(error)
  tell('an error that nobody caught; in production it ends the process')
  tellError(error)
}

process.on('uncaughtException', fault)
process.on('unhandledRejection', fault)

onDebugger(() => send({ type: 'alive', isDebugged: true }))
send({ type: 'alive', isDebugged: isDebugged() })
if (process.ppid !== Number(server)) exit() // the development server has gone meanwhile, which the channel may tell late
await run.load([])
