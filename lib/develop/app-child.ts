import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { LoadedFiles } from './loaded-files.js'
import type { FromApp, ToApp } from './messages.js'
import type { Patience } from './patience.js'
import { ANSWER_TIME, Pulse } from './pulse.js'
import { changeText, tell } from './terminal.js'

const PROGRAM = fileURLToPath(new URL('./app-process.js', import.meta.url))

/** Milliseconds that a process may take to close the application: its grace time, and its hooks. */
const CLOSING_TIME = 15_000

/** Milliseconds in which it must begin to. */
const HEARING_TIME = 2000

/** The same of one that was replaced: nobody waits for it, and it may be in the middle of something long. */
const RETIRING_TIME = 15_000

export interface ChildOptions {
  entry: string
  /** Options of Node, such as `--inspect`. */
  execArgv: readonly string[]
  /** The first process: when it cannot start as the command was called, there is nothing to keep. */
  isFirst: boolean
  patience: Patience
  onMessage(message: FromApp, child: AppChild): void
  onExit(reason: number | string, child: AppChild): void
  /** @returns whether it was told, which it is once */
  onSilence(child: AppChild): boolean
}

/** One process that runs the application. */
export class AppChild {
  readonly begun = performance.now()
  readonly files = new LoadedFiles()
  /** Where its application listens. */
  readonly doors = new Set<string>()
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  /** The module that it was about to run when it was last heard of, unless the application was ready then. */
  running: string | undefined
  readonly #process: ChildProcess
  readonly #options: ChildOptions
  readonly #pulse = new Pulse({
    ask: () => this.send({ type: 'ask' }),
    onSilence: (time) => this.#isSilentFor(time)
  })
  /** Those that the process has been sent, until it says that it has them. */
  readonly #connections = new Map<number, [string, Socket]>()
  #lastId = 0
  /** Of one at a breakpoint nothing is heard. */
  #isDebugged: boolean
  #hearing: NodeJS.Timeout | undefined
  #isReady = false
  #isSilenceTold = false
  /** It is to end: another one serves, or none is to. */
  #isClosing = false
  /** It was ended because another one is to load a change. */
  wasStuck = false

  constructor(options: ChildOptions) {
    const { entry, execArgv, isFirst } = (this.#options = options)
    this.#isDebugged = execArgv.some((option) => option.startsWith('--inspect'))
    this.#process = fork(PROGRAM, [entry, isFirst ? 'first' : 'next', String(process.pid)], {
      execArgv: [...execArgv],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc']
    })
    this.#process.on('message', (message: FromApp) => this.#hear(message))
    this.ended = new Promise((resolve) => {
      const end = (reason: number | string): void => {
        this.#pulse.end()
        resolve()
        options.onExit(reason, this)
      }
      this.#process.once('exit', (code, signal) => end(code ?? signal ?? ''))
      this.#process.on('error', (error: NodeJS.ErrnoException) => {
        if (this.#process.pid === undefined) end(error.code ?? error.message) // the system begins no more processes
      })
    })
  }

  #hear(message: FromApp): void {
    this.#pulse.beat()
    this.#isSilenceTold = false
    if (message.type === 'alive') this.#isDebugged = message.isDebugged
    else if (message.type === 'seen') this.#hasSeen(message)
    else if (message.type === 'stops') clearTimeout(this.#hearing)
    else if (message.type === 'connected') this.#hasConnected(message.id)
    else if (message.type === 'runs') this.running = message.file
    else if (message.type === 'reads') this.files.reads(message.file, message.digest)
    else {
      if (message.type === 'ready') this.#isReady = true
      this.#options.onMessage(message, this)
    }
  }

  /** While it begins, it may not yet have come to what blocks it. */
  #hasSeen({ isChange }: Extract<FromApp, { type: 'seen' }>): void {
    const time = this.files.hears()
    if (isChange && this.#isReady && time < ANSWER_TIME) this.#options.patience.reset()
  }

  send(message: ToApp): void {
    if (this.#process.connected) this.#process.send(message, () => undefined) // it may end meanwhile
    if (message.type === 'file' && this.files.tell(message.file).isLoaded) this.#pulse.ask()
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
    await this.#close({ type: 'stop' }, HEARING_TIME)
  }

  /** The same of one that another process has replaced: its clients may leave first. */
  async retire(): Promise<void> {
    await this.#close({ type: 'retire' }, RETIRING_TIME)
  }

  /** @param hearing milliseconds */
  async #close(message: ToApp, hearing: number): Promise<void> {
    this.#isClosing = true
    this.send(message)
    clearTimeout(this.#hearing)
    const of = message.type === 'retire' ? 'the process that was replaced' : 'the process'
    this.#hearing = setTimeout(
      () => this.#endBecause(`${of} does not answer, and is ended`),
      this.#pulse.isSilent ? 0 : hearing
    )
    const limit = setTimeout(() => {
      this.#endBecause(
        `${of} has not closed the application within ${CLOSING_TIME / 1000} s, and is ended: ` +
          'a hook onClose, or what keep closes, does not end'
      )
    }, CLOSING_TIME)
    await this.ended
    clearTimeout(this.#hearing)
    clearTimeout(limit)
  }

  #endBecause(reason: string): void {
    tell(reason)
    this.kill()
  }

  kill(): void {
    this.#pulse.end()
    this.#process.kill('SIGKILL')
  }

  /** A file that has another text than it has loaded may end what the process is stuck in: another one is to load it. */
  #isSilentFor(time: number): void {
    if (this.#isDebugged || this.#isClosing) return
    const { patience, onSilence } = this.#options
    const changed = this.files.look()
    if (time < patience.timeFor(changed)) {
      if (time >= ANSWER_TIME && !this.#isSilenceTold) this.#isSilenceTold = onSilence(this)
      return
    }
    patience.grow()
    this.wasStuck = true
    this.#endBecause(
      `the process has not answered for ${time / 1000} s, and is ended because of a change: ${changeText(changed)}`
    )
  }
}
