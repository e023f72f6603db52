import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import type { Cost } from './support/route-cost.js'

const run = promisify(execFile)

/**
 * A request costs up to twice of what the same one costs plain Fastify when the socket is left out, and nearly four times
 * with one expensive step, such as a prototype that is set or a stack that is taken per request. Both servers take turns,
 * so that a busy machine slows both.
 */
const MOST = 3

t.test(`no route costs ${MOST} times the CPU of the same route on plain Fastify, in process`, async (t) => {
  const program = fileURLToPath(new URL('./support/route-cost.js', import.meta.url))
  const { stdout } = await run(process.execPath, [program, '--json'])
  const costs = JSON.parse(stdout) as Cost[]
  t.equal(costs.length, 7)
  for (const { title, twinroute, fastify } of costs) {
    t.ok(twinroute < MOST * fastify, `${title}: ${twinroute.toFixed(2)} and ${fastify.toFixed(2)} microseconds`)
  }
})
