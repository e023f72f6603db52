import { createClient } from 'redis'
import type { Log } from './database/database.js'

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
  #greeting: NodeJS.Timeout | undefined
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
      clearTimeout(this.#greeting)
      this.#tell(error.message || String(error.code))
      if (UNREADABLE.test(error.message)) this.#renew(LONGEST_WAIT_MS)
    })
    this.client.on('connect', () => {
      this.#greeting = setTimeout(() => this.#replace('it accepts connections but does not answer'), ANSWER_WITHIN_MS)
    })
    this.client.on('ready', () => {
      clearTimeout(this.#greeting)
      this.#down = false
      log.info('Redis ready')
    })
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY_MS).unref()
    this.#connect()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    clearTimeout(this.#greeting)
    clearTimeout(this.#renewal)
    this.client.destroy()
  }

  async #ask(): Promise<void> {
    if (this.#asking || !this.client.isReady) return
    this.#asking = true
    let answered = false
    const end = (): void => {
      if (!answered) this.#replace('it does not answer')
    }
    // One more turn: when this process was busy for all that time, the answer is there and has yet to be read.
    const limit = setTimeout(() => setImmediate(end), ANSWER_WITHIN_MS)
    // A refusal is an answer, too; a connection that ends is replaced by the client.
    await this.client.ping().catch(() => {})
    answered = true
    clearTimeout(limit)
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
  const late = new Promise<never>((_resolve, reject) => {
    const expire = () => reject(new Error('Redis did not answer in time'))
    // One more turn: when this process was busy for all that time, the answer is there and has yet to be read.
    setTimeout(() => setImmediate(expire), COMMAND_MS).unref()
  })
  return Promise.race([work, late])
}
