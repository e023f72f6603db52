// Measures what a request costs two servers in one process and without a socket, where a microsecond can be seen.
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

const REQUESTS = 20_000
const BATCH = 50
const ROUNDS = 7

/** Sends one request. */
export type Send = () => void

/** Microseconds of CPU per request, the best of six rounds. */
export interface Duel {
  twinroute: number
  fastify: number
}

/** Turn by turn, so that both meet the machine in the same mood. The first round warms up. */
export async function duel(ours: Send, plain: Send): Promise<Duel> {
  const best = { twinroute: Number.POSITIVE_INFINITY, fastify: Number.POSITIVE_INFINITY }
  for (let round = 0; round < ROUNDS; round++) {
    const cost = { twinroute: await timed(ours), fastify: await timed(plain) }
    if (round === 0) continue
    best.twinroute = Math.min(best.twinroute, cost.twinroute)
    best.fastify = Math.min(best.fastify, cost.fastify)
  }
  return best
}

async function timed(send: Send): Promise<number> {
  const before = process.cpuUsage()
  for (let sent = 0; sent < REQUESTS; sent += BATCH) {
    for (let i = 0; i < BATCH; i++) send()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

/** Hands requests to a server as node's HTTP parser would, with the classes that server creates; urls take turns. */
export function sender(app: FastifyInstance, urls: readonly string[]): Send {
  const Request = classOf(app, 'IncomingMessage', IncomingMessage)
  const Response = classOf(app, 'ServerResponse', ServerResponse)
  const socket = sink()
  let sent = 0
  return () => {
    const url = urls[sent++ % urls.length]
    const request = new Request(socket)
    Object.assign(request, { method: 'GET', url, headers: { host: 'x', connection: 'keep-alive' } })
    Object.assign(request, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
    const response = new Response(request)
    response.assignSocket(socket)
    app.routing(request, response)
    response.detachSocket(socket)
  }
}

function classOf<Class>(app: FastifyInstance, name: string, fallback: Class): Class {
  const key = Object.getOwnPropertySymbols(app.server).find((symbol) => symbol.description === name)
  return key === undefined ? fallback : (Reflect.get(app.server, key) as Class)
}

/** Takes what is written and forgets it. */
function sink(): Socket {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() })
  return Object.assign(stream, { remoteAddress: '127.0.0.1', setTimeout: () => stream }) as unknown as Socket
}
