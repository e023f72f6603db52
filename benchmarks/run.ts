// CPU per request of every candidate, as a ratio to plain Fastify: `npm run bench -- --help` lists the options.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { CandidateProcess } from './candidate-process.js'
import { CANDIDATES, YARDSTICK, type Candidate } from './candidate.js'
import { drawChart } from './chart.js'
import { check, CONNECTIONS, measure } from './drive.js'
import { summarize, type Report, type Sample } from './report.js'
import { shuffled } from './statistics.js'
import { formatTable } from './table.js'
import { WORKS, type Work } from './workload.js'

const HELP = `npm run bench -- [options]
  --candidates a,b   default: all (plain Fastify always takes part)
  --works a,b        default: all of ${WORKS.map(({ name }) => name).join(', ')}
  --launches n       processes per candidate and work, default 6
  --rounds n         timed rounds per launch, default 3
  --amount n         requests per round, default 2000
  --warmup n         requests before the first round, default 10000
  --node path        node that runs the servers, default: this one
  --json file        where the figures go, default benchmarks/results/NODE.json
  --svg file         draws a chart of one work, default none`

const { values } = parseArgs({
  options: {
    candidates: { type: 'string' },
    works: { type: 'string' },
    launches: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    amount: { type: 'string', default: '2000' },
    warmup: { type: 'string', default: '10000' },
    node: { type: 'string', default: process.execPath },
    json: { type: 'string' },
    svg: { type: 'string' },
    help: { type: 'boolean', default: false }
  }
})
if (values.help) {
  process.stdout.write(`${HELP}\n`)
  process.exit()
}

const works = choose(WORKS, values.works)
const candidates = withYardstick(choose(CANDIDATES, values.candidates))
const launches = Number(values.launches)
const rounds = Number(values.rounds)
const amount = Number(values.amount)
const warmup = Number(values.warmup)

const samples: Sample[] = []
for (let launch = 1; launch <= launches; launch++) {
  for (const work of works) {
    process.stderr.write(`launch ${launch} of ${launches}: ${work.title}\n`)
    samples.push(...(await launchAll(work, launch)))
  }
}
const report: Report = {
  node: nodeVersion(),
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  date: new Date().toISOString().slice(0, 10),
  settings: { launches, rounds, amount, warmup, connections: CONNECTIONS },
  rows: summarize(samples)
}
const file = values.json ?? new URL(`../results/${report.node}.json`, import.meta.url).pathname
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
process.stdout.write(`${formatTable(report, WORKS)}\n`)
if (values.svg !== undefined) writeFileSync(values.svg, drawChart(report, 'hello'))

/** One process per candidate, all alive at once; the timed rounds go through them in a new order each time. */
async function launchAll(work: Work, launch: number): Promise<Sample[]> {
  const taking = candidates.filter((candidate) => candidate.works?.includes(work.name) ?? true)
  const servers = new Map<string, CandidateProcess>()
  const found: Sample[] = []
  try {
    for (const { name } of shuffled(taking)) {
      const server = await CandidateProcess.start(name, { node: values.node })
      servers.set(name, server)
      await check(name, server.port, work)
      await measure(server, work, warmup)
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [candidate, server] of shuffled([...servers])) {
        found.push({ candidate, work: work.name, launch, round, ...(await measure(server, work, amount)) })
      }
    }
  } finally {
    for (const server of servers.values()) await server.stop()
  }
  return found
}

function choose<Item extends { name: string }>(all: readonly Item[], names: string | undefined): readonly Item[] {
  if (names === undefined) return all
  return names.split(',').map((name) => {
    const item = all.find((known) => known.name === name)
    if (item === undefined) throw new Error(`${name} is none of ${all.map((known) => known.name).join(', ')}`)
    return item
  })
}

function withYardstick(chosen: readonly Candidate[]): readonly Candidate[] {
  if (chosen.some(({ name }) => name === YARDSTICK)) return chosen
  return [...CANDIDATES.filter(({ name }) => name === YARDSTICK), ...chosen]
}

function nodeVersion(): string {
  const known = /node(?:js)?[-/]?v?(\d+)/.exec(values.node)?.[1]
  return values.node === process.execPath ? process.version : `node-${known ?? 'other'}`
}
