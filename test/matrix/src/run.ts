// The middleware matrix: `npm run test:matrix [-- NAME...]` tries every package in every place and prints the table;
// `--write` puts it into docs/express-compatibility.md as well.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('..', import.meta.url))
const page = new URL('../../../docs/express-compatibility.md', import.meta.url)

if (!existsSync(join(folder, 'node_modules'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
}
process.env.NODE_ENV ??= 'test' // Express's error pages are not logged
const { tableOf, tryAll, withTable } = await import('./table.js')

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const results = await tryAll(names, ({ name, place, error }) => {
  if (error !== undefined) process.stdout.write(`not ok ${name}, ${place}: ${String(error.stack)}\n`)
})
const failures = results.flatMap(({ places }) => Object.values(places)).filter((outcome) => outcome === 'fails').length
process.stdout.write(`${tableOf(results)}\n\n${results.length} rows, ${failures} failed\n`)
if (process.argv.includes('--write')) writeFileSync(page, withTable(readFileSync(page, 'utf8'), tableOf(results)))
process.exit(failures === 0 ? 0 : 1)
