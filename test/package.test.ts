// ci: once (what is packed does not depend on the Node version that packs it)
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { satisfies } from 'semver'
import t from 'tap'
import { installedWith, readLock, surprises, type LockedPackages } from './support/lock-file.js'
import { root, sourceFiles } from './support/source-tree.js'

const run = promisify(execFile)
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const packed = await mkdtemp(join(tmpdir(), 'twinroute-pack-'))
t.teardown(() => rm(packed, { recursive: true }))

// Scripts stay out: `prepack` empties the dist/ that other tests are reading.
const pack = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', packed], { cwd: root })
const [tarball] = JSON.parse(pack.stdout)
const files: string[] = tarball.files.map(({ path }: { path: string }) => path)

/** Every name of an entry that is there at run time; types are tested in test/types. */
const PUBLIC_NAMES = {
  twinroute: [
    'ApiError',
    'BootError',
    'ConflictError',
    'NotFoundError',
    'ValidationError',
    'createApp',
    'createMiddleware',
    'defineHandler',
    'defineHandlerFor',
    'describeRoutes',
    'errorHandler',
    'fileRoutes'
  ],
  'twinroute/graphql': [
    'basicContext',
    'batch',
    'bearerContext',
    'createRedisStore',
    'createResultCache',
    'graphqlRoutes'
  ],
  'twinroute/auth': ['authenticate', 'createPasswordHasher', 'createTokenService', 'requireRole'],
  'twinroute/http': [
    'apiVersion',
    'envelope',
    'pagination',
    'paginationMeta',
    'rateLimit',
    'setPaginationHeaders',
    'validate'
  ],
  'twinroute/openapi': ['describeMiddleware', 'openapi'],
  'twinroute/build': ['findRouteFiles', 'registerRoutes'],
  'twinroute/dev': ['checkRoutes', 'develop', 'keep'],
  'twinroute/client': ['ClientError', 'createClient', 'injectFetch'],
  'twinroute/observe': ['observe', 'routeLabel'],
  'twinroute/express': [
    'Route',
    'Router',
    'application',
    'default',
    'express',
    'json',
    'raw',
    'request',
    'response',
    'static',
    'text',
    'urlencoded'
  ]
}

/** Only their own entries may load these: an application without them does not pay for them. */
const NOT_IN_MAIN = ['jsonwebtoken', 'bcryptjs', 'zod', 'mercurius', 'graphql', '@fastify/session', '@fastify/swagger']

/** What `require('twinroute/express')` loads. */
const COMMONJS = ['dist/express.cjs', 'dist/engine.cjs', 'dist/engine-modules.cjs']

t.test('CommonJS is strict, as the sources are: a write to a member that cannot be written throws', async (t) => {
  for (const file of COMMONJS) t.match(await readFile(join(root, file), 'utf8'), /^'use strict'/, file)
})

/** What compiled modules are bundled into. */
const BUNDLES = [...COMMONJS, 'dist/core.js', 'dist/packages.cjs']

/** What the sources become, source maps left out. */
function compiledFiles(): string[] {
  return sourceFiles('lib').flatMap(({ fileName }) => {
    const file = fileName.replace('lib/', 'dist/')
    if (file.endsWith('.d.ts')) return [] // types of packages, for the compiler alone
    return file.endsWith('.d.cts') ? [file] : [file.replace(/ts$/, 'js'), file.replace(/ts$/, 'd.ts')]
  })
}

/** URLs of all files that a fresh process loads for one import, whether by `import` or by `require`. */
async function filesLoadedBy(specifier: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'twinroute-graph-'))
  try {
    // Node's own coverage lists every script that was compiled, of both module systems.
    const env = { ...process.env, NODE_V8_COVERAGE: folder }
    await run(process.execPath, ['--input-type=module', '--eval', `await import('${specifier}')`], { cwd: root, env })
    const reports = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    return reports.flatMap((report) => JSON.parse(report).result.map(({ url }: { url: string }) => url))
  } finally {
    await rm(folder, { recursive: true })
  }
}

for (const [specifier, names] of Object.entries(PUBLIC_NAMES)) {
  t.test(`${specifier} exports its names and no others`, async (t) => {
    t.strictSame(Object.keys(await import(specifier)).toSorted(), names)
  })
}

t.test('every entry of package.json is one of these', async (t) => {
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
  t.strictSame(
    entries.map((entry) => entry.replace('.', 'twinroute')),
    Object.keys(PUBLIC_NAMES)
  )
})

