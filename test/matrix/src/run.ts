// The middleware matrix: `npm run test:matrix [-- NAME...]` tries every package in every place and prints the table;
// `--write` puts it into docs/express-compatibility.md as well, `--check` fails when the page shows another one.
import { readFileSync, writeFileSync } from 'node:fs'

const page = new URL('../../../docs/express-compatibility.md', import.meta.url)

process.env.NODE_ENV ??= 'test' // Express's error pages are not logged
const { tableOf, tryAll, withTable } = await import('./table.js')

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const results = await tryAll(names, ({ name, place, error }) => {
  if (error !== undefined) process.stdout.write(`not ok ${name}, ${place}: ${String(error.stack)}\n`)
})
const failures = results.flatMap(({ places }) => Object.values(places)).filter((outcome) => outcome === 'fails').length
process.stdout.write(`${tableOf(results)}\n\n${results.length} rows, ${failures} failed\n`)
const text = readFileSync(page, 'utf8')
const shown = withTable(text, tableOf(results))
const isStale = process.argv.includes('--check') && shown !== text
if (isStale) process.stdout.write('not ok: the page shows another table: npm run test:matrix -- --write\n')
if (process.argv.includes('--write')) writeFileSync(page, shown)
process.exit(failures === 0 && !isStale ? 0 : 1)
