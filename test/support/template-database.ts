import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { closedPort } from './closed-port.js'

/** A project of the template `api`, built. */
export interface ApiProject {
  folder: string
  env: NodeJS.ProcessEnv
}

const TOKEN = 'token-of-the-test'

/** One start of the project, on a port of its own. */
class Server {
  printed = ''
  readonly ended: Promise<unknown[]>
  readonly #process: ChildProcess
  readonly #address: string

  private constructor(child: ChildProcess, port: number) {
    this.#process = child
    this.#address = `http://localhost:${port}/api/notes`
    for (const output of [child.stdout, child.stderr]) output?.on('data', (text) => (this.printed += String(text)))
    this.ended = once(child, 'close')
  }

  static async start({ folder, env }: ApiProject, args: readonly string[], more: NodeJS.ProcessEnv): Promise<Server> {
    const port = await closedPort()
    const all = { ...process.env, NO_COLOR: '1', API_TOKEN: TOKEN, ...env, ...more, PORT: String(port) }
    return new Server(spawn('node', args, { cwd: folder, env: all }), port)
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** The status of one request, which adds a note. */
  async add(title: string): Promise<number> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    return (await fetch(this.#address, { method: 'POST', headers, body: JSON.stringify({ title }) })).status
  }

  /** The titles of all notes, once it answers. */
  async titles(): Promise<string[]> {
    const answer = await this.#ask()
    assert.equal(answer.status, 200, this.printed)
    return ((await answer.json()) as { title: string }[]).map(({ title }) => title)
  }

  async #ask(): Promise<Response> {
    for (const end = Date.now() + 120_000; ; await wait(50)) {
      const answer = await fetch(this.#address).catch(() => undefined)
      if (answer !== undefined) return answer
      if (this.#process.exitCode !== null || Date.now() > end) throw new Error(`no answer; printed: ${this.printed}`)
    }
  }

  async says(pattern: RegExp): Promise<string> {
    for (const end = Date.now() + 60_000; Date.now() < end; await wait(50)) {
      const found = pattern.exec(this.printed)
      if (found !== null) return found[1] ?? found[0]
    }
    throw new Error(`${pattern} was not said; printed: ${this.printed}`)
  }
}

const BUILT = ['dist/server.js']
const DEVELOPED = ['node_modules/twinroute/dist/command/twinroute.js', 'dev']

/** A program whose process ends three seconds after it was told to. */
const LATE = `
import { createNotesApp } from './app.js'
const app = await createNotesApp()
app.addHook('preClose', () => new Promise((resolve) => setTimeout(resolve, 3000)))
await app.start()
console.log('started', process.pid)
`

async function withServers(work: (started: Server[]) => Promise<void>): Promise<void> {
  const started: Server[] = []
  try {
    await work(started)
  } finally {
    for (const server of started) server.kill('SIGKILL')
  }
}

/** What may happen to the embedded database of a made project. */
export const DATABASE_ROWS: Readonly<Record<string, (project: ApiProject) => Promise<void>>> = {
  'a database that another process has open is refused, and no row is lost': (project) =>
    withServers(async (started) => {
      const open = { DATABASE_URL: 'file:.data/shared' }
      const first = await Server.start(project, BUILT, open)
      started.push(first)
      assert.deepEqual(await first.titles(), [])
      assert.match(first.printed, /^Creating the database in \.data\/shared, which takes some seconds$/m)
      const second = await Server.start(project, BUILT, open)
      started.push(second)
      assert.deepEqual(await second.ended, [1, null], second.printed)
      assert.match(second.printed, new RegExp(`shared is in use by process ${first.pid}: .*DATABASE_URL`))
      assert.equal(await first.add('kept'), 201)
      first.kill('SIGTERM')
      await first.ended
      const third = await Server.start(project, BUILT, open)
      started.push(third)
      assert.deepEqual(await third.titles(), ['kept'])
      assert.doesNotMatch(third.printed, /Creating/)
      third.kill('SIGKILL')
      await third.ended
      const fourth = await Server.start(project, BUILT, open)
      started.push(fourth)
      assert.deepEqual(await fourth.titles(), ['kept'], 'a killed process blocks nobody')
    }),
  'tables that cannot be made end the start with the reason, and the next start has the database': (project) =>
    withServers(async (started) => {
      const open = { DATABASE_URL: 'file:.data/broken' }
      const file = join(project.folder, 'dist/schema.sql')
      const schema = readFileSync(file, 'utf8')
      writeFileSync(file, 'create tabel notes ()')
      const first = await Server.start(project, BUILT, open)
      started.push(first)
      assert.deepEqual(await first.ended, [1, null], first.printed)
      assert.match(first.printed, /syntax error at or near "tabel"/)
      writeFileSync(file, schema)
      const second = await Server.start(project, BUILT, open)
      started.push(second)
      assert.deepEqual(await second.titles(), [])
    }),
  'a process that twinroute dev replaces hands its database on, also when it ends late': (project) =>
    withServers(async (started) => {
      writeFileSync(join(project.folder, 'src/late.ts'), LATE)
      const open = { DATABASE_URL: 'file:.data/developed' }
      const server = await Server.start(project, [...DEVELOPED, 'src/late.ts'], open)
      started.push(server)
      assert.deepEqual(await server.titles(), [])
      assert.equal(await server.add('first'), 201)
      const pid = await server.says(/^started (\d+)$/m)
      writeFileSync(join(project.folder, '.env'), 'OTHER=1\n')
      await server.says(new RegExp(`^started (?!${pid}$)\\d+$`, 'm'))
      assert.deepEqual(await server.titles(), ['first'])
      assert.equal(await server.add('second'), 201)
      writeFileSync(join(project.folder, 'src/notes.ts'), '// changed\n', { flag: 'a' })
      await server.says(/reloaded in/)
      assert.deepEqual(await server.titles(), ['first', 'second'])
      server.kill('SIGTERM')
      await server.ended
      assert.doesNotMatch(server.printed, /in use|Error/)
      const next = await Server.start(project, BUILT, open)
      started.push(next)
      assert.deepEqual(await next.titles(), ['first', 'second'])
    })
}
