// `npm run try:cluster`: the built example four times behind nginx, on PostgreSQL and Redis: what the processes share, and what
// becomes of requests while they are restarted or killed. `-- --restarts 20` for more restarts, `-- --figures 20000` for what
// several processes cost, measured over so many requests, `-- WORD...` for the rows whose names hold one of the words. Ends with `N rows, M failed`.
import { parseArgs } from 'node:util'
import { Cluster } from './cluster.js'
import { CRASH_ROWS } from './crash-rows.js'
import { printFigures } from './figures.js'
import { NGINX } from './nginx.js'
import { restartRows } from './restart-rows.js'
import { SHARING_ROWS } from './sharing-rows.js'
import { SLOW_ROWS } from './slow-rows.js'

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { restarts: { type: 'string', default: '2' }, figures: { type: 'string' } }
})
const rows = [...SHARING_ROWS, ...restartRows(Number(values.restarts)), ...CRASH_ROWS, ...SLOW_ROWS].filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word))
)
const ends: (() => unknown)[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end().then(() => process.exit(1)))
let failed = 0

try {
  await run()
} catch (error) {
  failed++
  print(`FAILED  the cluster does not start\n${describe(error)}`)
} finally {
  await end()
}
print(`${Math.max(rows.length, failed)} rows, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

/** Takes away what has been started, the last one first. */
async function end(): Promise<void> {
  for (const undo of ends.splice(0).toReversed()) await undo()
}

async function run(): Promise<void> {
  if (NGINX === '') throw new Error('nginx is not on the PATH (Debian: apt-get install nginx-light)')
  const cluster = await Cluster.start((end) => ends.push(end))
  for (const row of rows) {
    try {
      const figures = await row.run(cluster)
      print(`ok      ${row.name}${figures === undefined ? '' : `\n        ${figures}`}`)
    } catch (error) {
      failed++
      print(`FAILED  ${row.name}\n${describe(error)}`)
    }
  }
  if (values.figures !== undefined) await printFigures(cluster, Number(values.figures), print)
  const printed = cluster.instances.map(({ output }) => output).join('')
  if (failed > 0) print(`${printed.slice(-4000)}\n${cluster.nginx.errors().slice(-4000)}`)
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
