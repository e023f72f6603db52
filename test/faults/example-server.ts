import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTokenService } from 'twinroute/auth'
import { createDatabase, JWT_SECRET, REFRESH_TOKEN_SECRET } from '../support/example.js'
import { type Scope, until } from './row.js'

const SERVER = fileURLToPath(new URL('../../routes-example/dist/server.js', import.meta.url))
const SWITCHES = fileURLToPath(new URL('./switches.cjs', import.meta.url))
const KEPT_OUTPUT = 2_000_000

export const tokens = createTokenService({ accessSecret: JWT_SECRET, refreshSecret: REFRESH_TOKEN_SECRET })

/** What a process holds, its garbage collected; by `switches.cts`. */
export interface Held {
  heap: number
  outside: number
  descriptors: number
  resources: Record<string, number>
  listeners: number
}

export interface ServerOptions {
  env?: Record<string, string>
  /** Commands of bash before it, such as `ulimit -n 64;` */
  limits?: string
  /** Flags of node. */
  flags?: readonly string[]
}

/** The example in a process of its own, as `npm start` runs it, in production. */
export class ExampleServer {
  readonly #child: ChildProcess
  #output = ''
  /** Kept, since the line that says it leaves the kept output. */
  #address: string | undefined
  /** Where it keeps temporary files, in a folder of its own. */
  readonly temporary: string

  private constructor(scope: Scope, { env = {}, limits = '', flags = [] }: ServerOptions) {
    const cwd = mkdtempSync(join(tmpdir(), 'twinroute-faults-'))
    this.temporary = env.TMPDIR ?? cwd
    const command = [process.execPath, '--require', SWITCHES, ...flags, SERVER]
    this.#child = spawn('bash', ['-c', `${limits} exec "$0" "$@"`, ...command], {
      cwd,
      env: { ...DEFAULTS, PATH: process.env.PATH, TMPDIR: cwd, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
    scope.teardown(async () => {
      await this.kill('SIGKILL')
      rmSync(cwd, { recursive: true, force: true })
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-KEPT_OUTPUT)
      })
    }
  }

  /** Resolves when it listens. @throws with what it printed when it ends before */
  static async start(scope: Scope, options: ServerOptions = {}): Promise<ExampleServer> {
    const server = await ExampleServer.spawn(scope, options)
    await until('the example listens', () => server.#listensAt() !== undefined || !server.isAlive)
    server.#address = server.#listensAt()
    if (server.#address === undefined) throw new Error(`The example did not start: ${server.printed}`)
    return server
  }

  /** Does not wait until it listens. It has a database of its own, unless it is given another. */
  static async spawn(scope: Scope, { env = {}, ...options }: ServerOptions = {}): Promise<ExampleServer> {
    const DATABASE_URL = env.DATABASE_URL ?? (await createDatabase(scope))
    return new ExampleServer(scope, { ...options, env: { ...env, DATABASE_URL } })
  }

  get address(): string {
    return (this.#address ??= this.#listensAt()) ?? 'http://127.0.0.1:1'
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** What it has printed, the last part of it. */
  get printed(): string {
    return this.#output
  }

  /** Lines of its log. */
  lines(): { level: number; msg: string }[] {
    const lines = this.#output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => JSON.parse(line) as { level: number; msg: string })
  }

  /** Orders of `switches.cts`. */
  tell(order: { clock: number } | { dns: 'gone' | 'back' }): void {
    this.#child.send(order)
  }

  async measure(): Promise<Held> {
    this.#child.send('measure')
    const [held] = (await once(this.#child, 'message')) as [Held]
    return held
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length
  }

  /** Bytes of memory the system has given it. */
  memory(): number {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  }

  /** From now on it may open so many files and connections in all. */
  limitDescriptors(count: number): void {
    execFileSync('prlimit', ['--pid', String(this.pid), `--nofile=${count}:${count}`])
  }

  /** As when the program that collects its log has died. */
  closeLog(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  /** Folders of uploads under way. */
  uploads(): string[] {
    return readdirSync(this.temporary).filter((name) => name.startsWith('twinroute-uploads-'))
  }

  /** Sends a signal and waits for the end: the exit code, or the signal. */
  async kill(signal: NodeJS.Signals): Promise<number | string | null> {
    if (this.isAlive) {
      const ended = once(this.#child, 'exit')
      this.#child.kill(signal)
      await ended
    }
    return this.#child.exitCode ?? this.#child.signalCode
  }

  /** The exit code, or the signal. */
  async ended(): Promise<number | string | null> {
    if (this.isAlive) await once(this.#child, 'exit')
    return this.#child.exitCode ?? this.#child.signalCode
  }

  #listensAt(): string | undefined {
    return /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(this.#output)?.[1] ?? undefined
  }
}

const DEFAULTS = {
  NODE_ENV: 'production',
  PORT: '0',
  HOST: '127.0.0.1',
  SECURE_COOKIES: 'off',
  SESSION_SECRET: 's'.repeat(32),
  JWT_SECRET,
  REFRESH_TOKEN_SECRET
}
