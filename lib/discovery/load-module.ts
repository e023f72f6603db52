import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL, fileURLToPath } from 'node:url'
import { isBuilt, loadBuilt } from './built-routes.js'
import { importThroughJiti, type LoadedModule } from './jiti-loader.js'
import { missingNameOf } from './recorded-imports.js'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { displayPath, fixIn, type BootProblem } from '../errors/boot-error.js'

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
  const loaded = await Promise.all([...script.map(loadScript), loadTypeScript(typed)])
  return new Map(loaded.flat().map((module) => [module.file, module]))
}

/** What is built is JavaScript. */
async function loadScript(file: string): Promise<LoadedModule> {
  return isBuilt(file) ? loadBuilt(file) : importFile(file)
}

async function loadTypeScript(files: readonly string[]): Promise<LoadedModule[]> {
  const [first, ...others] = files
  if (first === undefined) return []
  if (stripsTypes()) resolveTypeScriptSpecifiers()
  const probe = await importFile(first)
  // Where the process imports TypeScript, its errors are final: another loader would evaluate a second instance of each
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

/** A CommonJS module is its `module.exports`; for Node it is also a default export, which is not in the source. */
function plainExports(file: string, namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const whole = namespace['default']
  if (!isCommonJs(file, namespace) || typeof whole !== 'object' || whole === null) return namespace
  return { ...whole }
}

function isCommonJs(file: string, namespace: Readonly<Record<string, unknown>>): boolean {
  if (['.cjs', '.cts'].includes(extname(file)) || 'module.exports' in namespace) return true
  return requireCache[file] !== undefined
}

/**
 * The boot problem of a file that cannot be imported, without its code.
 * @param otherwise the fix, where the error says nothing more exact
 */
export function importProblem(file: string, cause: unknown, otherwise: string): Omit<BootProblem, 'code'> {
  return {
    message: importMessage([file]),
    files: [file],
    fix: adviseImport(file, cause, otherwise),
    cause
  }
}

const MOST_NAMED = 3

function importMessage(files: readonly string[]): string {
  const named = files.slice(0, MOST_NAMED).map(displayPath)
  const more = files.length > MOST_NAMED ? ` and ${files.length - MOST_NAMED} more` : ''
  return `${more === '' ? named.join(' and ') : named.join(', ')}${more} cannot be imported`
}

/** One problem for each cause: what a shared module throws keeps all files that import it from being imported. */
export function mergeByCause(problems: readonly BootProblem[]): BootProblem[] {
  const merged: BootProblem[] = []
  for (const problem of problems) {
    const at = isOfImport(problem) ? merged.findIndex((one) => isOfImport(one) && isSame(one.cause, problem.cause)) : -1
    const known = merged[at]
    if (known === undefined) merged.push(problem)
    else {
      const files = [...new Set([...known.files, ...problem.files])]
      merged[at] = { ...known, files, message: importMessage(files) }
    }
  }
  return merged
}

function isOfImport({ code }: BootProblem): boolean {
  return code === 'ROUTE_IMPORT_FAILED' || code === 'MIDDLEWARE_IMPORT_FAILED'
}

/** A bundled module throws anew whenever it is asked for. */
function isSame(cause: unknown, other: unknown): boolean {
  if (cause === other) return true
  if (!(cause instanceof Error && other instanceof Error)) return false
  const place = frameOf(cause)
  if (place === undefined || /[ (]node:/.test(place)) return false // Node's own, which any two files may have in common
  return place === frameOf(other) && cause.message === other.message
}

function frameOf({ stack = '' }: Error): string | undefined {
  return /^ +at .*$/m.exec(stack)?.[0]
}

/** What to do about a file that cannot be imported, where the error alone does not say it; else `otherwise`. */
function adviseImport(file: string, error: unknown, otherwise: string): string {
  if (!(error instanceof Error)) return otherwise
  const fix = fixIn(error)
  if (fix !== undefined) return fix
  const name = missingNameOf(error)
  if (name !== undefined) {
    const correct = `Correct the name ${name}, or export it`
    return isTypeScript(file) ? `${correct}; if it is a type, write: import { type ${name} }` : correct
  }
  if (!('code' in error) || error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return otherwise
  return (
    'Node runs TypeScript by removing types, which this is not: write it without (a const object for an enum), ' +
    'compile first, or start with a loader that compiles (node --import tsx)'
  )
}

interface ResolveContext {
  parentURL?: string | undefined
}

type Resolve = (specifier: string, context: ResolveContext) => unknown
type RegisterHooks = (hooks: {
  resolve: (specifier: string, context: ResolveContext, next: Resolve) => unknown
}) => void

const SCRIPT = /\.([mc]?)js$/
const TYPESCRIPT_URL = /^file:.*\.[mc]?ts(?:[?#]|$)/

let registered = false

/**
 * Lets `./store.js` in a TypeScript file mean `store.ts`, as TypeScript itself reads it, where Node strips types: Node
 * takes the name literally. It changes nothing that Node can resolve. Kept for the life of the process, since a handler
 * may import something later.
 */
function resolveTypeScriptSpecifiers(): void {
  if (registered || !canRegisterHooks(nodeModule)) return
  registered = true
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (error) {
        const source = typeScriptFor(specifier, context)
        if (source === undefined) throw error
        return next(source, context)
      }
    }
  })
}

/** Node 22.15 and later; the types of Node 20 do not know it. */
function canRegisterHooks(module: object): module is { registerHooks: RegisterHooks } {
  return 'registerHooks' in module && typeof module.registerHooks === 'function'
}

function typeScriptFor(specifier: string, { parentURL }: ResolveContext): string | undefined {
  if (!specifier.startsWith('.') || !SCRIPT.test(specifier)) return undefined
  if (parentURL === undefined || !TYPESCRIPT_URL.test(parentURL)) return undefined
  const source = specifier.replace(SCRIPT, '.$1ts')
  return existsSync(fileURLToPath(new URL(source, parentURL))) ? source : undefined
}
