// ci: once (rules of this package over what the other files try on every Node version)
// The same random calls on Express 5 and on twinroute: status, headers, body, and whether the answer ends. Many more by
// `npm run generate:responses`.
import t from 'tap'
import { ofReturnedValues, withExpress } from './generators/responses/agreement.js'
import { CASE, RETURNING_CASE } from './generators/responses/cases.js'
import { rawDisagreement, referenceOf, type Answered } from './generators/responses/compare.js'
import { DIFFERENCES } from './generators/responses/differences.js'

const SEED = 11

t.test('generated calls on the response are answered as Express 5 answers them', async (t) => {
  const agreement = await withExpress()
  t.teardown(() => agreement.stop())
  t.strictSame(await agreement.run({ cases: CASE, seed: SEED, count: 150 }), { failed: 0, failures: [] })

  for (const { reason, shownBy } of DIFFERENCES) {
    t.test(`declared difference: ${reason}`, async (t) => {
      const [outcomes = {}] = await agreement.outcomes([shownBy.asked])
      const { asked, on } = shownBy
      const answered = { asked, name: on, expected: outcomes[referenceOf(on)], actual: outcomes[on] } as Answered
      t.ok(rawDisagreement(answered), 'it is still there')
    })
  }
})

t.test('generated values that a handler returns are answered alike on a socket, injected and on a host', async (t) => {
  const agreement = await ofReturnedValues()
  t.teardown(() => agreement.stop())
  t.strictSame(await agreement.run({ cases: RETURNING_CASE, seed: SEED, count: 100 }), { failed: 0, failures: [] })
})
