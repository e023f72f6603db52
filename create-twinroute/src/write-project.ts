import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Choices } from './choices.js'

const templates = fileURLToPath(new URL('../templates', import.meta.url))

/** npm leaves files of this name out of packages. */
const RENAMED = { _gitignore: '.gitignore' }

/** Copies the template, and writes the name into its package.json. */
export function writeProject({ folder, name, template }: Choices): void {
  const top = resolve(folder)
  mkdirSync(top, { recursive: true })
  cpSync(join(templates, template), top, { recursive: true })
  for (const [from, to] of Object.entries(RENAMED)) renameSync(join(top, from), join(top, to))
  const file = join(top, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, `${JSON.stringify({ ...manifest, name }, null, 2)}\n`)
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
