import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { type Scope, until } from './row.js'

/** Why no Redis can be started here; undefined when one can. */
export function noRedis(): string | undefined {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'redis-server is not on the PATH'
  }
}

/** A Redis of the row's own that writes every command to its disk. */
export class OwnRedis {
  readonly port: number
  readonly #folder: string
  #server: ChildProcess | undefined

  private constructor(scope: Scope, port: number) {
    this.port = port
    this.#folder = mkdtempSync(join(tmpdir(), 'twinroute-redis-'))
    scope.teardown(async () => {
      await this.kill()
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  static async start(scope: Scope): Promise<OwnRedis> {
    const redis = new OwnRedis(scope, await freePort())
    await redis.start()
    return redis
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const settings = { port: this.port, bind: '127.0.0.1', dir: this.#folder, save: '', appendonly: 'yes' }
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#server = spawn('redis-server', flags, { stdio: 'ignore' })
    await until('Redis answers', () =>
      this.command('PING').then(
        () => true,
        () => false
      )
    )
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#server?.kill(name)
  }

  async kill(): Promise<void> {
    if (this.#server === undefined || this.#server.exitCode !== null || this.#server.signalCode !== null) return
    const ended = once(this.#server, 'exit')
    this.#server.kill('SIGKILL')
    await ended
  }

  /** One command, on a connection of its own. */
  command(...words: readonly string[]): Promise<unknown> {
    return this.#send({}, words)
  }

  commandAs(password: string, ...words: readonly string[]): Promise<unknown> {
    return this.#send({ password }, words)
  }

  async #send(account: { password?: string }, words: readonly string[]): Promise<unknown> {
    const client = createClient({ url: this.url, ...account, socket: { reconnectStrategy: false } })
    client.on('error', () => {})
    await client.connect()
    try {
      return await client.sendCommand([...words])
    } finally {
      client.destroy()
    }
  }
}

/** A port that nobody listens on, below the range that outgoing connections take theirs from. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer()
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(10_000 + Math.floor(Math.random() * 10_000), '127.0.0.1', () => resolve(true))
    })
    if (!free) continue
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return port
  }
}
