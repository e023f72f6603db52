import { existsSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { realPathOf } from './file-state.js'

/** What a build, or a test run, writes at the top of a package; a route may have the same name. */
const WRITTEN = new Set(['dist', 'build', 'coverage'])

/** Names with a dot that are read. */
const READ = /^\.(?:env(?:\..+)?|well-known)$/

/** Which paths are watched: the package of a program but for what is installed, written or hidden, and what is loaded from elsewhere. */
export class WatchedPaths {
  /** The folder of the package. */
  readonly root: string
  /** Folders that are watched whatever they are called. */
  readonly #tops: Set<string>

  constructor(entry: string) {
    this.root = packageFolder(dirname(entry))
    this.#tops = new Set([this.root])
  }

  get tops(): string[] {
    return [...this.#tops]
  }

  /** @returns those folders that are watched only from now on */
  add(directories: readonly string[]): string[] {
    return directories.map(realPathOf).filter((directory) => {
      if (this.#isCovered(directory)) return false
      this.#tops.add(directory)
      return true
    })
  }

  #isCovered(path: string): boolean {
    if (this.#tops.has(path)) return true
    return path !== dirname(path) && !this.isIgnored(path) && this.#isCovered(dirname(path))
  }

  /** Whether nothing at this path, or below it, is watched, given that the folder around it is. */
  isIgnored(path: string): boolean {
    if (this.#tops.has(path)) return false
    const name = basename(path)
    if (name === 'node_modules' || (name.startsWith('.') && !READ.test(name))) return true
    return WRITTEN.has(name) && dirname(path) === this.root
  }

  /** Beside package.json. */
  isAtTop(path: string): boolean {
    return dirname(path) === this.root
  }
}

export function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The nearest folder above with a package.json. */
function packageFolder(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (dirname(folder) === folder) return from
  }
}
