import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { missingNameOf } from './import-names.js'
import { importThroughJiti } from './jiti-loader.js'
import type { LoadedModule } from './loaded-module.js'
import { resolveTypeScriptSpecifiers } from './typescript-specifiers.js'

// Node keeps every CommonJS module here, also those that import() loaded.
const requireCache = createRequire(import.meta.url).cache

/** True for `.ts`, `.mts` and `.cts`. */
export function isTypeScript(file: string): boolean {
  return /\.[mc]?ts$/.test(file)
}

/**
 * Imports files. JavaScript goes through `import()`. TypeScript too where the process can (Node's type stripping, a
 * loader such as tsx), so that route files share the modules of the program that starts the application; where it
 * cannot, all TypeScript goes through jiti. Packages and JavaScript are the program's own instances in both cases.
 */
export async function loadModules(files: readonly string[]): Promise<Map<string, LoadedModule>> {
  const script = files.filter((file) => !isTypeScript(file))
  const typed = files.filter(isTypeScript)
  const loaded = await Promise.all([...script.map(importFile), loadTypeScript(typed)])
  return new Map(loaded.flat().map((module) => [module.file, module]))
}

async function loadTypeScript(files: readonly string[]): Promise<LoadedModule[]> {
  const [first, ...others] = files
  if (first === undefined) return []
  if (stripsTypes()) resolveTypeScriptSpecifiers()
  const probe = await importFile(first)
  // Where the process imports TypeScript, its errors stand: another loader would evaluate a second instance of each
  // module that the program, or a route file, has imported already.
  if ('error' in probe && cannotRead(probe.error)) return importThroughJiti(files)
  return [probe, ...(await Promise.all(others.map(importFile)))]
}

async function importFile(file: string): Promise<LoadedModule> {
  try {
    return { file, exports: plainExports(file, await import(pathToFileURL(file).href)) }
  } catch (error) {
    return { file, error }
  }
}

/** True where Node runs TypeScript itself: 22.18 and later, or by its option. */
function stripsTypes(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false
}

/** The process does not know TypeScript: it says so, or has read the file as JavaScript. */
function cannotRead(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION') return /"\.[mc]?ts"/.test(error.message)
  return error instanceof SyntaxError && !stripsTypes() && missingNameOf(error) === undefined
}

/** A CommonJS module is its `module.exports`; for Node it is also a default export, which nobody wrote. */
function plainExports(file: string, namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const whole = namespace['default']
  if (!isCommonJs(file, namespace) || typeof whole !== 'object' || whole === null) return namespace
  return { ...whole }
}

function isCommonJs(file: string, namespace: Readonly<Record<string, unknown>>): boolean {
  if (['.cjs', '.cts'].includes(extname(file)) || 'module.exports' in namespace) return true
  return requireCache[file] !== undefined
}
