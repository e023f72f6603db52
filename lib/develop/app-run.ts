import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { listenPlace } from '../app/listen-place.js'
import { displayPath } from '../errors/boot-error.js'
import { AppInstances, closeApps } from './app-instances.js'
import { AppServer } from './app-server.js'
import { Attempt } from './attempt.js'
import { addressText, changeText, tell, tellError } from './terminal.js'
import { ChangeList } from './change-list.js'
import { divertListening, type Listening } from './divert-listen.js'
import { DoorList, keyOf } from './door-list.js'
import { environmentFaultOf, likelyPlaces } from './environment.js'
import { failureOf, failureText, type Failure } from './failure.js'
import { closeKept } from './keep.js'
import type { FromApp } from './messages.js'
import type { ModuleGraph } from './module-graph.js'
import { ownership, type Owner } from './owner.js'

/** Milliseconds after which an application that neither listens nor fails is told to wait for something. */
const LONG = 5000

/** Milliseconds that it is counted in. */
const TURN = 500

export interface AppRunOptions {
  /** Real path of the program. */
  entry: string
  graph: ModuleGraph
  send: (message: FromApp) => void
  /** Of the first process: what it was started with may be refused. */
  isFirst: boolean
}

/** The application under development: loads it, and loads it again after each change. */
export class AppRun {
  readonly doors: DoorList
  readonly changes: ChangeList
  readonly #options: AppRunOptions
  readonly #instances = new AppInstances()
  #attempt = new Attempt(0)
  readonly #watched = new Set<string>()
  #isReady = false

