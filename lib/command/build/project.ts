import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { findEntry } from '../entry.js'
import { fromHere } from '../output.js'
import { kindOf } from '../path-kind.js'
import { CommandError } from '../usage.js'
import { isEmpty } from './output-entries.js'
import { realPlace } from './real-place.js'

const DEFAULT_OUTPUT = 'dist'

/** What is built, and where to. All paths are absolute. */
export interface Project {
  /** The folder of package.json. */
  folder: string
  /** The program, as `node` runs it. */
  entry: string
  /** The folder of the entry: a file below it has the same path below the output. */
  source: string
  output: string
}

/** @throws CommandError when there is no such program, no package, or the output would replace sources */
export function findProject(entry: string | undefined, output: string | undefined): Project {
  const file = resolve(findEntry('build', entry))
  const folder = packageFolder(file)
  if (folder === undefined) {
    throw new CommandError(
      `There is no package.json in ${dirname(file)} or above\nMake one: npm init -y && npm pkg set type=module`
    )
  }
  const project = {
    folder,
    entry: file,
    source: dirname(file),
    output: realPlace(resolve(output ?? join(folder, DEFAULT_OUTPUT)))
  }
  checkOutput(project)
  return project
}

/** The nearest folder with a package.json, from a file upwards. */
export function packageFolder(file: string): string | undefined {
  const folder = dirname(file)
  if (existsSync(join(folder, 'package.json'))) return folder
  return folder === file ? undefined : packageFolder(folder)
}

/** The output is replaced as a whole, so nothing else may be in it. */
function checkOutput({ folder, entry, output }: Project): void {
  const shown = fromHere(output) || '.'
  if ([folder, entry].some((path) => isWithin(output, realpathSync(path)))) {
    throw new CommandError(`--out ${shown} holds the sources, and a build replaces all of it\nName a folder of its own`)
  }
  const kind = kindOf(output)
  if (kind === 'file') throw new CommandError(`--out ${shown} is a file\nName a folder`)
  if (kind === undefined || isBuildOutput(output) || holdsNothing(output)) return
  throw new CommandError(
    `${shown} holds files that no build has written, and a build replaces all of it\n` +
      'Remove it if nothing in it is needed, or name another folder: --out FOLDER'
  )
}

function holdsNothing(output: string): boolean {
  try {
    return isEmpty(output)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`${fromHere(output)} cannot be read: ${reason}\nName a folder of your own: --out FOLDER`)
  }
}

/** The package.json that a build writes. */
export interface OutputManifest {
  private: true
  type: 'module'
  /** The program in the folder, so that `node dist` runs it too. */
  main: string
  description: typeof WRITTEN_BY
}

export const WRITTEN_BY = 'Written by twinroute build'

function isBuildOutput(folder: string): boolean {
  return readOutputManifest(folder)?.description === WRITTEN_BY
}

export function readOutputManifest(folder: string): Partial<OutputManifest> | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Partial<OutputManifest>
  } catch {
    return undefined
  }
}

/** Whether `path` is `folder` or is below it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path)
}
