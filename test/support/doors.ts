// `npm run test:doors`: packs this package, installs the tarball in projects of their own, and uses it there as real
// projects do: test runners, compilers, tracers, package managers, other copies of Express. `-- NAME...` runs the doors
// whose names hold one of the words, `-- --without WORD` all others. Prints every form tried; ends with `N rows, M failed`.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { root } from './source-tree.js'

const run = promisify(execFile)
const scratch = await mkdtemp(join(tmpdir(), 'twinroute-doors-'))
const project = join(scratch, 'project')
const { positionals: words, values } = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })
const { without } = values

/** One way in which a project uses this package; throws when it does not work. */
interface Door {
  name: string
  open: () => Promise<void>
}

interface Command {
  cwd?: string
  env?: Readonly<Record<string, string>>
}

/** Runs a program to its end; what it printed on both channels. */
async function execute(command: readonly string[], { cwd = project, env = {} }: Command = {}): Promise<string> {
  const [file = '', ...rest] = command
  const options = { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 }
  const { stdout, stderr } = await run(file, rest, options).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${command.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })
  return stdout + stderr
}

function npm(...rest: string[]): string[] {
  return ['npm', ...rest, '--prefer-offline', '--no-audit', '--no-fund']
}

function expectEqual(found: unknown, expected: unknown): void {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value, null, 1))
  if (a !== b) throw new Error(`found ${a}\nexpected ${b}`)
}

async function newProject(name: string, manifest: object): Promise<string> {
  const folder = join(scratch, name)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', private: true, ...manifest }))
  return folder
}

async function pack(): Promise<string> {
  // Without scripts: `prepack` empties dist/, which was built before
  const printed = await execute(['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch], {
    cwd: root
  })
  return join(scratch, /"filename": "(.+\.tgz)"/.exec(printed)?.[1] ?? '')
}

// --- Test runners -----------------------------------------------------------------------------------------------------

const TS_JEST = { '^.+\\.ts$': 'ts-jest' }
const JEST_FORMS = [
  { form: 'CommonJS', file: 'cjs.test.js', node: [], config: {} },
  { form: 'ES modules', file: 'esm.test.mjs', node: ['--experimental-vm-modules'], config: {} },
  { form: 'ts-jest', file: 'ts.test.ts', node: [], config: { transform: TS_JEST } }
]

const jest: Door[] = ['jest29', 'jest30'].flatMap((version) =>
  JEST_FORMS.map(({ form, file, node, config }) => ({
    name: `${version}, ${form}`,
    async open() {
      const settings = JSON.stringify({
        testEnvironment: 'node',
        rootDir: join(project, 'jest'),
        testMatch: [`**/${file}`],
        ...config
      })
      const cli = join(project, 'node_modules', version, 'bin/jest.js')
      await execute([process.execPath, ...node, cli, '--config', settings])
    }
  }))
)

// --- Compilers --------------------------------------------------------------------------------------------------------

interface Setting {
  type: 'commonjs' | 'module'
  files: readonly string[]
  options: readonly string[]
  /** Of TypeScript; default: both. */
  version?: 5 | 6
}

const CJS = { type: 'commonjs', files: ['default', 'require', 'named'] } as const
const ESM = { type: 'module', files: ['default', 'namespace', 'named'] } as const
const SETTINGS: readonly Setting[] = [
  { ...CJS, options: ['--module', 'commonjs', '--esModuleInterop'] },
  // Types of packages beneath Fastify need esModuleInterop
  {
    ...CJS,
    files: ['star', 'require'],
    options: ['--module', 'commonjs', '--esModuleInterop', 'false', '--skipLibCheck'],
    version: 5
  },
  // @types/express-session in the program
  { type: 'module', files: ['middleware'], options: ['--module', 'nodenext', '--skipLibCheck'] },
  // Declaration files are checked whole by the rows above and these; that takes longest
  { ...CJS, options: ['--module', 'node16'] },
  { ...ESM, options: ['--module', 'node16'] },
  ...['nodenext', 'preserve'].flatMap((module) => [
    { ...CJS, options: ['--module', module, '--skipLibCheck'] },
    { ...ESM, options: ['--module', module, '--skipLibCheck'] }
  ])
]

