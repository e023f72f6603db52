// Instructions of the server outside the kernel per request, and the lines of code and data that a processor would fetch for them,
// counted by Valgrind, which no other process disturbs: `npm run bench:instructions -- [works]`. Where Valgrind is not installed:
// says so, and ends with code 1.
import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Cost, selfCost, type Profile } from './callgrind.js'
import type { Candidate } from './candidate.js'
import { load } from './drive.js'
import { REST } from './rest.js'
import { WORKS, type Work } from './workload.js'

/** Until V8 has compiled what it will; Valgrind runs this part without counting. */
const WARM_UP = 100_000
/** Requests of a new set of connections, which are opened and closed as well. */
const SETTLE = 200
const AMOUNT = 3000
/** V8 compiles in some of them, and all that it does is not known by name: the cheapest one counts. */
const ATTEMPTS = 4
const NAMES = ['fastify', 'twinroute', 'twinroute res.json', 'twinroute/express']

const SERVER = fileURLToPath(new URL('serve.js', import.meta.url))

if (spawnSync('valgrind', ['--version']).status !== 0) {
  process.stderr.write('Counting instructions takes Valgrind: install the Debian package valgrind\n')
  process.exit(1)
}
const wanted = process.argv.slice(2)
const works = WORKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const candidates = REST.candidates.filter(({ name }) => NAMES.includes(name))
if (works.length === 0) throw new Error(`There is no such work; there are ${WORKS.map(({ name }) => name).join(', ')}`)

process.stdout.write(`${process.version}, per request outside the kernel, without V8's compiler and collector:
instructions, and lines of 64 bytes that are not in a first cache of 32 KB, of code and of data\n`)
for (const work of works) {
  process.stdout.write(`${work.title}\n`)
  let yardstick: Cost | undefined
  for (const candidate of candidates) {
    const { ours, background } = await count(candidate, work)
    yardstick ??= ours
    const columns = [
      beside(ours.instructions, yardstick.instructions),
      `code ${beside(ours.code, yardstick.code)}`,
      `data ${beside(ours.data, yardstick.data)}`,
      `beside ${(background.instructions / AMOUNT / 1000).toFixed(0)}k of compiler and collector`
    ]
    process.stdout.write(`  ${candidate.name.padEnd(20)} ${columns.join('  ')}\n`)
  }
}

/** With what runs beside the requests, twice: where it is much, it is known too roughly to be left out. */
function weight({ ours, background }: Profile): number {
  return ours.instructions + 2 * background.instructions
}

/** Per request, and its ratio to the first candidate's. */
function beside(cost: number, yardstick: number): string {
  return `${Math.round(cost / AMOUNT)
    .toString()
    .padStart(7)} ${(cost / yardstick).toFixed(3)}`
}

/** Of all requests. */
async function count(candidate: Candidate, work: Work): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-instructions-'))
  const file = join(folder, 'profile')
  const child = start(candidate, work, file)
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    await load(port, work, WARM_UP)
    control(child, ['-i', 'on'])
    await load(port, work, SETTLE)
    const profiles = []
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      control(child, ['-z'])
      await load(port, work, AMOUNT)
      control(child, ['-d'])
      profiles.push(selfCost(readFileSync(`${file}.${attempt}`, 'utf8')))
    }
    return profiles.reduce((best, profile) => (weight(profile) < weight(best) ? profile : best))
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

function start(candidate: Candidate, work: Work, file: string): ChildProcess {
  const valgrind = [
    '--tool=callgrind',
    '--instr-atstart=no',
    '--cache-sim=yes',
    '--I1=32768,8,64',
    '--D1=32768,8,64',
    '--smc-check=all-non-file',
    `--callgrind-out-file=${file}`
  ]
  return fork(SERVER, [candidate.module, candidate.export, work.name, ''], {
    execPath: 'valgrind',
    execArgv: [...valgrind, process.execPath, '--single-threaded-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc']
  })
}

/** Returns when Valgrind has done it. */
function control(child: ChildProcess, options: readonly string[]): void {
  const { status, stderr } = spawnSync('callgrind_control', [...options, String(child.pid)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`callgrind_control failed: ${stderr}`)
}
