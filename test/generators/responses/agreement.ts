import fc from 'fast-check'
import type { Case } from './cases.js'
import { disagreement, returnedDisagreement, referenceOf, type Disagreement } from './compare.js'
import type { Outcomes } from './worker.js'
import { Worker } from './workers.js'

const EXPRESS = ['Express 5', 'Express 5, without X-Powered-By']

/** What is compared with Express. */
export const OURS = [
  'twinroute/express',
  'twinroute/express, onSend hook',
  'createApp, use()',
  'createApp, route file',
  'createApp, route file, onSend hook',
  'createApp, chain'
]

/** Where returned values are compared: each with the first. */
export const RETURNING = ['returned', 'returned, injected', 'returned on a host', 'returned on a host, injected']

/** A case, made as small as it gets, on an application whose answer is not the expected one. */
export interface Failure {
  asked: Case
  on: string
  differs: Disagreement
}

export interface Run {
  cases: fc.Arbitrary<Case>
  seed: number
  count: number
  /** How many failures are made small and told; the others are counted. */
  told?: number
}

const BATCH = 500

/** The processes of one kind of comparison, and what their outcomes say. */
export class Agreement {
  readonly #workers: readonly Worker[]
  readonly #failuresIn: (asked: Case, outcomes: Outcomes) => Failure[]

  constructor(groups: readonly (readonly string[])[], failuresIn: (asked: Case, outcomes: Outcomes) => Failure[]) {
    this.#workers = groups.map((names) => new Worker(names))
    this.#failuresIn = failuresIn
  }

  async ready(): Promise<this> {
    await Promise.all(this.#workers.map((worker) => worker.ready()))
    return this
  }

  stop(): void {
    for (const worker of this.#workers) worker.stop()
  }

  /** What came of each case on every application. */
  async outcomes(cases: readonly Case[]): Promise<Outcomes[]> {
    const parts = await Promise.all(this.#workers.map((worker) => worker.run(cases)))
    return cases.map((_, index) => Object.assign({}, ...parts.map((part) => part[index])) as Outcomes)
  }

  /** How many cases have failed, and some of these as small as they get. */
  async run({ cases, seed, count, told = 5 }: Run): Promise<{ failed: number; failures: Failure[] }> {
    const all = fc.sample(cases, { seed, numRuns: count })
    const failed: number[] = []
    for (let start = 0; start < all.length; start += BATCH) {
      const found = await this.#failures(all.slice(start, start + BATCH))
      found.forEach((failures, index) => failures.length > 0 && failed.push(start + index))
    }
    const failures: Failure[] = []
    for (const index of failed.slice(0, told)) failures.push(...(await this.#smallest({ cases, seed, index })))
    return { failed: failed.length, failures }
  }

  async #failures(cases: readonly Case[]): Promise<Failure[][]> {
    const outcomes = await this.outcomes(cases)
    return cases.map((asked, index) => this.#failuresIn(asked, outcomes[index] as Outcomes))
  }

  async #smallest({
    cases,
    seed,
    index
  }: {
    cases: fc.Arbitrary<Case>
    seed: number
    index: number
  }): Promise<Failure[]> {
    let last: Failure[] = []
    const property = fc.asyncProperty(cases, async (asked) => {
      const [failures = []] = await this.#failures([asked])
      if (failures.length > 0) last = failures
      return failures.length === 0
    })
    await fc.check(property, { seed, path: String(index), numRuns: index + 1 })
    return last.slice(0, 1)
  }
}

/** The same calls on Express and on applications of ours. */
export function withExpress(): Promise<Agreement> {
  return new Agreement([EXPRESS, OURS], (asked, outcomes) =>
    OURS.flatMap((on) => {
      const pair = { expected: outcomes[referenceOf(on)], actual: outcomes[on] }
      const differs = disagreement({ asked, name: on, ...pair } as Parameters<typeof disagreement>[0])
      return differs === undefined ? [] : [{ asked, on, differs }]
    })
  ).ready()
}

/** The same values returned on every host. */
export function ofReturnedValues(): Promise<Agreement> {
  const [first = '', ...others] = RETURNING
  return new Agreement([RETURNING], (asked, outcomes) =>
    others.flatMap((on) => {
      const differs = returnedDisagreement(outcomes[first] as never, outcomes[on] as never, on)
      return differs === undefined ? [] : [{ asked, on, differs }]
    })
  ).ready()
}