function compiler(version: 5 | 6, { type, files, options }: Setting): Door {
  return {
    name: `TypeScript ${version}, ${type} package, ${options.join(' ')}: ${files.join(', ')}`,
    async open() {
      const cli = join(project, 'node_modules', version === 5 ? 'typescript' : 'typescript6', 'bin/tsc')
      const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node']
      const sources = files.map((file) => join(project, type, `${file}.ts`))
      await execute([process.execPath, cli, ...strict, ...options, ...sources])
    }
  }
}

const compilers = SETTINGS.flatMap((setting) =>
  ([5, 6] as const)
    .filter((version) => (setting.version ?? version) === version)
    .map((version) => compiler(version, setting))
)

// --- Tracers ----------------------------------------------------------------------------------------------------------

const HOOKS = ['--no-warnings', '--experimental-loader', '@opentelemetry/instrumentation/hook.mjs']
const TRACERS = [
  { name: 'OpenTelemetry, node -r, CommonJS', tracer: 'opentelemetry', node: [], extension: 'cjs', env: {} },
  { name: 'OpenTelemetry, its loader, ES modules', tracer: 'opentelemetry', node: HOOKS, extension: 'mjs', env: {} },
  {
    name: 'an agent that patches express, CommonJS',
    tracer: 'agent',
    node: [],
    extension: 'cjs',
    env: { ELASTIC_APM_DISABLE_INSTRUMENTATIONS: 'fastify' }
  }
] as const

async function tracedApplication(name: string, extension: 'cjs' | 'mjs'): Promise<string> {
  const body = await readFile(join(project, 'tracing/application.txt'), 'utf8')
  const head =
    extension === 'cjs'
      ? `const http = require('node:http')\nconst express = require('${name}')\n`
      : `import http from 'node:http'\nimport express from '${name}'\n`
  const file = join(project, `tracing/${name.replace('/', '-')}.${extension}`)
  await writeFile(file, head + body)
  return file
}

const tracers: Door[] = TRACERS.map(({ name, tracer, node, extension, env }) => ({
  name: `${name}: the spans or transactions of Express`,
  async open() {
    const seenIn = async (factory: string): Promise<string[]> => {
      const file = await tracedApplication(factory, extension)
      const command = [process.execPath, ...node, '-r', join(project, `tracing/${tracer}.cjs`), file]
      return JSON.parse(await execute(command, { env })) as string[]
    }
    const expected = await seenIn('express')
    if (!expected.some((line) => line.includes('/api/users/:id'))) throw new Error(`Express: ${expected.join('\n')}`)
    expectEqual(await seenIn('twinroute/express'), expected)
  }
}))

// --- Package managers -------------------------------------------------------------------------------------------------

/** The lines that the page tells users of strict package managers to write. */
async function lineOfPage(key: 'overrides' | 'resolutions'): Promise<object> {
  const page = await readFile(join(root, 'docs/migrating-from-express.md'), 'utf8')
  const [, line = ''] = new RegExp(`^("${key}": .+)$`, 'm').exec(page) ?? []
  return JSON.parse(`{${line}}`) as object
}

const SENDS_COOKIE = `const app = require('twinroute/express')()
  app.use((request, response) => response.send(request.headers.cookie))
  app.fastify.inject({ url: '/', cookies: { a: 'b' } }).then(({ body }) => process.stdout.write(body))`

async function answers(folder: string): Promise<void> {
  expectEqual(await execute([process.execPath, '--eval', SENDS_COOKIE], { cwd: folder }), 'a=b')
}

