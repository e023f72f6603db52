// `npm run test:built`: the acceptance suite of the example on what `twinroute build` makes of it, in a project of its own.
// Ends with `N rows, M failed`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeExampleProject } from './example-project.js'
import { root } from './source-tree.js'

const TWINROUTE = join(root, 'dist/command/twinroute.js')
const TESTS = ['example-auth', 'example-rest']
/** Each a folder of the output, and the entry that is built into it. */
const PROGRAMS = { app: 'src/app.ts', server: 'src/server.ts' }

const top = realpathSync(mkdtempSync(join(tmpdir(), 'twinroute-built-')))
let rows = 0
let failed = 0

writeExampleProject(top)
for (const [name, entry] of Object.entries(PROGRAMS)) {
  run(`twinroute build ${entry}`, [TWINROUTE, 'build', entry, '--out', name])
}
for (const folder of ['src/api', 'src/sessions/api']) rmSync(join(top, folder), { recursive: true }) // all is in the file
const env = { TEST_EXAMPLE_APP: join(top, 'app/app.js'), TEST_EXAMPLE_SERVER: join(top, 'server/server.js') }
for (const test of TESTS) run(test, [join(root, `.test/${test}.test.js`)], env)
rmSync(top, { recursive: true })
process.stdout.write(`${rows} rows, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

function run(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const options = { cwd: top, env: { ...process.env, TAP_TIMEOUT: '600', ...env }, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { ...options, maxBuffer: 64 * 1024 * 1024 })
  rows++
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'} ${name}\n`)
  if (status === 0) return
  failed++
  process.stdout.write(`${stdout}\n${stderr}\n`)
}
