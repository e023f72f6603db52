import assert from 'node:assert/strict'
import { Debugged } from './develop-debugged.js'
import { groupOf } from './develop-group.js'
import { SERVER, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'
import { until } from './develop-until.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

/**
 * Runs a command of the shell for longer than a process may be silent, after it was last heard of, as a dump of a database does.
 * @param half seconds
 */
function blocking(command: string, half = 4.5): string {
  const text = JSON.stringify(`${command}; sleep ${half}; ${command}; sleep ${half}`)
  return `(await import('node:child_process')).execSync(${text})\n`
}

/** No process was ended: there is one load, and no word of an end. */
function assertOneProcess(printed: string): void {
  assert.doesNotMatch(printed, /is ended|has ended/)
}

export const STUCK_ROWS: Row[] = [
  {
    name: 'a program that blocks for some seconds while it writes data that no module imports is not ended',
    files: { ...ONE, 'src/server.ts': blocking('date > data.json') + SERVER },
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
      assertOneProcess(project.printed)
    }
  },
  {
    name: 'a handler that blocks for some seconds while it writes data that no module imports answers',
    files: {
      ...ONE,
      'src/api/dump/route.ts': `export const GET = async () => { ${blocking('date > data.json')}return { dumped: 1 } }`
    },
    async run(project) {
      await expectAnswer(project, '/api/dump', { dumped: 1 })
      assertOneProcess(project.printed)
    }
  },
  {
    name: 'a program that blocks for some seconds while it writes sources into a folder named generated is not ended',
    files: {
      ...ONE,
      'src/generated/names.ts': 'export const name = "old"',
      'src/server.ts': `import './generated/names.js'\n${blocking(`echo 'export const name = "new"' > src/generated/names.ts`)}${SERVER}`
    },
    isStarted: false,
    async run(project) {
      project.spawn()
      await until(() => / ready in /.test(project.printed))
      assertOneProcess(project.printed)
      assert.doesNotMatch(project.printed, /top-level await/)
    }
  },
  {
    name: 'a program that blocks for some seconds while it writes its own sources is ended once, with a reason, and then has more time',
    files: {
      ...ONE,
      'src/names.ts': 'export const name = "old"',
      'src/server.ts': `import './names.js'\n${blocking(`echo 'export const name = "new"' > src/names.ts`, 3.5)}${SERVER}`
    },
    isStarted: false,
    async run(project) {
      project.spawn()
      await until(() => / ready in /.test(project.printed))
      const ends = project.printed.match(/^.*(?:is|has) ended.*$/gm)
      assert.deepEqual(ends, [
        'twinroute the process has not answered for 5 s, and is ended because of a change: src/names.ts'
      ])
    }
  },
  {
    name: 'an endless loop, and the process is started anew by hand: the one before it is ended with a word',
    files: { ...ONE, 'src/api/loop/route.ts': 'export const GET = () => { console.log("loops"); for (;;); }' },
    async run(project) {
      const asked = project.get('/api/loop').catch(() => undefined)
      await project.says(/still waits/)
      await project.reload(() => project.type('s'))
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.says(/the process that was replaced does not answer, and is ended/)
      await until(() => groupOf(project.pid).length === 2)
      await asked
    }
  },
  {
    name: 'a loop that nobody has been told of when the process is started anew by hand: no word asks to correct it',
    files: {
      ...ONE,
      'src/server.ts': `
        import { existsSync } from 'node:fs'
        // the next process begins slowly, as on a busy machine
        if (existsSync('slow')) await new Promise((resolve) => setTimeout(resolve, 8000))
        ${SERVER}`,
      'src/api/loop/route.ts': 'export const GET = () => { console.log("loops"); for (;;); }'
    },
    async run(project) {
      project.write({ slow: '' })
      const asked = project.get('/api/loop').catch(() => undefined)
      await project.says(/loops/)
      await project.reload(() => project.type('s'))
      await project.says(/the process that was replaced does not answer, and is ended/)
      assert.doesNotMatch(project.printed, /still waits: the process/)
      await asked
    }
  },
  {
    name: 'each endless loop that is corrected is ended as soon as the one before it',
    files: { ...ONE, 'src/api/two/route.ts': 'export const GET = () => ({ two: 2 })' },
    async run(project) {
      for (const turn of [1, 2, 3]) {
        await project.change({ 'src/api/two/route.ts': `export const GET = () => { for (;;); } // ${turn}` })
        const asked = project.get('/api/two').catch(() => undefined)
        await project.says(new RegExp(`(?:still waits[^]*){${turn}}`))
        await project.change({ 'src/api/two/route.ts': `export const GET = () => ({ two: ${turn} })` })
        await project.eventually('/api/two', `{"two":${turn}}`)
        await asked
      }
      const times = [...project.printed.matchAll(/has not answered for (\S+) s, and is ended/g)].map(([, time]) => time)
      assert.ok(times.length === 3 && times.every((time) => Number(time) < 10), String(times))
    }
  },
  {
    name: 'an application that does not close is ended with a word after it was replaced',
    files: {
      ...ONE,
      '.env': 'VALUE=1',
      'src/db.ts': `
        import { keep } from 'twinroute/dev'
        keep('db', () => 1, () => new Promise((resolve) => setInterval(resolve, 1e6)))`,
      'src/api/one/route.ts': 'import "../../db.js"\nexport const GET = () => ({ value: process.env.VALUE })'
    },
    async run(project) {
      await project.reload(() => project.write({ '.env': 'VALUE=2' }))
      await project.eventually('/api/one', '{"value":"2"}')
      await until(() => /the process that was replaced has not closed the application/.test(project.printed))
      await until(() => groupOf(project.pid).length === 2)
      await expectAnswer(project, '/api/one', { value: '2' })
    }
  },
  {
    name: 'a breakpoint of a debugger that the program lets in is no endless loop, also while files change',
    files: {
      ...ONE,
      'src/api/hold/route.ts': `
        import inspector from 'node:inspector'
        inspector.open(0)
        let held = 0
        export const GET = () => {
          debugger
          return { held: ++held }
        }`
    },
    async run(project) {
      const [url] = await project.says(/ws:\/\/\S+/)
      const debugged = await Debugged.connect(url)
      await debugged.ask('Debugger.enable')
      const paused = debugged.paused()
      const asked = expectAnswer(project, '/api/hold', { held: 1 })
      await paused
      project.write({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      // for longer than a process may be silent
      await debugged.ask('Runtime.evaluate', {
        expression: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8000)'
      })
      await debugged.ask('Debugger.resume')
      await asked
      await project.eventually('/api/one', '{"one":2}')
      assert.doesNotMatch(project.printed, /still waits|ended/)
      debugged.close()
    }
  }
]
