// Bundles the query tool of `twinroute/graphql` into dist/playground: a script, a style sheet and an icon, compressed,
// and the licences of what is in them. Same packages, same bytes.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, gzipSync } from 'node:zlib'
import { build, type PluginBuild } from 'esbuild'

const MAX_BYTES = 800_000
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
  '<path d="M8 1l6 3.5v7L8 15l-6-3.5v-7z" fill="none" stroke="#e10098" stroke-width="1.5"/></svg>\n'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist/playground')

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['scripts/playground.ts'],
  outdir: 'dist/playground',
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [{ name: 'self-contained-styles', setup: keepStylesSelfContained }],
  logLevel: 'warning'
})

/**
 * Fonts and pictures stand in the style sheet as data URLs, which many content security policies refuse. The system's
 * fonts do as well, and the pictures are painted over by later rules.
 */
function keepStylesSelfContained({ onLoad }: PluginBuild): void {
  onLoad({ filter: /graphiql\.css$/ }, async ({ path }) => {
    const css = await readFile(path, 'utf8')
    const contents = css.replaceAll(/@font-face\s*\{[^}]*\}/g, '').replaceAll(/url\("?data:image[^)]*\)/g, 'none')
    return { contents, loader: 'css' }
  })
}

/** The licence texts of all bundled packages, as their licences ask for. */
async function licences(): Promise<string> {
  const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//
  const folders = new Set(Object.keys(metafile.inputs).flatMap((path) => folder.exec(path)?.[1] ?? []))
  const texts = await Promise.all([...folders].toSorted().map(licenceOf))
  return texts.join('\n')
}

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
  const file = (await readdir(join(root, folder))).toSorted().find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? '' : `\n${await readFile(join(root, folder, file), 'utf8')}`
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n${text}`
}

const files = new Map<string, Uint8Array>(outputFiles.map(({ path, contents }) => [path, contents]))
files.set(join(target, 'playground.svg'), Buffer.from(ICON))
if (existsSync(target)) await rm(target, { recursive: true })
await mkdir(target, { recursive: true })
await writeFile(join(target, 'licences.txt'), await licences())

let total = 0
for (const [path, contents] of files) {
  const bytes = gzipSync(contents, { level: constants.Z_BEST_COMPRESSION })
  await writeFile(`${path}.gz`, bytes)
  total += bytes.length
}
if (total > MAX_BYTES) throw new Error(`the playground is ${total} bytes compressed, more than ${MAX_BYTES}`)
process.stdout.write(`playground: ${total} bytes compressed\n`)
