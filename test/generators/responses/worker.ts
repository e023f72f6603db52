// A process of its own: runs cases on the applications it is told to start.
import { APPLICATIONS, closeAll, type Runner } from './applications.js'
import type { Case, Script } from './cases.js'
import { catchUncaught, type Outcome } from './exchange.js'

export type Outcomes = Record<string, Outcome>

const nothing: Script = { steps: [], when: 'now' }
const FIRST: Case = {
  method: 'GET',
  headers: {},
  etag: false,
  middleware: nothing,
  handler: { steps: [['end']], when: 'now' },
  errors: nothing
}

const runners: [string, Runner][] = []
for (const name of process.argv.slice(2)) {
  const start = APPLICATIONS[name]
  if (start === undefined) throw new Error(`No application is called ${name}`)
  const run = await start()
  await run(FIRST) // some boot when they are asked for the first time
  runners.push([name, run])
}
catchUncaught()

async function runAll(cases: readonly Case[]): Promise<Outcomes[]> {
  const all: Outcomes[] = []
  for (const asked of cases) {
    const outcomes: Outcomes = {}
    for (const [name, run] of runners) outcomes[name] = await run(asked)
    all.push(outcomes)
  }
  return all
}

process.on('message', (cases: Case[]) => {
  runAll(cases).then(
    (all) => process.send?.(all),
    (error: unknown) => {
      process.send?.(String(error))
    }
  )
})
process.send?.('ready')
process.on('disconnect', () => {
  void closeAll().finally(() => process.exit())
})
