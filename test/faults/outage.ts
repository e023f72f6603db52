import assert from 'node:assert/strict'
import { type Answer, ask, isErrorShape } from './ask.js'
import type { ExampleServer } from './example-server.js'
import { ms, type Sizes, type Trial, until } from './row.js'

const WRITERS = 8
const RECOVERY_MS = 2000

/** What a write was answered; what it is found by later, when it was accepted. */
export interface Written {
  answer: Answer
  id?: string | undefined
}

/** A store that goes away and comes back, while clients write. */
export interface Outage {
  server: ExampleServer
  write(): Promise<Written>
  begin(): Promise<void> | void
  /** Resolves when the store itself answers again. */
  end(): Promise<void> | void
  /** Milliseconds that an answer may take meanwhile. */
  bound: number
  /** Writes to be refused before the store is brought back; 0 where the application can do without it. Default 20. */
  refusals?: number
  isHealthy(): Promise<boolean>
  /** Those of the accepted writes that the store does not have. */
  lost(accepted: readonly string[]): Promise<readonly string[]>
}

/**
 * Writes before, while and after a store is away. Every answer is a 2xx, or a 503 or 500 in the error shape within the
 * bound; a write is accepted within two seconds of the store's return; the store has every write that was accepted.
 */
export async function tryOutage({ sizes }: Trial, given: Outage): Promise<string> {
  const writers = new Writers(given.write)
  let isAway = false
  const outage: Outage = {
    ...given,
    begin() {
      isAway = true
      return given.begin()
    },
    end() {
      isAway = false
      return given.end()
    }
  }
  try {
    return await follow(outage, writers, sizes)
  } catch (error) {
    if (given.server.isAlive) throw error
    throw new Error(`The process has ended. Its last words: ${given.server.printed.slice(-2000)}`, { cause: error })
  } finally {
    if (isAway) await outage.end() // the next row has the same store
    await writers.stop()
  }
}

async function follow(outage: Outage, writers: Writers, sizes: Sizes): Promise<string> {
  const { server, begin, end, bound, refusals = 20 } = outage
  const { pid } = server
  await until('writes are accepted', () => writers.accepted.length >= 50)
  writers.slowest = 0
  await begin()
  const answered = writers.answered + 50
  await until('writes are refused', () => (refusals > 0 ? writers.refused >= refusals : writers.answered >= answered))
  assert.equal((await ask(`${server.address}/api/public/info`)).status, 200, 'what needs no store works')
  const { slowest, refused } = writers
  await end()
  const recovery = await recoveryOf(outage)
  const before = writers.accepted.length
  await until('writes are accepted as before', () => writers.accepted.length >= before + 50)
  await writers.stop()
  const lost = await outage.lost(writers.accepted)
  assert.deepEqual(writers.surprises, [], 'every answer is 2xx, or 503 or 500 in the error shape')
  assert.deepEqual(lost, [], 'what was accepted is stored')
  assert.ok(server.isAlive && server.pid === pid, 'the process lives')
  assert.ok(slowest <= bound * sizes.patience, `the slowest answer took ${ms(slowest)}, more than ${ms(bound)}`)
  assert.ok(recovery <= RECOVERY_MS * sizes.patience, `recovery took ${ms(recovery)}`)
  return (
    `${writers.accepted.length} accepted and 0 lost, ${refused} refused, the slowest answer after ${ms(slowest)}, ` +
    `recovered in ${ms(recovery)}, ${writers.refused - refused} refused since the return`
  )
}

/** Milliseconds from the store's return to an accepted write and good health; asks anew all the time, whoever still waits. */
async function recoveryOf({ write, isHealthy }: Outage): Promise<number> {
  const begun = performance.now()
  let took: number | undefined
  let last: unknown = 'no answer'
  const probe = async (): Promise<void> => {
    const { id, answer } = await write()
    last = answer.body
    if (id !== undefined && (await isHealthy())) took ??= performance.now() - begun
  }
  for (let asked = 0; took === undefined; asked++) {
    if (performance.now() - begun > 60_000) throw new Error('No recovery within a minute', { cause: last })
    // What matters is that one of them gets through.
    if (asked % 5 === 0) probe().catch((error: unknown) => (last = error))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return took
}

/** Clients that write as fast as they are answered. */
class Writers {
  readonly accepted: string[] = []
  refused = 0
  answered = 0
  slowest = 0
  readonly surprises: string[] = []
  readonly #write: () => Promise<Written>
  readonly #ended: Promise<unknown>
  #stopped = false

  constructor(write: () => Promise<Written>) {
    this.#write = write
    this.#ended = Promise.all(Array.from({ length: WRITERS }, () => this.#run()))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        this.#count(await this.#write())
      } catch (error) {
        this.surprises.push(`no answer: ${String((error as Error).cause ?? error)}`)
        return
      }
    }
  }

  #count({ answer, id }: Written): void {
    this.answered++
    this.slowest = Math.max(this.slowest, answer.ms)
    if (id !== undefined) this.accepted.push(id)
    else if ([500, 503].includes(answer.status) && isErrorShape(answer.body)) this.refused++
    else this.surprises.push(`${answer.status} ${JSON.stringify(answer.body)}`)
  }
}
