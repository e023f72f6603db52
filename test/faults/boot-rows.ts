import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createDatabase } from '../support/example.js'
import { ask } from './ask.js'
import { ExampleServer } from './example-server.js'
import { type Row, until } from './row.js'

/** Parts of the time that a start takes. */
const MOMENTS = [0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05]

async function expectOneLine(server: ExampleServer, pattern: RegExp): Promise<string> {
  assert.equal(await server.ended(), 1)
  const last = server.printed
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
  assert.equal(last.length, 1, server.printed)
  assert.match(last[0] ?? '', pattern)
  return last[0] ?? ''
}

export const BOOT_ROWS: readonly Row[] = [
  {
    name: 'SIGTERM at any moment of the start',
    async run({ scope }) {
      const ends = new Map<unknown, number>()
      const env = { DATABASE_URL: await createDatabase(scope) }
      const begun = performance.now()
      await (await ExampleServer.start(scope, { env })).kill('SIGKILL')
      const whole = performance.now() - begun
      for (const part of MOMENTS) {
        const moment = Math.round(whole * part)
        const server = await ExampleServer.spawn(scope, { env })
        await new Promise((resolve) => setTimeout(resolve, moment))
        const end = await server.kill('SIGTERM')
        assert.ok(end === 0 || end === 'SIGTERM', `${end} after ${moment} ms: ${server.printed}`)
        assert.doesNotMatch(server.printed, /\n\s+at /, `no stack after ${moment} ms`)
        ends.set(end, (ends.get(end) ?? 0) + 1)
      }
      return [...ends].map(([end, count]) => `${count} ended with ${end}`).join(', ')
    }
  },
  {
    name: 'the port is in use',
    async run({ scope }) {
      const holder = createServer().listen(0, '127.0.0.1')
      scope.teardown(() => holder.close())
      await once(holder, 'listening')
      const { port } = holder.address() as AddressInfo
      const server = await ExampleServer.spawn(scope, { env: { PORT: String(port) } })
      return expectOneLine(server, new RegExp(`EADDRINUSE.*127\\.0\\.0\\.1:${port}`))
    }
  },
  {
    name: 'the host is none of this machine',
    async run({ scope }) {
      const server = await ExampleServer.spawn(scope, { env: { HOST: '192.0.2.1' } })
      return expectOneLine(server, /EADDRNOTAVAIL.*192\.0\.2\.1/)
    }
  },
  {
    name: 'nobody reads the log any more',
    async run({ scope }) {
      const server = await ExampleServer.start(scope, { env: { LOG_LEVEL: 'trace' } })
      const { address } = server
      server.closeLog()
      const statuses = new Set<number>()
      for (let asked = 0; asked < 200; asked++) statuses.add((await ask(`${address}/api/public/info`)).status)
      assert.deepEqual([...statuses], [200])
      assert.ok(server.isAlive)
      await until('it ends when it is told to', async () => (await server.kill('SIGTERM')) === 0)
      return '200 requests answered without a log, exit code 0'
    }
  }
]
