import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { CandidateProcess } from './candidate-process.js'
import { drawChart } from './chart.js'
import { check, CONNECTIONS, measure, prepare } from './drive.js'
import { summarize, type Report, type Sample } from './report.js'
import { shuffled } from './statistics.js'
import { readOptions, type SuiteOptions } from './suite-options.js'
import type { Suite } from './suite.js'
import { formatTable } from './table.js'
import type { Work } from './workload.js'

/** Measures what the command line asks for; prints a table and writes the figures. */
export async function runSuite(suite: Suite): Promise<void> {
  const options = readOptions(suite)
  const samples: Sample[] = []
  for (let launch = 1; launch <= options.launches; launch++) {
    for (const work of options.works) {
      process.stderr.write(`launch ${launch} of ${options.launches}: ${work.title}\n`)
      samples.push(...(await launchAll(work, launch, options)))
    }
  }
  const report = reportOn(samples, suite, options)
  const file = options.json ?? new URL(`../results/${suite.name}-${report.node}.json`, import.meta.url).pathname
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  process.stdout.write(`${formatTable(report)}\n`)
  if (options.svg !== undefined) writeFileSync(options.svg, drawChart(report))
}

/** One process per candidate, all alive at once; the timed rounds go through them in a new order each time. */
async function launchAll(work: Work, launch: number, options: SuiteOptions): Promise<Sample[]> {
  const taking = options.candidates.filter((candidate) => candidate.works?.includes(work.name) ?? true)
  const servers = new Map<string, { server: CandidateProcess; asked: Work }>()
  const found: Sample[] = []
  try {
    for (const candidate of shuffled(taking)) {
      const server = await CandidateProcess.start(candidate, { node: options.node, work: work.name })
      servers.set(candidate.name, { server, asked: work })
      const asked = await prepare(server.port, work)
      servers.set(candidate.name, { server, asked })
      await check(candidate.name, server.port, asked)
      await warmUp(server, asked, options)
    }
    for (let round = 1; round <= options.rounds; round++) {
      for (const [candidate, { server, asked }] of shuffled([...servers])) {
        const measured = await measure(server, asked, amountOf(work, options.amount))
        found.push({ candidate, work: work.name, launch, round, ...measured })
      }
    }
    // Once more: what is compiled or kept by now may answer by other code. Not before the rounds: a request with other headers has V8
    // throw away what it has compiled, and for 4 000 requests all candidates would cost up to twice as much.
    for (const [candidate, { server, asked }] of servers) await check(candidate, server.port, asked)
  } finally {
    for (const { server } of servers.values()) await server.stop()
  }
  return found
}

/**
 * In rounds like those that are timed. The first time that connections of a busy server end, V8 throws away what it has compiled of node's
 * turns of the event loop; on Node 24, the next 10 000 requests of all candidates cost up to twice as much.
 */
async function warmUp(server: CandidateProcess, work: Work, { warmup, amount }: SuiteOptions): Promise<void> {
  for (let done = 0; done < warmup; done += amount) await measure(server, work, amountOf(work, amount))
}

/** At least one request per connection. */
function amountOf({ share = 1 }: Work, usual: number): number {
  return Math.max(CONNECTIONS, Math.round(usual * share))
}

function reportOn(samples: readonly Sample[], suite: Suite, options: SuiteOptions): Report {
  const { launches, rounds, amount, warmup } = options
  const order = suite.candidates.map(({ name }) => name)
  return {
    node: nodeVersion(options.node),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    date: new Date().toISOString().slice(0, 10),
    yardstick: suite.yardstickTitle,
    works: options.works.map(({ name, title, share }) => ({ name, title, ...(share === undefined ? {} : { share }) })),
    settings: { launches, rounds, amount, warmup, connections: CONNECTIONS },
    rows: summarize(samples, suite.yardstick).toSorted(
      (a, b) => order.indexOf(a.candidate) - order.indexOf(b.candidate)
    )
  }
}

function nodeVersion(binary: string): string {
  return execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim()
}
