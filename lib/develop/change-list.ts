import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, sep } from 'node:path'
import type { FileEvent } from './messages.js'
import type { ModuleGraph } from './module-graph.js'

/** Milliseconds without another event before the application is loaded: an editor that saves all files is one change. */
const QUIET = 10

/** How often a load waits for the text of an empty file. */
const MOST_POSTPONED = 3

/** Milliseconds after a load when the files are looked at again: a watcher may take two writes for one. */
const SECOND_LOOK = 80

const SCRIPT = /^\.[mc]?[jt]sx?$/

interface Reactions {
  /** Something that concerns the application has changed. */
  hold(): void
  load(files: string[]): void
}

/** Gathers the events of files, and drops those that concern nothing that is loaded. */
export class ChangeList {
  readonly #graph: ModuleGraph
  readonly #reactions: Reactions
  readonly #files = new Set<string>()
  readonly #apiDirs = new Set<string>()
  /** Loaded since the second look began: also by loads that another one has replaced. */
  readonly #loaded = new Set<string>()
  #postponed = 0
  #timer: NodeJS.Timeout | undefined
  /** Something could not be loaded; a new file may be what it has looked for. */
  isBroken = false

  constructor(graph: ModuleGraph, reactions: Reactions) {
    this.#graph = graph
    this.#reactions = reactions
  }

  addDirectory(apiDir: string): void {
    this.#apiDirs.add(realpathSync(apiDir))
  }

  add(event: FileEvent, file: string): void {
    if (!this.#concerns(event, file)) return
    this.#files.add(file)
    this.#reactions.hold()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#load(), QUIET)
  }

  /** Looks a second time at what was loaded. */
  check(): void {
    const files = [...this.#loaded]
    this.#loaded.clear()
    setTimeout(() => {
      for (const file of files) if (this.#graph.differs(file)) this.add('change', file)
    }, SECOND_LOOK).unref()
  }

  #load(): void {
    // an editor may have emptied a file to write it: its event may come before the text, and the next one be left out
    if (this.#postponed < MOST_POSTPONED && [...this.#files].some(isEmpty)) {
      this.#postponed++
      this.#timer = setTimeout(() => this.#load(), QUIET)
      return
    }
    this.#postponed = 0
    const files = [...this.#files]
    this.#files.clear()
    for (const file of files) this.#loaded.add(file)
    this.#reactions.load(files)
  }

  #concerns(event: FileEvent, file: string): boolean {
    if (this.#graph.has(file)) return this.#graph.differs(file)
    if (!SCRIPT.test(extname(file))) return this.isBroken && event !== 'unlink' && extname(file) === '.json'
    if (this.isBroken) return true
    return event !== 'change' && [...this.#apiDirs].some((apiDir) => isOf(apiDir, file))
  }
}

function isEmpty(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.size === 0
}

/** In the directory, or the middleware file beside it. */
function isOf(apiDir: string, file: string): boolean {
  if (file.startsWith(apiDir + sep)) return true
  return dirname(file) === dirname(apiDir) && basename(file).startsWith('middleware.')
}
