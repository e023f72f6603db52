import assert from 'node:assert/strict'
import { readFileSync, symlinkSync } from 'node:fs'
import { SERVER, type Files } from './develop-project.js'
import { expectAnswer, type Row } from './develop-row.js'

const ONE: Files = { 'src/server.ts': SERVER, 'src/api/one/route.ts': 'export const GET = () => ({ one: 1 })' }

/** Has the system refuse to watch some folders. */
const REFUSE = `
  const fs = require('node:fs')
  const { syncBuiltinESMExports } = require('node:module')
  const { watch } = fs
  if (process.send === undefined) fs.watch = (path, ...given) => {
    if (!String(path).includes('refused')) return watch(path, ...given)
    throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), { code: 'ENOSPC', path })
  }
  syncBuiltinESMExports()`

/**
 * A file system that keeps no births: what stands for one is the time of the last change. Writes down what is watched.
 * @param part of the paths on it
 */
const noBirths = (part: string): string => `
  const fs = require('node:fs')
  const { syncBuiltinESMExports } = require('node:module')
  const { statSync, watchFile } = fs
  const { stat } = fs.promises
  const withoutBirth = (stats, path) =>
    stats && String(path).includes('${part}')
      ? Object.defineProperties(stats, { birthtimeMs: { value: stats.ctimeMs }, dev: { value: 1 } })
      : stats
  if (process.send === undefined) {
    fs.statSync = (...given) => withoutBirth(statSync(...given), given[0])
    fs.promises.stat = async (...given) => withoutBirth(await stat(...given), given[0])
    fs.watchFile = (path, ...given) => {
      fs.appendFileSync('watched', path + '\\n')
      return watchFile(path, ...given)
    }
  }
  syncBuiltinESMExports()`

export const WATCH_ROWS: Row[] = [
  {
    name: 'a symbolic link to itself is told once, and all others are watched further',
    files: ONE,
    isStarted: false,
    async run(project) {
      symlinkSync('loop', project.path('src/loop'))
      await project.start()
      await project.says(/^twinroute changes at src\/loop are not noticed \(ELOOP\): a symbolic link leads to itself/m)
      symlinkSync('other', project.path('src/other'))
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
      await project.change({ 'src/api/two/route.ts': 'export const GET = () => ({ two: 2 })' })
      await expectAnswer(project, '/api/two', { two: 2 })
      assert.equal(project.printed.match(/ELOOP/g)?.length, 1)
    }
  },
  {
    name: 'folders that the system watches no more are told once with what to do, and all others are watched further',
    files: { ...ONE, 'refuse.cjs': REFUSE, 'src/refused/a/x.ts': '', 'src/refused/b/x.ts': '' },
    env: { NODE_OPTIONS: '--require ./refuse.cjs' },
    async run(project) {
      await project.says(/^twinroute changes at src\/refused\S* are not noticed \(ENOSPC\): .*CHOKIDAR_USEPOLLING=1/m)
      await project.change({ 'src/api/one/route.ts': 'export const GET = () => ({ one: 2 })' })
      await expectAnswer(project, '/api/one', { one: 2 })
      assert.equal(project.printed.match(/ENOSPC/g)?.length, 1)
    }
  },
  ...[
    ['a file system', ''],
    ['another file system', '/src']
  ].map(([what, part = '']): Row => ({
    name: `${what} that is polled, and keeps no births of folders: a new file has no other one be watched anew`,
    files: { ...ONE, 'births.cjs': noBirths(part) },
    env: { NODE_OPTIONS: '--require ./births.cjs', CHOKIDAR_USEPOLLING: '1' },
    async run(project) {
      for (const name of ['two', 'three']) {
        await project.change({ [`src/api/${name}/route.ts`]: `export const GET = () => '${name}'` })
        await expectAnswer(project, `/api/${name}`, name)
      }
      await project.change({ 'src/api/two/route.ts': 'export const GET = () => 2' })
      const watched = readFileSync(project.path('watched'), 'utf8').split('\n')
      assert.equal(watched.filter((path) => path === project.path('src/server.ts')).length, 1)
    }
  })),
  {
    name: 'the .env of the working directory is watched where the program is in a package below, also while there is none',
    files: {
      'apps/api/package.json': '{"type":"module"}',
      'apps/api/src/server.ts': SERVER,
      'apps/api/src/api/one/route.ts': 'export const GET = () => ({ value: process.env.VALUE ?? "none" })'
    },
    args: ['apps/api/src/server.ts'],
    async run(project) {
      await expectAnswer(project, '/api/one', { value: 'none' })
      for (const value of ['1', '2']) {
        await project.reload(() => project.write({ '.env': `VALUE=${value}` }))
        await project.says(/^twinroute \.env changed: the process is replaced/m)
        await project.eventually('/api/one', JSON.stringify({ value }))
      }
    }
  },
  {
    name: 'the lock file of a repository of several packages, and the tsconfig.json that the one of the package names, are watched',
    files: {
      'package-lock.json': '{}',
      'tsconfig.json': '{ "compilerOptions": { "paths": { "@word": ["./words/first.ts"] } } }',
      'words/first.ts': 'export const word: string = "first"',
      'words/second.ts': 'export const word: string = "second"',
      'apps/api/package.json': '{"type":"module"}',
      'apps/api/tsconfig.json': '{ "extends": "../../tsconfig" }',
      'apps/api/src/server.ts': SERVER,
      'apps/api/src/api/one/route.ts': 'import { word } from "@word"\nexport const GET = () => ({ word })'
    },
    args: ['apps/api/src/server.ts'],
    async run(project) {
      await expectAnswer(project, '/api/one', { word: 'first' })
      await project.reload(() =>
        project.write({ 'tsconfig.json': '{ "compilerOptions": { "paths": { "@word": ["./words/second.ts"] } } }' })
      )
      await project.says(/^twinroute tsconfig\.json changed: the process is replaced/m)
      await project.eventually('/api/one', '{"word":"second"}')
      await project.reload(() => project.write({ 'package-lock.json': '{"lockfileVersion":3}' }))
      await project.says(/^twinroute package-lock\.json changed: the process is replaced/m)
    }
  },
  {
    name: 'a file beside package.json that tsconfig.json extends is watched, whatever its name',
    files: {
      'base.json': '{ "compilerOptions": { "paths": { "@word": ["./words/first.ts"] } } }',
      'tsconfig.json': '{ "extends": "./base.json" }',
      'words/first.ts': 'export const word: string = "first"',
      'words/second.ts': 'export const word: string = "second"',
      'src/server.ts': SERVER,
      'src/api/one/route.ts': 'import { word } from "@word"\nexport const GET = () => ({ word })'
    },
    async run(project) {
      await expectAnswer(project, '/api/one', { word: 'first' })
      await project.reload(() =>
        project.write({ 'base.json': '{ "compilerOptions": { "paths": { "@word": ["./words/second.ts"] } } }' })
      )
      await project.says(/^twinroute base\.json changed: the process is replaced/m)
      await project.eventually('/api/one', '{"word":"second"}')
    }
  }
]