function managers(tarball: string): Door[] {
  const dependencies = { twinroute: `file:${tarball}` }
  return [
    {
      name: 'npm with engine-strict and the overrides of the page',
      async open() {
        const folder = await newProject('strict', { dependencies, ...(await lineOfPage('overrides')) })
        await execute(npm('install', '--engine-strict'), { cwd: folder })
        await answers(folder)
      }
    },
    {
      name: 'yarn 1 with the resolutions of the page',
      async open() {
        const folder = await newProject('yarn', { dependencies, ...(await lineOfPage('resolutions')) })
        const yarn = join(project, 'node_modules/yarn/bin/yarn.js')
        await execute([process.execPath, yarn, 'install', '--no-lockfile', '--non-interactive'], { cwd: folder })
        await answers(folder)
      }
    },
    {
      name: 'npm install git+file: builds the package',
      async open() {
        const folder = await newProject('git', {})
        await execute(npm('install', `git+file://${root}`), { cwd: folder })
        await answers(folder)
      }
    },
    ...['5.1.0', 'latest'].map((version) => ({
      name: `an application with express@${version}: one copy of Express, the application's`,
      async open() {
        const folder = await newProject(`express-${version}`, { dependencies: { ...dependencies, express: version } })
        await execute(npm('install'), { cwd: folder })
        await answers(folder)
        const program = `const express = require('express'), ours = require('twinroute/express')
          console.log(express.response === ours.response, require('express/package.json').version)`
        const printed = await execute([process.execPath, '--eval', program], { cwd: folder })
        if (!/^true 5\.\d/.test(printed)) throw new Error(printed)
      }
    }))
  ]
}

// --- Optional packages ------------------------------------------------------------------------------------------------

const MAX_BYTES = 30 * 1024 * 1024

