import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './source-tree.js'

/** The example as a project of a user, with the packages of this one. */
export function writeExampleProject(top: string, more: Readonly<Record<string, string>> = {}): void {
  for (const name of ['src', 'migrations'])
    cpSync(join(root, 'routes-example', name), join(top, name), { recursive: true })
  for (const [file, text] of Object.entries(more)) {
    mkdirSync(dirname(join(top, file)), { recursive: true })
    writeFileSync(join(top, file), text)
  }
  writeFileSync(join(top, 'package.json'), '{"name":"example","type":"module"}')
  const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: ['node'] }
  writeFileSync(join(top, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const packages = join(top, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  if (!existsSync(join(packages, 'twinroute'))) symlinkSync(root, join(packages, 'twinroute'))
}
