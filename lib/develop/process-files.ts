import { readText } from './file-state.js'
import { pollFile } from './polled-file.js'

/** Milliseconds without another event before the process is replaced: installers write several files. */
const QUIET = 150

/**
 * Files that take effect with a new process only. Editors and installers write them as they were, and empty them for a moment: it
 * is a change when a text stays that is another than the processes have read.
 */
export class ProcessFiles {
  /** As the processes have read them; undefined for none. */
  readonly #texts = new Map<string, string | undefined>()
  readonly #touched = new Set<string>()
  readonly #onChange: (file: string) => void
  #timer: NodeJS.Timeout | undefined
  #endPolls: (() => void)[] = []

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange
  }

  /** Watches files outside of the folders that are watched. */
  poll(paths: readonly string[]): void {
    for (const path of paths) this.find(path)
    this.#endPolls = paths.map((path) => pollFile(path, () => this.touch(path)))
  }

  /** A file that was there when the watch began, or that is found again. */
  find(path: string): void {
    if (this.#texts.has(path)) this.touch(path)
    else this.#texts.set(path, readText(path))
  }

  /** Something has happened to a file. */
  touch(path: string): void {
    if (this.#timer === undefined && !this.#differs(path)) return
    this.#touched.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#look(), QUIET)
  }

  end(): void {
    clearTimeout(this.#timer)
    for (const end of this.#endPolls) end()
  }

  #look(): void {
    this.#timer = undefined
    const changed = [...this.#touched].filter((path) => this.#differs(path))
    this.#touched.clear()
    for (const path of changed) this.#texts.set(path, readText(path))
    const last = changed.at(-1)
    if (last !== undefined) this.#onChange(last)
  }

  #differs(path: string): boolean {
    return readText(path) !== this.#texts.get(path)
  }
}