/** An application in a project that has the tarball and the named packages, as `npm install` installs them. */
async function application(name: string, packages: readonly string[]): Promise<string> {
  const folder = await newProject(name, { type: 'module' })
  await cp(join(root, 'test/doors/programs/peers/src'), join(folder, 'src'), { recursive: true })
  await execute(npm('install', ...packages), { cwd: folder })
  return folder
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries.map(async (entry) =>
    entry.isFile() ? (await stat(join(entry.parentPath, entry.name))).size : 0
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** Compiles, with all declaration files checked; the program is written beside its source. */
async function compile(folder: string, file: string, ...more: readonly string[]): Promise<void> {
  const cli = join(project, 'node_modules/typescript6/bin/tsc')
  const options = ['--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node', '--module', 'nodenext']
  await execute([process.execPath, cli, ...options, ...more, '--rootDir', 'src', file], { cwd: folder })
}

function optionalPackages(tarball: string): Door[] {
  return [
    {
      name: 'without the optional packages: REST, at most 30 MiB, and an error that says what to install',
      async open() {
        const folder = await application('rest', [tarball])
        const bytes = await bytesBelow(join(folder, 'node_modules'))
        if (bytes > MAX_BYTES) throw new Error(`${bytes} bytes are installed`)
        const printed = await execute([process.execPath, 'src/rest.js'], { cwd: folder })
        expectEqual(printed.split('\n'), [
          'BootError BOOT_ERROR 1 problem keeps the application from starting',
          '',
          '1. graphqlRoutes needs mercurius and graphql, which are not installed (PACKAGE_NOT_INSTALLED)',
          '   Fix: npm install mercurius@16 graphql@16',
          '1. batch needs dataloader, which is not installed (PACKAGE_NOT_INSTALLED)',
          '   Fix: npm install dataloader@2',
          '1. openapi needs @fastify/swagger and @scalar/fastify-api-reference, which are not installed (PACKAGE_NOT_INSTALLED)',
          '   Fix: npm install @fastify/swagger@9 @scalar/fastify-api-reference@1.40',
          '1. observe needs prom-client and @fastify/under-pressure, which are not installed (PACKAGE_NOT_INSTALLED)',
          '   Fix: npm install prom-client@15 @fastify/under-pressure@9',
          '{"status":"ok","checks":{}}',
          '{"hello":"world"}',
          ''
        ])
        await compile(folder, 'src/without-optional.ts')
      }
    },
    {
      name: 'with mercurius and graphql as docs/graphql.md installs them: the schema of an application',
      async open() {
        const page = await readFile(join(root, 'docs/graphql.md'), 'utf8')
        const [, named = ''] = /^npm install twinroute (.+)$/m.exec(page) ?? []
        const folder = await application('graphql', [tarball, ...named.split(' '), 'dataloader@2'])
        // Those of Mercurius need @types/ws
        await compile(folder, 'src/graphql.ts', '--skipLibCheck')
        const printed = await execute([process.execPath, 'src/graphql.js'], { cwd: folder })
        expectEqual(printed, '{"hello":"world"} {"data":{"length":"twinroute: 9"}}')
      }
    },
    {
      name: 'with pino-pretty: readable lines in development',
      async open() {
        const folder = await application('pretty', [tarball, 'pino-pretty@13'])
        const program = `import { createApp } from 'twinroute'
          const app = await createApp({ apiDir: 'src/api', requestLog: true })
          await app.inject('/api/hello'); await app.inject('/nowhere'); await app.close()`
        const env = { NODE_ENV: 'development' }
        const printed = await execute([process.execPath, '--input-type=module', '--eval', program], {
          cwd: folder,
          env
        })
        const lines = printed.split('\n').filter((line) => line.includes('INFO'))
        expectEqual(
          lines.map((line) => line.replace(/^\[[\d:.]+\]/, '[time]').replace(/[\d.]+ ms$/, 'N ms')),
          ['[time] INFO: GET /api/hello 200 N ms', '[time] INFO: GET /nowhere 404 N ms']
        )
      }
    },
    {
      name: 'the command in node_modules/.bin',
      async open() {
        const folder = await application('command', [tarball])
        const printed = await execute(['npx', '--no-install', 'twinroute', 'routes', '--unguarded'], { cwd: folder })
        expectEqual(printed.split(/ +/).slice(0, 3), ['GET', '/api/hello', 'src/api/hello/route.js'])
      }
    },
    {
      name: 'with mercurius 15: npm refuses it',
      async open() {
        const folder = await newProject('mercurius-15', {})
        const printed = await execute(npm('install', tarball, 'mercurius@15', 'graphql@16'), { cwd: folder }).catch(
          String
        )
        if (!/ERESOLVE[^]*peerOptional mercurius@"\^16/.test(printed)) throw new Error(printed)
      }
    }
  ]
}

// --- All of them ------------------------------------------------------------------------------------------------------

/** A project with the test runners, compilers and tracers of this folder, and the tarball. */
async function install(tarball: string): Promise<void> {
  const programs = join(root, 'test/doors/programs')
  await mkdir(project)
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await cp(join(root, 'test/doors', file), join(project, file))
  }
  for (const folder of ['jest', 'tracing']) await cp(join(programs, folder), join(project, folder), { recursive: true })
  for (const type of ['commonjs', 'module']) {
    await cp(join(programs, 'import-forms'), join(project, type), { recursive: true })
    await writeFile(join(project, type, 'package.json'), JSON.stringify({ private: true, type }))
  }
  await execute(npm('ci'))
  const printed = await execute(npm('install', '--no-save', '--ignore-scripts=false', tarball))
  if (/twinroute.*\(/.test(printed)) throw new Error(`npm warns of a script of ours:\n${printed}`)
}

let failures = 0

async function tryDoor({ name, open }: Door): Promise<void> {
  const begun = performance.now()
  try {
    await open()
    process.stdout.write(`ok ${name} (${Math.round((performance.now() - begun) / 1000)} s)\n`)
  } catch (error) {
    failures += 1
    process.stdout.write(`not ok ${name}\n${String(error).replaceAll(/^/gm, '    ')}\n`)
  }
}

function isWanted({ name }: Door): boolean {
  if (without !== undefined && name.includes(without)) {
    process.stdout.write(`left out ${name}\n`)
    return false
  }
  return words.length === 0 || words.some((word) => name.includes(word))
}

/** Two at a time: most of them wait for a disk or for npm. */
async function tryAll(doors: Door[]): Promise<void> {
  const next = async (): Promise<void> => {
    for (let door = doors.shift(); door !== undefined; door = doors.shift()) await tryDoor(door)
  }
  await Promise.all([next(), next()])
}

try {
  const tarball = await pack()
  const doors = [...managers(tarball), ...optionalPackages(tarball), ...jest, ...compilers, ...tracers].filter(isWanted)
  const rows = doors.length + 1
  await tryDoor({ name: 'npm install of the tarball, without a warning of its scripts', open: () => install(tarball) })
  await tryAll(doors)
  process.stdout.write(`\n${rows} rows, ${failures} failed\n`)
} finally {
  await rm(scratch, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
