import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Duplex } from 'node:stream'
import { createApp, errorHandler } from '../../../dist/index.js'
import { fileWith } from './page.js'
import { find, freePort, succeed, untilAnswered } from './programs.js'
import { withProject, type Project } from './project.js'
import { leaveOut, runRows, type Row } from './rows.js'

/** The site of the page between nginx's own parts, which are the distribution's elsewhere. */
async function writeConfiguration({ folder, write }: Project, port: number, appPort: number): Promise<string> {
  write(
    'conf.d/my-app.conf',
    fileWith('my-app.conf', { 'listen 80;': `listen 127.0.0.1:${port};`, ':3000': `:${appPort}` })
  )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`
  )
  return write(
    'nginx.conf',
    `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
error_log stderr;
worker_processes 1;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  include ${folder}/conf.d/*.conf;
}
`
  )
}

interface Behind {
  origin: string
  /** Connections that nginx has opened to the application. */
  connections: () => number
  agent: Agent
}

async function withNginx(nginx: string, work: (behind: Behind) => Promise<void>): Promise<void> {
  await withProject(async (project) => {
    const apiDir = join(project.folder, 'dist/api')
    const app = await createApp({
      apiDir: pathToFileURL(apiDir),
      mode: 'production',
      trustProxy: 'loopback',
      errorHandler,
      host: '127.0.0.1',
      port: 0,
      fastifyOptions: { logger: false }
    })
    app.get('/metrics', async () => 'secret')
    let connections = 0
    app.server.on('connection', () => connections++)
    echoUpgrades(app.server)
    const { port: appPort } = new URL(await app.start())
    const port = await freePort()
    const configuration = await writeConfiguration(project, port, Number(appPort))
    await succeed(nginx, ['-t', '-p', project.folder, '-c', configuration])
    const child = spawn(nginx, ['-p', project.folder, '-c', configuration], { stdio: ['ignore', 'ignore', 'inherit'] })
    const closed = once(child, 'close')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      const origin = `http://127.0.0.1:${port}`
      await untilAnswered(`${origin}/api/who`, () => child.exitCode === null)
      await work({ origin, connections: () => connections, agent })
    } finally {
      agent.destroy()
      child.kill('SIGTERM')
      await closed
      await app.close()
    }
  })
}

/** A WebSocket server, as far as a proxy can tell. */
function echoUpgrades(server: Server): void {
  server.on('upgrade', ({ headers }: IncomingMessage, socket: Duplex) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`)
    socket.pipe(socket)
  })
}

async function bodyOf(url: string, agent: Agent): Promise<string> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  return text(response)
}

function rowsOf(nginx: string): readonly Row[] {
  const behind = (work: (given: Behind) => Promise<void>) => () => withNginx(nginx, work)
  return [
    [
      'nginx: the application knows the client, the protocol and the host',
      behind(async ({ origin }) => {
        const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }
        const answer = (await (await fetch(`${origin}/api/who`, { headers })).json()) as object
        assert.deepEqual(
          { ...answer, process: 0 },
          { ip: '203.0.113.9', protocol: 'http', hostname: '127.0.0.1', process: 0 }
        )
      })
    ],
    [
      'nginx: connections to the application stay open between requests',
      behind(async ({ origin, connections, agent }) => {
        const before = connections()
        for (let asked = 0; asked < 20; asked++) await bodyOf(`${origin}/api/who`, agent)
        assert.ok(connections() - before <= 1, `${connections() - before} more connections for 20 requests`)
      })
    ],
    [
      'nginx: an event arrives while its stream is open',
      behind(async ({ origin }) => {
        const control = new AbortController()
        const response = await fetch(`${origin}/api/events`, { signal: control.signal })
        const first = await response.body?.getReader().read()
        assert.equal(new TextDecoder().decode(first?.value), 'data: first\n\n')
        control.abort()
      })
    ],
    [
      'nginx: a WebSocket is passed on, in both directions',
      behind(async ({ origin }) => {
        const headers = { connection: 'Upgrade', upgrade: 'websocket' }
        const sent = httpRequest(`${origin}/socket.io/`, { headers })
        sent.end()
        const [response, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Duplex]
        assert.equal(response.headers.upgrade, 'websocket')
        socket.write('hello')
        assert.equal(String((await once(socket, 'data'))[0]), 'hello')
        socket.destroy()
      })
    ],
    [
      'nginx: a file of 9 MB arrives, and 12 MB are refused',
      behind(async ({ origin }) => {
        const send = async (megabytes: number): Promise<Response> => {
          const body = new FormData()
          body.set('file', new Blob([new Uint8Array(megabytes << 20)]))
          return fetch(`${origin}/api/files`, { method: 'POST', body })
        }
        assert.deepEqual(await (await send(9)).json(), { bytes: 9 << 20 })
        assert.equal((await send(12)).status, 413)
      })
    ],
    [
      'nginx: metrics, liveness and readiness are not shown to the outside',
      behind(async ({ origin }) => {
        for (const path of ['/metrics', '/livez', '/readyz', '/metrics?a=1', '//metrics']) {
          assert.equal((await fetch(origin + path)).status, 404, path)
        }
      })
    ]
  ]
}

export async function tryNginx(): Promise<void> {
  const nginx = find('nginx')
  if (nginx === undefined) leaveOut('nginx', 'it is not installed')
  else await runRows(rowsOf(nginx))
}
