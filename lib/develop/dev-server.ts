import type { Socket } from 'node:net'
import { displayPath } from '../errors/boot-error.js'
import { AppChild } from './app-child.js'
import { EndedProcess } from './ended-process.js'
import { FileWatch } from './file-watch.js'
import { Listeners } from './listeners.js'
import type { FileEvent, FromApp } from './messages.js'
import { Patience } from './patience.js'
import { ANSWER_TIME } from './pulse.js'
import { tell, tellWrong } from './terminal.js'
import { WaitingRoom } from './waiting-room.js'

/** Milliseconds; a process that ends earlier, or before it is ready, would end again: it waits for a change. */
const SHORT_LIFE = 2000

/** What an application loads, and a change of which may mend one that has ended; others, such as its log, it may write itself. */
const SOURCE = /\.(?:[mc]?[jt]sx?|json)$/

/** Milliseconds in which an application closes without a word about it. */
const LONG_STOP = 3000

/** Milliseconds between two signals of one Ctrl-C. */
const SAME_PRESS = 500

/** Owns the sockets and the watched files; the application runs in a process that can be replaced. */
export class DevServer {
  readonly #entry: string
  readonly #execArgv: readonly string[]
  readonly #listeners = new Listeners((door, socket) => this.#connect(door, socket))
  readonly #watch: FileWatch
  /** The process that connections go to. */
  #child: AppChild | undefined
  /** One that has not said that it is ready. */
  #next: AppChild | undefined
  /** All that have not ended, those that were replaced, too. */
  readonly #living = new Set<AppChild>()
  /** When the first signal came to end all. */
  #stopBegun: number | undefined
  #hasStarted = false
  /** No process is begun before all have ended. */
  #isInTurn = false
  readonly #waiting = new WaitingRoom()
  readonly #patience = new Patience()
  /** The last one, while the next is to begin after a change. */
  #ended: EndedProcess | undefined
  #end!: (code: number) => void
  readonly ended: Promise<number>

  constructor(entry: string, execArgv: readonly string[]) {
    this.#entry = entry
    this.#execArgv = execArgv
    this.ended = new Promise((resolve) => (this.#end = resolve))
    this.#watch = new FileWatch(entry, {
      onFile: (event, file) => this.#onFile(event, file),
      onProcessFile: (file) => this.#replace(file)
    })
  }

  async start(): Promise<void> {
    this.#spawn()
    await this.#watch.ready()
  }

