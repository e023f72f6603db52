import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileOf, fileWith } from './page.js'
import { find, freePort, run, untilAnswered } from './programs.js'
import { withProject } from './project.js'
import { leaveOut, runRows, type Row } from './rows.js'

/** Milliseconds that closing may take by default. */
const CLOSING = 10_000

/** The values of a setting of the unit, in their order. */
function settings(name: string): string[] {
  return [...fileOf('my-app.service').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

const verifyRow = (analyze: string): Row => [
  'systemd: systemd-analyze verify has nothing to say about the unit',
  () =>
    withProject(async ({ folder, write }) => {
      const unit = write(
        'my-app.service',
        fileWith('my-app.service', { '/usr/bin/node': process.execPath, '/srv/my-app': folder })
      )
      const { code, text } = await run(analyze, ['verify', '--man=no', '--recursive-errors=no', unit])
      assert.deepEqual({ code, text: text.trim() }, { code: 0, text: '' })
    })
]

const startRow: Row = [
  'systemd: what the unit starts is ready, and ends by SIGTERM within the time that the unit gives it',
  () =>
    withProject(async ({ folder }) => {
      const [command = ''] = settings('ExecStart')
      const [program, ...args] = command.split(' ')
      assert.equal(program, '/usr/bin/node')
      const port = await freePort()
      const env = Object.fromEntries(
        settings('Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [string, string]))
      )
      assert.deepEqual(env, { NODE_ENV: 'production', PORT: '3000' })
      const child = spawn(process.execPath, args, {
        cwd: folder,
        env: { ...process.env, ...env, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit']
      })
      const closed = once(child, 'close')
      const ready = await untilAnswered(`http://localhost:${port}/readyz`, () => child.exitCode === null)
      assert.equal(ready.status, 200)
      child.kill('SIGTERM')
      assert.deepEqual(await closed, [0, null])
      assert.ok(Number(settings('TimeoutStopSec')[0]) * 1000 > CLOSING)
      assert.deepEqual(settings('KillSignal'), [], 'SIGTERM, as by default')
    })
]

const writableRow: Row = [
  'systemd: where the file system is read-only, the unit has a /tmp of its own, for uploads',
  () => {
    assert.deepEqual([settings('ProtectSystem'), settings('PrivateTmp')], [['strict'], ['true']])
  }
]

export async function trySystemd(): Promise<void> {
  const analyze = find('systemd-analyze')
  if (analyze === undefined) leaveOut('systemd-analyze verify', 'it is not installed')
  else await runRows([verifyRow(analyze)])
  await runRows([startRow, writableRow])
}
