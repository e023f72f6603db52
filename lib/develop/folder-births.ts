import type { Stats } from 'node:fs'

/**
 * Tells a folder from another one in its place: its number may be used again at once. Where no births are kept, what stands for
 * one is the time of the last change, which says nothing; a file system on which the two have differed keeps them.
 */
export class FolderBirths {
  readonly #devices = new Set<number>()

  isAnother(before: Stats, now: Stats): boolean {
    if (before.ino !== now.ino) return true
    return this.#devices.has(now.dev) && before.birthtimeMs !== now.birthtimeMs
  }

  /** One that is watched. */
  see(stats: Stats): void {
    if (stats.birthtimeMs !== stats.ctimeMs) this.#devices.add(stats.dev)
  }
}
