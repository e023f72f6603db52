import type { FailureReason } from './failure.js'

/** One load of the application, from the change that asks for it until it listens or fails. */
export class Attempt {
  readonly generation: number
  readonly begun = performance.now()
  /** Routes that answer with a failure. */
  readonly broken: FailureReason[] = []
  /** Rejects when it has failed; resolves when a newer one has taken its place. */
  readonly ended: Promise<'replaced'>
  /** Resolves when a server listens. */
  readonly listening: Promise<void>
  isPending = true
  isEvaluated = false
  #places = new Map<string, number>()
  #listen!: () => void
  #replace!: (value: 'replaced') => void
  #fail!: (error: unknown) => void

  constructor(generation: number) {
    this.generation = generation
    this.listening = new Promise((resolve) => (this.#listen = resolve))
    this.ended = new Promise((resolve, reject) => {
      this.#replace = resolve
      this.#fail = reject
    })
    this.ended.catch(() => undefined) // whoever waits for it is told
  }

  get ms(): number {
    return Math.round(performance.now() - this.begun)
  }

  hasListened(): void {
    this.#listen()
  }

  replace(): void {
    this.isPending = false
    this.#replace('replaced')
  }

  fail(error: unknown): void {
    this.#fail(error)
  }

  /** The same place again in one load, as of two servers on port 0, is another one. */
  numberOf(place: string): number {
    const count = (this.#places.get(place) ?? 0) + 1
    this.#places.set(place, count)
    return count
  }
}
