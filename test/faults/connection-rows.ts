import assert from 'node:assert/strict'
import { connectTo, get, type Connection } from '../support/connection.js'
import { startProcess } from '../support/app-process.js'
import { writeTree } from '../support/route-tree.js'
import { readFileSync } from 'node:fs'
import { ask, fileOf } from './ask.js'
import { ExampleServer, tokens } from './example-server.js'
import { mib, ms, percentile, type Row, type Scope, type Sizes, until } from './row.js'

const PASSWORD = 'Correct-Horse-1'
const AT_ONCE = 64
const token = tokens.generateAccessToken({ userId: 'u1', role: 'user' })

/** Does something so many times, some of them at once. */
export async function inParallel(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker))
}

/** Milliseconds that 99 of 100 health checks take at the most. */
async function healthTime(address: string, path = '/api/health'): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < 100; count++) {
    const { status, ms } = await ask(`${address}${path}`)
    assert.equal(status, 200)
    times.push(ms)
  }
  return percentile(times, 0.99)
}

/** Of a hundred requests, in which memory that is not bounded would show. */
const ROUNDS = 5

/** Health may take five times what it takes on an idle server of the same machine, and 50 milliseconds in any case. */
function expectHealthy(time: number, { calm, sizes }: { calm: number; sizes: Sizes }): void {
  const bound = Math.max(50, 5 * calm) * sizes.patience
  assert.ok(time < bound, `health takes ${ms(time)}, ${ms(calm)} before`)
}

async function open(scope: Scope, address: string): Promise<Connection> {
  const connection = await connectTo(address)
  scope.teardown(() => connection.socket.destroy())
  return connection
}

/** The example with posts that make a large list. */
async function startWithPosts(scope: Scope): Promise<{ server: ExampleServer; posts: string }> {
  const server = await ExampleServer.start(scope)
  const account = { name: 'Writer', email: 'writer@example.test', password: PASSWORD }
  const { body } = await ask(`${server.address}/api/users`, { body: account })
  const posts = `${server.address}/api/users/${body.data.id}/posts`
  for (let count = 0; count < 20; count++) await ask(posts, { body: { title: 'Long', content: 'x'.repeat(90_000) } })
  return { server, posts }
}

/** The pool of the database opens as many connections as it may, so that those it opens later are not taken for clients. */
async function fillPool(address: string): Promise<void> {
  await inParallel(AT_ONCE, () => ask(`${address}/api/users`))
}

async function backAtBase(server: ExampleServer, base: number): Promise<number> {
  return until(`descriptors are back at ${base}`, () => server.descriptors() <= base)
}

const LIST = get('/api/posts?limit=20')

/** Connections that never get to the end: of the head of a request, of its body, of reading the answer. */
const SLOW_KINDS: readonly { name: string; first: string; drip: string }[] = [
  { name: 'head', first: 'GET /api/health HTTP/1.1\r\nHost: test\r\nX-Slow: ', drip: 'x' },
  {
    name: 'body',
    first: 'POST /api/users HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{',
    drip: ' '
  },
  { name: 'reader', first: LIST, drip: '' },
  { name: 'head', first: 'GET /api/he', drip: 'a' }
]

