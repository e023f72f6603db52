import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

export interface Exit {
  code: number | null
  signal: string | null
  /** From the signal on, in milliseconds. */
  ms: number
}

export interface Program {
  file: string
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

/** One process of the application, on a port of its own. It may be started again. */
export class Instance {
  readonly port: number
  readonly address: string
  /** What it has printed, all its processes together. */
  output = ''
  readonly #program: Program
  #child: ChildProcess | undefined

  constructor(port: number, program: Program) {
    this.port = port
    this.address = `http://127.0.0.1:${port}`
    this.#program = program
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  start(): void {
    const { file, cwd, env } = this.#program
    const child = spawn(process.execPath, [file], {
      cwd,
      env: { ...env, PORT: String(this.port), HOST: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (this.output += text))
    this.#child = child
  }

  /** Resolves when it serves; rejects when it has ended instead. */
  async isReady(): Promise<void> {
    while (!(await this.#answers())) {
      const { exitCode, signalCode } = this.#child ?? {}
      if (exitCode !== null || signalCode !== null) throw new Error(`${this.address} has ended:\n${this.output}`)
      await wait(50)
    }
  }

  /** Sends a signal and resolves when the process has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${this.address} has ended by itself:\n${this.output}`)
    }
    const begun = performance.now()
    child.kill(signal)
    const [code, ended] = await once(child, 'exit')
    return { code, signal: ended, ms: performance.now() - begun }
  }

  /** Whatever state it is in. */
  destroy(): void {
    this.#child?.kill('SIGKILL')
  }

  async #answers(): Promise<boolean> {
    try {
      const response = await fetch(`${this.address}/api/health`)
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false // not listening yet
    }
  }
}
