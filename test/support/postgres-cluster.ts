import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { closedPort } from './closed-port.js'
import { query } from './example.js'

const run = promisify(execFile)

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** A PostgreSQL server of the test's own, which may be killed. */
export interface Cluster {
  url: string
  port: number
  /** Starts the server and resolves when it answers. */
  start(): Promise<void>
  /** Ends it as a power cut does. */
  kill(): Promise<void>
  /** Ends it as its service does: connections are told, then closed. */
  stop(): Promise<void>
  /** Freezes the server and all of its connections, or lets them go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>
}

/** Why no cluster can be made here; undefined when one can. */
export function noCluster(): string | undefined {
  try {
    execFileSync('initdb', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'initdb is not on the PATH'
  }
}

/** Makes a cluster in a temporary folder; it is not started yet. */
export async function createCluster(t: Test): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-postgres-'))
  const owner = await otherThanRoot()
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  await run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '-N'], owner)
  const port = await closedPort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined
  async function end(signal: NodeJS.Signals) {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  const kill = () => end('SIGKILL')
  t.teardown(async () => {
    await kill()
    // Its children end by themselves a moment later, and may still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-k', folder, '-p', String(port)]
  return {
    url,
    port,
    kill,
    stop: () => end('SIGINT'),
    async signal(name) {
      const { stdout } = await run('ps', ['-o', 'pid=', '--pid', String(server?.pid), '--ppid', String(server?.pid)])
      for (const pid of stdout.split('\n').filter(Boolean)) process.kill(Number(pid), name)
    },
    async start() {
      const deadline = Date.now() + 60_000
      while (Date.now() < deadline) {
        server = spawn('postgres', ['-D', data, ...settings], { ...owner, stdio: 'ignore' })
        if (await answers(url, server)) return
      }
      throw new Error('PostgreSQL did not start')
    }
  }
}

/** False when the server gave up: children of a killed one may still hold its memory. */
async function answers(url: string, server: ChildProcess): Promise<boolean> {
  for (;;) {
    try {
      await query('select 1', url)
      return true
    } catch {
      if (server.exitCode !== null) return false
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** PostgreSQL refuses to run as root. */
async function otherThanRoot(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}
