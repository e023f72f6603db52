import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { SERVER, type DevelopProject, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

const ROUTE = 'src/api/one/route.ts'

/** Of a size of its own, as the text of a file under work is. */
function textOf(save: number): string {
  return `export const GET = () => ({ save: ${save} }) // ${'x'.repeat(save % 7)}\n`
}

const ONE: Files = { 'src/server.ts': SERVER, [ROUTE]: textOf(0), 'src/api/two/route.ts': 'export const GET = () => 2' }

type Save = (file: string, text: string) => void | Promise<void>

/** How editors, formatters and tools put a text in the place of another. */
const SAVES: Readonly<Record<string, Save>> = {
  write: (file, text) => writeFileSync(file, text),
  rename(file, text) {
    writeFileSync(`${file}.tmp`, text)
    renameSync(`${file}.tmp`, file)
  },
  truncate(file, text) {
    truncateSync(file)
    appendFileSync(file, text)
  },
  'backup and write'(file, text) {
    renameSync(file, `${file}~`)
    writeFileSync(file, text)
    rmSync(`${file}~`)
  },
  'remove and write'(file, text) {
    rmSync(file)
    writeFileSync(file, text)
  },
  async 'empty, and write later'(file, text) {
    truncateSync(file)
    await wait(20)
    writeFileSync(file, text)
  },
  async 'remove, and write later'(file, text) {
    rmSync(file)
    await wait(20)
    writeFileSync(file, text)
  }
}

/** A row of numbers that looks random, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** Saves a file many times, some of them broken; the last text is what it holds. */
async function saveOften(project: DevelopProject, save: Save, pick: (below: number) => number): Promise<void> {
  const last = pick(1e6)
  const pause = pick(12) + 1
  for (let rest = pick(25); rest > 0; rest--) {
    await save(project.path(ROUTE), pick(3) === 0 ? 'export const GET = (' : textOf(last + rest))
    await wait(pick(pause))
  }
  await save(project.path(ROUTE), textOf(last))
  await project.eventually('/api/one', JSON.stringify({ save: last }))
}

/** Asks without a pause while something is done, and counts the statuses. */
async function statusesDuring(project: DevelopProject, act: () => Promise<void>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const load = { isOver: false }
  const poll = async (): Promise<void> => {
    while (!load.isOver) {
      const { status } = await project.get('/api/one')
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  const polls = [poll(), poll()]
  await act().finally(() => (load.isOver = true))
  await Promise.all(polls)
  return counts
}

const ROUNDS = 6

interface Moment {
  name: string
  make(file: string, text: string): void
  /** Milliseconds until it is over, and the most for which it is one. */
  time: number
  longest: number
}

const MOMENTS: readonly Moment[] = [
  { name: 'empty', make: (file) => writeFileSync(file, ''), time: 40, longest: 150 },
  { name: 'half written', make: (file, text) => writeFileSync(file, text.slice(0, 30)), time: 40, longest: 150 },
  { name: 'away', make: (file) => rmSync(file), time: 15, longest: 50 }
]

export const SAVE_ROWS: Row[] = [
  {
    name: 'no save is lost of many within milliseconds, however they are made',
    files: ONE,
    async run(project) {
      const pick = numbers(99)
      for (let round = 1; round <= ROUNDS; round++) {
        for (const [name, save] of Object.entries(SAVES)) {
          await saveOften(project, save, pick).catch((error: Error) => assert.fail(`${name}: ${error.message}`))
        }
      }
    }
  },
  {
    name: 'a client that asks all the time meets no fault while a file is empty, half written or away for a moment',
    files: ONE,
    async run(project) {
      const file = project.path(ROUTE)
      for (let round = 1; round <= ROUNDS; round++) {
        const moment = MOMENTS[round % MOMENTS.length]!
        for (let attempt = 1; ; attempt++) {
          const text = textOf(round * 100 + attempt)
          let took = 0
          const statuses = await statusesDuring(project, async () => {
            const begun = performance.now()
            moment.make(file, text)
            await wait(moment.time)
            writeFileSync(file, text)
            took = performance.now() - begun
            await project.eventually('/api/one', JSON.stringify({ save: round * 100 + attempt }))
          })
          // a busy machine may make a moment of any length
          if (took > moment.longest && attempt < 50) continue
          assert.deepEqual([Object.keys(statuses), moment.name], [['200'], moment.name])
          break
        }
      }
    }
  },
  {
    name: 'a file that stays empty is told in the end',
    files: ONE,
    async run(project) {
      await project.change({ [ROUTE]: '' })
      assert.equal((await project.get('/api/one')).status, 500)
      await expectAnswer(project, '/api/two', 2)
      await project.change({ [ROUTE]: textOf(1) })
      await expectAnswer(project, '/api/one', { save: 1 })
    }
  },
  {
    name: 'a folder that is removed and made again at once, as a generator does, is watched further',
    files: ONE,
    async run(project) {
      for (let round = 1; round <= ROUNDS; round++) {
        rmSync(project.path('src/api/one'), { recursive: true })
        mkdirSync(project.path('src/api/one'))
        writeFileSync(project.path(ROUTE), textOf(round))
        await project.eventually('/api/one', JSON.stringify({ save: round }))
        writeFileSync(project.path(ROUTE), textOf(100 + round))
        await project.eventually('/api/one', JSON.stringify({ save: 100 + round }))
        project.write({ [`src/api/one/new${round}/route.ts`]: textOf(round) })
        await project.eventually(`/api/one/new${round}`, JSON.stringify({ save: round }))
      }
    }
  },
  {
    name: 'folders that are made with what is in them are seen whole',
    files: ONE,
    async run(project) {
      for (let round = 1; round <= ROUNDS; round++) {
        project.write({ [`src/api/new${round}/a/b/route.ts`]: textOf(round) })
        await project.eventually(`/api/new${round}/a/b`, JSON.stringify({ save: round }))
      }
    }
  },
  {
    name: 'routes named build, dist, coverage and .well-known are watched',
    files: {
      ...ONE,
      ...Object.fromEntries(
        ['build', 'dist', 'coverage', '.well-known'].map((name) => [`src/api/${name}/route.ts`, textOf(0)])
      )
    },
    async run(project) {
      for (const name of ['build', 'dist', 'coverage', '.well-known']) {
        await project.change({ [`src/api/${name}/route.ts`]: textOf(1) })
        await expectAnswer(project, `/api/${name}`, { save: 1 })
        await project.change({ [`src/api/${name}/new/route.ts`]: textOf(2) })
        await expectAnswer(project, `/api/${name}/new`, { save: 2 })
      }
    }
  },
  {
    name: 'a program in a folder named build, with what it loads from another one at the top',
    files: {
      'build/server.js': SERVER.replace("'./api'", "'../dist/api'"),
      'dist/api/one/route.js': 'export const GET = () => ({ one: 1 })'
    },
    args: ['build/server.js'],
    async run(project) {
      await expectAnswer(project, '/api/one', { one: 1 })
      await project.change({ 'dist/api/one/route.js': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
      await project.change({
        'build/server.js': SERVER.replace("'./api'", "'../dist/api'").replace('port: 0', "port: 0, baseRoute: '/v1'")
      })
      await expectAnswer(project, '/v1/one', { one: 2 })
    }
  },
  ...['build', '.hidden/app', 'a (b) [c] {d} c#', '50%20 %zz what?', "it's & $HOME; é"].map((place): Row => ({
    name: `a project in a folder named ${place}`,
    place,
    files: {
      ...ONE,
      'src/word.ts': 'export const word: string = "first"',
      'src/data.json': '{"value":1}',
      'src/common.cjs': 'module.exports = { value: 3 }',
      'src/api/one/route.ts': `
          import { readFileSync } from 'node:fs'
          import common from '../../common.cjs'
          import data from '../../data.json' with { type: 'json' }
          import { word } from '../../word.js'
          const text = readFileSync(new URL('../../data.json', import.meta.url), 'utf8')
          export const GET = async () => ({ word, data, text, common, late: (await import('../../word.js')).word })`
    },
    async run(project) {
      const answer = { word: 'first', data: { value: 1 }, text: '{"value":1}', common: { value: 3 }, late: 'first' }
      await expectAnswer(project, '/api/one', answer)
      await project.change({ 'src/word.ts': 'export const word: string = "second"' })
      await expectAnswer(project, '/api/one', { ...answer, word: 'second', late: 'second' })
      await project.change({ 'src/word.ts': 'export const word: string = nothing' })
      const { error } = JSON.parse((await project.get('/api/one')).text) as {
        error: { details: { frame?: string; place?: string }[] }
      }
      // the column is told where it is one of the source: some versions of Node give one of the compiled text
      assert.deepEqual(
        error.details.map(({ place, frame = '' }) => [place?.replace(/^(.*:\d+):\d+$/, '$1'), frame.split('\n')[0]]),
        [['src/word.ts:1', '> 1 | export const word: string = nothing']]
      )
    }
  }))
]
