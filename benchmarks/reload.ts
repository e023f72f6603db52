// `npm run bench:reload`: from saving a file to the new answer, with 10, 100 and 1,000 route files, and what clients see
// meanwhile. `--node PATH` for another Node, `--routes 10,100` and `--only twinroute,tsx` for a part of it.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ReloadProject, type Edited } from './reload-project.js'

const repository = fileURLToPath(new URL('../../', import.meta.url))
const { values } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    routes: { type: 'string', default: '10,100,1000' },
    only: { type: 'string', default: 'twinroute,tsx,node' },
    edits: { type: 'string', default: '20' }
  }
})
const EDITS = Number(values.edits)
const EDITS_UNDER_LOAD = 100
const CLIENTS = 8

/** Milliseconds after which an answer will not come. */
const PATIENCE = 20_000

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  twinroute: [join(repository, 'dist/command/twinroute.js'), 'dev', 'src/server.ts'],
  tsx: [join(repository, 'benchmarks/node_modules/tsx/dist/cli.mjs'), 'watch', '--clear-screen=false', 'src/server.ts'],
  node: ['--watch', 'src/server.ts']
}

/** Milliseconds after the first answer in which a watcher becomes ready. */
const SETTLING = 2000

interface Answer {
  status: number
  body: Record<string, number>
}

const agent = new Agent({ keepAlive: true })

function ask(port: number, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json') === true
        resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as Answer['body']) : {} })
      })
    }).on('error', reject)
  })
}

/** Milliseconds until an answer is as wanted; requests that are refused meanwhile are not counted here. */
async function until(port: number, path: string, isWanted: (answer: Answer) => boolean): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const answer = await ask(port, path).catch(() => undefined)
    if (answer !== undefined && isWanted(answer)) return performance.now() - begun
    if (performance.now() - begun > PATIENCE) return Number.NaN
    await wait(1)
  }
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
  if (times.some((time) => Number.isNaN(time))) return 'never'.padStart(14)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0)
  return `${at(0.5)} / ${at(0.95)} ms`.padStart(14)
}

async function measureEdits(project: ReloadProject, edits: number): Promise<void> {
  const { port } = project
  for (const kind of ['route', 'shared module', 'map', 'entry'] satisfies Edited[]) {
    const times = await measure(edits, async () => {
      const { number, name } = project.edit(kind)
      return until(port, '/api/edited', ({ body }) => body[name] === number)
    })
    print(`  ${kind.padEnd(14)} ${shown(times)}`)
  }
  const names: string[] = []
  const served = (name: string, status: number): Promise<number> =>
    until(port, `/api/${name}`, (answer) => answer.status === status)
  const added = await measure(edits, () => served(names[names.push(project.add()) - 1] as string, 200))
  print(`  ${'file added'.padEnd(14)} ${shown(added)}`)
  const isSeen = !added.some((time) => Number.isNaN(time))
  const renamed = await measure(isSeen ? names.length : 0, async () => {
    names.push(project.rename(names.shift() as string))
    return served(names.at(-1) as string, 200)
  })
  print(`  ${'file renamed'.padEnd(14)} ${isSeen ? shown(renamed) : '-'.padStart(14)}`)
  const deleted = await measure(isSeen ? names.length : 0, async () => {
    const name = names.shift() as string
    project.delete(name)
    return served(name, 404)
  })
  print(`  ${'file deleted'.padEnd(14)} ${isSeen ? shown(deleted) : '-'.padStart(14)}`)
}

/** What eight clients see while a route file is edited again and again. */
async function measureLoad(project: ReloadProject, edits: number): Promise<void> {
  const counts = { requests: 0, refused: 0, failed: 0, stale: 0 }
  const load = { isOver: false }
  const clients = Array.from({ length: CLIENTS }, async () => {
    let newest = 0
    while (!load.isOver) {
      counts.requests++
      try {
        const { status, body } = await ask(project.port, '/api/edited')
        const route = body['route'] ?? 0
        if (status !== 200) counts.failed++
        else if (route < newest) counts.stale++
        newest = Math.max(newest, route)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') counts.refused++
        else counts.failed++
        await wait(5)
      }
    }
  })
  const times = await measure(edits, async () => {
    const { number } = project.edit('route')
    return until(project.port, '/api/edited', ({ body }) => body['route'] === number)
  })
  load.isOver = true
  await Promise.all(clients)
  const { requests, refused, failed, stale } = counts
  print(
    `  ${edits} edits under ${CLIENTS} clients: ${shown(times).trim()}; ${requests} requests, ${refused} refused, ${failed} failed, ${stale} old answers`
  )
}

/** Each collection frees what the one before has found to be unused. */
const COLLECTIONS = 3

/** In MiB. */
async function heapOf({ port }: ReloadProject): Promise<number> {
  let heap = 0
  for (let count = 0; count < COLLECTIONS; count++) {
    heap = (await ask(port, '/api/heap')).body['heap'] ?? 0
    await wait(50)
  }
  return heap / 2 ** 20
}

async function measureHeap(project: ReloadProject): Promise<void> {
  const after: string[] = []
  for (const reloads of [10, 190]) {
    for (let count = 0; count < reloads; count++) {
      await wait(30)
      const { number } = project.edit('route')
      await until(project.port, '/api/edited', ({ body }) => body['route'] === number)
    }
    await wait(3500) // applications of before have closed
    after.push((await heapOf(project)).toFixed(1))
  }
  print(`  heap after 10 and after 200 reloads: ${after.join(' and ')} MiB`)
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

function start(command: readonly string[], project: ReloadProject): ChildProcess {
  const env = { ...process.env, NODE_ENV: '', NO_COLOR: '1' }
  return spawn(values.node, [...command], {
    cwd: project.folder,
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true
  })
}

print(`Node ${execFileSync(values.node, ['--version']).toString().trim()}`)
for (const routes of values.routes.split(',').map(Number)) {
  for (const name of values.only.split(',')) {
    const project = new ReloadProject(routes, await freePort())
    const begun = performance.now()
    const child = start(COMMANDS[name] ?? [], project)
    try {
      const first = await until(project.port, '/api/edited', ({ status }) => status === 200)
      if (Number.isNaN(first)) {
        print(`${name}, ${routes} routes: no answer`)
        continue
      }
      print(`${name}, ${routes} routes: first answer after ${(performance.now() - begun).toFixed(0)} ms; median / 95th`)
      await wait(SETTLING)
      await measureEdits(project, name === 'twinroute' ? EDITS : Math.min(EDITS, 5))
      await measureLoad(project, name === 'twinroute' ? EDITS_UNDER_LOAD : 10)
      if (name === 'twinroute') await measureHeap(project)
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      project.remove()
    }
  }
}
process.exit()
