import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ENVIRONMENT_FILE } from './environment.js'
import { readText } from './file-state.js'

const LOCKS = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb']

const OF_PROCESS = new RegExp(
  `^(?:\\.env(?:\\..+)?|package\\.json|tsconfig(?:\\..+)?\\.json|(?:${LOCKS.join('|').replaceAll('.', '\\.')}))$`
)

/**
 * Whether a file of this name, beside package.json, takes effect with a new process only: environment, module formats, paths,
 * installed packages.
 */
export function isOfProcess(file: string): boolean {
  return OF_PROCESS.test(basename(file))
}

/**
 * What a process reads once, when it begins, and that {@link isOfProcess} does not know at the top of its package: as in a
 * repository of several packages.
 */
export function outerFiles(entry: string, root: string): string[] {
  const configs = nearest(dirname(entry), ['tsconfig.json']).flatMap((file) => [...withExtended(file)])
  const files = [ENVIRONMENT_FILE, ...nearest(root, LOCKS), ...configs]
  return files.filter((file) => dirname(file) !== root || !isOfProcess(file))
}

/** Those of the first folder, from one upwards, that has any. */
function nearest(folder: string, names: readonly string[]): string[] {
  const found = names.map((name) => join(folder, name)).filter((file) => existsSync(file))
  return found.length > 0 || dirname(folder) === folder ? found : nearest(dirname(folder), names)
}

/** A tsconfig.json, and those that it names; those of packages change when packages are installed. */
function withExtended(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file)) return all
  all.add(file)
  const [, given = ''] = /"extends"\s*:\s*("[^"]*"|\[[^\]]*\])/.exec(readText(file) ?? '') ?? []
  for (const [, name = ''] of given.matchAll(/"(\.[^"]*)"/g)) {
    withExtended(resolve(dirname(file), name.endsWith('.json') ? name : `${name}.json`), all)
  }
  return all
}
