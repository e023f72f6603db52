import { createClient } from 'redis'
import type { Log } from './log.js'

const LONGEST_WAIT_MS = 1000
const ANSWER_WITHIN_MS = 1000
const ASK_EVERY_MS = 1000
const COMMAND_MS = 500
/** Commands that may wait for an answer; a Redis that hangs must not take the memory of this process. */
const MOST_WAITING = 10_000
/** The client ends one connection before it begins another. */
const PAUSE_MS = 50
/** What the client says of bytes that are none of Redis; it goes on reading. */
const UNREADABLE = /^Unknown RESP type/

export type Redis = ReturnType<typeof createClient>

/**
 * What `REDIS_URL` gives: a client that reconnects by itself. While Redis is away, commands fail at once instead of waiting
 * for it.
 *
 * The client notices when a connection ends. One that hangs (a Redis that is stopped, a network that has forgotten the
 * connection) it would use until the system gives up, after a quarter of an hour: so it is asked every second, and has a
 * second to answer.
 */
export class RedisConnection {
  readonly client: Redis
  readonly #log: Log
  #down = false
  #asking = false
  #timer: NodeJS.Timeout | undefined
  /** Stops to wait for the greeting of a new connection. */
  #greeted = (): void => {}
  #renewal: NodeJS.Timeout | undefined
  #closed = false

  /** Starts to connect and returns at once. */
  constructor(url: string, log: Log) {
    this.#log = log
    this.client = createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MOST_WAITING,
      socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, LONGEST_WAIT_MS) }
    }) as Redis
    this.client.on('error', (error: NodeJS.ErrnoException) => {
      this.#greeted()
      this.#tell(error.message || String(error.code))
      if (UNREADABLE.test(error.message)) this.#renew(LONGEST_WAIT_MS)
    })
    this.client.on('connect', () => {
      this.#greeted()
      this.#greeted = afterTurns(ANSWER_WITHIN_MS, () => this.#replace('it accepts connections but does not answer'))
    })
    this.client.on('ready', () => {
      this.#greeted()
      this.#down = false
      log.info('Redis ready')
    })
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY_MS).unref()
    this.#connect()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    this.#greeted()
    clearTimeout(this.#renewal)
    this.client.destroy()
  }

  async #ask(): Promise<void> {
    if (this.#asking || !this.client.isReady) return
    this.#asking = true
    const stop = afterTurns(ANSWER_WITHIN_MS, () => this.#replace('it does not answer'))
    // A refusal is an answer, too; a connection that ends is replaced by the client.
    await this.client.ping().catch(() => {})
    stop()
    this.#asking = false
  }

  #replace(reason: string): void {
    this.#tell(reason)
    this.#renew(PAUSE_MS)
  }

  #renew(pause: number): void {
    if (this.#closed) return
    this.client.destroy()
    clearTimeout(this.#renewal)
    this.#renewal = setTimeout(() => this.#connect(), pause)
  }

  #tell(reason: string): void {
    if (!this.#down) this.#log.error(`Redis not reachable (${reason}); trying again`)
    this.#down = true
  }

  #connect(): void {
    // A failed first attempt is an 'error' event as well.
    this.client.connect().catch(() => {})
  }
}

/** Resolves when Redis is ready, or is not in time: an instance that begins to serve should have its sessions. */
export async function untilReady(client: Redis): Promise<void> {
  if (client.isReady) return
  await inTime(new Promise((resolve) => void client.once('ready', resolve))).catch(() => {})
}

/** What Redis answers, or a rejection when it does not answer in time: it may hang with its connections open. */
export function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterTurns(COMMAND_MS, () => reject(new Error('Redis did not answer in time')))
    work.then(resolve, reject)
    work.then(stop, stop)
  })
}

/**
 * Calls a function after so many milliseconds, unless it is stopped before. They are waited for in four parts: while this process
 * is busy it neither sends what it asks nor reads what is answered, so that counts as one part at most, however long it takes.
 */
function afterTurns(milliseconds: number, end: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let left = 4
  const waitOn = (): void => {
    if (left-- > 0) timer = setTimeout(() => setImmediate(next), milliseconds / 4).unref() // the turn reads what has come
    else end()
  }
  const next = (): void => void (timer !== undefined && waitOn())
  waitOn()
  return () => {
    clearTimeout(timer)
    timer = undefined
  }
}
