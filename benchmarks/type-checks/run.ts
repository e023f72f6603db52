// What the types of a client cost the compiler: `npm run bench:types`. The same routes and calls are written for twinroute
// and for Hono, and `tsc --noEmit` checks both, by turns.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { shuffled, spread } from '../statistics.js'
import { honoProject, twinrouteProject, writeProject, type Files } from './projects.js'

/** What the check time of twinroute's project may be at most, as a part of Hono's. */
const TARGET = 0.5

const MAKERS: Readonly<Record<string, (routes: number) => Files>> = { twinroute: twinrouteProject, hono: honoProject }
const TSC = createRequire(import.meta.url).resolve('typescript/lib/tsc.js')

/** Seconds; memory in MB. */
interface Measured {
  check: number
  total: number
  memory: number
  instantiations: number
}

const { values } = parseArgs({
  options: {
    routes: { type: 'string', default: '500,1000' },
    launches: { type: 'string', default: '5' }
  }
})

process.stdout.write('| Routes | Project | check time | total time | memory | instantiations |\n')
process.stdout.write('| --- | --- | --- | --- | --- | --- |\n')
const missed = values.routes
  .split(',')
  .map(Number)
  .filter((routes) => !compare(routes, Number(values.launches)))
process.stdout.write(`\n${process.version}, medians of ${values.launches} launches, taken by turns\n`)
if (missed.length > 0) {
  process.stdout.write(`Check time is more than ${TARGET} of Hono's with ${missed.join(' and ')} routes\n`)
  process.exitCode = 1
}

/** @returns whether the target is met */
function compare(routes: number, launches: number): boolean {
  const folders = Object.entries(MAKERS).map(([name, make]) => {
    const folder = fileURLToPath(new URL(`../projects/${name}-${routes}`, import.meta.url))
    writeProject(folder, make(routes))
    return { name, folder, found: [] as Measured[] }
  })
  for (let launch = 0; launch < launches; launch++) {
    for (const { folder, found } of shuffled(folders)) found.push(compile(folder))
  }
  const medians = folders.map(({ name, found }) => ({ name, median: medianOf(found) }))
  for (const { name, median } of medians) print(routes, name, median)
  const [own, hono] = medians.map(({ median }) => median) as [Measured, Measured]
  const ratio = (key: keyof Measured): string => (own[key] / hono[key]).toFixed(2)
  const ratios = (['check', 'total', 'memory', 'instantiations'] as const).map(ratio)
  process.stdout.write(`| ${[routes, "of Hono's", ...ratios].join(' | ')} |\n`)
  return own.check / hono.check <= TARGET
}

/** A project that does not compile ends the run, with what the compiler says. */
function compile(folder: string): Measured {
  const args = ['--max-old-space-size=8192', TSC, '-p', folder, '--extendedDiagnostics']
  const { status, stdout: printed } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${folder} does not compile:\n${printed.slice(0, 5000)}`)
  const field = (name: string): number => {
    const [, figure] = new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(printed) ?? []
    if (figure === undefined) throw new Error(`tsc does not say its ${name}:\n${printed}`)
    return Number(figure)
  }
  return {
    check: field('Check time'),
    total: field('Total time'),
    memory: field('Memory used') / 1024,
    instantiations: field('Instantiations')
  }
}

function medianOf(found: readonly Measured[]): Measured {
  const median = (key: keyof Measured): number => spread(found.map((one) => one[key])).median
  return {
    check: median('check'),
    total: median('total'),
    memory: median('memory'),
    instantiations: median('instantiations')
  }
}

function print(routes: number, name: string, { check, total, memory, instantiations }: Measured): void {
  const cells = [
    routes,
    name,
    `${check.toFixed(2)} s`,
    `${total.toFixed(2)} s`,
    `${memory.toFixed(0)} MB`,
    instantiations
  ]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}
