// Bundles the modules behind `twinroute/express` into one CommonJS file, dist/engine.cjs, and makes the compiled ES modules
// of the same names pass its exports on. So `require` and `import` give one copy: the same symbols, classes and factory.
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const FACTORY = 'lib/app/express-app.ts'
const ENGINE = 'dist/engine.cjs'
const DECLARATIONS = ['express.d.cts', 'contract/express-factory.d.cts']

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = await modulesBehind(FACTORY)
await bundle(modules)

type Exports = Readonly<Record<string, unknown>>
const engine = createRequire(import.meta.url)(join(root, ENGINE)) as Readonly<Record<string, Exports>>

for (const source of modules) await writeFacade(source)
await writeFile(
  join(root, 'dist/express.cjs'),
  `'use strict'\nmodule.exports = require('./engine.cjs')['${keyOf(FACTORY)}'].expressFactory\n`
)
// tsc leaves declaration files where they are
for (const file of DECLARATIONS) await copyFile(join(root, 'lib', file), join(root, 'dist', file))

/** The sources that are compiled together, by their path from the root of the repository. */
async function modulesBehind(entry: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    write: false,
    metafile: true
  })
  return Object.keys(metafile.inputs).toSorted()
}

async function bundle(sources: readonly string[]): Promise<void> {
  const lines = sources.map((source, index) => `import * as m${index} from './${source}'`)
  const names = sources.map((source, index) => `m${index} as ${JSON.stringify(keyOf(source))}`)
  const { warnings } = await build({
    absWorkingDir: root,
    stdin: { contents: `${lines.join('\n')}\nexport { ${names.join(', ')} }\n`, resolveDir: root },
    outfile: ENGINE,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    sourcemap: true,
    logLevel: 'warning'
  })
  // `import.meta`, for one, is empty in CommonJS: a warning of esbuild's is a fault of the package
  if (warnings.length > 0) throw new Error('the CommonJS engine was bundled with warnings')
}

/** `lib/link/state.ts` is `link/state` in the engine. */
function keyOf(source: string): string {
  return source.replace(/^lib\//, '').replace(/\.ts$/, '')
}

async function writeFacade(source: string): Promise<void> {
  const key = keyOf(source)
  const names = Object.keys(engine[key] ?? {})
  const path = posix.relative(posix.dirname(key), 'engine.cjs')
  const specifier = path.startsWith('.') ? path : `./${path}`
  const target = join(root, 'dist', `${key}.js`)
  const lines = [`import engine from '${specifier}'`, `export const { ${names.join(', ')} } = engine['${key}']`]
  await writeFile(target, `${names.length === 0 ? 'export {}' : lines.join('\n')}\n`)
  await rm(`${target}.map`, { force: true })
}
