import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, type Call, exchange } from './exchange.js'

/** What became of the requests of all clients. */
export interface Tally {
  sent: number
  sentAgain: number
  failed: Failure[]
}

export interface Failure {
  client: number
  id: string
  call: Call
  /** The status, or what happened to the connection. */
  reason: string
}

export interface TrafficOptions {
  clients: number
  /** Milliseconds between an answer and the client's next request. */
  pause: number
  /** The next request of a client, and the status its answer must have. */
  next: (client: number, count: number) => { call: Call; status: number }
}

/** Clients with a connection each, which they keep, until they are told to stop. */
export class Traffic {
  readonly tally: Tally = { sent: 0, sentAgain: 0, failed: [] }
  readonly #address: string
  readonly #options: TrafficOptions
  readonly #ended: Promise<unknown>
  #isStopped = false

  constructor(address: string, options: TrafficOptions) {
    this.#address = address
    this.#options = options
    this.#ended = Promise.all(Array.from({ length: options.clients }, (_, client) => this.#run(client)))
  }

  /** Resolves when so many requests have been sent. */
  async hasSent(count: number): Promise<void> {
    while (this.tally.sent < count) await wait(5)
  }

  /** Resolves when the last answers have come. */
  async stop(): Promise<Tally> {
    this.#isStopped = true
    await this.#ended
    return this.tally
  }

  async #run(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; !this.#isStopped; count++) {
      await this.#ask(client, count, agent)
      await wait(this.#options.pause)
    }
    agent.destroy()
  }

  async #ask(client: number, count: number, agent: Agent): Promise<void> {
    const { call, status } = this.#options.next(client, count)
    const id = `${client}-${count}`
    const headers = { ...call.headers, 'x-id': id }
    this.tally.sent++
    const fail = (reason: string): void => void this.tally.failed.push({ client, id, call, reason })
    try {
      const answer: Answer = await exchange(this.#address, agent, { ...call, headers })
      this.tally.sentAgain += answer.sentAgain
      if (answer.status !== status) fail(`${answer.status} ${answer.text.slice(0, 200)}`)
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
  }
}

/** For a message: the first failures, each on a line. */
export function listFailures(failed: readonly Failure[]): string {
  return failed
    .slice(0, 10)
    .map(({ call, id, reason }) => `${call.method} ${call.path} (${id}): ${reason}`)
    .join('\n')
}