t.test('the main entry loads nothing that only other entries need', async (t) => {
  const loaded = await filesLoadedBy('twinroute')
  t.ok(loaded.includes(pathToFileURL(join(root, 'dist/index.js')).href), 'the list is of this package')
  const packages = new Set(loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []))
  t.ok(packages.has('fastify'), 'the list holds packages')
  t.strictSame(
    NOT_IN_MAIN.filter((name) => packages.has(name)),
    []
  )
})

const LOADED: Readonly<Record<string, readonly string[]>> = {
  twinroute: ['core.js', 'engine-modules.cjs', 'engine.cjs', 'index.js', 'packages.cjs'],
  'twinroute/express': ['app/express-app.js', 'engine-modules.cjs', 'engine.cjs', 'express.cjs', 'express.js']
}

for (const [entry, files] of Object.entries(LOADED)) {
  t.test(`${entry} loads bundles, not a file of each module`, async (t) => {
    const own = pathToFileURL(join(root, 'dist/')).href
    const loaded = (await filesLoadedBy(entry)).filter((url) => url.startsWith(own)).map((url) => url.slice(own.length))
    t.strictSame([...new Set(loaded)].toSorted(), files)
  })
}

t.test('the bundle imports no package: node would read through the text of each that is CommonJS', async (t) => {
  const bundle = await readFile(join(root, 'dist/core.js'), 'utf8')
  const imported = [...bundle.matchAll(/^(?:import|\}).*["'](.+)["'];?$/gm)].map(([, name = '']) => name)
  t.ok(imported.includes('node:path'), 'the list holds imports')
  t.strictSame(
    imported.filter((name) => !/^(node:|\.)/.test(name)),
    []
  )
})

t.test('small entries do not load the routes of files', async (t) => {
  const core = pathToFileURL(join(root, 'dist/core.js')).href
  for (const entry of ['twinroute/auth', 'twinroute/client', 'twinroute/http', 'twinroute/observe'])
    t.notOk((await filesLoadedBy(entry)).includes(core), entry)
})

t.test('entries load their optional packages when they are registered', async (t) => {
  const optional = Object.keys(manifest.peerDependencies)
  t.strictSame(optional, Object.keys(manifest.peerDependenciesMeta), 'all peers are optional')
  for (const entry of ['twinroute/graphql', 'twinroute/openapi', 'twinroute/observe']) {
    const loaded = await filesLoadedBy(entry)
    t.strictSame(
      optional.filter((name) => loaded.some((url) => url.includes(`/node_modules/${name}/`))),
      [],
      entry
    )
  }
})

t.test('the package holds what users need', async (t) => {
  const playground = ['js.gz', 'css.gz', 'svg.gz'].map((type) => `dist/playground/playground.${type}`)
  for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', ...playground]) {
    t.ok(files.includes(file), file)
  }
  for (const file of [...compiledFiles(), ...BUNDLES]) t.ok(files.includes(file), file)
})

t.test('the package holds nothing else', async (t) => {
  const known = new Set([...compiledFiles(), ...BUNDLES])
  const compiled = files.filter((file) => /^dist\/.*\.(c?js|c?js\.map|d\.c?ts)$/.test(file))
  const strangers = compiled.filter((file) => !known.has(file.replace(/\.map$/, '')))
  t.strictSame(strangers, [], 'dist/ holds only what lib/ makes: npm run clean && npm run build')
  t.strictSame(files.filter((file) => !/^(dist|docs)\//.test(file)).toSorted(), [
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'package.json'
  ])
})

t.test('every link of the README leads to a file of the package', async (t) => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const targets = [...readme.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) => target)
  t.ok(
    targets.some((target) => target.startsWith('docs/')),
    'there are links to docs/'
  )
  t.strictSame(
    targets.filter((target) => !/^[a-z]+:/.test(target) && !files.includes(target)),
    []
  )
})

t.test('publint finds nothing', async (t) => {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: await readTarball() } })
  t.strictSame(
    messages.map((message) => formatMessage(message, pkg)),
    []
  )
})

/** Types by way of importing; `twinroute/express` is for programs of every kind, the others for ES modules. */
const TYPED: readonly (readonly string[])[] = [
  ['--profile', 'esm-only'],
  ['--profile', 'strict', '--entrypoints', 'express']
]

for (const options of TYPED) {
  t.test(`types resolve: attw ${options.join(' ')}`, async (t) => {
    const attw = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json')
    const cli = join(attw, '../dist/index.js')
    const result = await run(process.execPath, [cli, join(packed, tarball.filename), ...options]).catch(
      (error: unknown) => error as { stdout: string; code?: number }
    )
    t.notOk('code' in result, 'attw finds nothing', { found: result.stdout })
  })
}

