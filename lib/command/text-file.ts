import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`)
  }
}
