import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FromApp, ToApp } from './messages.js'
import { Pulse } from './pulse.js'
import { tell } from './terminal.js'

const PROGRAM = fileURLToPath(new URL('./app-process.js', import.meta.url))

/** Milliseconds that a process may take to close the application: its grace time, and its hooks. */
const CLOSING_TIME = 15_000

/** Milliseconds in which it must begin to. */
const HEARING_TIME = 2000

export interface ChildOptions {
  entry: string
  /** Options of Node, such as `--inspect`. */
  execArgv: readonly string[]
  /** The first process: when it cannot start as the command was called, there is nothing to keep. */
  isFirst: boolean
  onMessage(message: FromApp, child: AppChild): void
  onExit(code: number | null, child: AppChild): void
  onSilence(child: AppChild): void
}

/** One process that runs the application. */
export class AppChild {
  readonly begun = performance.now()
  /** Where its application listens. */
  readonly doors = new Set<string>()
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  /** The module that it was about to run when it was last heard of, unless the application was ready then. */
  running: string | undefined
  readonly #process: ChildProcess
  readonly #onMessage: ChildOptions['onMessage']
  /** Of one at a breakpoint nothing is heard either. */
  readonly #pulse: Pulse | undefined
  /** Those that the process has been sent, until it says that it has them. */
  readonly #connections = new Map<number, [string, Socket]>()
  #lastId = 0
  /** Files that it has been told of, and has not read. */
  #unseen = 0
  #hearing: NodeJS.Timeout | undefined

  constructor({ entry, execArgv, isFirst, onMessage, onExit, onSilence }: ChildOptions) {
    const isDebugged = execArgv.some((option) => option.startsWith('--inspect'))
    this.#onMessage = onMessage
    this.#process = fork(PROGRAM, [entry, isFirst ? 'first' : 'next', String(process.pid)], {
      execArgv: [...execArgv],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc']
    })
    this.#process.on('message', (message: FromApp) => this.#hear(message))
    if (!isDebugged) {
      this.#pulse = new Pulse({
        ask: () => this.send({ type: 'ask' }),
        onSilence: () => (this.#unseen > 0 ? this.kill() : onSilence(this))
      })
    }
    this.ended = new Promise((resolve) => {
      this.#process.once('exit', (code) => {
        this.#pulse?.end()
        resolve()
        onExit(code, this)
      })
    })
  }

  #hear(message: FromApp): void {
    this.#pulse?.beat()
    if (message.type === 'alive') return
    if (message.type === 'seen') this.#unseen--
    else if (message.type === 'stops') clearTimeout(this.#hearing)
    else if (message.type === 'connected') this.#hasConnected(message.id)
    else if (message.type === 'runs') this.running = message.file
    else this.#onMessage(message, this)
  }

  send(message: ToApp): void {
    if (this.#process.connected) this.#process.send(message, () => undefined) // it may end meanwhile
    if (message.type === 'file') this.#expectSeen()
  }

  connect(door: string, socket: Socket): void {
    const id = ++this.#lastId
    this.#connections.set(id, [door, socket])
    if (!this.#process.connected) return
    this.#process.send({ type: 'connection', door, id } satisfies ToApp, socket, { keepOpen: true }, () => undefined)
  }

  /** The connections that have not arrived, when the process has ended. */
  takeConnections(): [string, Socket][] {
    const connections = [...this.#connections.values()]
    this.#connections.clear()
    return connections.filter(([, socket]) => !socket.destroyed)
  }

  /** From now on the connection is the process's alone. */
  #hasConnected(id: number): void {
    const [, socket] = this.#connections.get(id) ?? []
    this.#connections.delete(id)
    socket?.destroy()
  }

  /** Has the application closed, and the process end; one that does not hear is ended. */
  async stop(): Promise<void> {
    this.send({ type: 'stop' })
    this.#hearing = setTimeout(() => this.#endDeaf(), this.#pulse?.isSilent === true ? 0 : HEARING_TIME)
    const limit = setTimeout(() => this.kill(), CLOSING_TIME)
    await this.ended
    clearTimeout(this.#hearing)
    clearTimeout(limit)
  }

  #endDeaf(): void {
    tell('the process does not answer, and is ended')
    this.kill()
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** The file may end what the process is stuck in: another one is to load it. */
  #expectSeen(): void {
    this.#unseen++
    if (this.#pulse?.isSilent === true) this.kill()
    else this.#pulse?.ask()
  }
}
