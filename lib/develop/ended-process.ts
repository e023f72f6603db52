import type { Failure } from './failure.js'
import { isOlder, stateOf } from './file-state.js'
import type { LoadedFiles } from './loaded-files.js'

/** A process has ended that would end again as it is: the next one begins after a change. */
export class EndedProcess {
  readonly failure: Failure
  readonly #time = Date.now()
  readonly #loaded: LoadedFiles
  /** Of files when it had ended. */
  readonly #states: ReadonlyMap<string, string>

  /**
   * @param reason exit code, or signal
   * @param loaded by the process
   * @param files that a change may be in
   */
  constructor(reason: number | string, loaded: LoadedFiles, files: readonly string[]) {
    this.#loaded = loaded
    this.#states = new Map(files.map((file) => [file, stateOf(file)]))
    this.failure = [
      {
        code: 'PROCESS_ENDED',
        message: 'The process of the application has ended',
        place: undefined,
        frame: undefined,
        cause: typeof reason === 'number' ? `exit code ${reason}` : reason,
        fix: 'See what it has written to the terminal, correct it and save: it starts again after a change'
      }
    ]
  }

  /**
   * Whether an event of a file may lead to a process that does not end: it was saved since, as it was or otherwise, or has another
   * text than was loaded. Events of what the process has saved itself, and the second one of a save, may come when it has ended.
   */
  precedes(file: string): boolean {
    const before = this.#states.get(file)
    const isSaved = before === undefined ? !isOlder(file, this.#time) : before !== stateOf(file)
    return isSaved || this.#loaded.isOutdated(file)
  }
}
