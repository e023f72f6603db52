import { readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasExport, missingName, onRecordedImports, type ImportRecord } from '../discovery/recorded-imports.js'
import { earlyExportsOf, hasUnknownExports } from './early-exports.js'
import { formatOf, isOwnFile, type CompiledForm, type Compiler } from './compile.js'
import { importNatively, metaResolve, requireNatively, requireOf } from './native-imports.js'
import { isWaiting, namespaceOf, type ModuleRecord, type Steps } from './module-record.js'
import { ownership, type Owner } from './owner.js'

/**
 * The application's own modules, each evaluated once until it, or something it imports, is forgotten. Packages are imported
 * by Node, once in the life of the process.
 */
export class ModuleGraph {
  readonly #compiler: Compiler
  readonly #steps: Steps
  readonly #records = new Map<string, ModuleRecord>()
  /** The number of the reload that evaluates modules now. */
  generation = 0

  constructor(compiler: Compiler, steps: Steps) {
    this.#compiler = compiler
    this.#steps = steps
    onRecordedImports((imports, file) => {
      const record = this.#records.get(file)
      if (record === undefined) return
      record.hasBegun = true
      steps.runs(file)
      for (const one of imports) checkNames(one, record)
    })
  }

  has(file: string): boolean {
    return this.#records.has(file)
  }

  get directories(): Set<string> {
    return new Set([...this.#records.keys()].map((file) => dirname(file)))
  }

  /** Whether a file differs from what was evaluated, or has gone. */
  differs(file: string): boolean {
    const record = this.#records.get(file)
    if (record === undefined) return false
    try {
      return readFileSync(file, 'utf8') !== record.source
    } catch {
      return true
    }
  }

  /** Files whose evaluation has not ended, and that wait for no other file. */
  get unfinished(): string[] {
    const loading = [...this.#records.values()].filter(({ status }) => status === 'loading')
    return loading.filter(({ waitsFor }) => waitsFor.size === 0).map(({ file }) => file)
  }

  /**
   * Forgets files, what has failed or not ended, and all that imports one of these.
   * @returns what is forgotten
   */
  forget(files: Iterable<string>): Set<string> {
    const importers = new Map<string, ModuleRecord[]>()
    for (const record of this.#records.values()) {
      for (const file of record.imports) importers.set(file, [...(importers.get(file) ?? []), record])
    }
    const forgotten = new Set(files)
    if ([...forgotten].some((file) => !this.#records.has(file))) this.#compiler.forgetPlaces()
    for (const { file, status } of this.#records.values()) if (status !== 'loaded') forgotten.add(file)
    // a set grows while it is walked through
    for (const file of forgotten) for (const importer of importers.get(file) ?? []) forgotten.add(importer.file)
    for (const file of forgotten) this.#records.delete(file)
    return forgotten
  }

  /** Whether the module that a call has come from is the one that importers get now. */
  isCurrent({ file, generation }: Owner): boolean {
    return this.#records.get(file)?.generation === generation
  }

  /** What `import()` of a file resolves to. */
  async import(path: string): Promise<Readonly<Record<string, unknown>>> {
    const file = realpathSync(path)
    if (!isOwnFile(file)) return importNatively(file, file)
    const record = this.#load(file)
    await record.evaluated
    return namespaceOf(record)
  }

  /** What a file exports by name; `module.exports` is no name. */
  async importNames(path: string): Promise<Readonly<Record<string, unknown>>> {
    const exports = await this.import(path)
    const record = this.#records.get(realpathSync(path))
    if (record?.format !== 'commonjs' || typeof exports['default'] !== 'object') return exports
    return { ...record.module.exports }
  }

  #load(file: string): ModuleRecord {
    return this.#records.get(file) ?? this.#begin(this.#create(file))
  }

  #begin(record: ModuleRecord): ModuleRecord {
    record.evaluated = this.#evaluate(record).then(
      () => finish(record),
      (error: unknown) => {
        fail(record, error)
        throw error
      }
    )
    record.evaluated.catch(() => undefined) // whoever imports it is told
    return record
  }

  #create(file: string): ModuleRecord {
    const source = readFileSync(file, 'utf8')
    this.#steps.reads(file, source)
    const record: ModuleRecord = {
      file,
      source,
      format: formatOf(file, source),
      generation: this.generation,
      hasBegun: false,
      status: 'loading',
      module: { id: file, filename: file, path: dirname(file), loaded: false, children: [], paths: [], exports: {} },
      evaluated: Promise.resolve(),
      imports: new Set(),
      waitsFor: new Set(),
      imported: new Map()
    }
    this.#records.set(file, record)
    return record
  }

  async #evaluate(record: ModuleRecord): Promise<void> {
    if (record.format === 'module') await this.#run(record, 'module')
    else this.#evaluateNow(record)
  }

  #evaluateNow(record: ModuleRecord): void {
    if (record.format === 'json') record.module.exports = JSON.parse(record.source) as object
    else this.#run(record, record.format === 'module' ? 'required module' : 'commonjs')
  }

