/** An import statement of a compiled file, as the process ran it. */
export interface ImportRecord {
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

/**
 * A Babel plugin. Compiled to CommonJS, an import of a name that its module does not export is `undefined`, where
 * JavaScript refuses to link; so each compiled file says which names it imports, to be looked up when its own code begins.
 * The compiled text says it, since the plugin does not run for what the cache holds.
 */
export function recordImports({ template }: Babel): object {
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
          // A file may declare __filename itself, so it is read from the arguments of jiti's wrapper.
          const note = `globalThis[Symbol.for('${KEY}')]?.(arguments[3], ${JSON.stringify(imports ?? [])})`
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

/**
 * From here on compiled files tell which names they import, each when it is evaluated.
 * @returns what ends that
 */
export function onRecordedImports(record: (imports: readonly ImportRecord[], file: string) => void): () => void {
  const note = (file: string, imports: readonly Omit<ImportRecord, 'file'>[]): void =>
    record(
      imports.map((one) => ({ file, ...one })),
      file
    )
  Object.defineProperty(globalThis, RECORDS, { configurable: true, value: note })
  return () => void Reflect.deleteProperty(globalThis, RECORDS)
}

export function hasExport(module: unknown, name: string): boolean {
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
export function missingName({ file, line, specifier }: Omit<ImportRecord, 'names'>, name: string): SyntaxError {
  const message = `The requested module '${specifier}' does not provide an export named '${name}'`
  const error = new SyntaxError(message)
  error.stack = `${file}:${line}\nSyntaxError: ${message}`
  return error
}
