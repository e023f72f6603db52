import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What a file exports, or what was thrown when it was imported. */
export type LoadedModule =
  | { file: string; exports: Readonly<Record<string, unknown>> }
  | { file: string; error: unknown }

// Node keeps every CommonJS module here, also those that import() loaded.
const requireCache = createRequire(import.meta.url).cache

/** True for `.ts`, `.mts` and `.cts`. */
export function isTypeScript(file: string): boolean {
  return /\.[mc]?ts$/.test(file)
}

/**
 * Imports files. JavaScript goes through `import()`. TypeScript too where the process can (Node's type stripping, a
 * loader such as tsx), so that route files share the modules of the program that starts the application; where it
 * cannot, all TypeScript goes through jiti. Packages are the program's own instances in both cases.
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
  const probe = await importFile(first)
  if ('error' in probe && errorCode(probe.error) === 'ERR_UNKNOWN_FILE_EXTENSION') return transformAll(files)
  const loaded = [probe, ...(await Promise.all(others.map(importFile)))]
  // All or none: a module loaded both ways would exist twice.
  return loaded.some((module) => 'error' in module && needsTransform(module.error)) ? transformAll(files) : loaded
}

async function importFile(file: string): Promise<LoadedModule> {
  try {
    return { file, exports: plainExports(file, await import(pathToFileURL(file).href)) }
  } catch (error) {
    return { file, error }
  }
}

/** What Node's type stripping cannot do but a compiler can: enums, `./x.js` standing for `./x.ts`, elided imports. */
const TRANSFORM_CODES = new Set([
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'MODULE_NOT_FOUND'
])

function needsTransform(error: unknown): boolean {
  return error instanceof SyntaxError || TRANSFORM_CODES.has(errorCode(error) ?? '')
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** One after the other: jiti evaluates a module that two imports ask for at the same time twice. */
async function transformAll(files: readonly string[]): Promise<LoadedModule[]> {
  const { createJiti } = await import('jiti')
  const jiti = createJiti(import.meta.url, { fsCache: cacheDirectory(files[0] ?? '') })
  const loaded: LoadedModule[] = []
  for (const file of files) {
    try {
      loaded.push({ file, exports: { ...(await jiti.import<Record<string, unknown>>(file)) } })
    } catch (error) {
      loaded.push({ file, error })
    }
  }
  return loaded
}

/**
 * Where compiled sources are kept: in the application's own node_modules, if it has one. Never in the system's
 * temporary directory, as is jiti's default: any user of the machine could put code there.
 */
function cacheDirectory(file: string): string | false {
  const parent = dirname(file)
  if (parent === file) return false
  const modules = join(parent, 'node_modules')
  return existsSync(modules) ? join(modules, '.cache', 'jiti') : cacheDirectory(parent)
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