  #run(record: ModuleRecord, form: CompiledForm): unknown {
    const { file, source, module } = record
    const evaluate = this.#compiler.compile(file, source, form)
    const scope = {
      exports: module.exports,
      require: requireOf(file, (specifier) => this.#require(specifier, record)),
      module,
      __filename: file,
      __dirname: dirname(file),
      jitiImport: (specifier: unknown): unknown => this.#importFrom(String(specifier), record),
      jitiESMResolve: metaResolve(file)
    }
    return ownership.run({ file, generation: this.generation }, () => evaluate(scope))
  }

  async #importFrom(specifier: string, parent: ModuleRecord): Promise<unknown> {
    const file = this.#compiler.resolve(specifier, parent.file, 'import')
    const exports =
      file === undefined ? await importNatively(specifier, parent.file) : await this.#importOwn(file, parent)
    const record = file === undefined ? undefined : this.#records.get(file)
    if (record === undefined || !hasUnknownExports(record)) parent.imported.set(specifier, exports)
    return exports
  }

  async #importOwn(file: string, parent: ModuleRecord): Promise<object> {
    parent.imports.add(file)
    const known = this.#records.get(file)
    if (known?.status === 'loading' && isWaiting(known, parent)) return earlyExportsOf(known) // a circle: so far
    const record = known ?? this.#create(file)
    if (parent.status === 'loading') parent.waitsFor.add(record) // before it runs, because it may import this one
    try {
      if (known === undefined) this.#begin(record)
      await record.evaluated
    } finally {
      parent.waitsFor.delete(record)
    }
    return namespaceOf(record)
  }

  #require(specifier: string, parent: ModuleRecord): unknown {
    const file = this.#compiler.resolve(specifier, parent.file, 'require')
    if (file === undefined) return requireNatively(specifier, parent.file, parent.format)
    parent.imports.add(file)
    const record = this.#records.get(file) ?? this.#loadNow(file)
    if (record.status === 'failed') throw record.error
    return parent.format === 'module' ? namespaceOf(record) : record.module.exports
  }

  #loadNow(file: string): ModuleRecord {
    const record = this.#create(file)
    try {
      this.#evaluateNow(record)
      finish(record)
    } catch (error) {
      fail(record, error)
      record.evaluated = Promise.reject(error)
      record.evaluated.catch(() => undefined)
    }
    return record
  }
}

function finish(record: ModuleRecord): void {
  record.status = 'loaded'
  record.module.loaded = true
}

function fail(record: ModuleRecord, error: unknown): void {
  record.status = 'failed'
  record.error = error
}

/**
 * Compiled to CommonJS, a name that is not exported would be undefined, where JavaScript refuses to link. A module in a
 * circle has said its names, too, before it imports anything.
 */
function checkNames(one: ImportRecord, record: ModuleRecord): void {
  const exports = record.imported.get(one.specifier)
  const missing = exports === undefined ? undefined : one.names.find((name) => !hasExport(exports, name))
  if (missing !== undefined) throw missingName(one, missing)
}