t.test('every direct dependency allows the oldest Node that this package allows', async (t) => {
  const oldest = manifest.engines.node.replace('>=', '') + '.0'
  const locks = ['package-lock.json', 'test/observe/package-lock.json'] // some optional packages are installed there only
  const [packages, ofObserve] = await Promise.all(
    locks.map(async (lock) => JSON.parse(await readFile(join(root, lock), 'utf8')).packages)
  )
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const { engines } = packages[`node_modules/${name}`] ?? ofObserve[`node_modules/${name}`]
    t.ok(satisfies(oldest, engines?.node ?? '*'), `${name} on Node ${oldest}: ${engines?.node}`)
  }
})

t.test('runtime packages are ranges, tools are exact versions', async (t) => {
  const runtime = { ...manifest.dependencies, ...manifest.peerDependencies }
  for (const [name, range] of Object.entries<string>(runtime)) t.match(range, /^(\^|>=)\d/, name)
  for (const [name, version] of Object.entries<string>(manifest.devDependencies)) {
    t.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
  }
})

t.test('an application keeps its own Express, from 5.1 to the newest', async (t) => {
  const installed = JSON.parse(await readFile(join(root, 'node_modules/express/package.json'), 'utf8')).version
  for (const version of ['5.1.0', '5.2.0', installed]) t.ok(satisfies(version, manifest.dependencies.express), version)
})

t.test('the lock file names no registry', async (t) => {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const named = Object.entries<any>(lock.packages).filter(([, entry]) => entry.resolved !== undefined && !entry.link)
  t.strictSame(
    named.map(([path]) => path),
    []
  )
})

/** Licences that ask for no more than that their text is kept. */
const LICENCES = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '0BSD',
  'MIT-0',
  'CC0-1.0'
]

/** Packages that may run a script when they are installed. */
const SCRIPTS = [
  'esbuild' // an optional package, for `twinroute build`: it checks that its program fits the machine
]

t.test('no package that users get has an install script, or a licence that asks more of them', async (t) => {
  const optional = Object.keys(manifest.peerDependencies)
  const creator = JSON.parse(await readFile(join(root, 'create-twinroute/package.json'), 'utf8'))
  const installed = new Map([
    ...installedWith(readLock('package-lock.json'), [...Object.keys(manifest.dependencies), ...optional]),
    ...installedWith(readLock('test/observe/package-lock.json'), optional), // some are installed there only
    ...installedWith(readLock('create-twinroute/package-lock.json'), Object.keys(creator.dependencies))
  ])
  t.strictSame(surprises(installed, { licences: LICENCES, scripts: SCRIPTS }), [])
  const missing = [...Object.keys(manifest.dependencies), ...optional, ...Object.keys(creator.dependencies)].filter(
    (name) => !installed.has(`node_modules/${name}`)
  )
  t.strictSame(missing, [], 'each of them is in a lock file')
})

t.test('an install script and a licence are found wherever they are below a package', async (t) => {
  const packages: LockedPackages = {
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { b: '2' }, optionalDependencies: { c: '1' } },
    'node_modules/b': { version: '1.0.0', license: 'AGPL-3.0', hasInstallScript: true }, // not the one of a
    'node_modules/a/node_modules/b': { version: '2.0.0', license: 'GPL-3.0', peerDependencies: { d: '1', e: '1' } },
    'node_modules/c': { version: '1.0.0', license: 'MIT', hasInstallScript: true },
    'node_modules/d': { version: '1.0.0', dependencies: { f: '1', g: '1' } },
    'node_modules/f': { version: '1.0.0', license: '(GPL-3.0 OR MIT)' },
    'node_modules/g': { version: '1.0.0', license: '(MIT OR ISC) AND GPL-3.0' }
  }
  t.strictSame(surprises(installedWith(packages, ['a']), { licences: ['MIT'], scripts: [] }).toSorted(), [
    'b 2.0.0 has the licence GPL-3.0',
    'c 1.0.0 has an install script',
    'd 1.0.0 has the licence none',
    'g 1.0.0 has the licence (MIT OR ISC) AND GPL-3.0'
  ])
  t.strictSame(surprises(installedWith(packages, ['c']), { licences: ['MIT'], scripts: ['c'] }), [])
})

async function readTarball(): Promise<ArrayBuffer> {
  const bytes = await readFile(join(packed, tarball.filename))
  return new Uint8Array(bytes).buffer
}
