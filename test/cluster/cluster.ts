import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { writeExampleProject } from '../support/example-project.js'
import { createDatabase, JWT_SECRET, REFRESH_TOKEN_SECRET } from '../support/example.js'
import { createRedisServer } from '../support/redis-server.js'
import { root } from '../support/source-tree.js'
import { deploy } from './deployment.js'
import { type Exit, Instance, type Program } from './instance.js'
import { Nginx } from './nginx.js'
import { readPageFile, withPlaces } from './page-files.js'
import { ROUTES } from './routes.js'

const TWINROUTE = join(root, 'dist/command/twinroute.js')
const PROCESSES = 4

/** Where the processes keep what they share. */
interface Stores {
  databaseUrl: string
  redisUrl: string
}

/** The built example, four times behind nginx, with a database and a Redis of its own. */
export class Cluster {
  /** Of nginx. */
  readonly address: string
  readonly port: number
  readonly instances: readonly Instance[]
  readonly databaseUrl: string
  readonly redis: ReturnType<typeof createClient>
  /** Where processes write down what they have begun. */
  readonly notes: string
  /** Where processes keep the files of uploads. */
  readonly temporary: string
  readonly nginx: Nginx
  readonly #folder: string

  private constructor(folder: string, stores: Stores, [port = 0, ...ports]: readonly number[]) {
    this.#folder = folder
    this.databaseUrl = stores.databaseUrl
    this.notes = join(folder, 'notes')
    this.temporary = join(folder, 'temporary')
    writeFileSync(this.notes, '')
    mkdirSync(this.temporary)
    this.redis = createClient({ url: stores.redisUrl })
    this.port = port
    this.address = `http://127.0.0.1:${port}`
    const program: Program = { file: join(folder, 'server/server.js'), cwd: folder, env: this.#environment(stores) }
    this.instances = ports.map((own) => new Instance(own, program))
    const configuration = withPlaces(readPageFile('my-app.conf'), ports, { 'listen 80;': `listen 127.0.0.1:${port};` })
    this.nginx = new Nginx(join(folder, 'nginx'), configuration)
  }

  /** Builds and starts everything; `end` takes it away, what had been made when something failed too. */
  static async start(onEnd: (end: () => unknown) => void): Promise<Cluster> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-cluster-')))
    onEnd(() => rmSync(folder, { recursive: true, force: true }))
    build(folder)
    const redis = await createRedisServer({ teardown: onEnd })
    await redis.start()
    const stores = { databaseUrl: await createDatabase({ teardown: onEnd }), redisUrl: redis.url }
    const cluster = new Cluster(folder, stores, await freePorts(PROCESSES + 1))
    onEnd(() => cluster.#end())
    await cluster.redis.connect()
    for (const instance of cluster.instances) instance.start()
    await Promise.all(cluster.instances.map((instance) => instance.isReady()))
    await cluster.nginx.start(cluster.port)
    return cluster
  }

  /** Restarts all processes, one after the other. */
  deploy(): Promise<Exit[]> {
    return deploy(this.#folder, this.nginx, this.instances)
  }

  #environment({ databaseUrl, redisUrl }: Stores): Program['env'] {
    return {
      PATH: process.env['PATH'],
      TMPDIR: this.temporary,
      NODE_ENV: 'production',
      JWT_SECRET,
      REFRESH_TOKEN_SECRET,
      SESSION_SECRET: randomBytes(32).toString('hex'),
      SECURE_COOKIES: 'off', // nginx has no certificate here
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      LOGIN_RATE_LIMIT: 'on',
      TRUST_PROXY: 'loopback',
      LOG_LEVEL: 'warn',
      CLUSTER_NOTES: this.notes
    }
  }

  async #end(): Promise<void> {
    for (const instance of this.instances) instance.destroy()
    await this.nginx.stop()
    this.redis.destroy()
  }
}

/** As `npx twinroute build` does, with the routes of this command beside those of the example. */
function build(folder: string): void {
  writeExampleProject(folder, ROUTES)
  const args = [TWINROUTE, 'build', 'src/server.ts', '--out', 'server']
  execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** All different: each is held until the last one is known. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
