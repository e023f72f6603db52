import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import { ROUTES_PREFIX } from './own-names.js'

/** Source files, and the packages that each imports when it is evaluated, not when the program starts. */
export type LatePackages = ReadonlyMap<string, ReadonlySet<string>>

type Inputs = Metafile['inputs']

/**
 * In one file all static imports of packages come first, also those of a module that the program imports by `import()` when
 * it needs it, such as the driver of another database. This finds the modules for which that must not be: they may name a
 * package that is not installed where the program runs.
 */
export function findLatePackages({ inputs, outputs }: Metafile, folder: string): LatePackages {
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? [])
  const early = reach(entries, inputs, isEarly)
  const late = Object.keys(inputs).filter((input) => !early.has(input) && !input.includes('node_modules/'))
  const found = late.flatMap((input): [string, Set<string>][] => {
    const packages = packagesOf(input, inputs)
    // Waiting for a package in a circle of modules may be waiting for oneself.
    return packages.length === 0 || isInCircle(input, inputs) ? [] : [[resolve(folder, input), new Set(packages)]]
  })
  return new Map(found)
}

type Follows = (kind: string, from: string) => boolean

/** Route files are imported at boot, whatever happens. */
const isEarly: Follows = (kind, from) => isStatic(kind, from) || from.startsWith(ROUTES_PREFIX)
const isStatic: Follows = (kind) => kind !== 'dynamic-import'

function reach(from: readonly string[], inputs: Inputs, follows: Follows): Set<string> {
  const seen = new Set<string>()
  const waiting = [...from]
  for (let input = waiting.pop(); input !== undefined; input = waiting.pop()) {
    if (seen.has(input)) continue
    seen.add(input)
    waiting.push(...importsOf(input, inputs, follows))
  }
  return seen
}

function importsOf(input: string, inputs: Inputs, follows: Follows): string[] {
  const imports = inputs[input]?.imports ?? []
  return imports.flatMap(({ path, kind, external }) => (external !== true && follows(kind, input) ? path : []))
}

function isInCircle(input: string, inputs: Inputs): boolean {
  return reach(importsOf(input, inputs, isStatic), inputs, isStatic).has(input)
}

function packagesOf(input: string, inputs: Inputs): string[] {
  const imports = inputs[input]?.imports ?? []
  return imports.flatMap(({ path, kind, external }) => {
    return external === true && kind === 'import-statement' && !isBuiltin(path) ? path : []
  })
}

/** `import pg, { Pool as P } from 'pg'`, and `import 'pg'`; not of types. */
const IMPORT =
  /^import\s+(?!type\b)(?:(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)|\{([^}]*)\})?\s*from\s*)?(['"])([^'"\n]+)\4[ \t]*;?/gm

/** The text with its imports of these packages where they are evaluated. */
export function importLate(text: string, packages: ReadonlySet<string>): string {
  return text.replaceAll(IMPORT, (...match: string[]) => {
    const [statement = '', whole, all, named, , name = ''] = match
    if (!packages.has(name)) return statement
    const value = `await import(${JSON.stringify(name)})`
    const names = [...(whole === undefined ? [] : [`default: ${whole}`]), ...namesOf(named)]
    const lines = '\n'.repeat(statement.split('\n').length - 1)
    if (all !== undefined) {
      const rest = names.length === 0 ? '' : `, { ${names.join(', ')} } = ${all}`
      return `const ${all} = ${value}${rest};${lines}`
    }
    return `${names.length === 0 ? '' : `const { ${names.join(', ')} } = `}${value};${lines}`
  })
}

/** `a, b as c, type D` to `a`, `b: c`. */
function namesOf(list = ''): string[] {
  return list.split(',').flatMap((one) => {
    const [name = '', local] = one.trim().split(/\s+as\s+/)
    if (name === '' || /^type\s/.test(name)) return []
    return local === undefined ? name : `${name}: ${local}`
  })
}
