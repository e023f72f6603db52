import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { connectTo, get } from './connection.js'
import { SERVER, type DevelopProject, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'
import { until } from './develop-until.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

/** Writes down when a process of the application begins, and when it ends, which takes a while. */
const DIARY = `
  import { appendFileSync } from 'node:fs'
  import { setTimeout as wait } from 'node:timers/promises'
  import { keep } from 'twinroute/dev'
  keep('diary', () => appendFileSync('diary', 'begin '), async () => {
    appendFileSync('diary', 'closing ')
    await wait(1000)
    appendFileSync('diary', 'end ')
  })\n`

/** Ends itself while there is a file. */
const DYING = `
  import { existsSync } from 'node:fs'
  if (existsSync('dying')) process.kill(process.pid, 'SIGKILL')\n`

function diaryOf(project: DevelopProject): string {
  return existsSync(project.path('diary')) ? readFileSync(project.path('diary'), 'utf8').trim() : ''
}

export const TURN_ROWS: Row[] = [
  {
    name: 'a process under a debugger ends before the next one begins, whatever is saved or asked for meanwhile',
    files: { ...ONE, 'src/server.ts': DIARY + SERVER },
    args: ['--inspect-port', '0'],
    async run(project) {
      await project.reload(() => {
        project.type('s')
        void until(() => diaryOf(project).endsWith('closing')).then(() => {
          project.type('s')
          project.write({ 'package.json': '{"type":"module","version":"2.0.0"}' })
          project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
        })
      })
      await project.eventually('/api/one', '{"one":2}')
      // a change of package.json has its time; every process must have written its end before another one began
      assert.equal(await project.end(), 0)
      assert.equal(
        diaryOf(project)
          .replaceAll('begin closing end', 'turn')
          .replaceAll(/ ?turn/g, ''),
        ''
      )
      assert.ok(diaryOf(project).startsWith('begin closing end begin'))
    }
  },
  {
    name: 'a process that ends as soon as it starts: clients are told why until a file is saved, and nobody hangs',
    files: {
      ...ONE,
      'src/server.ts': DYING + SERVER,
      'src/api/end/route.ts': `
        import { writeFileSync } from 'node:fs'
        export const GET = () => { writeFileSync('dying', ''); process.kill(process.pid, 'SIGKILL') }`
    },
    async run(project) {
      await project.get('/api/end').catch(() => undefined)
      await project.says(/^twinroute the process has ended \(SIGKILL\); it starts again after a change/m)
      const { status, text } = await project.get('/api/one')
      const { error } = JSON.parse(text) as { error: { code: string; message: string } }
      assert.deepEqual(
        [status, error.code, error.message],
        [500, 'PROCESS_ENDED', 'The process of the application has ended: SIGKILL']
      )
      const page = await project.get('/api/one', { accept: 'text/html' })
      assert.match(page.text, /See what it has written to the terminal/)
      const early = await connectTo(project.address) // as browsers do before they have a request
      const stream = await fetch(`${project.address}/__twinroute/reload`)
      project.remove('dying')
      await project.reload(() => project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' }))
      await project.eventually('/api/one', '{"one":2}')
      await stream.text() // has ended: the page that shows the reason loads itself again
      await early.send(get('/api/one'))
      assert.equal(await early.closed, '') // the browser asks again on another one
    }
  },
  {
    name: 'a process that was to take over and ends is told, and the one before it goes on',
    files: { ...ONE, '.env': 'VALUE=1', 'src/server.ts': DYING + SERVER },
    async run(project) {
      project.write({ dying: '', '.env': 'VALUE=2' })
      await project.says(
        /^twinroute the process has ended \(SIGKILL\) before it was ready, and the one before it goes on/m
      )
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a connection that cannot be accepted is told, and ends nothing',
    files: {
      ...ONE,
      'full.cjs': `
        const { Server } = require('node:net')
        const { listen } = Server.prototype
        if (process.send === undefined) Server.prototype.listen = function (...given) {
          this.once('listening', () => setTimeout(() => {
            for (let count = 0; count < 100; count++)
              this.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }))
          }, 200))
          return Reflect.apply(listen, this, given)
        }`
    },
    env: { NODE_OPTIONS: '--require ./full.cjs' },
    async run(project) {
      await project.says(/^twinroute a connection could not be accepted: accept EMFILE/m)
      await expectAnswer(project, '/api/one', { one: 1 })
      assert.equal(project.printed.match(/could not be accepted/g)?.length, 1)
    }
  }
]
