import { lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const HARMLESS = new Set(['.git', '.DS_Store'])

/** Why nothing can be made in a folder; undefined when it can. */
export function wrongFolder(folder: string): string | undefined {
  if (folder.trim() === '') return 'Name a folder'
  const path = resolve(folder)
  for (const place of wayTo(path)) {
    if (isMissing(place)) return undefined
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) continue
    return `${place === path ? folder : relative(process.cwd(), place)} is not a folder: name another one`
  }
  const [found] = readdirSync(path).filter((name) => !HARMLESS.has(name))
  return found === undefined ? undefined : `${folder} is not empty (it holds ${found}): name a new folder`
}

/** The folders of a path that are not there, the first one first. */
export function missingFolders(path: string): readonly string[] {
  return wayTo(path).filter(isMissing)
}

/** The folders that lead to a path, the root first, and the path. */
function wayTo(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...wayTo(parent), path]
}

/** A link that leads nowhere is there, too. */
function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}
