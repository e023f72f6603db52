import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { SERVER, type Files } from './develop-project.js'
import { groupOf } from './develop-group.js'
import { expectAnswer, type Row } from './develop-row.js'
import { until } from './develop-until.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

/** The server that takes its port from the environment. */
const ON_PORT = SERVER.replace(', port: 0', '')

/** Holds the process of the application before its first line until there is a file. */
const HOLD = `
  const { existsSync, writeFileSync } = require('node:fs')
  if (process.send !== undefined) {
    writeFileSync('held', '')
    while (!existsSync('go on')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }`

export const START_ROWS: Row[] = [
  {
    name: 'an endless loop at the first start is told with its file, and the corrected file starts',
    files: { ...ONE, 'src/api/one/route.ts': 'for (;;);' },
    isStarted: false,
    async run(project) {
      project.spawn()
      await project.says(/still waits: the process has not answered .* src\/api\/one\/route\.ts\. Correct it and save/)
      project.write(ONE)
      const [, address = ''] = await project.says(/^twinroute (http:\/\/\S+) ready in/m)
      project.address = address
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'an endless loop is told with the file that runs, not with one that it imports',
    files: {
      ...ONE,
      'src/word.ts': 'export const word = 1',
      'src/api/one/route.ts': 'import { word } from "../../word.js"\nwhile (word === 1);'
    },
    isStarted: false,
    async run(project) {
      project.spawn()
      await project.says(/the last file that it began to run is src\/api\/one\/route\.ts\./)
    }
  },
  {
    name: 'an endless loop in a handler is told, and Ctrl-C ends it with a word and leaves no process',
    files: { ...ONE, 'src/api/loop/route.ts': 'export const GET = () => { for (;;); }' },
    async run(project) {
      const group = project.pid
      const asked = project.get('/api/loop').catch(() => undefined)
      await project.says(/still waits: the process has not answered for \d+ s, as in an endless loop\. Correct/)
      assert.equal(await project.end(), 0)
      assert.match(project.printed, /the process does not answer, and is ended/)
      assert.deepEqual(groupOf(group), [])
      await asked
    }
  },
  {
    name: 'an application that closes slowly is told to be waited for, and a second Ctrl-C ends it',
    files: {
      ...ONE,
      'src/db.ts': `
        import { keep } from 'twinroute/dev'
        keep('db', () => 1, () => new Promise((resolve) => setInterval(resolve, 1e6)))`,
      'src/api/one/route.ts': 'import "../../db.js"\nexport const GET = () => ({ one: 1 })'
    },
    async run(project) {
      const group = project.pid
      project.signal('SIGINT')
      await project.says(/waits for the application to close; Ctrl-C again ends it at once/)
      assert.equal(await project.end(), 0)
      assert.deepEqual(groupOf(group), [])
    }
  },
  {
    name: 'a signal that comes twice at once, as from npm, is one: the application closes',
    files: {
      ...ONE,
      'src/db.ts': `
        import { keep } from 'twinroute/dev'
        keep('db', () => 1, () => new Promise((resolve) => setTimeout(resolve, 300)).then(() => console.log('closed')))`,
      'src/api/one/route.ts': 'import "../../db.js"\nexport const GET = () => ({ one: 1 })'
    },
    async run(project) {
      project.signal('SIGINT')
      process.kill(project.pid, 'SIGINT')
      await project.says(/^closed/m)
      await project.end()
    }
  },
  {
    name: 'a development server that is killed before its application begins leaves no process, and runs nothing',
    files: {
      ...ONE,
      'hold.cjs': HOLD,
      'src/server.ts': `import './mark.js'\n${SERVER}`,
      'src/mark.ts': 'import { writeFileSync } from "node:fs"\nwriteFileSync("has run", "")'
    },
    isStarted: false,
    async run(project) {
      project.spawn([], { NODE_OPTIONS: `--require=${project.path('hold.cjs')}` })
      const group = project.pid
      await until(() => existsSync(project.path('held')))
      process.kill(group, 'SIGKILL')
      await until(() => groupOf(group).length === 1)
      project.write({ 'go on': '' })
      await until(() => groupOf(group).length === 0)
      assert.equal(existsSync(project.path('has run')), false)
    }
  },
  {
    name: 'a development server that is killed while its application is in an endless loop leaves no process',
    files: { ...ONE, 'src/api/loop/route.ts': 'export const GET = () => { console.log("loops"); for (;;); }' },
    async run(project) {
      const group = project.pid
      const asked = project.get('/api/loop').catch(() => undefined)
      await project.says(/^loops/m)
      process.kill(group, 'SIGKILL')
      await until(() => groupOf(group).length === 0)
      await asked
    }
  },
  {
    name: 'a folder named .env is told and not read; a file in its place is',
    files: {
      ...ONE,
      '.env/pyvenv.cfg': '',
      'src/api/one/route.ts': 'export const GET = () => ({ value: process.env.VALUE })'
    },
    async run(project) {
      await project.says(/^twinroute \.env is a folder, and no variables are read: .* one NAME=value a line/m)
      await expectAnswer(project, '/api/one', {})
      project.remove('.env')
      await project.reload(() => project.write({ '.env': 'VALUE=1' }))
      await project.eventually('/api/one', '{"value":"1"}')
    }
  },
  {
    name: 'a wrong PORT or HOST in .env is shown with what to write, and the application starts when it is corrected',
    files: { ...ONE, '.env': 'PORT=abc\nHOST=127.0.0.1', 'src/server.ts': ON_PORT },
    async run(project) {
      const { error } = JSON.parse((await project.get('/')).text) as {
        error: { details: { cause: string; fix: string }[] }
      }
      assert.match(error.details[0]?.cause ?? '', /^The environment variable PORT must be an integer .* it is "abc"$/)
      assert.equal(error.details[0]?.fix, 'Write PORT=3000 into .env')
      await project.reload(() => project.write({ '.env': 'PORT=0\nHOST=192.0.2.1' }))
      await project.says(
        /The environment variable HOST is no address of this machine: "192\.0\.2\.1" \(EADDRNOTAVAIL\)\n {2}Fix: Write HOST=localhost into \.env; HOST=0\.0\.0\.0 is every address/
      )
      await project.reload(() => project.write({ '.env': 'PORT=0\nHOST=127.0.0.1' }))
      const [, address = ''] = await project.says(/^twinroute (http:\/\/127\.0\.0\.1:\S+) ready in/m)
      project.address = address
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  },
  {
    name: 'a wrong PORT ends the command with what to write, also before a Fastify that is the default export',
    files: { ...ONE, 'src/server.ts': 'import Fastify from "fastify"\nexport default Fastify()' },
    isStarted: false,
    async run(project) {
      project.spawn([], { PORT: 'abc' })
      assert.equal(await project.ended(), 2)
      assert.equal(
        project.printed,
        'The environment variable PORT must be an integer from 0 to 65535; it is "abc"\nWrite it so: PORT=3000 twinroute dev\n'
      )
    }
  },
  {
    name: 'a wrong PORT does no harm where the program says where it listens',
    files: ONE,
    env: { PORT: 'abc' },
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
    }
  }
]
