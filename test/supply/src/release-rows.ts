import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { root, run } from './programs.js'
import type { Row } from './rows.js'

const IDENTITY = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://identity.example.com' }

/** Nothing is published from here, whatever happens. */
const NO_REGISTRY = 'http://127.0.0.1:9'

/** An npm with a registry of its own, a folder, that is broken at the first attempt to publish create-twinroute. */
const NPM = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const [command, what] = process.argv.slice(2)
const place = (name) => __dirname + '/' + name.replace('/', '-')
if (command === 'view') {
  const [name, version] = what.split('@')
  if (!existsSync(place(name))) {
    console.error('npm error code E404')
    process.exit(1)
  }
  if (readFileSync(place(name), 'utf8').includes(version)) console.log(version)
} else {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const isBroken = name === 'create-twinroute' && !existsSync(place('was-broken'))
  if (isBroken) {
    writeFileSync(place('was-broken'), '')
    process.exit(1)
  }
  if (existsSync(place(name)) && readFileSync(place(name), 'utf8').includes(version)) process.exit(1)
  appendFileSync(place(name), version + '\\n')
}
`

interface Copy {
  folder: string
  edit: (file: string, change: (text: string) => string) => void
  git: (...args: string[]) => Promise<void>
  check: (env?: NodeJS.ProcessEnv) => Promise<{ code: number; text: string }>
  /** With programs of a folder in place of those of the system. */
  release: (programs: string) => Promise<{ code: number; text: string }>
}

/** A copy of the repository that may be published: committed, tagged, with a heading and a repository. */
async function withRelease(work: (copy: Copy) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-release-'))
  const git = async (...args: string[]): Promise<void> => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
    const { code, errors } = await run('git', [...who, ...args], folder)
    assert.equal(code, 0, errors)
  }
  const edit: Copy['edit'] = (file, change) => {
    writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')))
  }
  const script = [join(root, 'node_modules/jiti/lib/jiti-cli.mjs'), 'scripts/release.ts']
  const check: Copy['check'] = (env = IDENTITY) => run(process.execPath, [...script, '--check'], folder, env)
  const release: Copy['release'] = (programs) => {
    const PATH = `${programs}${delimiter}${process.env['PATH']}`
    return run(process.execPath, script, folder, { ...IDENTITY, PATH, npm_config_registry: NO_REGISTRY })
  }
  try {
    await run('git', ['clone', '--quiet', '--no-tags', '--depth=1', `file://${root}`, folder])
    writeFileSync(join(folder, 'scripts/release.ts'), readFileSync(join(root, 'scripts/release.ts')))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    edit('.git/info/exclude', (text) => `${text}\nnode_modules\n`)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    edit('CHANGELOG.md', (text) => text.replace(/^## .*$/m, `## ${version}`))
    edit('package.json', (text) => text.replace('{', '{ "repository": { "url": "git+https://example.com/a/b.git" },'))
    await git('add', '--all')
    await git('commit', '--quiet', '--message=release')
    await git('tag', `v${version}`)
    await work({ folder, edit, git, check, release })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const REFUSED: readonly (readonly [string, (copy: Copy) => void | Promise<void>, RegExp])[] = [
  ['a change that is not committed', ({ edit }) => edit('README.md', (text) => `${text}\n`), /^- There are changes/],
  [
    'a commit without its tag',
    ({ git }) => git('commit', '--quiet', '--allow-empty', '--message=more'),
    /^- HEAD has no tag v/
  ]
]

export const releaseRows: readonly Row[] = [
  [
    'a commit with tag, heading and repository may be published by a job of CI that has an identity',
    () =>
      withRelease(async ({ check }) => {
        assert.deepEqual(await check(), {
          code: 0,
          text: 'Nothing keeps this commit from being published\n',
          errors: ''
        })
        const { code, text } = await check({ ACTIONS_ID_TOKEN_REQUEST_URL: undefined, SIGSTORE_ID_TOKEN: undefined })
        assert.equal(code, 1)
        assert.match(text, /^- This is no job of CI with an identity/)
      })
  ],
  [
    'a release that has failed half-way goes on where it was, and once more is no harm',
    () =>
      withRelease(async ({ folder, release }) => {
        const programs = mkdtempSync(join(tmpdir(), 'twinroute-registry-'))
        try {
          writeFileSync(join(programs, 'npm'), NPM, { mode: 0o755 })
          writeFileSync(join(programs, 'twinroute'), '0.0.1\n') // an older one
          const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
          assert.notEqual((await release(programs)).code, 0)
          assert.equal(readFileSync(join(programs, 'twinroute'), 'utf8'), `0.0.1\n${version}\n`)
          const [second, third] = [await release(programs), await release(programs)]
          const has = (name: string): string => `The registry has ${name} ${version}\n`
          const publishes = `npm publish --provenance: create-twinroute ${version}\n`
          assert.deepEqual([second.code, second.text], [0, `${has('twinroute')}${publishes}`])
          assert.deepEqual([third.code, third.text], [0, `${has('twinroute')}${has('create-twinroute')}`])
          assert.equal(readFileSync(join(programs, 'create-twinroute'), 'utf8'), `${version}\n`)
        } finally {
          rmSync(programs, { recursive: true, force: true })
        }
      })
  ],
  ...REFUSED.map(([name, break_, says]): Row => [
    `it is refused for ${name}`,
    () =>
      withRelease(async (copy) => {
        await break_(copy)
        const { code, text } = await copy.check()
        assert.equal(code, 1)
        assert.match(text, says)
      })
  ]),
  [
    'it is refused for a version without a heading, without a repository, and beside another version of create-twinroute',
    () =>
      withRelease(async ({ edit, git, check }) => {
        edit('CHANGELOG.md', (text) => text.replace(/^## .*$/m, '## Unreleased'))
        edit('package.json', (text) => text.replace(/"repository": \{.*?\},/, ''))
        edit('create-twinroute/package.json', (text) => text.replace(/"version": ".*?"/, '"version": "9.9.9"'))
        await git('commit', '--quiet', '--all', '--message=more')
        const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
        await git('tag', '--force', `v${version}`)
        const { code, text } = await check()
        assert.equal(code, 1)
        assert.equal(
          text,
          `- CHANGELOG.md has no heading "## ${version}": rename "## Unreleased"\n` +
            '- package.json names no repository, and provenance is about one: set repository.url to that of the job\n' +
            `- create-twinroute has the version 9.9.9: set it to ${version}\n`
        )
      })
  ]
]
