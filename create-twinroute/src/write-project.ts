import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Choices } from './choices.js'
import { missingFolders, wrongFolder } from './folders.js'
import { FAILED, isSystemError, Refusal } from './refusal.js'
import { finishBeforeSignals } from './signals.js'

const templates = fileURLToPath(new URL('../templates', import.meta.url))

/** npm leaves files of this name out of packages. */
const RENAMED: Readonly<Record<string, string>> = { _gitignore: '.gitignore' }

/**
 * Makes the files of the template, with the name in package.json: all of them, or none. What others have made is left alone.
 * @throws Refusal when something is in the folder by now, when the system lets a file not be written, or a signal came meanwhile
 */
export async function writeProject({ folder, name, template }: Choices): Promise<void> {
  const wrong = wrongFolder(folder) // once more: a question may have been open for long
  if (wrong !== undefined) throw new Refusal(wrong)
  const made = new MadeFiles()
  const write = (): void => {
    try {
      const top = resolve(folder)
      for (const place of missingFolders(top)) made.addFolder(place)
      copyFolder(join(templates, template), top, { made, name })
    } catch (error) {
      made.undo()
      throw isSystemError(error) ? new Refusal(`${folder} cannot be made: ${error.message}`, FAILED) : error
    }
  }
  await finishBeforeSignals(write, () => made.undo())
}

/** Files and folders that were not there before. */
class MadeFiles {
  readonly #undoing: (() => void)[] = []

  addFolder(path: string): void {
    mkdirSync(path) // with `recursive` Node never returns where none can be made, as in /proc
    this.#undoing.push(() => rmdirSync(path))
  }

  addFile(path: string, contents: string | Uint8Array): void {
    writeFileSync(path, '', { flag: 'wx' })
    this.#undoing.push(() => unlinkSync(path))
    writeFileSync(path, contents)
  }

  /** Removes them, the last one first. A folder stays where somebody else has put something into it. */
  undo(): void {
    for (const remove of this.#undoing.toReversed()) {
      try {
        remove()
      } catch (error) {
        if (!isSystemError(error)) throw error
      }
    }
  }
}

interface Copy {
  made: MadeFiles
  /** Of the package. */
  name: string
}

/** The files get the permissions of new files: those of an installed package may be read-only. */
function copyFolder(from: string, to: string, copy: Copy): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, RENAMED[entry.name] ?? entry.name)
    if (entry.isDirectory()) {
      copy.made.addFolder(target)
      copyFolder(source, target, copy)
    } else copy.made.addFile(target, contents(entry.name, source, copy.name))
  }
}

function contents(file: string, source: string, name: string): string | Uint8Array {
  if (file === 'package.json') return manifest(source, name)
  return file === 'README.md' ? page(source, name) : readFileSync(source)
}

/** In commands, which take no scope, as the name of a container. */
function page(file: string, name: string): string {
  const text = readFileSync(file, 'utf8').replace(/^# my-app$/m, () => `# ${name}`)
  return text.replaceAll(/ my-app(?=[ `])/g, () => ` ${basename(name)}`)
}

function manifest(file: string, name: string): string {
  return `${JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), name }, null, 2)}\n`
}

/** What to type next, with the package manager that runs this. */
export function nextCommands(folder: string): string {
  const manager = /^(pnpm|yarn|bun)\b/.exec(process.env['npm_config_user_agent'] ?? '')?.[1] ?? 'npm'
  const way = relative(process.cwd(), resolve(folder))
  const commands = [`${manager} install`, `${manager} run dev`]
  return (way === '' ? [...commands, `${manager} test`] : [`cd ${quoted(way)}`, ...commands])
    .map((command) => `  ${command}`)
    .join('\n')
}

/** A path as a shell takes it. Double quotes are for the shells of Windows, too; in those of others they leave a few characters alive. */
function quoted(path: string): string {
  const plain = path.replaceAll(sep, '/') // a backslash separates folders on Windows only; other shells take it for a mark of their own
  if (/^[\w.@/:][\w.@/:+,=-]*$/.test(plain)) return path
  if (!/^-|["$`\\!]/.test(plain)) return `"${path}"`
  return `'${path.startsWith('-') ? './' : ''}${path.replaceAll("'", String.raw`'\''`)}'`
}
