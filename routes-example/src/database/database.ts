import { type Connection, connect, type Db } from './connection.js'
import { DatabaseUnavailable, isConnectionLoss, rootCause, translate } from './errors.js'
import type { Log } from '../log.js'
import { placeOf } from './place.js'
import { isOverWithin } from './time-limit.js'

export type { Db } from './connection.js'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 250
const START_MS = 9500 // Fastify gives a hook ten seconds
const GOODBYE_MS = 1000

/**
 * The application's database. It may be down when the application starts and may go away while it runs: queries then
 * fail with 503 and start working again by themselves.
 */
export class Database {
  #url: string
  #log: Log
  #connection: Connection | undefined
  #migrated = false
  #ready = false
  /** An attempt to reach it has failed since: whoever asks now need not wait to learn that. */
  #down = false
  #saidWhy = false
  #timer: NodeJS.Timeout | undefined
  #attempt = Promise.resolve()
  #stopped = false

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
  }

  /** Whether the last word from the database was a good one. */
  get ready(): boolean {
    return this.#ready
  }

  /**
   * Connects and migrates. When that fails it says so once, goes on trying in the background, and resolves; so it does when
   * it takes long, or the application would not start while tables are being changed.
   */
  async start(): Promise<void> {
    this.#attempt = this.#connect(FIRST_WAIT_MS)
    await isOverWithin(START_MS, this.#attempt)
  }

  /**
   * Runs queries.
   *
   * @throws {DatabaseUnavailable} while the database cannot be reached
   * @throws {StoreError} what the database refused
   */
  run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#use(({ db }) => work(db))
  }

  /** As {@link run}, for queries that happen together or not at all. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#use((connection) => connection.transaction(work))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#ready = false
    clearTimeout(this.#timer)
    const closed = this.#attempt.then(() => this.#connection?.close())
    if (await isOverWithin(GOODBYE_MS, this.#attempt)) return closed
    // An attempt to reach a server that hangs, and a migration that takes long, must not hold the end of the process.
    this.#connection?.interrupt()
    await isOverWithin(GOODBYE_MS, closed)
  }

  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#connection === undefined || !this.#migrated || this.#down) throw new DatabaseUnavailable()
    try {
      return await work(this.#connection)
    } catch (error) {
      const cause = rootCause(error)
      if (isConnectionLoss(cause)) this.#lost(cause as Error)
      throw translate(error)
    }
  }

  async #connect(wait: number): Promise<void> {
    try {
      this.#connection ??= await connect(this.#url, { log: this.#log, onLost: (error) => this.#lost(error) })
      await (this.#migrated ? this.#connection.ping() : this.#connection.migrate())
      if (this.#migrated && this.#down) this.#connection.renew()
      this.#migrated = true
      this.#ready = true
      this.#down = false
      this.#saidWhy = false
      this.#log.info(`database ready: ${placeOf(this.#url)}`)
    } catch (error) {
      this.#down = true
      this.#sayOnce(rootCause(error) as Error)
      this.#tryAgain(wait)
    }
  }

  #lost(error: Error): void {
    if (!this.#ready || this.#stopped) return
    this.#ready = false
    this.#sayOnce(error)
    this.#tryAgain(0)
  }

  #sayOnce(error: Error): void {
    if (this.#saidWhy || this.#stopped) return
    this.#saidWhy = true
    const reason = error.message || (error as NodeJS.ErrnoException).code || 'no reason given'
    this.#log.error(`database not reachable: ${placeOf(this.#url)} (${reason}); answering 503 and trying again`)
  }

  #tryAgain(wait: number): void {
    if (this.#stopped) return
    const next = Math.min(Math.max(wait * 2, FIRST_WAIT_MS), LONGEST_WAIT_MS)
    this.#timer = setTimeout(() => {
      this.#attempt = this.#connect(next)
    }, wait)
    this.#timer.unref()
  }
}
