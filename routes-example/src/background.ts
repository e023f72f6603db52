/** Work that goes on after the answer has been sent. */
export class Background {
  #running = new Set<Promise<void>>()
  #onError: (error: unknown) => void

  /** @param onError hears of work that failed; nobody else waits for it */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  run(work: () => Promise<void>): void {
    const running = Promise.resolve()
      .then(work)
      .catch(this.#onError)
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when all work begun so far is done. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }
}
