/** Milliseconds in which a process answers; one that does not is stuck in a loop. */
export const ANSWER_TIME = 5000

/** Milliseconds without a word of it before it is asked. */
const PAUSE = 2000

interface PulseOptions {
  /** Sends what is to be answered. */
  ask(): void
  /** It has not answered; told once, until something is heard. */
  onSilence(): void
}

/** Whether a process answers: one in an endless loop does not. It is asked when nothing is heard of it after its first word. */
export class Pulse {
  readonly #options: PulseOptions
  #pause: NodeJS.Timeout | undefined
  #hasEnded = false
  #waiting: NodeJS.Timeout | undefined
  #isSilent = false

  constructor(options: PulseOptions) {
    this.#options = options
  }

  get isSilent(): boolean {
    return this.#isSilent
  }

  ask(): void {
    this.#options.ask()
    this.#waiting ??= setTimeout(() => {
      this.#isSilent = true
      this.#options.onSilence()
    }, ANSWER_TIME).unref()
  }

  /** Something was heard. */
  beat(): void {
    if (this.#hasEnded) return
    this.#isSilent = false
    clearTimeout(this.#waiting)
    this.#waiting = undefined
    this.#pause ??= setTimeout(() => this.ask(), PAUSE).unref()
    this.#pause.refresh()
  }

  end(): void {
    clearTimeout(this.#pause)
    clearTimeout(this.#waiting)
    this.#hasEnded = true
  }
}
