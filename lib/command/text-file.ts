import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from './usage.js'

/**
 * The text of a file; undefined when there is none.
 * @throws CommandError when it cannot be read
 */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Writes a file, and the folders that lead to it.
 * @throws CommandError when it cannot be written
 */
export function writeText(file: string, text: string): void {
  try {
    makeFolder(dirname(file))
    writeFileSync(file, text)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

/**
 * Makes a folder, and those that lead to it, one by one: where the system refuses a folder as if the one around it were not
 * there, as in `/proc`, Node's own `recursive` tries again without an end.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    if (!existsSync(folder)) throw error // else another program has made it
  }
}
