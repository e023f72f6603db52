/** Milliseconds in which a process answers; one that does not is stuck in a loop, or waits without letting others run. */
export const ANSWER_TIME = 5000

/** Milliseconds without a word of it before it is asked. */
const PAUSE = 2000

/** Milliseconds that a silence is counted in: by turns of this process, which may be busy itself. */
const TURN = 500

interface PulseOptions {
  /** Sends what is to be answered. */
  ask(): void
  /** It has not answered for so many milliseconds; told again and again, until something is heard. */
  onSilence(time: number): void
}

/** Whether a process answers: one in an endless loop does not. It is asked when nothing is heard of it after its first word. */
export class Pulse {
  readonly #options: PulseOptions
  #pause: NodeJS.Timeout | undefined
  #hasEnded = false
  #waiting: NodeJS.Timeout | undefined
  #silence = 0

  constructor(options: PulseOptions) {
    this.#options = options
  }

  get isSilent(): boolean {
    return this.#silence >= ANSWER_TIME
  }

  ask(): void {
    if (this.#hasEnded) return
    this.#options.ask()
    this.#waiting ??= setInterval(() => {
      this.#silence += TURN
      this.#options.onSilence(this.#silence)
    }, TURN).unref()
  }

  /** Something was heard. */
  beat(): void {
    if (this.#hasEnded) return
    this.#silence = 0
    clearInterval(this.#waiting)
    this.#waiting = undefined
    this.#pause ??= setTimeout(() => this.ask(), PAUSE).unref()
    this.#pause.refresh()
  }

  end(): void {
    clearTimeout(this.#pause)
    clearInterval(this.#waiting)
    this.#hasEnded = true
  }
}
