// Holds two result files side by side: `node benchmarks/dist/compare.js before.json after.json`.
import { readFileSync } from 'node:fs'
import type { Report, Row } from './report.js'

const [first, second] = process.argv.slice(2)
if (first === undefined || second === undefined) throw new Error('Give two files that a benchmark has written')
const before = read(first)
const after = read(second)

process.stdout.write(`before: ${describe(before)}\nafter:  ${describe(after)}\n`)
process.stdout.write(`${pad('work', 'candidate')}before  after   difference\n`)
let apart = 0
for (const row of after.rows) {
  const old = before.rows.find(({ candidate, work }) => candidate === row.candidate && work === row.work)
  if (old === undefined) process.stdout.write(`${pad(row.work, row.candidate)}only in after\n`)
  else process.stdout.write(`${pad(row.work, row.candidate)}${compare(old, row)}\n`)
}
for (const { candidate, work } of before.rows) {
  const stayed = after.rows.some((row) => candidate === row.candidate && work === row.work)
  if (!stayed) process.stdout.write(`${pad(work, candidate)}only in before\n`)
}
process.stdout.write(`${apart} of ${after.rows.length} rows differ by more than the spread\n`)

function read(file: string): Report {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report>
  if (!Array.isArray(report.rows)) throw new Error(`${file} was not written by a benchmark`)
  return report as Report
}

function describe({ node, machine, date, settings }: Report): string {
  return `${node}, ${machine}, ${date}, ${settings.launches} launches x ${settings.rounds} rounds`
}

function pad(work: string, candidate: string): string {
  return `${work.padEnd(10)}${candidate.padEnd(40)}`
}

/** Apart are two rows whose middle halves do not meet. */
function compare(old: Row, row: Row): string {
  const isApart = row.ratio.low > old.ratio.high || row.ratio.high < old.ratio.low
  if (isApart) apart++
  const change = `${((row.ratio.median / old.ratio.median - 1) * 100).toFixed(0)} %`
  const figures = `${old.ratio.median.toFixed(2).padEnd(8)}${row.ratio.median.toFixed(2).padEnd(8)}`
  return `${figures}${isApart ? change : `${change} (within the spread)`}`
}
