// How long `/api/health` of the example takes while 50 logins are in flight, beside the same load on a route that hashes
// nothing: `npm run bench:logins -- [seconds]`.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
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
  const plain = await slowestProbe(NOT_HASHED)
  const hashing = await slowestProbe(HASHED)
  ratios.push(hashing / plain)
  process.stdout.write(`round ${round}: p99 ${plain.toFixed(1)} ms without hashing, ${hashing.toFixed(1)} ms with\n`)
}
process.stdout.write(`with / without, median of ${ROUNDS}: ${spread(ratios).median.toFixed(2)} (at most 3 wanted)\n`)
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

/** The 99th percentile, in milliseconds, of one kept-alive connection that asks for `/api/health` again and again. */
async function slowestProbe(login: object): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const end = Date.now() + seconds * 1000
  const clients = Array.from({ length: IN_FLIGHT }, async () => {
    while (Date.now() < end) await send('POST', '/api/auth/login', { agent, body: login })
  })
  const probe = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  while (Date.now() < end) {
    const start = performance.now()
    await send('GET', '/api/health', { agent: probe })
    times.push(performance.now() - start)
  }
  await Promise.all(clients)
  agent.destroy()
  probe.destroy()
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number
}

async function send(method: string, path: string, { agent, body }: { agent: Agent; body?: object }): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const sent = request({ host: '127.0.0.1', port, method, path, agent, headers: body === undefined ? {} : headers })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
}
