import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from './source-tree.js'

export type Files = Readonly<Record<string, string>>

const PROGRAM = join(root, 'dist/command/twinroute.js')

/** Milliseconds after which something that was waited for will not come. */
const PATIENCE = 60_000

/** Milliseconds between two looks when nothing is printed. */
const LOOK = 2000

/** What the development server says after each load. */
const LOADED = /^twinroute (?:\S+ ready in|reloaded in|does not start)/gm

export const SERVER = `
  import { createApp, errorHandler } from 'twinroute'
  const app = await createApp({ apiDir: new URL('./api', import.meta.url), errorHandler, port: 0 })
  await app.start()`

/** A project in a temporary folder, and `twinroute dev` in it. */
export class DevelopProject {
  readonly #temporary = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-develop-')))
  readonly folder: string
  #process: ChildProcess | undefined
  #closed: Promise<void> = Promise.resolve()
  #heard: (() => void)[] = []
  printed = ''
  address = ''

  /**
   * @param links of its packages to folders of its own
   * @param place where it is in the temporary folder
   */
  constructor(files: Files, links: Files = {}, place = '') {
    this.folder = join(this.#temporary, place)
    this.write({ 'package.json': '{"type":"module"}', ...files })
    mkdirSync(join(this.folder, 'node_modules'), { recursive: true })
    for (const name of ['fastify', 'express', 'ws', '@fastify/websocket']) {
      this.#link(name, join(root, 'node_modules', name))
    }
    this.#link('twinroute', root)
    for (const [name, folder] of Object.entries(links)) this.#link(name, this.path(folder))
  }

  #link(name: string, target: string): void {
    const path = join(this.folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(target, path)
  }

  path(file: string): string {
    return join(this.folder, file)
  }

  write(files: Files): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(file)), { recursive: true })
      writeFileSync(this.path(file), text)
    }
  }

  remove(file: string): void {
    rmSync(this.path(file), { recursive: true })
  }

  /** As editors do that write a new file and put it in the place of the old one. */
  replace(file: string, text: string): void {
    writeFileSync(`${this.path(file)}.new`, text)
    renameSync(`${this.path(file)}.new`, this.path(file))
  }

  /** Starts the server and waits for its first address. */
  async start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<void> {
    this.spawn(args, env)
    const [, address = ''] = await this.says(/^twinroute (http:\/\/\S+) (?:.*ready in|shows it)/m)
    this.address = address
  }

  /** Starts the server. */
  spawn(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): void {
    this.#process = spawn(process.execPath, [PROGRAM, 'dev', ...args], {
      cwd: this.folder,
      env: { ...process.env, NODE_ENV: '', NO_COLOR: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true
    })
    const { stdout, stderr } = this.#process
    this.#closed = new Promise((resolve) => void this.#process?.once('close', () => resolve()))
    for (const output of [stdout, stderr]) {
      output?.on('data', (text) => {
        this.printed += String(text)
        for (const hear of this.#heard.splice(0)) hear()
      })
    }
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  type(line: string): void {
    this.#process?.stdin?.write(`${line}\n`)
  }

  /** Waits until it has printed something. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const end = Date.now() + PATIENCE
    for (;;) {
      const found = pattern.exec(this.printed)
      if (found !== null) return found
      if (Date.now() > end) throw new Error(`${pattern} was not said; printed: ${this.printed.slice(-3000)}`)
      await Promise.race([new Promise<void>((resolve) => this.#heard.push(resolve)), wait(LOOK)])
    }
  }

  /** Does something, and waits until the application has been loaded again. */
  async reload(change: () => void): Promise<void> {
    const before = this.#loads
    const end = Date.now() + PATIENCE
    change()
    while (this.#loads === before) {
      if (Date.now() > end) throw new Error(`nothing was loaded; printed: ${this.printed.slice(-3000)}`)
      await Promise.race([new Promise<void>((resolve) => this.#heard.push(resolve)), wait(LOOK)])
    }
  }

  get #loads(): number {
    return this.printed.match(LOADED)?.length ?? 0
  }

  /** Writes files, and waits until the application has been loaded again. */
  async change(files: Files): Promise<void> {
    await this.reload(() => this.write(files))
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
    const response = await fetch(this.address + path, { headers, signal: AbortSignal.timeout(PATIENCE) })
    return { status: response.status, text: await response.text() }
  }

  /** Asks until the answer is this: for changes that print no line of their own. */
  async eventually(path: string, expected: string | number): Promise<void> {
    const end = Date.now() + PATIENCE
    for (;;) {
      const { status, text } = await this.get(path)
      if (text === expected || status === expected) return
      if (Date.now() > end)
        throw new Error(`${path} answers ${text}, expected ${expected}; ${this.printed.slice(-3000)}`)
    }
  }

  /** As `| head -1` does: what is printed from now on has no reader. */
  stopReading(): void {
    for (const output of [this.#process?.stdout, this.#process?.stderr]) output?.destroy()
  }

  /** Sends a signal as a terminal does: to all processes of the group. */
  signal(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal)
  }

  /** Ends it as Ctrl-C does. */
  async end(): Promise<number | null> {
    if (this.#isRunning) this.signal('SIGINT')
    return this.ended()
  }

  /** The exit code, when it has ended, and all that it has printed has been read. */
  async ended(): Promise<number | null> {
    const patience = wait(PATIENCE, 'lasts', { ref: false })
    if ((await Promise.race([this.#closed, patience])) === 'lasts') throw new Error('the server has not ended')
    return this.#process?.exitCode ?? null
  }

  get #isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  async dispose(): Promise<void> {
    await this.end().catch(() => undefined)
    try {
      if (this.pid !== 0) this.signal('SIGKILL') // what a failed row has left
    } catch {
      // nothing
    }
    rmSync(this.#temporary, { recursive: true, force: true })
  }
}
