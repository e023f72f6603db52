import { parseArgs } from 'node:util'
import { guardAgreement } from './agreement.js'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, cases: { type: 'string', default: '20000' } }
})
const outcome = await guardAgreement({ seed: Number(values.seed), cases: Number(values.cases) })
process.stdout.write(`${outcome.text}\n`)
process.exit(outcome.failures === 0 ? 0 : 1)
