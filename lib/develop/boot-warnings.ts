import type { BootWarning } from '../contract/manifest.js'

/** Boot warnings of one load after the other: each is told once, until it was gone. */
export class BootWarnings {
  #generation = 0
  #before = new Set<string>()
  #now = new Set<string>()

  /** Those that the load before did not have. A load that fails has none, and is none to compare with. */
  takeNew(warnings: readonly BootWarning[], generation: number): BootWarning[] {
    if (generation !== this.#generation) {
      this.#before = this.#now
      this.#now = new Set()
      this.#generation = generation
    }
    for (const { message } of warnings) this.#now.add(message)
    return warnings.filter(({ message }) => !this.#before.has(message))
  }
}
