import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { createClient } from 'redis'
import { closedPort } from './closed-port.js'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** A Redis server of the test's own, which may be killed and paused. It keeps nothing when it ends. */
export interface RedisServer {
  url: string
  /** Starts the server and resolves when it answers. */
  start(): Promise<void>
  /** Ends it as a power cut does. */
  kill(): Promise<void>
  /** It does nothing any more, and its connections stay open. */
  pause(): void
  resume(): void
}

/** A server that is not started yet. */
export async function createRedisServer(t: Test, settings: readonly string[] = []): Promise<RedisServer> {
  const port = await closedPort()
  const url = `redis://127.0.0.1:${port}`
  let server: ChildProcess | undefined
  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  return {
    url,
    kill,
    async start() {
      const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()]
      server = spawn('redis-server', [...own, ...settings], { stdio: 'ignore' })
      await answers(url)
    },
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT')
  }
}

async function answers(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: 20 } })
  client.on('error', () => {}) // not listening yet
  await client.connect()
  client.destroy()
}
