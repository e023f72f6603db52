import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

export function isEmpty(folder: string): boolean {
  return readdirSync(folder).length === 0
}

/**
 * Gives a folder the entries of another one, which may be on another disk. Whatever fails, it has its own again.
 * @returns a folder with the old ones
 */
export function replaceEntries(target: string, from: string): string {
  const staged = join(target, `.${basename(from)}-new`)
  const old = join(target, `.${basename(from)}-old`)
  const before = readdirSync(target)
  const undoing: (() => void)[] = [() => rmSync(staged, { recursive: true, force: true })]
  const move = (name: string, place: string, other: string): void => {
    renameSync(join(place, name), join(other, name))
    undoing.push(() => renameSync(join(other, name), join(place, name)))
  }
  try {
    cpSync(from, staged, { recursive: true })
    mkdirSync(old)
    undoing.push(() => rmSync(old, { recursive: true }))
    for (const name of before) move(name, target, old)
    for (const name of readdirSync(staged)) move(name, staged, target)
    rmSync(staged, { recursive: true })
    return old
  } catch (error) {
    for (const undo of undoing.toReversed()) undo()
    throw error
  }
}
