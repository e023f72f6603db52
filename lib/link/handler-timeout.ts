import { AsyncResource } from 'node:async_hooks'
import { kAfter, kBefore, kDeadline, kScope, kTick, type LinkedResponse } from './state.js'

const STEPS = 8
const MANUAL = { requireManualDestroy: true }

/**
 * The handler timeout. One timer serves all requests that wait for their answer with the same limit. A wait ends between
 * one and 1 + 1/8 times the limit. The process stays alive while a request waits, an injected one too, and no longer.
 *
 * The waiting responses form a linked list, by members of their own. A Set is no substitute: its table is old memory, which
 * keeps every response it ever held alive over young garbage collections (docs/decisions/007-handler-timeout.md).
 */
export class Deadline {
  readonly #expire: (response: LinkedResponse) => void
  #first: LinkedResponse | null = null
  #last: LinkedResponse | null = null
  readonly #timer: NodeJS.Timeout
  #isRunning = true
  #tick = 0

  constructor(milliseconds: number, expire: (response: LinkedResponse) => void) {
    this.#expire = expire
    // made at boot and refreshed: a timer made in a request would keep that request's async context alive
    this.#timer = setTimeout(() => this.#turn(), Math.max(1, milliseconds / STEPS)).unref()
  }

  /** Starts the wait of a response, unless it waits already. */
  watch(response: LinkedResponse): void {
    const current = response[kDeadline]
    if (current === this) return
    if (current !== null) current.release(response)
    response[kDeadline] = this
    response[kTick] = this.#tick
    response[kScope] = new AsyncResource('twinroute.timeout', MANUAL)
    response[kBefore] = this.#last
    if (this.#last !== null) this.#last[kAfter] = response
    else {
      this.#first = response
      this.#timer.ref()
    }
    this.#last = response
    if (!this.#isRunning) this.#run()
  }

  release(response: LinkedResponse): void {
    const { [kBefore]: before, [kAfter]: after } = response
    if (before === null) this.#first = after
    else before[kAfter] = after
    if (after === null) this.#last = before
    else after[kBefore] = before
    response[kDeadline] = null
    response[kBefore] = null
    response[kAfter] = null
    response[kScope] = null
    if (this.#first === null) this.#timer.unref()
  }

  #run(): void {
    this.#isRunning = true
    this.#timer.refresh()
  }

  #turn(): void {
    this.#tick++
    try {
      // in the order of their start: behind the first that may wait on, all may
      while (this.#first !== null && this.#isOver(this.#first)) {
        const response = this.#first
        const scope = response[kScope]
        this.release(response)
        // the timer's own context is that of whichever request has started it
        if (!response.destroyed) scope?.runInAsyncScope(this.#expire, undefined, response)
      }
    } finally {
      // a process that goes on after an uncaught error still needs its timeouts
      this.#isRunning = false
      if (this.#first !== null) this.#run()
    }
  }

  /** Too late, or the client has left: such a wait must not keep the process alive. */
  #isOver(response: LinkedResponse): boolean {
    return response.destroyed || this.#tick - response[kTick] > STEPS
  }
}
