import { Server as HttpServer } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Server as TlsServer, TLSSocket } from 'node:tls'
import { hasExchange } from '../link/private-names.js'

/** Milliseconds between two checks of the connections. */
const INTERVAL = 100

/** Checks in a row that find no exchange on a connection before it is closed: one second. */
const QUIET_LOOKS = 10

/** Connections that node lets the kernel keep for a server until they are accepted. */
const BACKLOG = 511

/**
 * Empties one server without losing a request. Node's and Fastify's ways close whatever is idle at that moment, although
 * the next request may have reached the kernel by then, and they cut off answers that are not flushed yet.
 */
export class ServerDrain {
  readonly #server: Server
  readonly #sockets = new OpenSockets()
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #looks = new WeakMap<Socket, number>()
  #accepted = 0
  #closed: Promise<true> | undefined

  constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#accepted++
      this.#sockets.add(socket)
    })
    if (server instanceof TlsServer) server.on('secureConnection', (socket) => this.#sockets.add(socket))
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session.on('close', () => this.#sessions.delete(session)))
    })
  }

  get isListening(): boolean {
    return this.#server.listening
  }

  /**
   * Accepts the connections that clients have opened already, and sent requests on: those that wait in the kernel when the
   * listener closes are reset. Node accepts one with each turn of its loop.
   */
  async acceptWaiting(): Promise<void> {
    if (!this.#server.listening) return
    await nextTurn() // in the present turn node may have checked the listener already
    for (let turns = 0; turns < BACKLOG; turns++) {
      const before = this.#accepted
      await nextTurn()
      if (this.#accepted === before) return
    }
  }

  /** Accepts no further connection. Those that are open stay, and so do their requests. */
  stop(): void {
    if (!this.#server.listening || this.#closed !== undefined) return
    // not `http.Server.close`, which closes idle connections at once
    this.#closed = new Promise((resolve) => Server.prototype.close.call(this.#server, () => resolve(true)))
    for (const session of this.#sessions) session.close() // tells the client which of its streams were the last
  }

  /**
   * Resolves when all connections are gone.
   * @param graceTime milliseconds after which the rest is cut off
   * @returns whether they all went by themselves
   */
  async finish(graceTime: number): Promise<boolean> {
    if (this.#closed === undefined) return true
    // checks come after the poll phase, which reads all that has reached the kernel, and they are counted, not timed:
    // clients of a process that was blocked for seconds get as many checks as others
    const looking = setInterval(() => setImmediate(() => this.#closeQuiet()), INTERVAL)
    let limit: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => {
      limit = setTimeout(resolve, graceTime, false)
    })
    const isEmpty = await Promise.race([this.#closed, late])
    clearInterval(looking)
    clearTimeout(limit)
    if (!isEmpty) this.#cutAll()
    return isEmpty
  }

  #closeQuiet(): void {
    const sockets = this.#sockets.list()
    const peersWithTls = new Set(sockets.filter((socket) => socket instanceof TLSSocket).map(peerOf))
    for (const socket of sockets) {
      const isBeneathTls = !(socket instanceof TLSSocket) && peersWithTls.has(peerOf(socket))
      const isWatched = !isBeneathTls && !this.#speaksHttp2(socket)
      const looks = isWatched && isQuiet(socket) ? (this.#looks.get(socket) ?? 0) + 1 : 0
      this.#looks.set(socket, looks)
      if (looks >= QUIET_LOOKS) socket.destroy()
    }
  }

  /** Its sessions close their connections themselves. */
  #speaksHttp2(socket: Socket): boolean {
    if (socket instanceof TLSSocket) return socket.alpnProtocol === 'h2'
    return !(this.#server instanceof TlsServer) && !(this.#server instanceof HttpServer)
  }

  #cutAll(): void {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#sockets.list()) socket.destroy()
  }
}

/** Kept alive, or upgraded to another protocol (WebSocket): nothing is being answered, nothing waits to be sent. */
function isQuiet(socket: Socket): boolean {
  return !hasExchange(socket) && socket.writableLength === 0
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Fewer are not worth a look. */
const FEW = 64

/**
 * The open connections of a server. They are held weakly and looked through now and then: a `close` listener on each would
 * cost 270 bytes for every idle client, this costs half of it.
 */
class OpenSockets {
  #refs: WeakRef<Socket>[] = []
  #full = FEW

  add(socket: Socket): void {
    if (this.#refs.length >= this.#full) this.#dropClosed()
    this.#refs.push(new WeakRef(socket))
  }

  list(): Socket[] {
    return this.#refs.map((ref) => ref.deref()).filter(isOpen)
  }

  /** At twice the number that was open the last time, so that each connection is checked about once. */
  #dropClosed(): void {
    this.#refs = this.#refs.filter((ref) => isOpen(ref.deref()))
    this.#full = Math.max(FEW, this.#refs.length * 2)
  }
}

function isOpen(socket: Socket | undefined): socket is Socket {
  return socket !== undefined && !socket.destroyed
}
