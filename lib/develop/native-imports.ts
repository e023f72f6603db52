import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import vm from 'node:vm'
import type { Format } from './compile.js'

type Import = (specifier: string, attributes: object | undefined) => Promise<Readonly<Record<string, unknown>>>

/** Node's own `import()`, as if it stood in a file: it finds packages as Node does in production. */
export function importNatively(specifier: string, parent: string): Promise<Readonly<Record<string, unknown>>> {
  const importFrom = vm.compileFunction('return import(specifier, options)', ['specifier', 'options'], {
    filename: parent,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  }) as Import
  const options = specifier.endsWith('.json') ? { with: { type: 'json' } } : undefined
  return importFrom(isAbsolute(specifier) ? pathToFileURL(specifier).href : specifier, options)
}

/** `require` of a package; an ECMAScript module gets what `import` would. */
export function requireNatively(specifier: string, file: string, format: Format): unknown {
  const exports = createRequire(file)(specifier) as object
  return format === 'module' && !('__esModule' in exports) ? { ...exports, default: exports } : exports
}

/** `require` of a file, with the members that programs read. */
export function requireOf(file: string, load: (specifier: string) => unknown): unknown {
  const native = createRequire(file)
  return Object.assign((specifier: string) => load(specifier), {
    resolve: native.resolve,
    cache: native.cache,
    extensions: native.extensions,
    main: native.main
  })
}

/** `import.meta.resolve` of a file. */
export function metaResolve(file: string): (specifier: string) => string {
  return (specifier) => {
    if (/^\.{0,2}\//.test(specifier)) return new URL(specifier, pathToFileURL(file)).href
    return pathToFileURL(createRequire(file).resolve(specifier)).href
  }
}
