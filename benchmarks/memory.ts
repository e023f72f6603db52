// Heap per connection that is idle or waits for its answer, and the slope of the heap over many requests:
// `npm run bench:memory -- [requests]`.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { CandidateProcess } from './candidate-process.js'
import { CONNECTIONS, load } from './drive.js'
import { REST } from './rest.js'
import { spread } from './statistics.js'
import { WORKS } from './workload.js'

const LAUNCHES = 5
const OPEN_CONNECTIONS = 1000
const KIBIBYTE = 1024
const STEPS = 10
const WARM_UP = 20_000
const NAMES = ['fastify', 'twinroute', 'twinroute res.json']

const requests = Number(process.argv[2] ?? 1_000_000)
const least = CONNECTIONS * STEPS * WORKS.length
if (!(requests >= least)) throw new Error(`Give a number of requests, at least ${least}: one per connection and step`)
const candidates = REST.candidates.filter(({ name }) => NAMES.includes(name))

process.stdout.write(`${process.version}, heap per connection, medians of ${LAUNCHES} launches, KiB\n`)
for (const { name, idle, waiting } of await measureConnections()) {
  process.stdout.write(`${name.padEnd(20)} idle ${idle.toFixed(2)}   waiting for an answer ${waiting.toFixed(2)}\n`)
}
process.stdout.write(`slope of the heap over ${requests} requests, bytes per 1 000 requests\n`)
for (const candidate of candidates) {
  const server = await CandidateProcess.start(candidate, { node: process.execPath, collects: true })
  process.stdout.write(`${candidate.name.padEnd(20)} ${(await slope(server)).toFixed(0)}\n`)
  await server.stop()
}

interface PerConnection {
  name: string
  /** KiB. */
  idle: number
  waiting: number
}

/** Launch by launch, the candidates in turn. */
async function measureConnections(): Promise<PerConnection[]> {
  const found: PerConnection[] = []
  for (let launch = 0; launch < LAUNCHES; launch++) {
    for (const candidate of candidates) {
      const server = await CandidateProcess.start(candidate, { node: process.execPath, collects: true })
      await warmUp(server)
      // the first connections also pay for what they all share
      await perConnection(server, answered)
      const idle = await perConnection(server, answered)
      await perConnection(server, unanswered)
      found.push({ name: candidate.name, idle, waiting: await perConnection(server, unanswered) })
      await server.stop()
    }
  }
  return candidates.map(({ name }) => {
    const own = found.filter((one) => one.name === name)
    const idle = spread(own.map((one) => one.idle)).median
    return { name, idle, waiting: spread(own.map((one) => one.waiting)).median }
  })
}

async function warmUp(server: CandidateProcess): Promise<void> {
  for (const work of WORKS) await load(server.port, work, WARM_UP)
}

async function perConnection(server: CandidateProcess, open: (port: number) => Promise<Socket>): Promise<number> {
  const before = await settledHeap(server)
  const sockets: Socket[] = []
  for (let i = 0; i < OPEN_CONNECTIONS; i++) sockets.push(await open(server.port))
  const after = await settledHeap(server)
  for (const socket of sockets) socket.destroy()
  return (after - before) / OPEN_CONNECTIONS / KIBIBYTE
}

/** A connection that has had one answer and waits. */
async function answered(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/hello HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  return socket
}

/** A connection whose request is in a handler that does not answer. */
async function unanswered(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('GET /api/wait HTTP/1.1\r\nHost: x\r\n\r\n')
  return socket
}

/** Least squares over the heap after each step; every work takes part. */
async function slope(server: CandidateProcess): Promise<number> {
  const each = Math.ceil(requests / STEPS / WORKS.length)
  await warmUp(server)
  const points: [number, number][] = []
  for (let step = 1; step <= STEPS; step++) {
    process.stderr.write(`step ${step} of ${STEPS}\n`)
    for (const work of WORKS) await load(server.port, work, each)
    points.push([(step * each * WORKS.length) / 1000, await settledHeap(server)])
  }
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}

/** After everything on the way has arrived, and what is left of it was collected. */
async function settledHeap(server: CandidateProcess): Promise<number> {
  await pause(200)
  await server.usage()
  const { heap } = await server.usage()
  return heap
}
