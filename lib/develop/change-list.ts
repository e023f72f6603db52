import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, sep } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { stateOf } from './file-state.js'
import type { FileEvent } from './messages.js'
import type { ModuleGraph } from './module-graph.js'

/** Milliseconds without another event before the application is loaded: an editor that saves all files is one change. */
const QUIET = 10

/** Milliseconds without another event after which what is wrong with a file is no longer taken for half a save. */
const SETTLED = 200

/** Milliseconds after a load when the files are looked at again: a watcher may take two writes for one. */
const SECOND_LOOK = 80

/** While something is broken they are looked at further, with twice the time between, up to this many milliseconds. */
const LAST_LOOK = 5000

const ROUTE_OR_MIDDLEWARE = /^(?:route|middleware)\.[mc]?[jt]s$/
const SCRIPT = /^\.[mc]?[jt]sx?$/

interface Reactions {
  /** Something that concerns the application has changed. */
  hold(): void
  load(files: string[]): void
  /** It is as it was. */
  release(): void
}

/** Gathers the events of files, and drops those that concern nothing that is loaded. */
export class ChangeList {
  readonly #graph: ModuleGraph
  readonly #reactions: Reactions
  readonly #files = new Map<string, FileEvent>()
  readonly #apiDirs = new Set<string>()
  /** Loaded since the second look began: also by loads that another one has replaced. */
  readonly #loaded = new Set<string>()
  /** Those of the load that is under way, or was the last. */
  #loading: ReadonlyMap<string, FileEvent> = new Map()
  /** The route and middleware files that the application has found. */
  readonly #served = new Set<string>()
  /** Files that it lacks, as they were when they were seen. */
  readonly #lacking = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #lastEvent = -Infinity
  /** Something could not be loaded; a new file may be what it has looked for. */
  isBroken = false

  constructor(graph: ModuleGraph, reactions: Reactions) {
    this.#graph = graph
    this.#reactions = reactions
  }

  addDirectory(apiDir: string): void {
    this.#apiDirs.add(realpathSync(apiDir))
  }

  /** Files are about to be loaded because of where they are. */
  serves(files: readonly string[]): void {
    for (const file of files) if (existsSync(file)) this.#served.add(realpathSync(file))
  }

  /** @returns whether it concerns the application */
  add(event: FileEvent, file: string): boolean {
    if (!this.#concerns(event, file)) return false
    this.#files.set(file, event)
    this.#lastEvent = performance.now()
    this.#reactions.hold()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#load(), QUIET)
    return true
  }

  /**
   * Something cannot be loaded. Resolves when no file has changed for a while: an editor may have emptied one, or written half
   * of it, and what is wrong with it then is nobody's concern. After another change its load takes the place of this one.
   */
  async settleBroken(): Promise<void> {
    this.isBroken = true
    for (let rest = this.#unsettled; rest > 0; rest = this.#unsettled) await wait(rest)
  }

  /** Whether a file is empty or away that was loaded: an editor may be about to write it. */
  get isHalfDone(): boolean {
    return [...this.#loading].some(isHalfDone)
  }

  /** Milliseconds. */
  get #unsettled(): number {
    return this.#lastEvent + SETTLED - performance.now()
  }

  /** Looks a second time at what was loaded. */
  check(): void {
    const files = [...this.#loaded]
    this.#loaded.clear()
    this.#checkIn(SECOND_LOOK, files)
  }

  #checkIn(time: number, files: readonly string[]): void {
    setTimeout(() => {
      const changed = files.filter((file) => this.#graph.differs(file))
      for (const file of changed) this.add('change', file)
      if (this.isBroken && changed.length === 0 && time < LAST_LOOK) this.#checkIn(2 * time, files)
    }, time).unref()
  }

  #load(): void {
    // an editor may have emptied a file to write it, or removed it: its event may come before the text
    if (this.#unsettled > 0 && [...this.#files].some(isHalfDone)) {
      this.#timer = setTimeout(() => this.#load(), QUIET)
      return
    }
    // what was empty or away for a moment may be as it was
    const changed = [...this.#files].filter(([file, event]) => this.#graph.differs(file) || this.#mayLack(event, file))
    this.#files.clear()
    if (changed.length === 0) return this.#reactions.release()
    const files = changed.map(([file]) => file)
    this.#loading = new Map(changed)
    for (const file of files) this.#loaded.add(file)
    this.#served.clear()
    this.#reactions.load(files)
  }

  #concerns(event: FileEvent, file: string): boolean {
    return this.#graph.differs(file) || (this.#mayLack(event, file) && this.#isNews(file))
  }

  /** Whether the application may be without something that it would have with this file. */
  #mayLack(event: FileEvent, file: string): boolean {
    const isNamed = ROUTE_OR_MIDDLEWARE.test(basename(file))
    if (this.#graph.has(file)) return isNamed && this.#isOfApi(file) && !this.#served.has(file)
    const isScript = SCRIPT.test(extname(file))
    if (this.isBroken) return isScript || (extname(file) === '.json' && event !== 'unlink')
    // one that was away when the application was loaded may be told as changed
    return isScript && (isNamed || event !== 'change') && this.#isOfApi(file)
  }

  #isOfApi(file: string): boolean {
    return [...this.#apiDirs].some((apiDir) => isOf(apiDir, file))
  }

  /** One save has several events. */
  #isNews(file: string): boolean {
    const now = stateOf(file)
    if (this.#lacking.get(file) === now) return false
    this.#lacking.set(file, now)
    return true
  }
}

function isHalfDone([file, event]: [string, FileEvent]): boolean {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? event !== 'unlink' : stats.size === 0
}

/** In the directory, or the middleware file beside it. */
function isOf(apiDir: string, file: string): boolean {
  if (file.startsWith(apiDir + sep)) return true
  return dirname(file) === dirname(apiDir) && basename(file).startsWith('middleware.')
}
