import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { childrenOf } from './process-figures.js'

/** Debian has it in /usr/sbin, which is not on every user's PATH. */
export const NGINX = spawnSync('sh', ['-c', 'PATH="$PATH:/usr/sbin" command -v nginx'], {
  encoding: 'utf8'
}).stdout.trim()

/** What the page leaves to the distribution: where things are, and how many connections there may be. */
function mainConfiguration(folder: string): string {
  const owner = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path tmp/${name};`)
  return `
${owner}
pid nginx.pid;
worker_processes 2;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  log_format command '$msec $status $request_method $http_x_id $upstream_addr $upstream_status';
  access_log ${join(folder, 'access.log')} command;
  ${temporary.join('\n  ')}
  include my-app.conf;
}
`
}

/** An nginx of the command's own. */
export class Nginx {
  readonly folder: string
  /** The part of the configuration that the page shows. */
  readonly configuration: string
  #master: ChildProcess | undefined

  constructor(folder: string, configuration: string) {
    this.folder = folder
    this.configuration = join(folder, 'my-app.conf')
    mkdirSync(join(folder, 'tmp'), { recursive: true })
    writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(folder))
    writeFileSync(this.configuration, configuration)
  }

  /** What a command line needs to mean this nginx. */
  get args(): readonly string[] {
    return ['-p', this.folder, '-c', join(this.folder, 'nginx.conf'), '-e', join(this.folder, 'error.log')]
  }

  async start(port: number): Promise<void> {
    const master = spawn(NGINX, [...this.args, '-g', 'daemon off;'], { stdio: ['ignore', 'inherit', 'inherit'] })
    this.#master = master
    while (!(await isOpen(port))) {
      if (master.exitCode !== null) throw new Error(`nginx has ended:\n${this.errors()}`)
      await wait(20)
    }
  }

  get pid(): number {
    return this.#master?.pid ?? 0
  }

  /** Sends requests to the processes on these ports, and to no other, from when it resolves on. */
  async use(ports: readonly number[]): Promise<void> {
    const text = readFileSync(this.configuration, 'utf8')
    const isUsed = (port: string): boolean => ports.includes(Number(port))
    const changed = text.replaceAll(/(server 127\.0\.0\.1:(\d+))[^;]*;/g, (_, server: string, port: string) =>
      isUsed(port) ? `${server};` : `${server} down;`
    )
    writeFileSync(this.configuration, changed)
    const workers = childrenOf(this.pid)
    execFileSync(NGINX, [...this.args, '-s', 'reload'])
    while (childrenOf(this.pid).some((pid) => workers.includes(pid))) await wait(20)
  }

  /** Ends it and its connections. */
  async stop(): Promise<void> {
    if (this.#master === undefined || this.#master.exitCode !== null) return
    const ended = once(this.#master, 'exit')
    this.#master.kill('SIGTERM')
    await ended
  }

  /** Of the requests so far, as `log_format` has them. */
  requests(): LoggedRequest[] {
    const text = readFileSync(join(this.folder, 'access.log'), 'utf8')
    return text
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [, status = '', method = '', id = '', ...upstream] = line.split(' ')
        return { status: Number(status), method, id, upstream: upstream.join(' ') }
      })
  }

  errors(): string {
    return readFileSync(join(this.folder, 'error.log'), 'utf8')
  }
}

export interface LoggedRequest {
  status: number
  method: string
  /** The header `X-Id`. */
  id: string
  /** The processes that were asked, and what they answered. */
  upstream: string
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
