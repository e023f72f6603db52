import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fromHere, printError } from '../output.js'
import { makeFolder } from '../text-file.js'
import { CommandError } from '../usage.js'
import { replaceEntries } from './output-entries.js'

/**
 * The output in the making: a folder beside the real one, which takes its place when it is complete. Whatever happens
 * before, the real one is whole: the old one, or none.
 */
export class OutputFolder {
  readonly #target: string
  #folder: string | undefined

  constructor(target: string) {
    this.#target = target
  }

  write(path: string, contents: string | Uint8Array): void {
    this.#try(() => {
      const file = join(this.#make(), path)
      makeFolder(dirname(file))
      writeFileSync(file, contents)
    })
  }

  /** Copies a file or a folder, without what is hidden (`.env`) and without installed packages. */
  copy(from: string, path: string): void {
    this.#try(() => {
      const options = { recursive: true, dereference: true }
      cpSync(from, join(this.#make(), path), { ...options, filter: (file) => file === from || isCopied(file) })
    })
  }

  /** Puts the folder in the place of the real one. */
  publish(): void {
    const folder = this.#folder
    if (folder === undefined) return
    this.#try(() => {
      const old = `${folder}-old`
      if (!existsSync(this.#target) || isRenamed(this.#target, old)) {
        try {
          renameSync(folder, this.#target)
        } catch (error) {
          if (existsSync(old)) renameSync(old, this.#target)
          throw error
        }
        this.#folder = undefined
        removeOld(old)
      } else {
        removeOld(replaceEntries(this.#target, folder))
        this.discard()
      }
    })
  }

  /** Removes what was not published. */
  discard(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    this.#folder = undefined
  }

  #make(): string {
    if (this.#folder !== undefined) return this.#folder
    const parent = dirname(this.#target)
    const folder = join(parent, `.${basename(this.#target)}-${randomBytes(6).toString('hex')}`)
    makeFolder(parent)
    mkdirSync(folder) // not a temporary one of the system's: those are for their owner's eyes only, and this becomes the output
    return (this.#folder = folder)
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CommandError(`${fromHere(this.#target)} cannot be written, and is as it was: ${reason}`)
    }
  }
}

/** A mount point cannot be renamed, nor can a folder of an older layer of a container's disk. */
function isRenamed(folder: string, name: string): boolean {
  try {
    renameSync(folder, name)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EBUSY' || code === 'EXDEV') return false
    throw error
  }
}

/** The new output is in its place: what is left of the old one is no reason to fail. */
function removeOld(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    printError(
      `The older output is still in ${fromHere(folder)}: ${error instanceof Error ? error.message : String(error)}`
    )
  }
}

function isCopied(file: string): boolean {
  return !basename(file).startsWith('.') && basename(file) !== 'node_modules'
}
