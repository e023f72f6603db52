import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FromApp, ToApp } from './messages.js'

const PROGRAM = fileURLToPath(new URL('./app-process.js', import.meta.url))

/** Milliseconds in which a process reads a message; one that does not is stuck in a loop. */
const ANSWER_TIME = 5000

/** Milliseconds that a process may take to close the application: its grace time, and its hooks. */
const CLOSING_TIME = 15_000

export interface ChildOptions {
  entry: string
  /** Options of Node, such as `--inspect`. */
  execArgv: readonly string[]
  onMessage(message: FromApp, child: AppChild): void
  onExit(code: number | null, child: AppChild): void
}

/** One process that runs the application. */
export class AppChild {
  readonly begun = performance.now()
  /** Where its application listens. */
  readonly doors = new Set<string>()
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #process: ChildProcess
  readonly #isDebugged: boolean
  /** Those that the process has been sent, until it says that it has them. */
  readonly #connections = new Map<number, [string, Socket]>()
  #lastId = 0
  #answering: NodeJS.Timeout | undefined

  constructor({ entry, execArgv, onMessage, onExit }: ChildOptions) {
    this.#isDebugged = execArgv.some((option) => option.startsWith('--inspect'))
    this.#process = fork(PROGRAM, [entry], { execArgv: [...execArgv], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#process.on('message', (message: FromApp) => {
      if (message.type === 'seen') this.#hasAnswered()
      else if (message.type === 'connected') this.#hasConnected(message.id)
      else onMessage(message, this)
    })
    this.ended = new Promise((resolve) => {
      this.#process.once('exit', (code) => {
        this.#hasAnswered()
        resolve()
        onExit(code, this)
      })
    })
  }

  send(message: ToApp): void {
    if (this.#process.connected) this.#process.send(message, () => undefined) // it may end meanwhile
    if (message.type === 'file') this.#expectAnswer()
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

  /** Has the application closed, and the process end. */
  async stop(): Promise<void> {
    this.send({ type: 'stop' })
    const limit = setTimeout(() => this.kill(), CLOSING_TIME)
    await this.ended
    clearTimeout(limit)
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** One at a breakpoint does not answer either. */
  #expectAnswer(): void {
    if (!this.#isDebugged) this.#answering ??= setTimeout(() => this.kill(), ANSWER_TIME)
  }

  #hasAnswered(): void {
    clearTimeout(this.#answering)
    this.#answering = undefined
  }
}
