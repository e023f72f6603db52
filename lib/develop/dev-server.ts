import type { Socket } from 'node:net'
import { displayPath } from '../errors/boot-error.js'
import { AppChild } from './app-child.js'
import { FileWatch } from './file-watch.js'
import { Listeners } from './listeners.js'
import type { FileEvent, FromApp } from './messages.js'
import { tell } from './terminal.js'

/** Milliseconds; a process that ends earlier would end again: it waits for a change. */
const SHORT_LIFE = 2000

/** Milliseconds without another change before the process is replaced: installers write several files. */
const QUIET = 150

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
  /** Connections while there is no process. */
  #waiting: [string, Socket][] = []
  #replacing: NodeJS.Timeout | undefined
  #end!: (code: number) => void
  readonly ended: Promise<number>
  #isStopping = false

  constructor(entry: string, execArgv: readonly string[]) {
    this.#entry = entry
    this.#execArgv = execArgv
    this.ended = new Promise((resolve) => (this.#end = resolve))
    this.#watch = new FileWatch(entry, {
      onFile: (event, file) => this.#onFile(event, file),
      onProcessFile: (file) => this.#replaceSoon(file)
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
  async stop(): Promise<void> {
    const children = [this.#child, this.#next].filter((child) => child !== undefined)
    if (this.#isStopping) for (const child of children) child.kill()
    this.#isStopping = true
    this.#listeners.close()
    for (const [, socket] of this.#waiting) socket.destroy()
    await Promise.all([this.#watch.close(), ...children.map((child) => child.stop())])
    this.#end(0)
  }

  /** Two processes cannot share the port of a debugger. */
  async #restartInTurn(): Promise<void> {
    const before = this.#child ?? this.#next
    this.#child = undefined
    await before?.stop()
    this.#spawn()
  }

  #spawn(): void {
    this.#next?.kill()
    this.#next = new AppChild({
      entry: this.#entry,
      execArgv: this.#execArgv,
      onMessage: (message, child) => this.#onMessage(message, child),
      onExit: (code, child) => this.#onExit(code, child)
    })
  }

  #onMessage(message: FromApp, child: AppChild): void {
    if (message.type === 'ready') this.#takeOver(child)
    else if (message.type === 'watch') this.#watch.addDirectories(message.directories)
    else if (message.type === 'leave' && child === this.#child) this.#listeners.leave(message.door)
    else if (message.type === 'listen') void this.#listen(message, child)
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

  #takeOver(child: AppChild): void {
    if (child !== this.#next) return
    const before = this.#child
    this.#child = child
    this.#next = undefined
    this.#listeners.keepOnly(child.doors)
    for (const [door, socket] of this.#waiting.splice(0)) child.connect(door, socket)
    before?.send({ type: 'retire' })
  }

  #connect(door: string, socket: Socket): void {
    if (this.#child === undefined) this.#waiting.push([door, socket])
    else this.#child.connect(door, socket)
  }

  #keepWaiting(connections: readonly [string, Socket][]): void {
    for (const [door, socket] of connections) {
      if (this.#isStopping) socket.destroy()
      else this.#connect(door, socket)
    }
  }

  #onFile(event: FileEvent, file: string): void {
    if (this.#child === undefined && this.#next === undefined) this.#spawn()
    this.#child?.send({ type: 'file', event, file })
    this.#next?.send({ type: 'file', event, file })
  }

  #replaceSoon(file: string): void {
    clearTimeout(this.#replacing)
    this.#replacing = setTimeout(() => {
      tell(`${displayPath(file)} changed: the process is replaced`)
      this.restart()
    }, QUIET)
  }

  #onExit(code: number | null, child: AppChild): void {
    const isCurrent = child === this.#child || child === this.#next
    if (child === this.#child) this.#child = undefined
    if (child === this.#next) this.#next = undefined
    this.#keepWaiting(child.takeConnections())
    if (!isCurrent || this.#isStopping) return
    if (this.#child !== undefined || this.#next !== undefined) return
    const isShort = performance.now() - child.begun < SHORT_LIFE
    tell(
      `the process has ended (${code ?? 'killed'}); ${isShort ? 'it starts again after a change' : 'it starts again'}`
    )
    if (!isShort) this.#spawn()
  }
}
