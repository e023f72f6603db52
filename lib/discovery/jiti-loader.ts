import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'

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
      jiti.import(specifier, { parentURL: pathToFileURL(parent).href })
    )
    return missing === undefined ? { file, exports } : { file, error: missing }
  } catch (error) {
    forgetImports()
    return { file, error }
  }
}

/**
 * Where compiled sources are kept: in the application's own node_modules, if it has one. Never in the system's
 * temporary directory, as is jiti's default: any user of the machine could put code there.
 */
function cacheDirectory(file: string): string | false {
  const parent = dirname(file)
  if (parent === file) return false
  const modules = join(parent, 'node_modules')
  return existsSync(modules) ? join(modules, '.cache', 'twinroute') : cacheDirectory(parent)
}

/** An import statement of a compiled file, as the process ran it. */
interface ImportRecord {
  file: string
  line: number
  specifier: string
  names: readonly string[]
}

/** The parts of Babel's interface that are needed here. */
interface Babel {
  template: { statement(code: string, options: { placeholderPattern: false }): () => unknown }
}

interface ImportSpecifier {
  type: string
  importKind?: string
  imported?: { name?: string; value?: string }
  local: { name: string }
}

interface ImportPath {
  node: {
    importKind?: string
    source: { value: string }
    specifiers: readonly ImportSpecifier[]
    loc?: { start: { line: number } }
  }
  scope: { getBinding(name: string): { referencePaths: readonly { parent: { type: string } }[] } | undefined }
}

interface ProgramPath {
  unshiftContainer(list: 'body', node: unknown): void
}

interface PluginState {
  imports?: Omit<ImportRecord, 'file'>[]
}

const KEY = 'twinroute.imports'
const RECORDS = Symbol.for(KEY)
const records: ImportRecord[] = []

/**
 * A Babel plugin. Compiled to CommonJS, an import of a name that its module does not export is `undefined`, where
 * JavaScript refuses to link; so each compiled file says which names it imports, for `findMissingName` to look them up.
 * The compiled text says it, since the plugin does not run for what the cache holds.
 */
function recordImports({ template }: Babel): object {
  return {
    visitor: {
      // Babel has removed the imports of types before it visits this.
      ImportDeclaration({ node, scope }: ImportPath, state: PluginState) {
        const names = node.specifiers.filter((one) => isValue(one, scope)).flatMap(importedName)
        if (node.importKind === 'type' || names.length === 0) return
        const imports = (state.imports ??= [])
        imports.push({ line: node.loc?.start.line ?? 1, specifier: node.source.value, names })
      },
      Program: {
        exit(program: ProgramPath, { imports }: PluginState) {
          if (imports === undefined) return
          // A file may declare __filename itself, so it is read from the arguments of jiti's wrapper.
          const note = `globalThis[Symbol.for('${KEY}')]?.(arguments[3], ${JSON.stringify(imports)})`
          program.unshiftContainer('body', template.statement(note, { placeholderPattern: false })())
        }
      }
    }
  }
}

/** A name that is only exported again may be a type, which one file alone does not tell. */
function isValue({ importKind, local }: ImportSpecifier, scope: ImportPath['scope']): boolean {
  const uses = scope.getBinding(local.name)?.referencePaths ?? []
  return importKind !== 'type' && uses.some(({ parent }) => parent.type !== 'ExportSpecifier')
}

function importedName({ type, imported }: ImportSpecifier): string[] {
  if (type === 'ImportDefaultSpecifier') return ['default']
  const name = imported?.name ?? imported?.value
  return name === undefined ? [] : [name]
}

function record(file: string, imports: readonly Omit<ImportRecord, 'file'>[]): void {
  records.push(...imports.map((one) => ({ file, ...one })))
}

/** While files are loaded, their compiled text calls `record`. */
async function whileRecording<Result>(load: () => Promise<Result>): Promise<Result> {
  Object.defineProperty(globalThis, RECORDS, { configurable: true, value: record })
  try {
    return await load()
  } finally {
    Reflect.deleteProperty(globalThis, RECORDS)
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

function hasExport(module: unknown, name: string): boolean {
  if ((typeof module !== 'object' && typeof module !== 'function') || module === null) return name === 'default'
  if (name in module) return true
  // A getter of jiti's shows the properties of a CommonJS module, which Node does not always list as exports; of an
  // ECMAScript module it would show the whole as its default.
  return name === 'default' ? !isEcmaScript(module) : Reflect.get(module, name) !== undefined
}

function isEcmaScript(module: object): boolean {
  return '__esModule' in module || Reflect.get(module, Symbol.toStringTag) === 'Module'
}

const MISSING_NAME = /does not provide an export named '([^']+)'/

/** The name that a module was asked for and does not export, when this is what an error is about. */
export function missingNameOf(error: Error): string | undefined {
  return error instanceof SyntaxError ? MISSING_NAME.exec(error.message)?.[1] : undefined
}

/** In the words of Node, which says the same of JavaScript. */
function missingName({ file, line, specifier }: Omit<ImportRecord, 'names'>, name: string): SyntaxError {
  const message = `The requested module '${specifier}' does not provide an export named '${name}'`
  const error = new SyntaxError(message)
  error.stack = `${file}:${line}\nSyntaxError: ${message}`
  return error
}
