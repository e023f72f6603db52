import type { ServerResponse } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Owner } from './owner.js'

/** Milliseconds after which what is left of a closed server is cut off. */
const GRACE_TIME = 10_000

/** A server of the application that would listen, and listens nowhere: connections come from a {@link Door}. */
export class AppServer {
  readonly server: Server
  readonly owner: Owner
  readonly address: AddressInfo | string
  #isOpen = true
  readonly #open = new Set<ServerResponse | Socket>()
  readonly #whenEmpty: (() => void)[] = []

  constructor(server: Server, owner: Owner, address: AddressInfo | string) {
    this.server = server
    this.owner = owner
    this.address = address
    Object.defineProperties(server, {
      listening: { configurable: true, get: () => this.#isOpen },
      address: { configurable: true, value: () => (this.#isOpen ? address : null) }
    })
  }

  /** Without the line that Fastify would log for each address, after every change. */
  tellListening(logs: readonly FastifyBaseLogger[]): void {
    const infos = logs.map((log) => log.info)
    for (const log of logs) log.info = () => undefined
    try {
      this.server.emit('listening')
    } finally {
      for (const [index, log] of logs.entries()) log.info = infos[index] ?? log.info
    }
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** An answer, or a connection, that closing waits for. */
  watch(open: ServerResponse | Socket): void {
    this.#open.add(open)
    open.once('close', () => {
      this.#open.delete(open)
      if (this.#open.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve()
    })
  }

  /** Resolves when all answers have ended. */
  async empty(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  /** What `server.close()` does before it tells. */
  async close(): Promise<void> {
    this.#isOpen = false
    const limit = setTimeout(() => {
      for (const open of this.#open) open.destroy()
    }, GRACE_TIME)
    await this.empty()
    clearTimeout(limit)
  }
}
