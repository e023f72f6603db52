// Instructions of the server outside the kernel per request, counted by Valgrind, which no other process disturbs:
// `npm run bench:instructions -- [works]`. Where Valgrind is not installed: says so, and ends with code 1.
import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { selfCost, type Profile } from './callgrind.js'
import type { Candidate } from './candidate.js'
import { load } from './drive.js'
import { REST } from './rest.js'
import { WORKS, type Work } from './workload.js'

/** Until V8 has compiled what it will; Valgrind runs this part without counting. */
const WARM_UP = 80_000
/** Requests of a new set of connections, which are opened and closed as well. */
const SETTLE = 200
const AMOUNT = 3000
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

process.stdout.write(
  `${process.version}, instructions per request outside the kernel, without V8's compiler and collector\n`
)
for (const work of works) {
  process.stdout.write(`${work.title}\n`)
  let yardstick: number | undefined
  for (const candidate of candidates) {
    const { ours, background } = await count(candidate, work)
    yardstick ??= ours
    const ratio = (ours / yardstick).toFixed(3)
    const beside = `beside ${(background / 1000).toFixed(0)}k of compiler and collector`
    process.stdout.write(
      `  ${candidate.name.padEnd(20)} ${String(Math.round(ours)).padStart(7)}  ${ratio}  ${beside}\n`
    )
  }
}

/** Instructions per request. */
async function count(candidate: Candidate, work: Work): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-instructions-'))
  const file = join(folder, 'profile')
  const child = start(candidate, work, file)
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    await load(port, work, WARM_UP)
    control(child, ['-i', 'on'])
    await load(port, work, SETTLE)
    control(child, ['-z'])
    await load(port, work, AMOUNT)
    control(child, ['-d'])
    const { ours, background } = selfCost(readFileSync(`${file}.1`, 'utf8'))
    return { ours: ours / AMOUNT, background: background / AMOUNT }
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

function start(candidate: Candidate, work: Work, file: string): ChildProcess {
  const valgrind = [
    '--tool=callgrind',
    '--instr-atstart=no',
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
