import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerFailure } from './failure-page.js'
import type { Failure } from './failure.js'
import { ReloadSignal } from './reload-signal.js'

/** A connection, with where it has come in. */
type Connection = [door: string, socket: Socket]

/** Connections while there is no process that serves them. */
export class WaitingRoom {
  /** It listens nowhere. */
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #reloads = new ReloadSignal()
  readonly #waiting: Connection[] = []
  /** Those that are served here, until they close; a server that does not listen neither times them out nor closes them. */
  readonly #served = new Set<Socket>()
  /** Those of them that no request has come on: browsers open some in advance. */
  readonly #idle = new Set<Socket>()
  #failure: Failure | undefined

  add(door: string, socket: Socket): void {
    if (this.#failure === undefined) this.#waiting.push([door, socket])
    else this.#serve(socket)
  }

  /** No process is to come before a change: until {@link hold}, requests are answered with the reason. */
  answer(failure: Failure): void {
    this.#failure = failure
    for (const [, socket] of this.#waiting.splice(0)) this.#serve(socket)
  }

  /** From now on connections wait: a process is to come, which requests on new connections can reach. */
  hold(): void {
    this.#failure = undefined
    for (const socket of this.#idle) socket.destroy()
  }

  /** The connections that wait; a page that shows a failure loads itself again. */
  take(): Connection[] {
    this.#reloads.end()
    return this.#waiting.splice(0)
  }

  close(): void {
    for (const [, socket] of this.take()) socket.destroy()
    for (const socket of this.#served) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#served.add(socket)
    this.#idle.add(socket)
    socket.once('close', () => {
      this.#served.delete(socket)
      this.#idle.delete(socket)
    })
    this.#server.emit('connection', socket)
    socket.resume()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#idle.delete(request.socket)
    response.shouldKeepAlive = false // the next request is for the process that is to come
    if (!this.#reloads.answer(request, response)) answerFailure(this.#failure, request, response)
  }
}
