import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, extname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import vm from 'node:vm'
import { isBuiltin } from 'node:module'
import { createJiti, type Jiti } from 'jiti'
import { cacheDirectory, pathOf } from '../discovery/jiti-loader.js'
import { recordImports } from '../discovery/recorded-imports.js'
import { placeMissing, SourceError } from '../errors/source-error.js'

/** How a file is evaluated; `module` is ECMAScript's. */
export type Format = 'module' | 'commonjs' | 'json'

/** A module that is required cannot wait, neither for what it imports nor at its top level. */
export type CompiledForm = 'module' | 'required module' | 'commonjs'

/** What jiti's compiler leaves open in its output, in this order. */
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', 'jitiImport', 'jitiESMResolve'] as const

/** Runs a file with what stands for {@link PARAMETERS}. */
export type Evaluate = (scope: Readonly<Record<(typeof PARAMETERS)[number], unknown>>) => unknown

const SCRIPTS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']
const FRAMEWORK = realpathSync(fileURLToPath(new URL('../', import.meta.url)))

/** Files of the application, which are watched; not packages, and not this one. */
export function isOwnFile(file: string): boolean {
  const isKnown = SCRIPTS.includes(extname(file)) || extname(file) === '.json'
  return isKnown && !file.includes(`${sep}node_modules${sep}`) && !file.startsWith(FRAMEWORK)
}

/** In place of a path: Node imports it. */
const OF_NODE = ''

/** Finds and compiles files by jiti: TypeScript, its paths, JSX, and names without an extension. */
export class Compiler {
  readonly #jiti: Jiti
  readonly #found = new Map<string, string>()
  readonly #compiled = new Map<string, { source: string; form: CompiledForm; evaluate: Evaluate }>()

  constructor(entry: string, { sourceMaps }: { sourceMaps: boolean }) {
    this.#jiti = createJiti(entry, {
      fsCache: cacheDirectory(entry),
      sourceMaps,
      interopDefault: false, // an import gets what the module exports, as from Node
      tsconfigPaths: true,
      jsx: { runtime: 'automatic' },
      transformOptions: { babel: { plugins: [recordImports] } }
    })
  }

  /**
   * The real path of a file of the application; undefined for what Node imports itself.
   * @throws when there is no such file
   */
  resolve(specifier: string, parent: string, kind: 'import' | 'require'): string | undefined {
    const key = [kind, dirname(parent), specifier].join('\0')
    const known = this.#found.get(key)
    if (known !== undefined && (known === OF_NODE || existsSync(known))) return known === OF_NODE ? undefined : known
    const file = this.#find(specifier, parent, kind)
    this.#found.set(key, file ?? OF_NODE)
    return file
  }

  /** A new file may be what another name leads to from now on. */
  forgetPlaces(): void {
    this.#found.clear()
  }

  #find(specifier: string, parent: string, kind: 'import' | 'require'): string | undefined {
    if (isBuiltin(specifier) || specifier.startsWith('data:')) return undefined
    const found = this.#resolve(specifier, parent, ['node', kind])
    const path = found.startsWith('file:') ? fileURLToPath(found) : found
    if (!existsSync(path)) return undefined
    const file = realpathSync(path)
    return isOwnFile(file) ? file : undefined
  }

  #resolve(specifier: string, parent: string, conditions: string[]): string {
    try {
      return this.#jiti.esmResolve(pathOf(specifier, parent), { parentURL: pathToFileURL(parent), conditions })
    } catch (error) {
      throw placeMissing(error, parent, specifier)
    }
  }

  /**
   * @throws SourceError where the text is no JavaScript or TypeScript
   */
  compile(file: string, source: string, form: CompiledForm): Evaluate {
    const known = this.#compiled.get(file)
    if (known?.source === source && known.form === form) return known.evaluate
    const evaluate = this.#compile(file, source, form)
    this.#compiled.set(file, { source, form, evaluate })
    return evaluate
  }

  #compile(file: string, source: string, form: CompiledForm): Evaluate {
    const isAsync = form === 'module'
    const kind = { filename: file, ts: isTyped(file), async: isAsync, interopDefault: form === 'commonjs' }
    const code = this.#jiti.transform({ source, ...kind, ...(file.endsWith('x') && { jsx: { runtime: 'automatic' } }) })
    const failed = /^exports\.__JITI_ERROR__ = (.*)$/s.exec(code)
    if (failed !== null) throw readError(file, failed[1] as string)
    const head = `(${isAsync ? 'async ' : ''}function (${PARAMETERS.join(', ')}) {`
    const script = new vm.Script(`${head}${code}\n})`, {
      filename: file,
      columnOffset: -head.length,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    })
    const evaluate = script.runInThisContext() as (...given: readonly unknown[]) => unknown
    return (scope) =>
      evaluate.apply(
        scope.exports,
        PARAMETERS.map((name) => scope[name])
      )
  }
}

function isTyped(file: string): boolean {
  return /\.[mc]?tsx?$/.test(file)
}

interface JitiError {
  line: number
  column: number
  message: string
}

function readError(file: string, json: string): SourceError {
  const { line, column, message } = JSON.parse(json) as JitiError
  return new SourceError(message.trim(), { file, line, column: column + 1 })
}

const MODULE_SYNTAX =
  /^\s*(?:import\s*[\w{*'"]|export\s+(?:default|const|let|var|function|async|class|abstract|enum|type|interface|namespace|declare|[{*])|.*\bimport\.meta\b)/m

/** As Node decides: by the extension, the nearest package.json, and what is written. */
export function formatOf(file: string, source: string): Format {
  const extension = extname(file)
  if (extension === '.json') return 'json'
  if (extension === '.cjs' || extension === '.cts') return 'commonjs'
  if (extension.startsWith('.m') || MODULE_SYNTAX.test(source)) return 'module'
  return packageType(dirname(file)) === 'module' ? 'module' : 'commonjs'
}

const types = new Map<string, string>()

/** Read once: the process is replaced when a package.json changes. */
function packageType(directory: string): string {
  const known = types.get(directory)
  if (known !== undefined) return known
  const manifest = join(directory, 'package.json')
  const above = dirname(directory)
  let type = 'commonjs'
  if (existsSync(manifest)) type = (JSON.parse(readFileSync(manifest, 'utf8')) as { type?: string }).type ?? type
  else if (above !== directory) type = packageType(above)
  types.set(directory, type)
  return type
}
