import assert from 'node:assert/strict'
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { SERVER, type DevelopProject, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

const ROUTE = 'src/api/one/route.ts'

const WORD = 'export const word = 1'

const LOOP = `
  import data from '../../data.json' with { type: 'json' }
  import { word } from '../../word.js'
  export const GET = () => {
    console.log('loops')
    while (!data.isOver);
    return { word }
  }`

/** Writes an endless loop into a file, once in its project, and imports it before another event can be read. */
const LATE = `
  import { execSync } from 'node:child_process'
  execSync('[ -e written ] || { touch written; echo "for (;;);" > src/late.ts; sleep 1; }')
  await import('./late.js').catch(() => undefined)
  ${SERVER}`

/** Writes a file as it was, and answers events; then blocks for longer than a process may be silent, and writes one anew. */
const DUMP = `
  import { execSync } from 'node:child_process'
  import { readFileSync, writeFileSync } from 'node:fs'
  import { name } from '../../name.js'
  export const GET = async () => {
    writeFileSync('src/word.ts', readFileSync('src/word.ts'))
    await new Promise((resolve) => setTimeout(resolve, 500))
    execSync('echo "export const name = $(date +1%N)" > src/name.ts; sleep 7')
    return { dumped: typeof name }
  }`

/** Writes JSON and ends itself: at the start while there is a file, and when it is asked. */
const DYING: Files = {
  'src/die.ts': `
    import { writeFileSync } from 'node:fs'
    export function die() {
      writeFileSync('state.json', String(Date.now()))
      writeFileSync('report.' + Date.now() + '.json', '{}')
      process.kill(process.pid, 'SIGKILL')
    }`,
  'src/server.ts': `
    import { existsSync } from 'node:fs'
    import { die } from './die.js'
    if (existsSync('dying')) die()
    ${SERVER}`,
  'src/api/end/route.ts': `
    import { writeFileSync } from 'node:fs'
    import { die } from '../../die.js'
    export const GET = () => { writeFileSync('dying', ''); die() }`
}

interface Moment {
  name: string
  make(file: string): void
  /** Milliseconds until it is over, and the most for which it is one. */
  time: number
  longest: number
}

const MOMENTS: readonly Moment[] = [
  { name: 'empty', make: (file) => truncateSync(file), time: 40, longest: 100 },
  { name: 'away', make: (file) => rmSync(file), time: 15, longest: 40 }
]

/** @returns whether it was one: a busy machine may make it last */
async function makeMoment({ make, time, longest }: Moment, file: string, text: string): Promise<boolean> {
  const begun = performance.now()
  make(file)
  await wait(time)
  writeFileSync(file, text)
  return performance.now() - begun <= longest
}

/** What is printed while something is done. */
async function printedDuring(project: DevelopProject, act: () => Promise<void>): Promise<string> {
  const before = project.printed.length
  await act()
  return project.printed.slice(before)
}

const MOST_TRIES = 50

/** The files for which processes were ended. */
function endsOf(printed: string): (string | undefined)[] {
  return [...printed.matchAll(/is ended because of a change: (.*)/g)].map(([, files]) => files)
}

export const SAME_TEXT_ROWS: Row[] = [
  {
    name: 'files that are saved as they were loaded end no endless loop, the one with another text does',
    files: { ...ONE, 'src/data.json': '{}', 'src/word.ts': WORD, 'src/api/loop/route.ts': LOOP },
    async run(project) {
      const asked = project.get('/api/loop').catch(() => undefined)
      await project.says(/loops/)
      project.write({ 'src/api/loop/route.ts': LOOP, 'src/data.json': '{}', 'src/word.ts': 'export const word = 2' })
      project.replace('src/word.ts', WORD)
      await project.says(/still waits/)
      project.replace('src/word.ts', WORD)
      await project.reload(() => project.write({ 'src/data.json': '{ "isOver": true }' }))
      assert.deepEqual(endsOf(project.printed), ['src/data.json'])
      await expectAnswer(project, '/api/loop', { word: 1 })
      await asked
    }
  },
  {
    name: 'a file that is loaded after it was told of ends no endless loop; that it is removed does',
    files: { ...ONE, 'src/late.ts': '', 'src/server.ts': LATE },
    isStarted: false,
    async run(project) {
      project.spawn()
      await project.says(/still waits/)
      assert.deepEqual(endsOf(project.printed), [])
      await project.reload(() => project.remove('src/late.ts'))
      assert.deepEqual(endsOf(project.printed), ['src/late.ts'])
    }
  },
  {
    name: 'an endless loop at the first start in a file behind a symbolic link ends when the file is corrected',
    place: 'app',
    files: {
      ...ONE,
      '../outside/loop.ts': 'for (;;);',
      'src/api/one/route.ts': 'import "../../linked/loop.js"\nexport const GET = () => ({ one: 1 })'
    },
    isStarted: false,
    async run(project) {
      symlinkSync('../../outside', project.path('src/linked'))
      project.spawn()
      await project.says(/still waits: the process has not answered .*outside\/loop\.ts/)
      await project.reload(() => project.write({ '../outside/loop.ts': 'export {}' }))
    }
  },
  {
    name: 'a process has more time after one that was ended while it wrote its sources, also when a file is saved as it was',
    files: {
      ...ONE,
      'src/name.ts': 'export const name = 0',
      'src/word.ts': WORD,
      'src/api/one/route.ts': 'import { word } from "../../word.js"\nexport const GET = () => ({ word })',
      'src/api/dump/route.ts': DUMP
    },
    async run(project) {
      await project.reload(() => void project.get('/api/dump').catch(() => undefined))
      assert.deepEqual(endsOf(project.printed), ['src/name.ts'])
      await expectAnswer(project, '/api/dump', { dumped: 'number' })
      assert.equal(endsOf(project.printed).length, 1)
    }
  },
  ...MOMENTS.map((moment): Row => ({
    name: `a file that is ${moment.name} for a moment, and then as it was, is not loaded again`,
    files: { ...ONE, 'src/api/two/route.ts': 'export const GET = () => 0' },
    async run(project) {
      for (let round = 1; round <= MOST_TRIES; round++) {
        let isMoment = false
        const printed = await printedDuring(project, async () => {
          isMoment = await makeMoment(moment, project.path(ROUTE), ONE[ROUTE]!)
          await project.change({ 'src/api/two/route.ts': `export const GET = () => ${round}` })
          await project.eventually('/api/two', String(round))
        })
        if (!isMoment) continue
        assert.deepEqual(
          [...printed.matchAll(/reloaded in \d+ ms: (.*)/g)].map(([, files]) => files),
          ['src/api/two/route.ts']
        )
        return
      }
    }
  })),
  {
    name: 'a .env that is empty for a moment, and then as it was, replaces no process',
    files: { ...ONE, '.env': 'VALUE=1', 'src/api/one/route.ts': 'export const GET = () => process.env.VALUE' },
    async run(project) {
      const isMoment = await makeMoment(MOMENTS[0]!, project.path('.env'), 'VALUE=1')
      await project.reload(() => project.type('s')) // in this time it would be replaced
      if (isMoment) assert.doesNotMatch(project.printed, /is replaced/)
      await project.reload(() => project.write({ '.env': 'VALUE=2' }))
      await project.eventually('/api/one', '2')
    }
  },
  {
    name: 'a process that has written JSON before it ended is not started again for that, and it is for a file that is saved as it was',
    files: { ...ONE, ...DYING },
    env: { CHOKIDAR_USEPOLLING: '1' }, // the events come when it has ended
    async run(project) {
      await project.get('/api/end').catch(() => undefined)
      await project.says(/it starts again after a change/)
      for (let count = 0; count < 20; count++) {
        assert.match((await project.get('/api/one')).text, /PROCESS_ENDED/)
        await wait(20)
      }
      const { length } = project.printed.match(/has ended \(SIGKILL\)/g)!
      assert.ok(length <= 2, project.printed) // one that has served for some seconds is started once more
      project.remove('dying')
      await project.reload(() => project.write({ [ROUTE]: ONE[ROUTE]! }))
      await project.eventually('/api/one', '{"one":1}')
    }
  }
]
