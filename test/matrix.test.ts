import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'

const matrix = new URL('../test/matrix/', import.meta.url)

/** What test/matrix/src/table.ts gives; compiled beside the packages it tries, which are installed in that folder. */
interface Outcome {
  name: string
  place: string
  error?: Error
}
interface Table {
  CASES: readonly { name: string; version?: () => string }[]
  tryAll(names: readonly string[], onOutcome: (outcome: Outcome) => void): Promise<object[]>
  tableOf(results: readonly object[]): string
  withTable(text: string, table: string): string
}

if (!existsSync(new URL('node_modules', matrix))) {
  t.fail('the packages of the matrix are not installed: npm ci --prefix test/matrix')
} else {
  const table: Table = await import(new URL('dist/table.js', matrix).href)

  t.test('the matrix holds at least 40 packages', async (t) => {
    t.ok(table.CASES.filter(({ version }) => version === undefined).length >= 40)
  })

  t.test(
    'every package does its job in a middleware map, in use() and in an Express application of ours',
    async (t) => {
      const results = await table.tryAll([], ({ name, place, error }) => {
        if (error === undefined) t.pass(`${name}: ${place}`)
        else t.fail(`${name}: ${place}`, { found: error.stack })
      })
      const page = readFileSync(new URL('../docs/express-compatibility.md', import.meta.url), 'utf8')
      const written = table.withTable(page, table.tableOf(results))
      t.equal(written, page, 'the page shows this table: npm run test:matrix -- --write')
    }
  )
}
