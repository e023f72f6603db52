// `npm run bench:reload`: from saving a file to the new answer, with 10, 100 and 1,000 route files, what clients see meanwhile,
// and memory; beside tsx watch, node --watch and Nitro. `--node PATH` for another Node, `--routes 10,100` and
// `--only twinroute,tsx` for a part of it. Peers get fewer edits, since each takes them longer; `--full` gives them as many.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { reloadCandidates, type ReloadCandidate } from './reload-candidates.js'
import { ask, startClients, until } from './reload-clients.js'
import { ReloadProject } from './reload-project.js'
import type { Edited } from './reload-texts.js'

const { values } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    routes: { type: 'string', default: '10,100,1000' },
    only: { type: 'string', default: 'twinroute,tsx,node,nitro' },
    edits: { type: 'string', default: '20' },
    'edits-under-load': { type: 'string', default: '100' },
    reloads: { type: 'string', default: '10,200' },
    full: { type: 'boolean', default: false }
  }
})
const CLIENTS = 8

/** Of edits and of edits under load. */
const FOR_PEERS = [5, 10] as const

/** Milliseconds after the first answer in which a watcher becomes ready. */
const SETTLING = 2000

/** Milliseconds after which a first answer will not come: a thousand files are compiled then. */
const FIRST = 180_000

interface Served {
  candidate: ReloadCandidate
  project: ReloadProject
  /** Of the process that was started, and the session of those that it starts. */
  pid: number
}

function editsFor({ name }: ReloadCandidate): { plain: number; underLoad: number } {
  const [plain, underLoad] = [Number(values.edits), Number(values['edits-under-load'])]
  if (name === 'twinroute' || values.full) return { plain, underLoad }
  return { plain: Math.min(plain, FOR_PEERS[0]), underLoad: Math.min(underLoad, FOR_PEERS[1]) }
}

async function measure(edits: number, edit: () => Promise<number>): Promise<number[]> {
  const times: number[] = []
  for (let count = 0; count < edits; count++) {
    await wait(120) // two edits of one save are no two edits
    times.push(await edit())
    if (Number.isNaN(times.at(-1))) break
  }
  return times
}

function shown(times: readonly number[]): string {
  if (times.some((time) => Number.isNaN(time))) return 'never'
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0)
  return `${at(0.5)} / ${at(0.95)} ms`
}

function printTimes(name: string, times: readonly number[]): boolean {
  print(`  ${name.padEnd(14)} ${shown(times).padStart(16)}`)
  return !times.some((time) => Number.isNaN(time))
}

function editRoute({ project }: Served): Promise<number> {
  const { number } = project.edit('route')
  return until(project.port, '/api/edited', ({ body }) => body['route'] === number)
}

async function measureEdits({ candidate, project }: Served): Promise<void> {
  const { port } = project
  const { plain } = editsFor(candidate)
  for (const kind of ['route', 'shared module', 'map', 'entry'] satisfies Edited[]) {
    const times = await measure(plain, async () => {
      const { number, name } = project.edit(kind)
      return until(port, '/api/edited', ({ body }) => body[name] === number)
    })
    printTimes(kind, times)
  }
  const names: string[] = []
  const served = (name: string, status: number): Promise<number> =>
    until(port, `/api/${name}`, (answer) => answer.status === status)
  const added = await measure(plain, () => served(names[names.push(project.add()) - 1] as string, 200))
  if (!printTimes('file added', added))
    return print('  file renamed and file deleted: left out, since added files are not seen')
  const renamed = await measure(names.length, async () => {
    names.push(project.rename(names.shift() as string))
    return served(names.at(-1) as string, 200)
  })
  printTimes('file renamed', renamed)
  const deleted = await measure(names.length, async () => {
    const name = names.shift() as string
    project.delete(name)
    return served(name, 404)
  })
  printTimes('file deleted', deleted)
}

/** What clients see while a route file is edited again and again. */
async function measureLoad(served: Served): Promise<void> {
  const { underLoad } = editsFor(served.candidate)
  const stop = startClients(CLIENTS, { port: served.project.port, path: '/api/edited', member: 'route' })
  const times = await measure(underLoad, () => editRoute(served))
  const { requests, refused, failed, stale } = await stop()
  print(
    `  ${times.length} edits under ${CLIENTS} clients: ${shown(times)}; ${requests} requests, ${refused} refused, ${failed} failed, ${stale} old answers`
  )
}

/** Each collection frees what the one before has found to be unused. */
const COLLECTIONS = 3

const MIB = 2 ** 20

async function memoryOf({ project, pid }: Served): Promise<string> {
  let heap = 0
  for (let count = 0; count < COLLECTIONS; count++) {
    heap = (await ask(project.port, '/api/heap')).body['heap'] ?? 0
    await wait(50)
  }
  const kib = execFileSync('ps', ['-o', 'rss=', '-s', String(pid)])
    .toString()
    .trim()
    .split(/\s+/)
  const resident = kib.reduce((sum, one) => sum + Number(one), 0) * 1024
  return `${(heap / MIB).toFixed(1)} (${(resident / MIB).toFixed(0)}) MiB`
}

async function measureMemory(served: Served): Promise<void> {
  if (!served.candidate.lives && !values.full) return print('  heap: left out, each change is served by a new process')
  const stops = values.reloads.split(',').map(Number)
  const after: string[] = []
  let done = 0
  for (const stop of stops) {
    for (; done < stop; done++) {
      await wait(30)
      await editRoute(served)
    }
    await wait(3500) // applications of before have closed
    after.push(await memoryOf(served))
  }
  print(`  heap (resident memory of all processes) after ${stops.join(' and ')} reloads: ${after.join(' and ')}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function start({ command }: ReloadCandidate, { folder, port }: ReloadProject): ChildProcess {
  const env = { ...process.env, NODE_ENV: '', NO_COLOR: '1', PORT: String(port) }
  return spawn(values.node, [...command], { cwd: folder, env, stdio: 'ignore', detached: true })
}

async function measureAll(candidate: ReloadCandidate, routes: number): Promise<void> {
  const project = new ReloadProject(candidate.texts, { routes, port: await freePort() })
  const begun = performance.now()
  const { pid = 0 } = start(candidate, project)
  try {
    const first = await until(project.port, '/api/edited', ({ status }) => status === 200, FIRST)
    if (Number.isNaN(first)) return print(`${candidate.name}, ${routes} routes: no answer`)
    const milliseconds = (performance.now() - begun).toFixed(0)
    print(`${candidate.name}, ${routes} routes: first answer after ${milliseconds} ms; median / 95th`)
    await wait(SETTLING)
    const served = { candidate, project, pid }
    await measureEdits(served)
    await measureLoad(served)
    await measureMemory(served)
  } finally {
    process.kill(-pid, 'SIGKILL')
    project.remove()
  }
}

print(`Node ${execFileSync(values.node, ['--version']).toString().trim()}`)
const wanted = values.only.split(',')
const candidates = reloadCandidates(values.node).filter(({ name }) => wanted.includes(name))
for (const routes of values.routes.split(',').map(Number)) {
  for (const candidate of candidates) await measureAll(candidate, routes)
}
process.exit()
