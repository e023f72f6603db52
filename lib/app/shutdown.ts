import type { ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { ShutdownOptions } from '../contract/options.js'
import type { ExpressSide } from '../express/classes.js'
import { CLOSING_DELAY, GRACE_TIME } from '../options/defaults.js'
import { ServerDrain } from './server-drain.js'
import { replaceMethod } from '../fastify/replace-method.js'

/**
 * Makes `app.close()` lose no request. In this order:
 * 1. `isClosing` is true, and the delay passes;
 * 2. connections that wait to be accepted are accepted, and the listener closes;
 * 3. every answer from then on closes its connection, and the signals of open requests are aborted;
 * 4. preClose hooks of plugins run;
 * 5. connections without a request are closed after a second, what is left after the grace time is cut off;
 * 6. onClose hooks run.
 */
export class Shutdown {
  readonly #app: FastifyInstance
  readonly #side: ExpressSide
  readonly #options: Required<Pick<ShutdownOptions, 'delay' | 'graceTime'>>
  readonly #drains: ServerDrain[] = []
  #stopped: Promise<void> | undefined
  #finished: Promise<void> | undefined

  constructor(
    app: FastifyInstance,
    side: ExpressSide,
    { delay = CLOSING_DELAY, graceTime = GRACE_TIME }: ShutdownOptions = {}
  ) {
    this.#app = app
    this.#side = side
    this.#options = { delay, graceTime }
    side.expressApp.locals.isClosing = false
    app.decorate('isClosing', { getter: () => this.isClosing })
    this.#stopBeforeFastify()
  }

  /**
   * The listener must be closed when Fastify begins to tell clients to connect anew, which is before all of its hooks.
   * The hook is for a server that has begun to listen since.
   */
  #stopBeforeFastify(): void {
    const stop = (): Promise<void> => this.#stop()
    this.#app.addHook('preClose', stop)
    replaceMethod(this.#app, 'close', (_scope, given, close) => {
      const closed = stop().then(() => close(...given))
      return given.length === 0 ? closed : void closed
    })
  }

  get isClosing(): boolean {
    return this.#stopped !== undefined
  }

  /** Has the server's connections drained whenever it is closed, by Fastify or directly. */
  watch(server: unknown): void {
    if (!(server instanceof Server)) return // made by a `serverFactory`, and none of node's
    const { close } = server
    this.#drains.push(new ServerDrain(server))
    server.close = (callback?: (error?: Error) => void) => {
      // the second close reports that the listener is closed already
      const done = server.listening || this.isClosing ? () => callback?.() : callback
      void this.#finish().then(() => close.call(server, done))
      return server
    }
  }

  async #stop(): Promise<void> {
    this.#stopped ??= this.#stopAccepting()
    await this.#stopped
    for (const drain of this.#drains) drain.stop()
  }

  async #stopAccepting(): Promise<void> {
    const { expressApp, openSignals, ServerResponse } = this.#side
    expressApp.locals.isClosing = true
    if (this.#drains.some((drain) => drain.isListening)) await wait(this.#options.delay)
    await Promise.all(this.#drains.map((drain) => drain.acceptWaiting()))
    for (const drain of this.#drains) drain.stop() // in the same turn: no client may come that is told to come anew
    closeAfterAnswer(ServerResponse.prototype)
    openSignals.abort()
  }

  #finish(): Promise<void> {
    this.#finished ??= this.#drain()
    return this.#finished
  }

  async #drain(): Promise<void> {
    const { graceTime } = this.#options
    await this.#stop()
    const areEmpty = await Promise.all(this.#drains.map((drain) => drain.finish(graceTime)))
    if (!areEmpty.includes(false)) return
    this.#app.log.warn({ graceTime }, 'Closing: requests over the grace time were cut off')
  }
}

/** `Connection: close` on the answers to requests that came before; Fastify sets it on the others. */
function closeAfterAnswer(prototype: ServerResponse): void {
  const { writeHead } = prototype
  prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
    this.shouldKeepAlive = false
    return Reflect.apply(writeHead, this, given) as ServerResponse
  } as ServerResponse['writeHead']
}
