import type { Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import { isOlder, statOf } from './file-state.js'
import { FolderBirths } from './folder-births.js'
import type { FileEvent } from './messages.js'
import { isOfProcess, outerFiles } from './outer-files.js'
import { ProcessFiles } from './process-files.js'
import { WatchFaults } from './watch-faults.js'
import { isBelow, WatchedPaths } from './watched-paths.js'

/** Milliseconds without a sign of a path before it is looked at: chokidar leaves out what comes soon after something else. */
const LOOK_TIME = 25

/** Milliseconds in which an editor puts a new file in the place of the one it has removed. */
const RENAME_TIME = 40

/** Milliseconds after which a new folder is listed again: chokidar lists it first, and watches it then. */
const FOLDER_TIME = 250

/** Milliseconds before the watch is renewed in which the change may have been that has made it necessary. */
const RENEWAL_TIME = 10_000

/** Milliseconds after an error in which chokidar has listed the rest: it may not say so. */
const FAULT_TIME = 1000

interface Reactions {
  onFile(event: FileEvent, file: string): void
  /** A file has another text that the running process cannot load again. */
  onProcessFile(file: string): void
}

/** Watches the package of a program, and directories outside of it as they become known. */
export class FileWatch {
  readonly #paths: WatchedPaths
  readonly #reactions: Reactions
  #watcher: FSWatcher
  readonly #files = new Set<string>()
  /** As they were when their watch began; none of one that had gone by then. */
  readonly #folders = new Map<string, Stats | undefined>()
  readonly #births = new FolderBirths()
  readonly #looks = new Map<string, NodeJS.Timeout>()
  readonly #ofProcess: ProcessFiles
  /** The watcher tells of all files that it finds; those that have come since are changes, which the application may have missed. */
  #isReady = false
  #begun = Date.now()
  readonly #faults = new WatchFaults()

  constructor(entry: string, reactions: Reactions) {
    this.#reactions = reactions
    this.#ofProcess = new ProcessFiles((file) => reactions.onProcessFile(file))
    this.#paths = new WatchedPaths(entry)
    this.#paths.add([dirname(entry)])
    this.#watcher = this.#open()
    this.#ofProcess.poll(outerFiles(entry, this.#paths.root))
  }

  /** All that are there. */
  get files(): Iterable<string> {
    return this.#files
  }

  #open(): FSWatcher {
    const watcher = watch(this.#paths.tops, {
      atomic: false, // it would take a file that is written in the place of another for the same one, or for none
      ignored: (path, stats) => this.#paths.isIgnored(path) || (stats?.isDirectory() === true && isEnvironment(path))
    })
    watcher.on('error', (error) => this.#faults.tell(error))
    watcher.on('all', (event, path, stats) => this.#see(event, path, stats))
    // every sign of the file system, also those that chokidar makes nothing of
    watcher.on('raw', (_event, name, details) => this.#touch(this.#pathOf(name, details)))
    return watcher
  }

  /** Resolves when every change from then on is seen. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#watcher.once('ready', resolve)
      this.#watcher.once('error', () => setTimeout(resolve, FAULT_TIME).unref())
    })
    this.#isReady = true
  }

  addDirectories(directories: readonly string[]): void {
    const more = this.#paths.add(directories)
    if (more.length > 0) this.#watcher.add(more)
  }

  async close(): Promise<void> {
    for (const timer of this.#looks.values()) clearTimeout(timer)
    this.#ofProcess.end()
    await this.#watcher.close()
  }

  #see(event: string, path: string, stats: Stats | undefined): void {
    if (event === 'add' || event === 'change') {
      this.#files.add(path)
      this.#tell(event, path)
    } else if (event === 'addDir') this.#addFolder(path, stats)
    else this.#touch(path)
  }

  /** @param details of an event of the operating system; of a file that is polled there is a path only */
  #pathOf(name: string | null, details: unknown): string {
    const { watchedPath } = details as { watchedPath?: string }
    if (watchedPath === undefined || name === null) return watchedPath ?? name ?? this.#paths.root
    return this.#files.has(watchedPath) ? watchedPath : join(watchedPath, name)
  }

  /** Something has happened there; it is looked at when nothing more happens. */
  #touch(path: string): void {
    if (this.#paths.isIgnored(path)) return
    this.#lookIn(LOOK_TIME, path, () => this.#look(path))
  }

  #lookIn(time: number, path: string, look: () => void): void {
    clearTimeout(this.#looks.get(path))
    const run = (): void => {
      this.#looks.delete(path)
      look()
    }
    this.#looks.set(path, setTimeout(run, time))
  }

  #look(path: string): void {
    const stats = statOf(path)
    if (stats === undefined) this.#lookIn(RENAME_TIME, path, () => this.#lookAgain(path))
    else this.#found(path, stats)
  }

  #lookAgain(path: string): void {
    const stats = statOf(path)
    if (stats !== undefined) return this.#found(path, stats)
    if (!this.#files.has(path) && !this.#folders.has(path)) return
    const isGone = (known: string): boolean => known === path || isBelow(path, known)
    for (const folder of [...this.#folders.keys()].filter(isGone)) this.#folders.delete(folder)
    for (const file of [...this.#files].filter(isGone)) {
      this.#files.delete(file)
      this.#tell('unlink', file)
    }
  }

  #found(path: string, stats: Stats): void {
    if (stats.isDirectory()) this.#foundFolder(path, stats)
    else {
      const event = this.#files.has(path) ? 'change' : 'add'
      this.#files.add(path)
      this.#tell(event, path)
    }
  }

  #foundFolder(path: string, stats: Stats): void {
    this.#births.see(stats)
    const known = this.#folders.get(path)
    if (!this.#folders.has(path)) this.#watcher.add(path)
    else if (known === undefined || this.#births.isAnother(known, stats)) this.#renew()
  }

  #addFolder(path: string, stats: Stats | undefined): void {
    const now = stats ?? statOf(path)
    if (now !== undefined) this.#births.see(now)
    this.#folders.set(path, now)
    if (this.#isReady) setTimeout(() => this.#listAgain(path), FOLDER_TIME).unref()
  }

  #listAgain(folder: string): void {
    if (!this.#watcher.closed && this.#folders.has(folder)) this.#watcher.add(folder)
  }

  /** A folder was removed and made again before chokidar had noticed: what it watches is the one that has gone. */
  #renew(): void {
    const before = new Set(this.#files)
    void this.#watcher.close()
    this.#files.clear()
    this.#folders.clear()
    this.#isReady = false
    this.#begun = Date.now() - RENEWAL_TIME
    this.#watcher = this.#open()
    void this.ready().then(() => {
      for (const file of before) if (!this.#files.has(file)) this.#tell('unlink', file)
    })
  }

  #tell(event: FileEvent, path: string): void {
    if (isOfProcess(path) && this.#paths.isAtTop(path)) {
      if (this.#isReady) this.#ofProcess.touch(path)
      else this.#ofProcess.find(path)
    } else if (this.#isReady || event !== 'add' || !isOlder(path, this.#begun)) this.#reactions.onFile(event, path)
  }
}

/** Some call the folder of another language's packages so. */
function isEnvironment(path: string): boolean {
  return basename(path).startsWith('.env')
}
