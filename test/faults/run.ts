// `npm run try:faults`: the example while its stores, its disk, its clock and its clients do what they should not. Each row
// prints its figure; ends with `N rows, M failed`. `-- WORD...` runs the rows whose names hold one of the words, `--long` tries
// as much as docs/lifecycle.md says, `--requests N`, `--idle N`, `--slow N`, `--aborts N` and `--uploads N` another amount,
// `--patience N` multiplies the bounds of time for a busy machine.
import { inspect, parseArgs } from 'node:util'
import { BOOT_ROWS } from './boot-rows.js'
import { CLOCK_ROWS } from './clock-rows.js'
import { CONNECTION_ROWS } from './connection-rows.js'
import { DISK_ROWS } from './disk-rows.js'
import { LIMIT_ROWS } from './limit-rows.js'
import { MIXED_ROWS } from './mixed-rows.js'
import { POSTGRES_ROWS } from './postgres-rows.js'
import { REDIS_ROWS } from './redis-rows.js'
import { type Row, LONG, Scope, SHORT, type Sizes } from './row.js'
import { WRONG_STORE_ROWS } from './wrong-store-rows.js'

const NUMBERS = ['requests', 'idle', 'slow', 'aborts', 'uploads', 'patience'] as const

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean' },
    ...(Object.fromEntries(NUMBERS.map((name) => [name, { type: 'string' }])) as Record<
      (typeof NUMBERS)[number],
      { type: 'string' }
    >)
  }
})

const rows: Row[] = [
  ...POSTGRES_ROWS,
  ...REDIS_ROWS,
  ...WRONG_STORE_ROWS,
  ...DISK_ROWS,
  ...LIMIT_ROWS,
  ...CLOCK_ROWS,
  ...BOOT_ROWS,
  ...CONNECTION_ROWS,
  ...MIXED_ROWS
].filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))

const sizes = readSizes()
const shared = new Scope()
/** Of the row that is being tried. */
let current = new Scope()
let tried = 0
let failed = 0
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave())
for (const row of rows) await tryRow(row)
await shared.end()
print(`${tried} rows, ${failed} failed`)
process.exit(failed === 0 && tried > 0 ? 0 : 1)

async function tryRow({ name, missing, run }: Row): Promise<void> {
  const reason = missing?.()
  if (reason !== undefined) return print(`left out ${name}: ${reason}`)
  tried++
  const scope = (current = new Scope())
  const begun = performance.now()
  try {
    const figure = await run({ scope, shared, sizes })
    print(`ok      ${name}: ${figure} [${((performance.now() - begun) / 1000).toFixed(1)} s]`)
  } catch (error) {
    failed++
    print(`FAILED  ${name}\n${inspect(error)}`)
  } finally {
    await scope.end()
  }
}

/** Whatever was started is ended: servers, disks, folders. */
async function leave(): Promise<void> {
  await current.end()
  await shared.end()
  process.exit(1)
}

function readSizes(): Sizes {
  const sizes = { ...(values.long ? LONG : SHORT) }
  for (const name of NUMBERS) {
    const given = values[name]
    if (given === undefined) continue
    if (!(Number(given) >= 1)) throw new Error(`--${name} must be a number from 1 on, not ${given}`)
    sizes[name] = Number(given)
  }
  return sizes
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
