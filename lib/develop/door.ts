import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { hasExchange } from '../link/private-names.js'
import type { AppServer } from './app-server.js'
import { answerFailure } from './failure-page.js'
import type { Failure } from './failure.js'
import { createFront, imitate } from './front.js'
import { ReloadSignal } from './reload-signal.js'

/** Milliseconds that a request waits for a change to be loaded; then the application before it answers. */
const LONGEST_WAIT = 2000

/** Milliseconds between two checks for quiet connections of a door that closes, and the checks that must find one quiet. */
const INTERVAL = 100
const QUIET_LOOKS = 10

/** Its `false` means that nobody has answered the client. */
const AT_ONCE = new Set(['clientError', 'timeout', 'dropRequest'])

/** One address of the development server: it keeps its connections while the application behind it changes. */
export class Door {
  readonly #front = createFront({
    emit: (event, given) => this.#receive(event, given),
    listenerCount: (event) => this.#behind?.server.listenerCount(event) ?? 0
  })
  readonly #reloads = new ReloadSignal()
  readonly #sockets = new Map<Socket, number>()
  #behind: AppServer | undefined
  #failure: Failure | undefined
  #waiting: (() => void)[] | undefined
  #limit: NodeJS.Timeout | undefined
  #isClosing = false

  get behind(): AppServer | undefined {
    return this.#behind
  }

  get scheme(): 'http' | 'https' {
    return this.#behind?.server instanceof TlsServer ? 'https' : 'http'
  }

  /** From now on requests wait for {@link open}, {@link fail} or {@link release}. */
  hold(): void {
    this.#waiting ??= []
    this.#limit ??= setTimeout(() => this.release(), LONGEST_WAIT)
  }

  /** From now on requests go to this server. */
  open(behind: AppServer): void {
    this.#behind = behind
    this.#failure = undefined
    if (behind.server instanceof http.Server) imitate(this.#front, behind.server)
    this.#change()
  }

  /** From now on every request is answered with the failure. */
  fail(failure: Failure): void {
    this.#failure = failure
    this.#change()
  }

  release(): void {
    const waiting = this.#waiting ?? []
    clearTimeout(this.#limit)
    this.#waiting = this.#limit = undefined
    for (const goOn of waiting) goOn()
  }

  /** A new connection. */
  accept(socket: Socket): void {
    if (this.#waiting !== undefined && this.#behind === undefined)
      return void this.#waiting.push(() => this.accept(socket))
    const server = this.#behind?.server
    const isOfOtherKind = server !== undefined && !(server instanceof http.Server)
    if (isOfOtherKind && this.#failure !== undefined) return void socket.destroy()
    if (isOfOtherKind) this.#behind?.watch(socket)
    else
      this.#sockets.set(
        socket.once('close', () => this.#sockets.delete(socket)),
        0
      )
    ;(isOfOtherKind ? server : this.#front).emit('connection', socket)
    socket.resume()
  }

  /** Resolves when all answers have ended and clients have left: another process has taken over. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#reloads.end()
    await new Promise<void>((resolve) => {
      const looking = setInterval(() => {
        for (const [socket, looks] of this.#sockets) this.#closeIfQuiet(socket, looks)
        if (this.#sockets.size > 0) return
        clearInterval(looking)
        resolve()
      }, INTERVAL)
    })
  }

  #closeIfQuiet(socket: Socket, looks: number): void {
    this.#sockets.set(socket, hasExchange(socket) ? 0 : looks + 1)
    if (looks >= QUIET_LOOKS) socket.destroy()
  }

  #change(): void {
    this.release()
    this.#reloads.send()
  }

  #receive(event: string, given: unknown[]): boolean {
    if (AT_ONCE.has(event)) return this.#behind?.server.emit(event, ...given) ?? false
    if (this.#waiting === undefined) this.#pass(event, given)
    else this.#waiting.push(() => this.#pass(event, given))
    return true
  }

  #pass(event: string, given: unknown[]): void {
    const [request, response] = given as [IncomingMessage, ServerResponse | Socket]
    const { server } = this.#behind ?? {}
    if (response instanceof http.ServerResponse) {
      if (this.#isClosing) response.shouldKeepAlive = false
      if (this.#reloads.answer(request, response)) return
      if (this.#failure !== undefined || server === undefined) return answerFailure(this.#failure, request, response)
      this.#behind?.watch(response)
    } else if (this.#failure !== undefined || server === undefined) return void response.destroy()
    server.emit(event, ...given)
  }
}
