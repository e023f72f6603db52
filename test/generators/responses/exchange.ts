import { request as httpRequest, type Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Case } from './cases.js'

/** What the client saw, and what the server's state says of the answer. */
export interface Outcome {
  /** `open`: nothing runs any more, and the answer has not ended. */
  ends: 'complete' | 'cut' | 'open'
  status: number
  reason: string
  /** Every line, names in lower case, by name. */
  headers: Record<string, string[]>
  body: string
  /** What `get` has read. */
  trace: string[]
  /** What nobody caught: without the generator's own listener the process would have ended. */
  uncaught: string[]
}

/** One request on its way, as the application sees it. */
export class Exchange {
  readonly trace: string[] = []
  readonly uncaught: string[] = []
  /** Functions of the case that have not come to their end. */
  running = 0
  response: ServerResponse | undefined
  connection: Socket | undefined

  readonly asked: Case

  constructor(asked: Case) {
    this.asked = asked
  }
}

/** The exchange that runs now: there is one at a time in a process. */
let current: Exchange | undefined

export function currentExchange(): Exchange {
  if (current === undefined) throw new Error('No case is running')
  return current
}

/** What nobody catches is part of the outcome. */
export function catchUncaught(): void {
  process.on('uncaughtException', (error) => {
    if (current === undefined) throw error
    current.uncaught.push(String((error as { code?: unknown } | undefined)?.code ?? error))
  })
}

/** Turns of the event loop without anything under way, after which nothing more is to come. */
const QUIET_TURNS = 4

async function quiet(isBusy: () => boolean): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (isBusy() || readsFiles()) turns = -1
  }
}

function readsFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))
}

interface Seen {
  socket: Socket | undefined
  answer: IncomingMessage | undefined
  parts: Buffer[]
  end: 'complete' | 'cut' | undefined
}

/** A request over a kept-alive connection to a server of this process, so that both ends can be looked at. */
export async function ask(agent: Agent, port: number, exchange: Exchange): Promise<Outcome> {
  current = exchange
  const { method, headers } = exchange.asked
  const request = httpRequest({ agent, port, host: '127.0.0.1', path: '/case', method, headers })
  const seen: Seen = { socket: undefined, answer: undefined, parts: [], end: undefined }
  request.on('socket', (socket) => (seen.socket = socket))
  request.on('error', () => (seen.end ??= 'cut'))
  request.on('response', (answer) => {
    seen.answer = answer
    answer.on('data', (part: Buffer) => seen.parts.push(part))
    answer.on('error', () => (seen.end ??= 'cut'))
    answer.on('close', () => (seen.end ??= answer.complete ? 'complete' : 'cut'))
  })
  request.end()
  await quiet(() => isUnderWay(exchange, seen))
  // a client takes a head without a body for the whole answer; the server knows better
  if (exchange.response?.writableEnded === false && exchange.connection?.destroyed === false) seen.end = undefined
  const outcome = outcomeOf(exchange, seen)
  if (seen.end === undefined) {
    seen.socket?.destroy()
    await quiet(() => exchange.connection?.destroyed === false)
  }
  current = undefined
  return outcome
}

function isUnderWay({ running, connection }: Exchange, { socket, end }: Seen): boolean {
  if (running > 0) return true
  if (connection === undefined || socket === undefined) return end === undefined
  if (connection.destroyed) return !socket.destroyed || end === undefined
  return connection.writableLength > 0 || connection.bytesWritten !== socket.bytesRead
}

function outcomeOf({ trace, uncaught }: Exchange, { answer, parts, end }: Seen): Outcome {
  return {
    ends: end ?? 'open',
    status: answer?.statusCode ?? 0,
    reason: answer?.statusMessage ?? '',
    headers: answer === undefined ? {} : byName(answer.rawHeaders),
    body: Buffer.concat(parts).toString(),
    trace,
    uncaught
  }
}

function byName(lines: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {}
  for (let i = 0; i < lines.length; i += 2) (headers[String(lines[i]).toLowerCase()] ??= []).push(String(lines[i + 1]))
  return headers
}

/** The same by Fastify's `inject`. */
export async function inject(app: { inject: (options: object) => Promise<any> }, exchange: Exchange): Promise<Outcome> {
  current = exchange
  const { method, headers } = exchange.asked
  let answer: any
  let end: Outcome['ends'] | undefined
  app.inject({ url: '/case', method, headers }).then(
    (injected) => {
      answer = injected
      end = 'complete'
    },
    () => (end = 'cut')
  )
  await quiet(() => exchange.running > 0 || (exchange.response === undefined && end === undefined))
  const headersByName: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(answer?.headers ?? {})) headersByName[name] = [value].flat().map(String)
  const outcome: Outcome = {
    ends: end ?? 'open',
    status: answer?.statusCode ?? 0,
    reason: answer?.statusMessage ?? '',
    headers: headersByName,
    body: answer?.payload ?? '',
    trace: exchange.trace,
    uncaught: exchange.uncaught
  }
  if (end === undefined) exchange.response?.destroy()
  current = undefined
  return outcome
}
