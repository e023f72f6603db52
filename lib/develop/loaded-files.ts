import { digestOf, readText, realPathOf } from './file-state.js'

/** What one process has loaded, and which events of files it has been told and has not heard. */
export class LoadedFiles {
  /** By real path the digest of the text that it has read. */
  readonly #loaded = new Map<string, string>()
  /** Each with when it was told. */
  readonly #unheard: [file: string, time: number][] = []
  /** What {@link look} has found before. */
  #found = new Map<string, string | undefined>()

  /** @param digest of {@link digestOf} */
  reads(file: string, digest: string): void {
    this.#loaded.set(file, digest)
  }

  /** It is told an event of a file. */
  tell(path: string): { isLoaded: boolean } {
    const file = realPathOf(path)
    this.#unheard.push([file, performance.now()])
    return { isLoaded: this.#loaded.has(file) }
  }

  /** It has heard of the next event: so many milliseconds after it was told. */
  hears(): number {
    const [, time = 0] = this.#unheard.shift() ?? []
    return performance.now() - time
  }

  /** Whether it has loaded a file that now has another text. */
  isOutdated(path: string): boolean {
    const file = realPathOf(path)
    return this.#loaded.has(file) && this.#loaded.get(file) !== digestAt(file)
  }

  /**
   * The files that now have another text than it has loaded, of those whose events it has not heard. One save has several events,
   * and a file may be saved as it was; one that an editor has emptied or removed for a moment has another text when it is
   * looked at again.
   */
  look(): string[] {
    const before = this.#found
    const files = new Set(this.#unheard.map(([file]) => file).filter((file) => this.#loaded.has(file)))
    this.#found = new Map([...files].map((file) => [file, digestAt(file)]))
    return [...this.#found]
      .filter(([file, now]) => now !== this.#loaded.get(file) && before.has(file) && before.get(file) === now)
      .map(([file]) => file)
  }
}

function digestAt(file: string): string | undefined {
  const text = readText(file)
  return text === undefined ? undefined : digestOf(text)
}
