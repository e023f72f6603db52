import { isDeepStrictEqual } from 'node:util'
import type { Case } from './cases.js'
import { DIFFERENCES } from './differences.js'
import type { Outcome } from './exchange.js'

/** How long a connection is kept is each server's own, and createApp adds the id of the request. */
const NOT_COMPARED = ['keep-alive', 'x-request-id']

/** The reference of each application. */
export function referenceOf(name: string): string {
  return name.startsWith('createApp') ? 'Express 5, without X-Powered-By' : 'Express 5'
}

/** What was asked and what came of it, on Express and on an application of ours. */
export interface Answered {
  asked: Case
  name: string
  expected: Outcome
  actual: Outcome
}

/** A part of the outcome that is not Express's: what is expected, and what came. */
export type Disagreement = Record<string, [expected: unknown, actual: unknown]>

/** What differs although no declared difference covers it; undefined where both agree. */
export function disagreement(answered: Answered): Disagreement | undefined {
  let pair = withoutClock(answered)
  for (const { covers, level } of DIFFERENCES) {
    if (covers({ ...answered, ...pair }))
      pair = { expected: level(pair.expected, pair), actual: level(pair.actual, pair) }
  }
  return differing(pair.expected, pair.actual)
}

/** The same without the declared differences: one of them has vanished where this finds nothing. */
export function rawDisagreement(answered: Answered): Disagreement | undefined {
  const { expected, actual } = withoutClock(answered)
  return differing(expected, actual)
}

/** Values that a handler returns: over a socket and injected, on an app and on a host. Injected answers have no framing. */
export function returnedDisagreement(first: Outcome, other: Outcome, on: string): Disagreement | undefined {
  const isInjected = on.endsWith('injected')
  if (isInjected && first.ends === 'cut' && other.ends === 'cut') return undefined // what came before the cut is lost
  const level = (outcome: Outcome): Outcome => (isInjected ? withoutFraming(comparable(outcome)) : comparable(outcome))
  return differing(level(first), level(other))
}

const FRAMING = ['connection', 'content-length', 'transfer-encoding']

function withoutFraming(outcome: Outcome): Outcome {
  const kept = Object.entries(outcome.headers).filter(([name]) => !FRAMING.includes(name))
  return { ...outcome, headers: Object.fromEntries(kept) }
}

function differing(expected: Outcome, actual: Outcome): Disagreement | undefined {
  const found: Disagreement = {}
  for (const key of Object.keys(expected) as (keyof Outcome)[]) {
    if (!isDeepStrictEqual(expected[key], actual[key])) found[key] = [expected[key], actual[key]]
  }
  return Object.keys(found).length === 0 ? undefined : found
}

function withoutClock({ expected, actual }: Answered): { expected: Outcome; actual: Outcome } {
  return { expected: comparable(expected), actual: comparable(actual) }
}

function comparable(outcome: Outcome): Outcome {
  const headers: Outcome['headers'] = {}
  for (const name of Object.keys(outcome.headers).toSorted()) {
    if (!NOT_COMPARED.includes(name)) headers[name] = name === 'date' ? ['now'] : (outcome.headers[name] ?? [])
  }
  return { ...outcome, headers }
}
