import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { SERVER, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

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
  }
]
