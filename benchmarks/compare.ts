// Holds two result files side by side: `node benchmarks/dist/compare.js before.json after.json`.
import { readFileSync } from 'node:fs'
import type { Report } from './report.js'

const [before, after] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report)
if (before === undefined || after === undefined) throw new Error('Give two result files')

process.stdout.write(`${'work'.padEnd(10)}${'candidate'.padEnd(30)}before  after   difference\n`)
for (const row of after.rows) {
  const old = before.rows.find(({ candidate, work }) => candidate === row.candidate && work === row.work)
  if (old === undefined) continue
  const apart = row.ratio.low > old.ratio.high || row.ratio.high < old.ratio.low
  const change = ((row.ratio.median / old.ratio.median - 1) * 100).toFixed(0)
  const verdict = apart ? `${change} %` : `${change} % (within the spread)`
  const figures = `${old.ratio.median.toFixed(2).padEnd(8)}${row.ratio.median.toFixed(2).padEnd(8)}`
  process.stdout.write(`${row.work.padEnd(10)}${row.candidate.padEnd(30)}${figures}${verdict}\n`)
}
