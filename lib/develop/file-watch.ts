import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import type { FileEvent } from './messages.js'

/** They take effect with a new process only: environment, module formats, paths, installed packages. */
const OF_PROCESS =
  /^(?:\.env(?:\..+)?|package\.json|tsconfig(?:\..+)?\.json|package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?)$/

const EVENTS = new Set<string>(['add', 'change', 'unlink'] satisfies FileEvent[])

const IGNORED = new Set(['node_modules', '.git', 'dist', 'build', 'coverage'])

/** Milliseconds in which an editor puts a new file in the place of the one it has removed. */
const RENAME_TIME = 40

interface Reactions {
  onFile(event: FileEvent, file: string): void
  /** A file has changed that the running process cannot load again. */
  onProcessFile(file: string): void
}

/** Watches the package of a program, and directories outside of it as they become known. */
export class FileWatch {
  readonly #root: string
  readonly #watcher: FSWatcher
  readonly #reactions: Reactions
  readonly #texts = new Map<string, string | undefined>()
  /** The watcher tells of all files that it finds; those that have come since are changes, which the application may have missed. */
  #isReady = false
  readonly #begun = Date.now()

  constructor(entry: string, reactions: Reactions) {
    this.#root = packageFolder(dirname(entry))
    this.#reactions = reactions
    const within = dirname(entry).slice(this.#root.length).split(sep)
    this.#watcher = watch(this.#root, {
      atomic: RENAME_TIME,
      ignored: (path) => !within.includes(basename(path)) && isIgnored(basename(path))
    })
    this.#watcher.on('all', (event, path) => this.#see(event, path))
  }

  /** Resolves when every change from then on is seen. */
  async ready(): Promise<void> {
    await new Promise<void>((resolve) => this.#watcher.once('ready', resolve))
    this.#isReady = true
  }

  addDirectories(directories: readonly string[]): void {
    const outside = directories
      .map(realpath)
      .filter((path) => path !== this.#root && !path.startsWith(this.#root + sep))
    if (outside.length > 0) this.#watcher.add(outside)
  }

  async close(): Promise<void> {
    await this.#watcher.close()
  }

  #see(event: string, path: string): void {
    if (!EVENTS.has(event)) return
    const isOfProcess = OF_PROCESS.test(basename(path)) && dirname(path) === this.#root
    if (isOfProcess && !this.#differs(path)) return
    if (!this.#isReady && (isOfProcess || (event === 'add' && isOlder(path, this.#begun)))) return
    if (isOfProcess) this.#reactions.onProcessFile(path)
    else this.#reactions.onFile(event as FileEvent, path)
  }

  /** Editors and installers write files as they were. */
  #differs(path: string): boolean {
    const before = this.#texts.get(path)
    const now = readText(path)
    this.#texts.set(path, now)
    return before !== now
  }
}

/** Packages, what a build writes, and hidden things but the environment. */
function isIgnored(name: string): boolean {
  return IGNORED.has(name) || /^\.(?!env)[^.]/.test(name)
}

/** The nearest folder above with a package.json. */
function packageFolder(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (dirname(folder) === folder) return from
  }
}

function isOlder(path: string, time: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined || stats.ctimeMs < time
}

function realpath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // it has gone, or is yet to come
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