  constructor(options: AppRunOptions) {
    this.#options = options
    this.doors = new DoorList(options.send)
    this.changes = new ChangeList(options.graph, {
      hold: () => this.doors.hold(),
      load: (files) => void this.load(files),
      release: () => {
        if (!this.#attempt.isPending) this.doors.release()
      }
    })
    divertListening((wanted) => this.#listen(wanted))
  }

  get attempt(): Attempt {
    return this.#attempt
  }

  /** Evaluates the program, after a change only what that concerns. */
  async load(changed: readonly string[]): Promise<void> {
    const { graph } = this.#options
    this.#attempt.replace()
    const attempt = (this.#attempt = new Attempt(++graph.generation))
    const evaluated = graph.forget([...changed, ...this.#instances.owners])
    const isOld = ({ file, generation }: Owner): boolean => generation < attempt.generation && evaluated.has(file)
    const late = afterTurns(LONG, () => this.#tellLate(attempt))
    try {
      const outcome = await Promise.race([this.#evaluate(attempt), attempt.ended])
      if (outcome === 'replaced') return
      this.#finish(attempt, changed)
      this.doors.leave((server) => server === undefined || isOld(server.owner))
    } catch (error) {
      if (attempt.isPending) await this.changes.settleBroken()
      if (!attempt.isPending || this.#isRefused(error)) return
      this.#break(failureOf(error), attempt)
      this.doors.fail(
        failureOf(error),
        (server) => !isOld(server.owner) && server.owner.generation < attempt.generation
      )
      await this.#openDefaultDoor(failureOf(error))
    } finally {
      clearInterval(late)
    }
    attempt.isPending = false
    this.#afterLoad(isOld)
  }

  /** Nothing that is saved will change what the command was called with. */
  #isRefused(error: unknown): boolean {
    const fault = this.#isReady || !this.#options.isFirst ? undefined : environmentFaultOf(error)
    if (fault?.isInherited !== true) return false
    this.#options.send({ type: 'refused', message: `${fault.message}\n${fault.fix}` })
    return true
  }

  #afterLoad(isOld: (owner: Owner) => boolean): void {
    this.doors.release()
    this.#options.send({ type: 'runs', file: undefined })
    void closeApps(this.#instances.take(isOld), tellError)
    this.#watch(this.#options.graph.directories)
    if (!this.#isReady) this.#options.send({ type: 'ready' })
    this.#isReady = true
    this.changes.check()
  }

  async #evaluate(attempt: Attempt): Promise<void> {
    const { graph, entry } = this.#options
    const exports = await graph.import(entry)
    attempt.isEvaluated = true
    const app = exports['default']
    if (isFastify(app) && !this.#instances.isStarting(app)) {
      await ownership.run({ file: entry, generation: attempt.generation }, () => startApp(app))
    }
    await attempt.listening
  }

  async #listen({ server, owner, place, begin }: Listening): Promise<void> {
    const { graph } = this.#options
    if (!graph.isCurrent(owner)) return // a program that was replaced while it started
    const base = keyOf(place)
    const number = this.#attempt.numberOf(base)
    const key = number === 1 ? base : `${base}#${number}`
    const address = await this.doors.listen(key, place)
    // until then the application before it answers
    if (this.#attempt.broken.length > 0 || this.changes.isHalfDone) await this.changes.settleBroken()
    if (!graph.isCurrent(owner)) return
    const stand = new AppServer(server, owner, address)
    this.#instances.addServer(stand)
    begin(stand)
    this.doors.open(key, stand)
    stand.tellListening(this.#instances.logsOf(owner))
    this.#attempt.hasListened()
  }

  #finish(attempt: Attempt, changed: readonly string[]): void {
    if (!this.#isReady) tell(`${this.doors.urls.join(' and ')} ready in ${attempt.ms} ms`)
    else tell(`reloaded in ${attempt.ms} ms: ${changeText(changed)}`)
    if (attempt.broken.length > 0)
      tell(`these routes answer 500, all others are served\n${failureText(attempt.broken)}`)
    this.changes.isBroken = attempt.broken.length > 0
  }

  #break(failure: Failure, attempt: Attempt): void {
    tell(`does not start (${attempt.ms} ms); every request is answered with this\n${failureText(failure)}`)
    this.changes.isBroken = true
  }

  /** An application that has not listened yet has a page, too, where it is likely to listen later. */
  async #openDefaultDoor(failure: Failure): Promise<void> {
    for (const place of this.doors.isEmpty ? likelyPlaces() : []) {
      const address = await this.doors.listen(keyOf(place), place).catch(() => undefined)
      if (address === undefined) continue
      this.doors.failAt(keyOf(place), failure)
      return tell(`${addressText(address)} shows it`)
    }
  }

  #tellLate(attempt: Attempt): void {
    const { graph, entry } = this.#options
    if (attempt.isEvaluated) {
      const message = `${displayPath(entry)} has run, but nothing listens: call start() or listen(), or export the app as default`
      attempt.fail(new Error(message))
      return
    }
    const others = graph.unfinished.filter((file) => file !== entry) // the program waits for route files
    const files = (others.length > 0 ? others : [entry]).map(displayPath).join(', ')
    tell(`still waits: a top-level await in ${files} has not ended after ${LONG / 1000} s`)
  }

  /** Ends all that the application has begun. */
  async stop(): Promise<void> {
    this.#attempt.replace()
    await closeApps(
      this.#instances.take(() => true),
      tellError
    )
    await closeKept(tellError)
  }

  /** Whether a new file in a directory may be missing in what is loaded. */
  servesDirectory(apiDir: string): void {
    if (!existsSync(apiDir)) return
    this.changes.addDirectory(apiDir)
    this.#watch([apiDir, dirname(apiDir)])
  }

  #watch(directories: Iterable<string>): void {
    const more = [...directories].filter((directory) => !this.#watched.has(directory))
    for (const directory of more) this.#watched.add(directory)
    if (more.length > 0) this.#options.send({ type: 'watch', directories: more })
  }
}

/** Runs a function once, after so many milliseconds in which other things may run: those of a program that blocks do not count. */
function afterTurns(time: number, run: () => void): NodeJS.Timeout {
  let rest = time
  const turns = setInterval(() => {
    rest -= TURN
    if (rest > 0) return
    clearInterval(turns)
    run()
  }, TURN)
  return turns
}

type Startable = FastifyInstance & { start?: () => Promise<string> }

function isFastify(value: unknown): value is Startable {
  if (typeof value !== 'object' || value === null) return false
  return typeof Reflect.get(value, 'listen') === 'function' && typeof Reflect.get(value, 'inject') === 'function'
}

async function startApp(app: Startable): Promise<void> {
  if (app.start !== undefined) await app.start()
  else await app.listen(listenPlace({}))
}
