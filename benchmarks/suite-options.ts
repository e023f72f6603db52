import { parseArgs } from 'node:util'
import type { Candidate } from './candidate.js'
import { CONNECTIONS } from './drive.js'
import type { Amounts, Suite } from './suite.js'
import type { Work } from './workload.js'

export interface SuiteOptions extends Amounts {
  candidates: readonly Candidate[]
  works: readonly Work[]
  /** The node binary that runs the candidates. */
  node: string
  /** Where the figures go. */
  json: string | undefined
  /** Where a chart goes. */
  svg: string | undefined
}

/** Reads the command line; prints the options and ends the process when asked to. */
export function readOptions(suite: Suite): SuiteOptions {
  const { launches, rounds, amount, warmup } = suite.defaults
  const { values } = parseArgs({
    options: {
      candidates: { type: 'string' },
      works: { type: 'string' },
      launches: { type: 'string', default: String(launches) },
      rounds: { type: 'string', default: String(rounds) },
      amount: { type: 'string', default: String(amount) },
      warmup: { type: 'string', default: String(warmup) },
      node: { type: 'string', default: process.execPath },
      json: { type: 'string' },
      svg: { type: 'string' },
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false }
    }
  })
  if (values.help) {
    process.stdout.write(`${describeOptions(suite)}\n`)
    process.exit()
  }
  const isUsual = !values.all && values.works === undefined
  const works = choose(suite.works, values.works, { usualOnly: isUsual })
  const candidates = choose(suite.candidates, values.candidates, { usualOnly: isUsual })
  if (values.candidates !== undefined) refuseIdle(candidates, works)
  return {
    candidates: withYardstick(suite, candidates),
    works,
    launches: count('launches', values.launches),
    rounds: count('rounds', values.rounds),
    amount: count('amount', values.amount, CONNECTIONS),
    warmup: count('warmup', values.warmup, CONNECTIONS),
    node: values.node,
    json: values.json,
    svg: values.svg
  }
}

function describeOptions({ command, candidates, works, yardstickTitle, defaults, name }: Suite): string {
  return `npm run ${command} -- [options]
  --candidates a,b   of ${candidates.map(nameWithMark).join(', ')} (${yardstickTitle} always takes part)
  --works a,b        of ${works.map(nameWithMark).join(', ')}
                     default: all without *; with --works every candidate that has one of these works
  --all              every work and every candidate, those with * too
  --launches n       processes per candidate and work, default ${defaults.launches}
  --rounds n         timed rounds per launch, default ${defaults.rounds}
  --amount n         requests per round, default ${defaults.amount}
  --warmup n         requests before the first round, default ${defaults.warmup}
  --node path        node that runs the servers, default: this one
  --json file        where the figures go, default benchmarks/results/${name}-NODE.json
  --svg file         draws a chart of the first work, default none`
}

function nameWithMark({ name, isExtra = false }: Choice): string {
  return isExtra ? `${name}*` : name
}

function count(name: string, text: string, least = 1): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least) return value
  throw new Error(`--${name} is a whole number of at least ${least}, not ${text}`)
}

interface Choice {
  name: string
  isExtra?: boolean
}

interface Choosing {
  /** Without names, leaves out what is extra. */
  usualOnly: boolean
}

function choose<Item extends Choice>(
  all: readonly Item[],
  names: string | undefined,
  { usualOnly }: Choosing
): readonly Item[] {
  if (names === undefined) return usualOnly ? all.filter(({ isExtra = false }) => !isExtra) : all
  return names.split(',').map((name) => {
    const item = all.find((known) => known.name === name)
    if (item === undefined) throw new Error(`${name} is none of ${all.map((known) => known.name).join(', ')}`)
    return item
  })
}

/** A candidate that was named and has none of the works would be missing from the table without a word. */
function refuseIdle(candidates: readonly Candidate[], asked: readonly Work[]): void {
  for (const { name, works } of candidates) {
    if (works !== undefined && !asked.some((work) => works.includes(work.name)))
      throw new Error(`${name} has only these works: ${works.join(', ')}; choose one with --works`)
  }
}

function withYardstick({ candidates, yardstick }: Suite, chosen: readonly Candidate[]): readonly Candidate[] {
  if (chosen.some(({ name }) => name === yardstick)) return chosen
  return [...candidates.filter(({ name }) => name === yardstick), ...chosen]
}
