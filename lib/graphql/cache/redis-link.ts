import type { RedisClient } from '../../contract/redis.js'
import { within } from '../../link/time-limit.js'

/** Milliseconds between two trials of a Redis that is away. */
const TRIAL_INTERVAL = 500

/** The most of them, while nobody asks. */
const LONGEST_INTERVAL = 30_000

/** Milliseconds after which a command that was never answered does not hold up trials any more. */
const LOST_AFTER = 30_000

/** An error of Redis begins with its code, such as `ERR` or `CROSSSLOT`; those of clients and of the system do not. */
const REFUSAL = /^[A-Z][A-Z\d]+ /

/** Codes of a Redis that takes no value at all now. Older versions name them behind `ERR Error running script`. */
const TAKES_NOTHING = /\b(?:OOM|READONLY|MISCONF|NOREPLICAS|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/

export interface LinkOptions {
  redis: RedisClient
  /** Milliseconds that an answer may take. */
  timeout: number
  /** Called when Redis has failed to answer, and why. */
  onAway: (reason: string) => void
  /** Whether there is something that Redis must be told when it is back. */
  isOwed: () => boolean
  /** Does what has to be done before Redis is asked again; it is away as long as this rejects. It must come to an end. */
  beforeReturn: () => Promise<void>
  /** Called in the turn in which Redis is back: what came to be owed since is to be sent in it, too. */
  onReturn: () => void
}

/**
 * Asks Redis within a time limit. After the first failure it is away: nothing waits for it, until a trial in the background has
 * been answered in time. Trials end when nobody asks any more, and go on with the next question.
 */
export class RedisLink {
  readonly #options: LinkOptions
  #isAway = false
  /** Of the next trial. */
  #timer: NodeJS.Timeout | undefined
  #isTrying = false
  /** Whether somebody has asked since the last trial. */
  #wasAsked = false
  #pause = TRIAL_INTERVAL
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
    if (this.#isAway) return this.#noteAsked()
    try {
      return { reply: await this.run(script, key, ...args) }
    } catch (error) {
      return this.#leave(reasonOf(error))
    }
  }

  /**
   * Asks Redis to keep a value. That it refuses this one (too large for a proxy, say) does not mean that it is away.
   * @returns why it was refused; undefined when it is kept, and while Redis is away
   */
  async offer(script: string, key: string, ...args: string[]): Promise<string | undefined> {
    if (this.#isAway) return this.#noteAsked()
    try {
      await this.run(script, key, ...args)
      return undefined
    } catch (error) {
      const reason = reasonOf(error)
      return REFUSAL.test(reason) && !TAKES_NOTHING.test(reason) ? reason : this.#leave(reason)
    }
  }

  /** What a script gives, also while Redis is away. Rejects when there is no answer in time. */
  async run(script: string, key: string, ...args: string[]): Promise<unknown> {
    const { redis, timeout } = this.#options
    if (redis.isReady === false) throw new Error('not connected') // or the command would wait in the client until it is
    this.#open++
    this.#lastSent = performance.now()
    const answer = redis.eval(script, { keys: [key], arguments: args }).finally(() => this.#open--)
    return within(answer, timeout)
  }

  #leave(reason: string): undefined {
    if (this.#isAway) return
    this.#isAway = true
    this.#options.onAway(reason)
    this.#noteAsked()
  }

  #noteAsked(): undefined {
    this.#wasAsked = true
    if (!this.#isTrying && (this.#timer === undefined || this.#pause > TRIAL_INTERVAL)) this.#tryAfter(TRIAL_INTERVAL)
  }

  #tryAfter(pause: number): void {
    clearTimeout(this.#timer)
    this.#pause = pause
    this.#timer = setTimeout(() => void this.#try(), pause).unref()
  }

  async #try(): Promise<void> {
    const wasAsked = this.#wasAsked
    this.#timer = undefined
    this.#wasAsked = false
    this.#isTrying = true
    const isBack = await this.#isBack()
    this.#isTrying = false
    if (isBack) {
      this.#isAway = false
      this.#options.onReturn()
    } else if (wasAsked || this.#wasAsked) this.#tryAfter(TRIAL_INTERVAL)
    else if (this.#options.isOwed()) this.#tryAfter(Math.min(this.#pause * 2, LONGEST_INTERVAL))
  }

  async #isBack(): Promise<boolean> {
    const { redis, beforeReturn } = this.#options
    // what was sent to a Redis that hangs is answered first when it goes on: more of it would only pile up
    const isWaiting = this.#open > 0 && performance.now() - this.#lastSent < LOST_AFTER
    if (redis.isReady === false || isWaiting) return false
    try {
      await beforeReturn()
      return true
    } catch {
      return false
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
