import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Choices } from './choices.js'
import { missingFolders } from './folders.js'
import { FAILED, isSystemError, Refusal } from './refusal.js'
import { finishBeforeSignals } from './signals.js'

const templates = fileURLToPath(new URL('../templates', import.meta.url))

/** npm leaves files of this name out of packages. */
const RENAMED: Readonly<Record<string, string>> = { _gitignore: '.gitignore' }

/**
 * Makes the files of the template, with the name in package.json: all of them, or none.
 * @throws Refusal when the system lets one not be written, or a signal came meanwhile
 */
export async function writeProject({ folder, name, template }: Choices): Promise<void> {
  const top = resolve(folder)
  const from = join(templates, template)
  const missing = missingFolders(top)
  const [first] = missing
  const made = first === undefined ? readdirSync(from).map((entry) => join(top, RENAMED[entry] ?? entry)) : [first]
  const undo = (): void => {
    for (const path of made) rmSync(path, { recursive: true, force: true })
  }
  const write = (): void => {
    try {
      for (const place of missing) mkdirSync(place) // with `recursive` Node never returns where none can be made, as in /proc
      copyFolder(from, top)
      const file = join(top, 'package.json')
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as object
      writeFileSync(file, `${JSON.stringify({ ...manifest, name }, null, 2)}\n`)
    } catch (error) {
      undo()
      throw isSystemError(error) ? new Refusal(`${folder} cannot be made: ${error.message}`, FAILED) : error
    }
  }
  await finishBeforeSignals(write, undo)
}

/** The files get the permissions of new files: those of an installed package may be read-only. */
function copyFolder(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const target = join(to, RENAMED[entry.name] ?? entry.name)
    if (entry.isDirectory()) {
      mkdirSync(target)
      copyFolder(join(from, entry.name), target)
    } else writeFileSync(target, readFileSync(join(from, entry.name)))
  }
}

/** What to type next, with the package manager that runs this. */
export function nextCommands(folder: string): string {
  const manager = /^(pnpm|yarn|bun)\b/.exec(process.env['npm_config_user_agent'] ?? '')?.[1] ?? 'npm'
  const way = relative(process.cwd(), resolve(folder))
  const commands = [`${manager} install`, `${manager} run dev`]
  return (way === '' ? [...commands, `${manager} test`] : [`cd ${way}`, ...commands])
    .map((command) => `  ${command}`)
    .join('\n')
}
