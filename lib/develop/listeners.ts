import { createServer, type AddressInfo, type ListenOptions, type Server, type Socket } from 'node:net'
import type { ListenPlace } from './divert-listen.js'
import { tell } from './terminal.js'

/** Ports that are tried after one that is in use. */
const MORE_PORTS = 50

/** Milliseconds between two lines about connections that cannot be accepted. */
const TELL_EVERY = 10_000

interface Listener {
  server: Server
  address: AddressInfo | string
}

/** The sockets that listen, for as long as the development server runs: processes of the application come and go behind them. */
export class Listeners {
  readonly #listeners = new Map<string, Listener>()
  #told = -TELL_EVERY
  readonly #connect: (door: string, socket: Socket) => void

  /** @param connect takes a connection that nothing was read from */
  constructor(connect: (door: string, socket: Socket) => void) {
    this.#connect = connect
  }

  /** @throws what node throws when it cannot listen there, nor on one of the next ports */
  async listen(door: string, place: ListenPlace): Promise<AddressInfo | string> {
    const known = this.#listeners.get(door)
    if (known !== undefined) return known.address
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined) // the client has left before it was served
      this.#connect(door, socket)
    })
    const address = await this.#listenNear(server, place)
    server.on('error', (error) => this.#tellRefused(error))
    this.#listeners.set(door, { server, address })
    return address
  }

  /** Where all file descriptors are in use, there is an error for each connection. */
  #tellRefused({ message }: Error): void {
    if (performance.now() - this.#told < TELL_EVERY) return
    this.#told = performance.now()
    tell(`a connection could not be accepted: ${message}`)
  }

  leave(door: string): void {
    this.#listeners.get(door)?.server.close()
    this.#listeners.delete(door)
  }

  /** Leaves all others: the process that used them was replaced. */
  keepOnly(doors: ReadonlySet<string>): void {
    for (const door of this.#listeners.keys()) if (!doors.has(door)) this.leave(door)
  }

  close(): void {
    this.keepOnly(new Set())
  }

  async #listenNear(server: Server, place: ListenPlace): Promise<AddressInfo | string> {
    const { port } = place
    for (let more = 0; ; more++) {
      try {
        const options: ListenOptions = port === undefined ? place : { ...place, port: port + more }
        const address = await listenAt(server, options)
        if (more > 0) tell(`port ${port} is in use: listening on ${(address as AddressInfo).port}`)
        return address
      } catch (error) {
        const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        if (!isInUse || port === undefined || more >= MORE_PORTS || this.#isFurther(port)) throw error
      }
    }
  }

  /** `localhost` has several addresses, which share a port: another one would be of no use. */
  #isFurther(port: number): boolean {
    return [...this.#listeners.values()].some(({ address }) => typeof address !== 'string' && address.port === port)
  }
}

function listenAt(server: Server, options: ListenOptions): Promise<AddressInfo | string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve(server.address() ?? '')
    })
  })
}
