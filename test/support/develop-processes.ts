import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Debugged } from './develop-debugged.js'
import { groupOf } from './develop-group.js'
import { SERVER, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'
import { until } from './develop-until.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

const PID: Files = {
  ...ONE,
  'src/api/pid/route.ts': 'export const GET = () => ({ pid: process.pid, value: process.env.VALUE })'
}

const EVENTS: Files = {
  'src/api/events/route.ts': `
    export async function* GET(request) {
      yield 'first\\n'
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
      yield 'last\\n'
    }`
}

/** A WebSocket with the text of its first frame. */
async function openWebSocket(url: string): Promise<[Socket, string]> {
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x'.repeat(22) + '=='
  }
  const [, socket, head] = (await once(get(url, { headers }), 'upgrade')) as [IncomingMessage, Socket, Buffer]
  const [frame] = head.length > 0 ? [head] : ((await once(socket, 'data')) as [Buffer])
  socket.resume()
  return [socket, frame.subarray(2).toString()]
}

/** Types above the line of the breakpoint are removed when the file is compiled. */
const DEBUGGED = `
interface Terms {
  a: number
  b: number
}

export function GET(): object {
  const { a, b }: Terms = { a: 1, b: 2 }
  const sum: number = a + b
  return { sum }
}`
const DEBUGGED_LINE = 8

