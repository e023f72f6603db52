// `npm run test:templates`: packs this package and create-twinroute, makes each template in an empty folder, and does there
// what its README and its Dockerfile say. `--node PATH` is the folder of another Node's `node`; words are names of templates.
// Ends with `N rows, M failed`.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { closedPort } from './closed-port.js'
import { createRows } from './create-command.js'
import { root } from './source-tree.js'
import { DATABASE_ROWS } from './template-database.js'

const { values, positionals } = parseArgs({ options: { node: { type: 'string' } }, allowPositionals: true })
const PATH = [...(values.node === undefined ? [] : [values.node]), process.env.PATH].join(delimiter)
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-templates-')))
const creator = join(root, 'create-twinroute')

/** A template, a path that it answers, and what it answers there. The first one has the packages of all. */
const TEMPLATES = [
  { name: 'api', path: '/api/notes', answer: '[]' },
  { name: 'minimal', path: '/api/hello/Ann', answer: '{"hello":"Ann"}' },
  { name: 'express', path: '/hello/Ann', answer: '{"hello":"Ann"}' }
].filter(({ name }) => positionals.length === 0 || positionals.includes(name))
type Template = (typeof TEMPLATES)[number]

let rows = 0
let failed = 0

/** One thing tried; what throws has failed. The rest of a template's rows make no sense then. */
async function row(name: string, work: () => unknown): Promise<boolean> {
  const begun = performance.now()
  rows++
  try {
    await work()
    process.stdout.write(`ok ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)\n`)
    return true
  } catch (error) {
    failed++
    process.stdout.write(`FAILED ${name}\n${error instanceof Error ? error.message : String(error)}\n`)
    return false
  }
}

interface Result {
  code: number
  text: string
}

async function execute(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Result> {
  const [file = '', ...args] = command
  const options = {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env, PATH },
    timeout: 240_000,
    maxBuffer: 64 * 1024 * 1024
  }
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, text: stdout + stderr })
    })
  })
}

async function succeed(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, text } = await execute(command, cwd, env)
  if (code !== 0) throw new Error(`${command.join(' ')} has ended with ${code}\n${text}`)
  return text
}

const QUIET = ['--prefer-offline', '--no-audit', '--no-fund']