  /** Has the application print its table of routes. */
  showRoutes(): void {
    ;(this.#child ?? this.#next)?.send({ type: 'routes' })
  }

  /** Replaces the process: for what cannot be seen, such as a service that was restarted. */
  restart(): void {
    if (this.#isStopping) return
    if (this.#execArgv.some((option) => option.startsWith('--inspect'))) void this.#restartInTurn()
    else this.#spawn()
  }

  /** Ends the application and what has listened; the second time at once. */
  async stop(code = 0): Promise<void> {
    if (this.#stopBegun !== undefined) return this.#stopAtOnce(this.#stopBegun)
    this.#stopBegun = performance.now()
    const long = setTimeout(() => tell('waits for the application to close; Ctrl-C again ends it at once'), LONG_STOP)
    this.#listeners.close()
    this.#waiting.close()
    await Promise.all([this.#watch.close(), ...[...this.#living].map((child) => child.stop())])
    clearTimeout(long)
    this.#end(code)
  }

  /** `npm run` passes a signal on that the terminal has sent already. */
  #stopAtOnce(begun: number): void {
    if (performance.now() - begun < SAME_PRESS) return
    for (const child of this.#living) child.kill()
  }

  get #isStopping(): boolean {
    return this.#stopBegun !== undefined
  }

  /** Two processes cannot share the port of a debugger. */
  async #restartInTurn(): Promise<void> {
    if (this.#isInTurn) return
    this.#isInTurn = true
    this.#child = this.#next = undefined
    await Promise.all([...this.#living].map((child) => child.stop()))
    this.#isInTurn = false
    this.#spawn()
  }

  #spawn(): void {
    if (this.#isStopping) return
    this.#next?.kill()
    this.#ended = undefined
    this.#waiting.hold()
    this.#next = new AppChild({
      entry: this.#entry,
      execArgv: this.#execArgv,
      isFirst: !this.#hasStarted,
      onMessage: (message, child) => this.#onMessage(message, child),
      patience: this.#patience,
      onExit: (reason, child) => this.#onExit(reason, child),
      onSilence: (child) => this.#tellSilence(child)
    })
    this.#living.add(this.#next)
  }

  #onMessage(message: FromApp, child: AppChild): void {
    if (message.type === 'ready') this.#takeOver(child)
    else if (message.type === 'watch') this.#watch.addDirectories(message.directories)
    else if (message.type === 'leave' && child === this.#child) this.#listeners.leave(message.door)
    else if (message.type === 'listen') void this.#listen(message, child)
    else if (message.type === 'refused') this.#refuse(message.message)
  }

  async #listen({ door, place }: Extract<FromApp, { type: 'listen' }>, child: AppChild): Promise<void> {
    child.doors.add(door)
    try {
      child.send({ type: 'listening', door, address: await this.#listeners.listen(door, place) })
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      child.send({ type: 'not-listening', door, code, message })
    }
  }

  #refuse(message: string): void {
    tellWrong(message)
    void this.stop(2)
  }

  #takeOver(child: AppChild): void {
    if (child !== this.#next) return
    this.#hasStarted = true
    const before = this.#child
    this.#child = child
    this.#next = undefined
    this.#listeners.keepOnly(child.doors)
    for (const [door, socket] of this.#waiting.take()) child.connect(door, socket)
    void before?.retire()
  }

  #connect(door: string, socket: Socket): void {
    const isOfNext = this.#next?.doors.has(door) === true && this.#child?.doors.has(door) !== true
    if (this.#child === undefined || isOfNext) this.#waiting.add(door, socket)
    else this.#child.connect(door, socket)
  }

  #keepWaiting(connections: readonly [string, Socket][]): void {
    for (const [door, socket] of connections) {
      if (this.#isStopping) socket.destroy()
      else this.#connect(door, socket)
    }
  }

  #onFile(event: FileEvent, file: string): void {
    if (!SOURCE.test(file)) return
    if (this.#ended?.precedes(file) === true) this.#spawn()
    this.#child?.send({ type: 'file', event, file })
    this.#next?.send({ type: 'file', event, file })
  }

  #replace(file: string): void {
    if (this.#isStopping) return
    tell(`${displayPath(file)} changed: the process is replaced`)
    this.restart()
  }

  #onExit(reason: number | string, child: AppChild): void {
    this.#living.delete(child)
    const wasReady = child === this.#child
    const isCurrent = wasReady || child === this.#next
    if (wasReady) this.#child = undefined
    if (child === this.#next) this.#next = undefined
    this.#keepWaiting([...this.#waiting.take(), ...child.takeConnections()])
    if (!isCurrent || this.#isStopping) return
    const ended = `the process has ended (${reason})`
    if (this.#next !== undefined) return tell(`${ended}; the next one is about to start`)
    if (child.wasStuck) return this.#spawn()
    if (this.#child !== undefined)
      return tell(`${ended} before it was ready, and the one before it goes on; s and Enter starts another one`)
    if (!wasReady || performance.now() - child.begun < SHORT_LIFE) return this.#waitForChange(reason, child)
    tell(`${ended}; it starts again`)
    this.#spawn()
  }

  #waitForChange(reason: number | string, { files }: AppChild): void {
    tell(`the process has ended (${reason}); it starts again after a change`)
    this.#ended = new EndedProcess(
      reason,
      files,
      [...this.#watch.files].filter((file) => SOURCE.test(file))
    )
    this.#waiting.answer(this.#ended.failure)
  }

  /** Not of one that another process is about to replace: nobody need correct it. */
  #tellSilence(child: AppChild): boolean {
    if (child === this.#child && this.#next !== undefined) return false
    const where =
      child.running === undefined ? '' : `; the last file that it began to run is ${displayPath(child.running)}`
    tell(
      `still waits: the process has not answered for ${ANSWER_TIME / 1000} s, as in an endless loop${where}. ` +
        'Correct it and save, or end all with Ctrl-C'
    )
    return true
  }
}