export const PROCESS_ROWS: Row[] = [
  {
    name: 'an open event stream holds no reload, and its client comes back to the new code',
    files: { ...ONE, ...EVENTS },
    async run(project) {
      const stream = await fetch(`${project.address}/api/events`)
      const body = stream.body!.getReader()
      await body.read()
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
      let text = ''
      for (let part = await body.read(); !part.done; part = await body.read())
        text += Buffer.from(part.value).toString()
      assert.equal(text, 'last\n')
    }
  },
  {
    name: 'a request that is being answered ends with the code it began with',
    files: {
      ...ONE,
      'src/api/slow/route.ts': `
        import { existsSync } from 'node:fs'
        import { setTimeout as wait } from 'node:timers/promises'
        export const GET = async () => {
          console.log('has begun')
          while (!existsSync('go on')) await wait(20)
          return { slow: 1 }
        }`
    },
    async run(project) {
      const slow = project.get('/api/slow')
      await project.says(/^has begun/m)
      await project.change({ 'src/api/slow/route.ts': 'export const GET = () => ({ slow: 2 })' })
      await expectAnswer(project, '/api/slow', { slow: 2 })
      project.write({ 'go on': '' })
      assert.deepEqual(await slow, { status: 200, text: '{"slow":1}' })
    }
  },
  {
    name: 'a WebSocket is closed when its application is replaced, and a new one meets the new code',
    files: {
      ...ONE,
      'src/word.ts': 'export const word = "first"',
      'src/server.ts': `
        import websocket from '@fastify/websocket'
        import { createApp } from 'twinroute'
        import { word } from './word.js'
        const app = await createApp({ apiDir: new URL('./api', import.meta.url), port: 0 })
        await app.register(websocket)
        app.register(async (scope) => scope.get('/socket', { websocket: true }, (socket) => { socket.send(word) }))
        await app.start()`
    },
    async run(project) {
      const [before, word] = await openWebSocket(`${project.address}/socket`)
      assert.equal(word, 'first')
      const closed = once(before, 'close')
      await project.change({ 'src/word.ts': 'export const word = "second"' })
      await closed
      const [after, next] = await openWebSocket(`${project.address}/socket`)
      assert.equal(next, 'second')
      after.destroy()
    }
  },
  {
    name: 'keep holds a value over changes of its own file, and closes it at the end',
    files: {
      ...ONE,
      'src/db.ts': `
        import { keep } from 'twinroute/dev'
        export const db = keep('db', () => { console.log('opened'); return { queries: 0 } }, () => console.log('closed'))
        export const version = 1`,
      'src/api/one/route.ts':
        'import { db, version } from "../../db.js"\nexport const GET = () => ({ queries: ++db.queries, version })'
    },
    async run(project) {
      await expectAnswer(project, '/api/one', { queries: 1, version: 1 })
      await project.change({
        'src/db.ts': `
          import { keep } from 'twinroute/dev'
          export const db = keep('db', () => ({ queries: 100 }), () => console.log('closed'))
          export const version = 2`
      })
      await expectAnswer(project, '/api/one', { queries: 2, version: 2 })
      await project.end()
      assert.deepEqual(project.printed.match(/^opened|^closed/gm), ['opened', 'closed'])
    }
  },
  {
    name: 'a changed .env replaces the process and keeps the socket: no connection is refused, no stream holds the old one',
    files: { ...PID, ...EVENTS, '.env': 'VALUE=1' },
    async run(project) {
      const first = JSON.parse((await project.get('/api/pid')).text) as { pid: number; value: string }
      assert.equal(first.value, '1')
      const stream = await fetch(`${project.address}/api/events`)
      const load = { isOver: false }
      const statuses = new Set<unknown>()
      const client = async (): Promise<void> => {
        while (!load.isOver) statuses.add(await project.get('/api/one').then(({ status }) => status, String))
      }
      const clients = Array.from({ length: 4 }, client)
      await project.reload(() => project.write({ '.env': 'VALUE=2' }))
      let now = first
      while (now.pid === first.pid) now = JSON.parse((await project.get('/api/pid')).text) as typeof first
      load.isOver = true
      await Promise.all(clients)
      assert.equal(now.value, '2')
      assert.deepEqual([...statuses], [200])
      assert.equal(await stream.text(), 'first\nlast\n')
      await until(() => groupOf(project.pid).length === 2) // the server and one process
    }
  },
  {
    name: 'a socket in a file that is exclusive is the own one of the process, which frees it when it is replaced',
    files: {
      ...PID,
      '.env': 'VALUE=1',
      'src/server.ts': `
        import { once } from 'node:events'
        import { createServer } from 'node:net'
        await once(createServer().listen({ path: process.env.VALUE + '.sock', exclusive: true }).unref(), 'listening')
        ${SERVER}`
    },
    async run(project) {
      assert.doesNotMatch(project.printed, /\.sock/)
      assert.ok(existsSync(project.path('1.sock')))
      await project.reload(() => project.write({ '.env': 'VALUE=2' }))
      assert.ok(existsSync(project.path('2.sock')))
    }
  },
  {
    name: 'a page that shows an error, and the API page, are told to load themselves again',
    files: {
      ...ONE,
      'src/server.ts': `
        import { createApp } from 'twinroute'
        import { openapi } from 'twinroute/openapi'
        const app = await createApp({ apiDir: new URL('./api', import.meta.url), port: 0 })
        await app.register(openapi)
        await app.start()`
    },
    async run(project) {
      assert.match((await project.get('/docs')).text, /<script src="\/__twinroute\/reload\.js" nonce/)
      assert.match((await project.get('/__twinroute/reload.js')).text, /new EventSource\('\/__twinroute\/reload'\)/)
      const stream = await fetch(`${project.address}/__twinroute/reload`)
      const events = stream.body!.getReader()
      await events.read()
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      assert.equal(Buffer.from((await events.read()).value!).toString(), 'data: changed\n\n')
      await events.cancel()
    }
  },
  {
    name: 'a key prints the table of routes, another one starts the process anew',
    files: PID,
    async run(project) {
      assert.doesNotMatch(project.printed, /\/api\/pid/)
      project.type('r')
      await project.says(/\/api\/pid .*route\.ts/)
      await project.reload(() => project.type('s'))
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'Ctrl-C at any moment leaves no process and exit code 0',
    files: ONE,
    async run(project) {
      const group = project.pid
      project.write({ 'src/api/one/route.ts': 'await new Promise(() => {})\nexport const GET = () => 1' })
      assert.equal(await project.end(), 0)
      assert.deepEqual(groupOf(group), [])
    }
  },
  {
    name: 'a reader that closes the pipe ends the server with its next line, and all its processes',
    files: ONE,
    async run(project) {
      const group = project.pid
      project.stopReading()
      project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await until(() => groupOf(group).length === 0)
    }
  },
  {
    name: 'a development server that is killed leaves no process',
    files: ONE,
    async run(project) {
      const group = project.pid
      const open = connect(Number(new URL(project.address).port), '127.0.0.1')
      await once(
        open.on('error', () => undefined),
        'connect'
      )
      process.kill(project.pid, 'SIGKILL')
      await until(() => groupOf(group).length === 0)
      open.destroy()
    }
  },
  {
    name: 'a port in use: the next free one, and it says so',
    files: { ...ONE, 'src/server.ts': SERVER.replace('port: 0', 'port: Number(process.env.WANTED ?? 0)') },
    async run(project) {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      await project.reload(() => project.write({ '.env': `WANTED=${port}` }))
      await project.says(new RegExp(`port ${port} is in use: listening on \\d+`))
      other.close()
    }
  },
  {
    name: 'tsconfig paths, and a package of the same repository behind a link',
    files: {
      ...ONE,
      'tsconfig.json': '{ "compilerOptions": { "paths": { "@names/*": ["./src/names/*"] } } }',
      'src/names/ann.ts': 'export const name = "Ann"',
      'packages/ages/package.json': '{ "name": "@shop/ages", "type": "module", "exports": "./index.ts" }',
      'packages/ages/index.ts': 'export const age: number = 7',
      'src/api/one/route.ts': `
        import { name } from "@names/ann"
        import { age } from "@shop/ages"
        export const GET = () => ({ name, age })`
    },
    links: { '@shop/ages': 'packages/ages' },
    async run(project) {
      await expectAnswer(project, '/api/one', { name: 'Ann', age: 7 })
      await project.change({ 'src/names/ann.ts': 'export const name = "Bob"' })
      await project.change({ 'packages/ages/index.ts': 'export const age: number = 8' })
      await expectAnswer(project, '/api/one', { name: 'Bob', age: 8 })
    }
  },
  {
    name: 'a file system that reports no changes is polled',
    files: ONE,
    env: { CHOKIDAR_USEPOLLING: '1' },
    async run(project) {
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
    }
  },
  {
    name: 'breakpoints hold in the lines of TypeScript files, also after a change',
    files: { ...ONE, 'src/api/one/route.ts': DEBUGGED },
    args: ['--inspect-port', '0'],
    async run(project) {
      const [url] = await project.says(/ws:\/\/\S+/)
      const debugged = await Debugged.connect(url)
      await debugged.ask('Debugger.enable')
      await debugged.ask('Debugger.setBreakpointByUrl', { urlRegex: 'one/route\\.ts$', lineNumber: DEBUGGED_LINE })
      for (const answer of [{ sum: 3 }, { sum: 30 }]) {
        const paused = debugged.paused()
        const asked = expectAnswer(project, '/api/one', answer)
        assert.equal(await paused, DEBUGGED_LINE)
        await debugged.ask('Debugger.resume')
        await asked
        if (answer.sum === 3)
          await project.change({ 'src/api/one/route.ts': DEBUGGED.replace('{ sum }', '{ sum: sum * 10 }') })
      }
      debugged.close()
    }
  }
]
