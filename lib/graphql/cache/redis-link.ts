import type { RedisClient } from '../../contract/redis.js'
import { within } from '../../link/time-limit.js'

/** Milliseconds between two trials of a Redis that is away. */
const TRIAL_INTERVAL = 500

/** Milliseconds after which a command that was never answered does not hold up trials any more. */
const LOST_AFTER = 30_000

export interface LinkOptions {
  redis: RedisClient
  /** Milliseconds that an answer may take. */
  timeout: number
  /** Called when Redis has failed to answer, and why. */
  onAway: (reason: string) => void
  /** Does what has to be done before Redis is asked again; it is away as long as this rejects. */
  beforeReturn: () => Promise<void>
  onReturn: () => void
}

/**
 * Asks Redis within a time limit. After the first failure it is away: nothing waits for it, until a trial in the background has
 * been answered in time.
 */
export class RedisLink {
  readonly #options: LinkOptions
  #isAway = false
  /** Commands without an answer so far, late ones included. */
  #open = 0
  #lastSent = 0

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** What a script gives for a key; undefined while Redis is away, and never a rejection. */
  async ask(script: string, key: string, ...args: string[]): Promise<{ reply: unknown } | undefined> {
    if (this.#isAway) return undefined
    try {
      return { reply: await this.run(script, key, ...args) }
    } catch (error) {
      this.#leave(error)
      return undefined
    }
  }

  /** The same, also while Redis is away. Rejects when there is no answer in time. */
  async run(script: string, key: string, ...args: string[]): Promise<unknown> {
    const { redis, timeout } = this.#options
    if (!redis.isReady) throw new Error('not connected') // or the command would wait in the client until it is
    this.#open++
    this.#lastSent = performance.now()
    const answer = redis.eval(script, { keys: [key], arguments: args }).finally(() => this.#open--)
    return within(answer, timeout)
  }

  #leave(error: unknown): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#options.onAway(error instanceof Error ? error.message : String(error))
    this.#tryLater()
  }

  #tryLater(): void {
    setTimeout(() => void this.#try(), TRIAL_INTERVAL).unref()
  }

  async #try(): Promise<void> {
    const { redis, beforeReturn, onReturn } = this.#options
    // what was sent to a Redis that hangs is answered first when it goes on: more of it would only pile up
    const isWaiting = this.#open > 0 && performance.now() - this.#lastSent < LOST_AFTER
    if (!redis.isReady || isWaiting) return this.#tryLater()
    try {
      await beforeReturn()
    } catch {
      return this.#tryLater()
    }
    this.#isAway = false
    onReturn()
  }
}
