import type { FastifyInstance, FastifyBaseLogger } from 'fastify'
import type { Mode } from '../contract/mode.js'
import type { AppOptions } from '../contract/options.js'
import { CLOSING_DELAY, GRACE_TIME } from '../options/defaults.js'
import closeWithGrace from 'close-with-grace'
import { currentDevelopment } from '../discovery/development.js'
import { listenPlace } from './listen-place.js'
import { listenFaultOf, noteFault, type ListenFault } from './listen-fault.js'
import { sayIfUncaught, sayUncaught } from '../errors/uncaught.js'
import { toReadableError } from '../errors/readable-error.js'

/** Listens on the port and host of the options or the environment; from then until `close()` the process ends by closing the app first. */
export async function start(app: FastifyInstance, mode: Mode, options: AppOptions): Promise<string> {
  const { signals = mode !== 'test' } = options.shutdown ?? {}
  const isAlone = signals && currentDevelopment() === undefined // `twinroute dev` closes its apps itself
  try {
    return isAlone ? await listenClosing(app, options) : await app.listen(listenPlace(options))
  } catch (error) {
    const fault = listenFaultOf(error, options)
    if (fault !== undefined) noteFault(error, fault)
    if (fault !== undefined && isAlone) sayIfUncaught(error as Error, () => sayFault(app.log, fault))
    throw error
  }
}

async function listenClosing(app: FastifyInstance, options: AppOptions): Promise<string> {
  const { delay = CLOSING_DELAY, graceTime = GRACE_TIME } = options.shutdown ?? {}
  const place = listenPlace(options)
  closeOnProcessEvents(app, delay + graceTime)
  try {
    return await app.listen(place)
  } catch (error) {
    ignoreProcessEvents(app)
    throw error
  }
}

function sayFault(log: FastifyBaseLogger, { message, fix }: ListenFault): void {
  if (isLogging(log)) log.fatal(`${message}: ${fix.slice(0, 1).toLowerCase()}${fix.slice(1)}`)
  else process.stderr.write(`${message}\n${fix}\n`)
}

type Ending = Parameters<closeWithGrace.CloseWithGraceAsyncCallback>[0]

/** Milliseconds for preClose and onClose hooks; a hook that hangs must not hold the process. */
const HOOKS_TIME = 2000

/** All but SIGTERM, SIGINT and uncaught errors: a process ends by itself, reloads, or has crashed. */
const IGNORED_EVENTS: closeWithGrace.AllEvents[] = [
  'SIGHUP',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'beforeExit'
]

/** Apps that have started, each with the milliseconds it may take to close. The process waits for all of them. */
const started = new Map<FastifyInstance, number>()
let handlers: ReturnType<typeof closeWithGrace> | undefined
let isEnding = false

/**
 * SIGTERM and SIGINT close the app and end the process with code 0, an uncaught error with 1; a second one ends it at once.
 * @param time milliseconds that closing may take, hooks left out
 */
function closeOnProcessEvents(app: FastifyInstance, time: number): void {
  started.set(app, time + HOOKS_TIME)
  install()
}

/** The opposite: signals have their usual effect again. */
export function ignoreProcessEvents(app: FastifyInstance): void {
  if (started.delete(app)) install()
}

function install(): void {
  if (isEnding) return
  handlers?.uninstall()
  handlers = undefined
  if (started.size === 0) return
  const delay = Math.max(...started.values())
  handlers = closeWithGrace({ delay, logger: { error: logEnding }, skip: IGNORED_EVENTS }, closeAll)
}

async function closeAll({ err, signal }: Ending): Promise<void> {
  isEnding = true
  if (err === undefined) for (const { log } of started.keys()) log.info({ signal }, 'Closing')
  else logEnding(err)
  await Promise.all([...started.keys()].map((app) => app.close()))
}

/** An app without a log must not end without a word. */
function logEnding(thrown: unknown): void {
  if (sayUncaught(thrown)) return
  const error = toReadableError(thrown)
  const logs = [...started.keys()].map(({ log }) => log).filter(isLogging)
  for (const log of logs) log.fatal(error)
  if (logs.length > 0) return
  process.stderr.write(`${error.stack ?? error.message}\n`)
}

/** Whether a log writes anything: not without a level, nor when it is silent. */
export function isLogging({ level }: FastifyBaseLogger): boolean {
  return level !== undefined && level !== 'silent'
}
