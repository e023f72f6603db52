import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import { toSourceError } from '../errors/source-error.js'
import { hasExport, missingName, onRecordedImports, recordImports, type ImportRecord } from './recorded-imports.js'

/** What a file exports, or what was thrown when it was imported. */
export type LoadedModule =
  | { file: string; exports: Readonly<Record<string, unknown>> }
  | { file: string; error: unknown }

/** jiti compiles these alone: JavaScript is imported by the process, which may have evaluated it before. */
const COMPILED = ['.ts', '.mts', '.cts', '.tsx', '.mtsx', '.ctsx']

let queue: Promise<unknown> = Promise.resolve()

/** Imports TypeScript files through jiti, in a process that cannot import TypeScript itself. */
export async function importThroughJiti(files: readonly string[]): Promise<LoadedModule[]> {
  // One application after the other, for the same reason as one file after the other.
  const turn = queue.then(() => whileRecording(() => importAll(files)))
  queue = turn.catch(() => undefined)
  return turn
}

/** One after the other: jiti evaluates a module that two imports ask for at the same time twice. */
async function importAll(files: readonly string[]): Promise<LoadedModule[]> {
  const { createJiti } = await import('jiti')
  const jiti = createJiti(import.meta.url, {
    fsCache: cacheDirectory(files[0] ?? ''),
    extensions: COMPILED,
    transformOptions: { babel: { plugins: [recordImports] } }
  })
  const loaded: LoadedModule[] = []
  for (const file of files) loaded.push(await importOne(file, jiti))
  return loaded
}

async function importOne(file: string, jiti: Jiti): Promise<LoadedModule> {
  try {
    const exports = { ...(await jiti.import<Record<string, unknown>>(file)) }
    const missing = await findMissingName((specifier, parent) =>
      jiti.import(pathOf(specifier, parent), { parentURL: pathToFileURL(parent).href })
    )
    return missing === undefined ? { file, exports } : { file, error: missing }
  } catch (error) {
    forgetImports()
    return { file, error: toSourceError(error) }
  }
}

/** jiti looks for a relative name beside its own file first. */
export function pathOf(specifier: string, parent: string): string {
  return /^\.\.?(?:\/[^?#]*)?$/.test(specifier) ? resolve(dirname(parent), specifier) : specifier
}

/**
 * Where compiled sources are kept: in the application's own node_modules, if it has one. Never in the system's
 * temporary directory, as is jiti's default: any user of the machine could put code there.
 */
export function cacheDirectory(file: string): string | false {
  const parent = dirname(file)
  if (parent === file) return false
  const modules = join(parent, 'node_modules')
  return existsSync(modules) ? join(modules, '.cache', 'twinroute') : cacheDirectory(parent)
}

const records: ImportRecord[] = []

/** While files are loaded, their compiled text is heard. */
async function whileRecording<Result>(load: () => Promise<Result>): Promise<Result> {
  const end = onRecordedImports((imports) => void records.push(...imports))
  try {
    return await load()
  } finally {
    end()
  }
}

/** After a failed import: to look its names up would evaluate the module that failed again. */
function forgetImports(): void {
  records.length = 0
}

type ImportModule = (specifier: string, parent: string) => Promise<unknown>

/** Looks up every name that compiled files have imported since the last call. */
async function findMissingName(importModule: ImportModule): Promise<SyntaxError | undefined> {
  const imports = records.splice(0)
  for (const { file, line, specifier, names } of imports) {
    const module = await importModule(specifier, file)
    const missing = names.find((name) => !hasExport(module, name))
    if (missing !== undefined) return missingName({ file, line, specifier }, missing)
  }
  return undefined
}