export const CONNECTION_ROWS: readonly Row[] = [
  {
    name: 'connections that are open and idle',
    async run({ scope, sizes }) {
      const server = await ExampleServer.start(scope)
      const { address } = server
      const calm = await healthTime(address)
      const before = { memory: server.memory(), descriptors: server.descriptors() }
      const connections: Connection[] = []
      await inParallel(sizes.idle, async () => {
        const connection = await open(scope, address)
        await connection.send(get('/api/health'))
        await connection.receives(/\r\n\r\n/)
        connections.push(connection)
      })
      const each = (server.memory() - before.memory) / sizes.idle
      const health = await healthTime(address)
      for (const { socket } of connections) socket.destroy()
      const freed = await backAtBase(server, before.descriptors + 2)
      expectHealthy(health, { calm, sizes })
      assert.ok(sizes.idle < 5000 || each < 20 * 1024, `${Math.round(each)} bytes each`)
      return `${sizes.idle} of them: ${(each / 1024).toFixed(1)} KiB each, health within ${ms(health)}, gone after ${ms(freed)}`
    }
  },
  {
    name: 'connections that are slow: heads, bodies and readers',
    async run({ scope, sizes }) {
      const { server } = await startWithPosts(scope)
      const { address } = server
      const calm = await healthTime(address)
      await fillPool(address)
      const before = { memory: server.memory(), descriptors: server.descriptors() }
      const slow = Array.from({ length: sizes.slow }, (_, index) => SLOW_KINDS[index % SLOW_KINDS.length])
      const open = await openSlow(scope, address, slow)
      const health = await healthTime(address)
      const grown = server.memory() - before.memory
      const cut = sizes.minutes ? await untilCut(open) : undefined
      for (const { connection } of open) connection.socket.destroy()
      const freed = await backAtBase(server, before.descriptors + 2)
      expectHealthy(health, { calm, sizes })
      assert.ok(server.isAlive)
      const told = `${sizes.slow} of them: ${mib(grown)} more, health within ${ms(health)}, gone after ${ms(freed)}`
      return cut === undefined ? told : `${told}; ${cut}`
    }
  },
  {
    name: 'readers of a stream that never ends, who stop reading',
    async run({ scope, sizes }) {
      const route = `export async function* GET() { const chunk = 'x'.repeat(16384); for (;;) yield chunk }`
      const health = 'export const GET = () => ({ ok: true })'
      const apiDir = `${writeTree(scope, { 'api/stream/route.js': route, 'api/health/route.js': health })}/api`
      const app = await startProcess(scope, apiDir)
      const calm = await healthTime(app.address)
      const readers = Math.min(200, sizes.slow)
      await inParallel(readers, async () => {
        const connection = await open(scope, app.address)
        await connection.send(get('/api/stream'))
        await connection.receives(/\r\n\r\nx?/)
        connection.socket.pause()
      })
      await healthTime(app.address)
      // What has filled the buffers of the system is garbage by now; what is still made would add up.
      const before = memoryOf(app.pid)
      let time = 0
      for (let round = 0; round < ROUNDS; round++) time = Math.max(time, await healthTime(app.address))
      const each = Math.max(0, memoryOf(app.pid) - before) / readers
      assert.ok(each < 128 * 1024, `${mib(each)} more each`)
      expectHealthy(time, { calm, sizes })
      return `${readers} of them: ${(each / 1024).toFixed(1)} KiB more each during ${ROUNDS * 100} other requests, health within ${ms(time)}`
    }
  },
  {
    name: 'clients that leave: in the body, before the answer, in the answer',
    async run({ scope, sizes }) {
      const { server } = await startWithPosts(scope)
      const { address } = server
      await inParallel(100, (index) => leave(address, index))
      await until('all is quiet', () => server.uploads().length === 0)
      await fillPool(address)
      const base = server.descriptors() + 2
      const before = await server.measure()
      await inParallel(sizes.aborts, (index) => leave(address, index))
      const freed = await backAtBase(server, base)
      const files = await until('temporary files are gone', () => server.uploads().length === 0)
      const after = await server.measure()
      const told = server.lines().filter(({ level }) => level >= 50)
      assert.deepEqual(told, [], 'no error is logged for somebody who has left')
      assert.equal((await ask(`${address}/api/health`)).status, 200)
      assert.ok(Math.max(freed, files) < 2000 * sizes.patience, ms(Math.max(freed, files)))
      assert.equal(after.listeners, before.listeners)
      return (
        `${sizes.aborts} of them: descriptors back after ${ms(freed)}, 0 temporary files, ` +
        `the heap ${mib(after.heap - before.heap)} larger`
      )
    }
  },
  {
    name: 'uploads of 1 MiB at once',
    async run({ scope, sizes }) {
      const server = await ExampleServer.start(scope)
      const statuses = new Map<number, number>()
      let peak = 0
      await inParallel(sizes.uploads, async () => {
        const { status, body } = await ask(`${server.address}/api/uploads`, { body: fileOf(1024 * 1024), token })
        assert.ok(status !== 200 || body.files[0].size === 1024 * 1024)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        peak = Math.max(peak, server.memory())
      })
      await until('temporary files are gone', () => server.uploads().length === 0)
      for (const status of statuses.keys()) assert.ok([200, 413, 503].includes(status), String(status))
      assert.ok(peak < 400 * 1024 * 1024, mib(peak))
      const told = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ')
      return `${told}; ${mib(peak)} of memory at the most, 0 temporary files left`
    }
  }
]

interface SlowConnection {
  connection: Connection
  kind: (typeof SLOW_KINDS)[number]
}

/** Opens them and lets each send a byte a second from then on. */
async function openSlow(
  scope: Scope,
  address: string,
  kinds: readonly ((typeof SLOW_KINDS)[number] | undefined)[]
): Promise<SlowConnection[]> {
  const slow: SlowConnection[] = []
  await inParallel(kinds.length, async (index) => {
    const kind = kinds[index]
    if (kind === undefined) return
    const connection = await open(scope, address)
    await connection.send(kind.first)
    if (kind.drip === '') {
      await connection.receives(/^HTTP/) // what making the answers costs is over then: only their readers are slow
      connection.socket.pause()
    }
    slow.push({ connection, kind })
  })
  const timer = setInterval(() => {
    for (const { connection, kind } of slow) {
      if (kind.drip !== '' && connection.socket.writable) connection.socket.write(kind.drip)
    }
  }, 1000)
  scope.teardown(() => clearInterval(timer))
  return slow
}

/** Waits for the end of what has not arrived in time: 60 seconds, which are looked at every 30. */
async function untilCut(slow: readonly SlowConnection[]): Promise<string> {
  const late = slow.filter(({ kind }) => kind.drip !== '')
  const took = await until(
    'what is late is cut off',
    () => late.every(({ connection }) => connection.socket.closed),
    120_000
  )
  const told = late.filter(({ connection }) => connection.text.startsWith('HTTP/1.1 408 ')).length
  assert.equal(told, late.length, `${told} of ${late.length} were told 408`)
  return `${told} told 408 within ${ms(took)}`
}

/** One request whose client leaves. */
async function leave(address: string, index: number): Promise<void> {
  const { socket, send, receives } = await connectTo(address)
  const size = 200_000
  const multipart = '--X\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\n'
  const head =
    `POST /api/uploads HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: multipart/form-data; boundary=X\r\nContent-Length: ${size}\r\n\r\n`
  const kind = index % 3
  if (kind === 0) await send(head + multipart + 'x'.repeat((index * 7919) % (size - 1000)))
  else await send(kind === 1 ? get('/api/users') : LIST)
  if (kind === 2) await receives(/^HTTP/)
  socket.destroy()
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}