async function pack(folder: string): Promise<string> {
  // Without scripts: `prepack` empties dist/, which was built before.
  const printed = await succeed(['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch], folder)
  return join(scratch, /"filename": "(.+\.tgz)"/.exec(printed)?.[1] ?? '')
}

/** Starts a program, asks it until it answers, and ends it by SIGTERM. */
async function serve(command: readonly string[], cwd: string, { path, answer }: Template, env: NodeJS.ProcessEnv = {}) {
  const port = await closedPort()
  const [file = '', ...args] = command
  const child = spawn(file, args, { cwd, env: { ...process.env, NO_COLOR: '1', ...env, PATH, PORT: String(port) } })
  let text = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (more) => (text += more))
  const closed = once(child, 'close')
  const limit = setTimeout(() => child.kill('SIGKILL'), 120_000)
  try {
    let found: string | undefined
    while (found === undefined && child.exitCode === null && child.signalCode === null) {
      found = await fetch(`http://localhost:${port}${path}`).then(
        (response) => response.text(),
        () => undefined
      )
      if (found === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (found !== answer) throw new Error(`${command.join(' ')} answers ${path} with ${found}\n${text}`)
    child.kill('SIGTERM')
    const [code, signal] = await closed
    if (code !== 0) throw new Error(`${command.join(' ')} has ended with ${code ?? signal} after SIGTERM\n${text}`)
  } finally {
    clearTimeout(limit)
    child.kill('SIGKILL')
  }
}

function expect(text: string, wanted: RegExp): void {
  if (!wanted.test(text)) throw new Error(`found ${text}\nwanted ${wanted}`)
}

// --- A template -------------------------------------------------------------------------------------------------------

interface Packages {
  create: readonly string[]
  tarball: string
}

async function tryTemplate(template: Template, { create, tarball }: Packages): Promise<void> {
  const { name } = template
  const folder = join(scratch, name)
  const twinroute = join(folder, 'node_modules/.bin/twinroute')
  const steps: Record<string, () => unknown> = {
    'is made': async () => {
      const text = await succeed([...create, name, '--template', name, '--yes'], scratch)
      expect(text, new RegExp(`^ {2}cd ${name}\\n {2}npm install\\n {2}npm run dev$`, 'm'))
      const file = join(folder, 'package.json')
      const manifest = JSON.parse(readFileSync(file, 'utf8'))
      if (manifest.name !== name) throw new Error(`package.json has the name ${manifest.name}`)
      manifest.dependencies.twinroute = `file:${tarball}`
      writeFileSync(file, JSON.stringify(manifest, null, 2))
      followReadme(folder)
    },
    'npm install': () => install(folder),
    'npm run check': () => succeed(['npm', 'run', 'check'], folder),
    'npm test': () => succeed(['npm', 'test'], folder),
    'npm run dev': () => serve([twinroute, 'dev'], folder, template, { DATABASE_URL: 'memory:' }),
    'npm run build': () => succeed(['npm', 'run', 'build'], folder),
    'npm start': () => serve([twinroute, 'start'], folder, template),
    'node dist/server.js': () => serve(['node', 'dist/server.js'], folder, template),
    'the commands of the Dockerfile': () => runDockerfile(folder, template)
  }
  if (name === 'api')
    for (const [rule, run] of Object.entries(DATABASE_ROWS)) steps[rule] = () => run({ folder, env: { PATH } })
  for (const [step, work] of Object.entries(steps)) {
    const reason = reasonToLeaveOut(step, folder)
    if (reason !== undefined) process.stdout.write(`left out: ${name}: ${step} (${reason})\n`)
    else if (!(await row(`${name}: ${step}`, work))) return
  }
}

let installed: string | undefined

/** Begins with the packages of the template before, since that takes a third of the time: npm removes those it does not want. */
async function install(folder: string): Promise<void> {
  if (installed !== undefined)
    cpSync(installed, join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  await succeed(['npm', 'install', ...QUIET], folder)
  installed = join(folder, 'node_modules')
}

/** Adds what its README says how to add, before its commands are run. */
function followReadme(folder: string): void {
  const page = readFileSync(join(folder, 'README.md'), 'utf8')
  for (const [, end, file = '', text = ''] of page.matchAll(/^```ts\n\/\/ (at the end of )?(\S+)\n([^`]*)^```$/gm)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), end === undefined ? text : `\n${text}`, { flag: end === undefined ? 'wx' : 'a' })
  }
}

function reasonToLeaveOut(step: string, folder: string): string | undefined {
  if (step.includes('Dockerfile') && !existsSync(join(folder, 'Dockerfile'))) return 'it has none'
  const commands = join(folder, 'node_modules/twinroute/dist/command/dev-command.js')
  if (step === 'npm run dev' && !existsSync(commands)) return 'twinroute has no dev command yet'
  return undefined
}

// --- Its Dockerfile, without a container engine -----------------------------------------------------------------------

/** Each stage is a folder beside the project, as deep as that, because the lock file names the tarball by a relative path. */
async function runDockerfile(folder: string, template: Template): Promise<void> {
  const ignored = readFileSync(join(folder, '.dockerignore'), 'utf8').split('\n')
  const stages = new Map<string, string>()
  let stage = ''
  let env: NodeJS.ProcessEnv = { NODE_ENV: '' }
  for (const line of readFileSync(join(folder, 'Dockerfile'), 'utf8').split('\n')) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (instruction === 'FROM') {
      stage = `${folder}-stage${stages.size}`
      stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', stage)
      env = { NODE_ENV: '' }
      mkdirSync(stage)
    } else if (instruction === 'COPY') copy(rest, { folder, stage, stages, ignored })
    else if (instruction === 'RUN') {
      const { username, gid } = userInfo()
      const offline = rest.replace(/^npm ci/, `npm ci ${QUIET.join(' ')}`).replace('node:node', `${username}:${gid}`)
      await succeed(['sh', '-c', offline], stage, env)
    } else if (instruction === 'ENV') {
      for (const one of rest.split(' ')) env[one.split('=')[0] ?? ''] = one.split('=')[1]
    } else if (instruction === 'CMD') await serve(JSON.parse(rest) as string[], stage, template, env)
  }
}

interface Places {
  folder: string
  stage: string
  stages: ReadonlyMap<string, string>
  ignored: readonly string[]
}

function copy(what: string, { folder, stage, stages, ignored }: Places): void {
  const [, name, from = '', to = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(what) ?? []
  if (name !== undefined)
    cpSync(join(stages.get(name) ?? '', from.replace(/^\/app\//, '')), join(stage, to), { recursive: true })
  else if (from === 'package*.json') {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(folder, file), join(stage, file))
  } else {
    cpSync(folder, stage, {
      recursive: true,
      filter: (path) => !ignored.some((one) => one !== '' && path === join(folder, one))
    })
  }
}

// ----------------------------------------------------------------------------------------------------------------------

try {
  process.stdout.write(`Node ${await succeed(['node', '--version'], scratch)}`)
  const tarball = await pack(root)
  const manifest = {
    name: 'creator',
    private: true,
    dependencies: { 'create-twinroute': `file:${await pack(creator)}` }
  }
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(manifest))
  await succeed(['npm', 'install', ...QUIET], scratch)
  const create = [join(scratch, 'node_modules/.bin/create-twinroute')]
  const creating = { command: create[0] ?? '', scratch, env: { ...process.env, NO_COLOR: '1', PATH } }
  for (const { name, run } of createRows()) await row(`create-twinroute, ${name}`, () => run(creating))
  for (const template of TEMPLATES) await tryTemplate(template, { create, tarball })
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.stdout.write(`${rows} rows, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
