// How long `/api/health` of the example takes while 50 logins are in flight, beside logins that are refused
// before anything is hashed, 50 in flight and as many per second: `npm run bench:logins -- [seconds]`.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { spread } from './statistics.js'

const IN_FLIGHT = 50
const ROUNDS = 3
const seconds = Number(process.argv[2] ?? 10)
const program = fileURLToPath(new URL('../../routes-example/dist/server.js', import.meta.url))

/** Bodies of a login: one that is hashed and refused, one that is refused at once. */
const HASHED = { email: 'nobody@example.test', password: 'Wrong-Horse-1' }
const NOT_HASHED = { email: 'nobody@example.test' }

const { server, port } = await startExample()
const ratios: number[] = []
for (let round = 1; round <= ROUNDS; round++) {
  const hashing = await probe(HASHED)
  const plain = await probe(NOT_HASHED)
  const paced = await probe(NOT_HASHED, (seconds * 1000 * IN_FLIGHT) / hashing.logins)
  ratios.push(hashing.p99 / plain.p99)
  process.stdout.write(
    `round ${round}, p99: hashing ${describe(hashing)}; not hashing, 50 in flight ${describe(plain)}; ` +
      `not hashing, at the rate of hashing ${describe(paced)}\n`
  )
}
const ratio = spread(ratios).median.toFixed(2)
process.stdout.write(`hashing / not hashing with 50 in flight, median of ${ROUNDS}: ${ratio}\n`)
server.kill()

async function startExample(): Promise<{ server: ChildProcess; port: number }> {
  const secret = () => randomBytes(32).toString('hex')
  const server = spawn(process.execPath, [program], {
    env: {
      NODE_ENV: 'production',
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: 'memory:',
      JWT_SECRET: secret(),
      REFRESH_TOKEN_SECRET: secret()
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  for await (const text of server.stdout.setEncoding('utf8')) {
    const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(String(text)) ?? []
    if (port !== undefined) return { server, port: Number(port) }
  }
  throw new Error('The example did not start')
}

interface Probed {
  /** The 99th percentile, in milliseconds, of one kept-alive connection that asks for `/api/health` again and again. */
  p99: number
  logins: number
}

function describe({ p99, logins }: Probed): string {
  return `${p99.toFixed(1)} ms (${logins} logins)`
}

/** @param pace milliseconds from one login of a client to its next, if the answer is there by then */
async function probe(login: object, pace = 0): Promise<Probed> {
  const agent = new Agent({ keepAlive: true })
  const end = Date.now() + seconds * 1000
  let logins = 0
  const clients = Array.from({ length: IN_FLIGHT }, async (_, client) => {
    await pause((pace * client) / IN_FLIGHT)
    while (Date.now() < end) {
      const next = pause(pace)
      await send('POST', '/api/auth/login', { agent, body: login })
      logins++
      if (pace > 0) await next
    }
  })
  const health = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  while (Date.now() < end) {
    const start = performance.now()
    await send('GET', '/api/health', { agent: health })
    times.push(performance.now() - start)
  }
  await Promise.all(clients)
  agent.destroy()
  health.destroy()
  return { p99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number, logins }
}

async function send(method: string, path: string, { agent, body }: { agent: Agent; body?: object }): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const sent = request({ host: '127.0.0.1', port, method, path, agent, headers: body === undefined ? {} : headers })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
}
