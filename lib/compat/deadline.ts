import { kDeadline, kTick, type LinkedResponse } from './slots.js'

const STEPS = 8

/**
 * The handler timeout. One timer serves all requests that wait for their answer with the same limit: a timer (and an
 * AbortController) per request would cost more than the rest of the framework. A wait ends between one and 1 + 1/8
 * times the limit.
 */
export class Deadline {
  readonly #waiting = new Set<LinkedResponse>()
  readonly #interval: number
  readonly #expire: (response: LinkedResponse) => void
  #timer: NodeJS.Timeout | undefined
  #tick = 0

  constructor(milliseconds: number, expire: (response: LinkedResponse) => void) {
    this.#interval = Math.max(1, milliseconds / STEPS)
    this.#expire = expire
  }

  /** Starts the wait of a response, unless it waits already. */
  watch(response: LinkedResponse): void {
    const current = response[kDeadline]
    if (current === this) return
    if (current !== null) current.release(response)
    response[kDeadline] = this
    response[kTick] = this.#tick
    this.#waiting.add(response)
    this.#timer ??= setInterval(() => this.#turn(), this.#interval).unref()
  }

  release(response: LinkedResponse): void {
    response[kDeadline] = null
    this.#waiting.delete(response)
  }

  #turn(): void {
    this.#tick++
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    for (const response of this.#waiting) {
      if (this.#tick - response[kTick] <= STEPS) return // in order of their start: the rest is younger
      this.release(response)
      if (!response.destroyed) this.#expire(response)
    }
  }
}
