import type { ModuleRecord } from './module-record.js'

/**
 * What a module in a circle of imports gets of one whose own code has not begun. Compiled to CommonJS, a name without a value
 * would be undefined; here it throws when it is read, as in Node, until it has one.
 */
export function earlyExportsOf(record: ModuleRecord): object {
  const { exports } = record.module
  if (record.format !== 'module' || record.hasBegun) return exports
  for (const name of Object.keys(exports)) if (isUninitialised(name, record)) guard(name, exports)
  return exports
}

/** Whether a module has exports that nobody knows before its imports are evaluated: `export * from`. */
export function hasUnknownExports({ status, hasBegun, source }: ModuleRecord): boolean {
  return status === 'loading' && !hasBegun && /\bexport\s*\*/.test(source)
}

/** Functions have their value already; a variable of `var`, and what is compiled to one, is undefined in Node, too. */
function isUninitialised(name: string, { module, source }: ModuleRecord): boolean {
  const property = Object.getOwnPropertyDescriptor(module.exports, name)
  if (property?.writable !== true || property.value !== undefined) return false
  const local = new RegExp(String.raw`([\w$]+)\s+as\s+${literal(name)}(?![\w$])`).exec(source)?.[1] ?? name
  return !new RegExp(String.raw`\b(?:var|enum|namespace)\s[^;=]*(?<![\w$])${literal(local)}(?![\w$])`).test(source)
}

/** A name as part of a regular expression. */
function literal(name: string): string {
  return name.replaceAll('$', String.raw`\$`)
}

/** The module gives the name its value by an assignment. */
function guard(name: string, exports: object): void {
  Object.defineProperty(exports, name, {
    configurable: true,
    enumerable: true,
    get() {
      throw new ReferenceError(`Cannot access '${name}' before initialization`)
    },
    set(value: unknown) {
      Object.defineProperty(exports, name, { configurable: true, enumerable: true, writable: true, value })
    }
  })
}
