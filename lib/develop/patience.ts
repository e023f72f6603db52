import { displayPath } from '../errors/boot-error.js'
import { ANSWER_TIME } from './pulse.js'

/** Milliseconds after which a program that blocks is taken for an endless loop, whatever it writes. */
const LONGEST = 8 * ANSWER_TIME

/** Where programs write sources. */
const GENERATED = /(?:^|[/\\])_*generated_*[/\\]|\.(?:gen|generated)\.\w+$/

/**
 * How long a process may be silent while files have changed that it runs. A developer has corrected an endless loop, and
 * waits; or the program blocks for a while and has written them itself. The second would end every process that follows, so each
 * of them has twice the time of the one before, until a change comes to one that is ready and answers.
 */
export class Patience {
  #time = ANSWER_TIME

  /** @returns milliseconds */
  timeFor(files: readonly string[]): number {
    if (files.length === 0) return Infinity
    return files.every((file) => GENERATED.test(displayPath(file))) ? LONGEST : this.#time
  }

  grow(): void {
    this.#time = Math.min(2 * this.#time, LONGEST)
  }

  reset(): void {
    this.#time = ANSWER_TIME
  }
}
