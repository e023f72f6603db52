// Bundles compiled modules, so that a program loads a few files in place of more than a hundred:
// - those behind `twinroute/express`, and what the main entry shares with small ones, into one CommonJS file, dist/engine.cjs
// - the others behind `twinroute` into one ES module, dist/core.js, whose CommonJS packages dist/packages.cjs requires
// The compiled modules of the same names then pass the exports of these on. So `require` and `import`, and all entries, give one
// copy: the same symbols, classes and factory.
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'

const FACTORY = 'lib/app/express-app.ts'
/** Entries that work without the rest of `twinroute`, and do not load it. */
const SMALL = ['lib/auth.ts', 'lib/http.ts', 'lib/observe.ts']
const ENGINE = 'engine.cjs'
const MODULES = 'engine-modules.cjs'
const CORE = 'core.js'
const PACKAGES = 'packages.cjs'
const DECLARATIONS = ['express.d.cts', 'contract/express-factory.d.cts']

type Exports = Readonly<Record<string, unknown>>
type Bundled = Readonly<Record<string, Exports>>

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const behindIndex = await modulesBehind('lib/index.ts')
const behindSmall = (await Promise.all(SMALL.map(modulesBehind))).flat()
const shared = behindIndex.filter((source) => behindSmall.includes(source))
const inEngine = [...new Set([...(await modulesBehind(FACTORY)), ...shared])].toSorted()
await buildEngine(inEngine)
await buildCore(behindIndex.filter((source) => !inEngine.includes(source)))
// tsc leaves declaration files where they are
for (const file of DECLARATIONS) await copyFile(join(root, 'lib', file), join(dist, file))

/** The sources that an entry loads, by their path from the root of the repository; not those it loads when it needs them. */
async function modulesBehind(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true
  })
  const found = new Set([entry])
  for (const source of found) {
    for (const { path, kind, external } of metafile.inputs[source]?.imports ?? []) {
      if (external !== true && kind === 'import-statement') found.add(path)
    }
  }
  return [...found].toSorted()
}

async function buildEngine(sources: readonly string[]): Promise<void> {
  const lines = sources.map((source, index) => `import * as m${index} from './${source}'`)
  const names = sources.map((source, index) => `m${index} as ${JSON.stringify(keyOf(source))}`)
  const contents = `${lines.join('\n')}\nexport { ${names.join(', ')} }\n`
  await bundle(contents, root, { outfile: join(dist, MODULES), format: 'cjs', banner: { js: "'use strict'" } })
  // Node reads through a CommonJS file for the names of its exports before an import of it; here it has nothing to read
  await writeFile(
    join(dist, ENGINE),
    `'use strict'\nconst modules = require('./${MODULES}')\nmodule.exports = modules\n`
  )
  const engine = createRequire(import.meta.url)(join(dist, ENGINE)) as Bundled
  for (const source of sources) await writeFacade(source, engine, (up) => `import modules from '${up}/${ENGINE}'`)
  const factory = `require('./${ENGINE}')['${keyOf(FACTORY)}'].expressFactory`
  await writeFile(join(dist, 'express.cjs'), `'use strict'\nmodule.exports = ${factory}\n`)
}

/** Of the compiled modules, which import those of the engine where they pass its exports on. */
async function buildCore(sources: readonly string[]): Promise<void> {
  const keys = sources.map(keyOf)
  const lines = keys.map((key, index) => `import * as m${index} from './${key}.js'`)
  const names = keys.map((key, index) => `${JSON.stringify(key)}: m${index}`)
  const contents = `${lines.join('\n')}\nexport const modules = { ${names.join(', ')} }\n`
  const packages = new Set<string>()
  await bundle(contents, dist, {
    outfile: join(dist, CORE),
    format: 'esm',
    banner: { js: `import packages from './${PACKAGES}'` },
    plugins: [keepEngine(), requirePackages(packages)]
  })
  const required = [...packages].toSorted().map((name) => `exports['${name}'] = require('${name}')\n`)
  await writeFile(join(dist, PACKAGES), `'use strict'\n${required.join('')}`)
  const core = (await import(pathToFileURL(join(dist, CORE)).href)) as { modules: Bundled }
  for (const source of sources)
    await writeFacade(source, core.modules, (up) => `import { modules } from '${up}/${CORE}'`)
}

function keepEngine(): Plugin {
  return {
    name: 'engine',
    setup: ({ onResolve }) => onResolve({ filter: /\/engine\.cjs$/ }, () => ({ path: `./${ENGINE}`, external: true }))
  }
}

/**
 * Has CommonJS packages required, from a file of their own. Node reads through the text of what is imported, for the names of
 * its exports, which takes longer for Fastify and a few more than to load all modules of twinroute.
 * @param required gets their names
 */
function requirePackages(required: Set<string>): Plugin {
  return {
    name: 'require packages',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^@?[\w-]+[^:]*$/ }, async ({ path, kind }) => {
        const isRequired = kind === 'import-statement' && (await isCommonJs(path))
        return isRequired ? { path, namespace: 'required' } : undefined
      })
      onLoad({ filter: /./, namespace: 'required' }, ({ path }) => {
        required.add(path)
        return { contents: `module.exports = packages['${path}']` }
      })
    }
  }
}

/** Whether `require` gives what an import would: an ES module, or a package with one for each, does not. */
async function isCommonJs(name: string): Promise<boolean> {
  const { default: imported } = (await import(name)) as { default?: unknown }
  return imported === createRequire(import.meta.url)(name)
}

async function bundle(contents: string, resolveDir: string, options: BuildOptions): Promise<void> {
  const { warnings } = await build({
    absWorkingDir: root,
    stdin: { contents, resolveDir },
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    logLevel: 'warning',
    ...options
  })
  // `import.meta`, for one, is empty in CommonJS: a warning of esbuild's is a fault of the package
  if (warnings.length > 0) throw new Error('modules were bundled with warnings')
}

/** `lib/link/state.ts` is `link/state` in a bundle. */
function keyOf(source: string): string {
  return source.replace(/^lib\//, '').replace(/\.ts$/, '')
}

/** @param importFrom imports the bundle as `modules`, given the way up to dist/ */
async function writeFacade(source: string, bundled: Bundled, importFrom: (up: string) => string): Promise<void> {
  const key = keyOf(source)
  const names = Object.keys(bundled[key] ?? {})
  const up = posix.relative(posix.dirname(key), '') || '.'
  const lines = [importFrom(up), `export const { ${names.join(', ')} } = modules['${key}']`]
  const target = join(dist, `${key}.js`)
  await writeFile(target, `${names.length === 0 ? 'export {}' : lines.join('\n')}\n`)
  await rm(`${target}.map`, { force: true })
}
