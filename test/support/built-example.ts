// `npm run test:built`: the acceptance suite of the example on what `twinroute build` makes of it, in a project of its own.
// Ends with `N rows, M failed`.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './source-tree.js'

const TWINROUTE = join(root, 'dist/command/twinroute.js')
const TESTS = ['example-auth', 'example-rest']
/** Each a folder of the output, and the entry that is built into it. */
const PROGRAMS = { app: 'src/app.ts', server: 'src/server.ts' }

const top = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-built-')))
let rows = 0
let failed = 0

writeProject()
for (const [name, entry] of Object.entries(PROGRAMS)) {
  run(`twinroute build ${entry}`, [TWINROUTE, 'build', entry, '--out', name])
}
for (const folder of ['src/api', 'src/sessions/api']) rmSync(join(top, folder), { recursive: true }) // all is in the file
const env = { TEST_EXAMPLE_APP: join(top, 'app/app.js'), TEST_EXAMPLE_SERVER: join(top, 'server/server.js') }
for (const test of TESTS) run(test, [join(root, `.test/${test}.test.js`)], env)
rmSync(top, { recursive: true })
process.stdout.write(`${rows} rows, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** The example as a project of a user, with the packages of this one. */
function writeProject(): void {
  for (const name of ['src', 'migrations'])
    cpSync(join(root, 'routes-example', name), join(top, name), { recursive: true })
  writeFileSync(join(top, 'package.json'), '{"name":"example","type":"module"}')
  const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: ['node'] }
  writeFileSync(join(top, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const packages = join(top, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  if (!existsSync(join(packages, 'twinroute'))) symlinkSync(root, join(packages, 'twinroute'))
}

function run(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const options = { cwd: top, env: { ...process.env, TAP_TIMEOUT: '600', ...env }, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { ...options, maxBuffer: 64 * 1024 * 1024 })
  rows++
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'} ${name}\n`)
  if (status === 0) return
  failed++
  process.stdout.write(`${stdout}\n${stderr}\n`)
}
