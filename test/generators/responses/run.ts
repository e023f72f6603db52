// Compares many generated answers: npm run generate:responses -- --seed N --cases 20000
import { parseArgs } from 'node:util'
import { ofReturnedValues, withExpress, type Agreement } from './agreement.js'
import { CASE, RETURNING_CASE } from './cases.js'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, cases: { type: 'string', default: '20000' } }
})
const seed = Number(values.seed)
const count = Number(values.cases)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function report(what: string, starting: Promise<Agreement>, cases: typeof CASE): Promise<number> {
  const agreement = await starting
  const { failed, failures } = await agreement.run({ cases, seed, count })
  agreement.stop()
  for (const { on, asked, differs } of failures) {
    print(`\n${on}: ${JSON.stringify(asked)}`)
    for (const [part, [expected, actual]] of Object.entries(differs))
      print(`  ${part}: expected ${JSON.stringify(expected)}, is ${JSON.stringify(actual)}`)
  }
  print(`${what}: seed ${seed}, ${count} cases, ${failed} failures`)
  return failed
}

const failed =
  (await report('calls on the response', withExpress(), CASE)) +
  (await report('returned values', ofReturnedValues(), RETURNING_CASE))
process.exitCode = failed === 0 ? 0 : 1
