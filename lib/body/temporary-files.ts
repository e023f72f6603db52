import { randomUUID } from 'node:crypto'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { keepUploads } from '../contract/instance-state.js'
import type { UploadOptions, FormFile } from '../contract/uploads.js'
import { openAsBlob } from 'node:fs'
import { toFilePath } from '../options/values.js'

/** A directory's name contains machine and process id, so that a sweep never removes files of a running process. */
const PREFIX = `twinroute-uploads-${hostname().replaceAll(/\W/g, '')}`
const NAME = new RegExp(`^${PREFIX}-(\\d+)-\\w{6}$`)

/** Milliseconds since 1970. A directory of our process id that is older is from a process that had the id before us. */
const PROCESS_START = Date.now() - process.uptime() * 1000

/** Where temporary files go: the given folder, else the system's. */
export function tempParent(directory: string | URL | undefined): string {
  return directory === undefined ? tmpdir() : toFilePath(directory)
}

/** Names of directories of this process that are in use: where the clock has been set back, their time is before its start. */
const inUse = new Set<string>()

const removals = new Set<Promise<void>>()

/** Resolves when the removals under way have ended, well or not. */
async function removalsEnded(): Promise<void> {
  await Promise.allSettled(removals)
}

/** The temporary files of one form, in a directory of their own that only this user may enter (0700). */
export class TempFiles {
  readonly #parent: string
  #directory: Promise<string> | undefined

  constructor(parent: string) {
    this.#parent = parent
  }

  /** An unguessable path in the directory. */
  async newPath(): Promise<string> {
    this.#directory ??= makeDirectory(this.#parent)
    return join(await this.#directory, randomUUID())
  }

  /** Removes the directory with all that is in it. */
  remove(): Promise<void> {
    const removal = this.#remove().finally(() => removals.delete(removal))
    removals.add(removal)
    return removal
  }

  async #remove(): Promise<void> {
    if (this.#directory === undefined) return
    const directory = await this.#directory.catch(() => undefined) // it could not be made: there is nothing to remove
    if (directory === undefined) return
    await rm(directory, { recursive: true, force: true, maxRetries: 5 }).finally(() =>
      inUse.delete(basename(directory))
    )
  }
}

async function makeDirectory(parent: string): Promise<string> {
  const directory = await mkdtemp(join(parent, `${PREFIX}-${process.pid}-`))
  inUse.add(basename(directory))
  return directory
}

/** Removes the directories that processes of this machine and user have left behind when they were killed. */
async function sweepTempFiles(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = NAME.exec(name)?.[1]
    if (pid === undefined) continue
    const path = join(parent, name)
    if (await isLeftBehind(path, Number(pid))) await rm(path, { recursive: true, force: true })
  }
}

async function isLeftBehind(path: string, pid: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined) // another process may sweep, too
  if (found === undefined || !found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false
  return pid === process.pid ? found.mtimeMs < PROCESS_START && !inUse.has(basename(path)) : !isRunning(pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0) // sends nothing
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH' // EPERM: it runs, as another user
  }
}

/**
 * Keeps on a Fastify instance what holds for the forms read there. Before it serves, the temporary files that killed
 * processes have left are removed; when it closes, its own are gone.
 */
export function prepareUploads(fastify: FastifyInstance, uploads: UploadOptions = {}): void {
  keepUploads(fastify, uploads)
  const parent = tempParent(uploads.directory)
  fastify.addHook('onReady', async () => {
    await sweepTempFiles(parent).catch((error: unknown) => {
      fastify.log.warn(
        { err: error },
        `Uploads cannot be kept in ${parent}: set uploads.directory to a directory that can be written`
      )
    })
  })
  fastify.addHook('onClose', removalsEnded)
}

/** A complete temporary file, and what the client said about it. */
export interface StoredFile {
  path: string
  name: string
  type: string
}

/**
 * A web `File` over a temporary file, with its `path`. Nothing is read until the File is read: it can be sent on
 * with `fetch` however large it is.
 */
export async function openFormFile({ path, name, type }: StoredFile): Promise<FormFile> {
  const bytes = await openAsBlob(path)
  const file = new File([bytes], name, { type })
  // not enumerable: JSON of a File must not tell a client where files lie
  return Object.defineProperty(file, 'path', { value: path }) as FormFile
}
