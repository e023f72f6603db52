import type { Format } from './compile.js'

/** One file of the application, from its first import to the change of it or of something it imports. */
export interface ModuleRecord {
  readonly file: string
  readonly source: string
  readonly format: Format
  /** Of the reload that evaluates it. */
  readonly generation: number
  /** Its imports are evaluated, and its own code runs or has run. */
  hasBegun: boolean
  status: 'loading' | 'loaded' | 'failed'
  /** Why it failed. */
  error?: unknown
  /** CommonJS may replace its `exports`. */
  readonly module: CommonJsModule
  /** Settles when it has been evaluated. */
  evaluated: Promise<void>
  /** Real paths of what it has imported. */
  readonly imports: Set<string>
  /** What its evaluation waits for now: two that wait for each other are a circle. */
  readonly waitsFor: Set<ModuleRecord>
  /** What it has imported, by the names it is written with. */
  readonly imported: Map<string, object>
  namespace?: Readonly<Record<string, unknown>>
}

/** What happens to a file: it is told before each step, which may be one that does not end. */
export interface Steps {
  reads(file: string, source: string): void
  /** Its imports have been evaluated. */
  runs(file: string): void
}

/** What a CommonJS file knows as `module`. */
export interface CommonJsModule {
  id: string
  filename: string
  path: string
  loaded: boolean
  children: unknown[]
  paths: string[]
  exports: object
}

/** Whether one waits for another, through any number of others. */
export function isWaiting(one: ModuleRecord, other: ModuleRecord, seen = new Set<ModuleRecord>()): boolean {
  if (one === other) return true
  if (seen.has(one)) return false
  seen.add(one)
  return [...one.waitsFor].some((next) => isWaiting(next, other, seen))
}

/** What `import` gets: of CommonJS the whole as `default`, and its properties by name. */
export function namespaceOf(record: ModuleRecord): Readonly<Record<string, unknown>> {
  const { exports } = record.module
  if (record.format === 'module') return exports as Readonly<Record<string, unknown>>
  record.namespace ??= record.format === 'json' ? { default: exports } : { ...exports, default: exports }
  return record.namespace
}
