// Heap per idle keep-alive connection, and the slope of the heap over many requests: `npm run bench:memory -- [requests]`.
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { CandidateProcess } from './candidate-process.js'
import { load } from './drive.js'
import { REST } from './rest.js'
import { WORKS, type Work } from './workload.js'

const CONNECTIONS = 1000
const KIBIBYTE = 1024
const STEPS = 10
const requests = Number(process.argv[2] ?? 1_000_000)
const candidates = REST.candidates.filter(({ name }) => name === 'fastify' || name === 'twinroute')

for (const candidate of candidates) {
  const { name } = candidate
  const server = await CandidateProcess.start(candidate, { node: process.execPath, collects: true })
  process.stdout.write(`${name}: ${(await perIdleConnection(server)).toFixed(2)} KiB of heap per idle connection\n`)
  process.stdout.write(
    `${name}: ${(await slope(server)).toFixed(0)} bytes of heap per 1 000 requests over ${requests}\n`
  )
  await server.stop()
}

async function perIdleConnection(server: CandidateProcess): Promise<number> {
  await load(server.port, WORKS[0] as Work, 5000)
  const before = await settledHeap(server)
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i++) sockets.push(await idle(server.port))
  const after = await settledHeap(server)
  for (const socket of sockets) socket.destroy()
  return (after - before) / CONNECTIONS / KIBIBYTE
}

/** A connection that has had one answer and waits. */
async function idle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/hello HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  return socket
}

/** Least squares over the heap after each step; every work takes part. */
async function slope(server: CandidateProcess): Promise<number> {
  const each = Math.ceil(requests / STEPS / WORKS.length)
  await load(server.port, WORKS[0] as Work, 20_000)
  const points: [number, number][] = []
  for (let step = 1; step <= STEPS; step++) {
    for (const work of WORKS) await load(server.port, work, each)
    points.push([(step * each * WORKS.length) / 1000, await settledHeap(server)])
  }
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}

async function settledHeap(server: CandidateProcess): Promise<number> {
  await server.usage()
  const { heap } = await server.usage()
  return heap
}
