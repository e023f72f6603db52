import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { askTwinroute, runTwinroute } from '../support/command.js'
import { cannotMount, runMounting } from '../support/mounting.js'
import { writeTree, type Tree } from '../support/route-tree.js'
import { root } from '../support/source-tree.js'

const TWINROUTE = join(root, 'dist/command/twinroute.js')

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

/** Starts a program that prints its address; resolves to what was printed first. */
async function startProgram(t: Test, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NODE_ENV: '', PORT: '0', ...env } })
  t.teardown(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (text) => (errors += text))
  child.stdout.setEncoding('utf8')
  const line = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (more: string) => {
      text += more
      const [, found] = /^(address .*)\n/m.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on('close', (code) => reject(new Error(`ended with ${code}: ${text}${errors}`)))
  })
  const [, address = '', ...rest] = line.split(' ')
  return { child, address, rest, ask: async (path: string) => (await fetch(address + path)).text() }
}

const SERVER = `
  import { createApp } from 'twinroute'
  process.env.READ_LATE = 'set by the program'
  const app = await createApp({ apiDir: new URL('./api', import.meta.url), fastifyOptions: { logger: false } })
  console.log('address', await app.start(), process.env.NODE_ENV, process.argv.length)
`

/** Everything that a build must keep: each route answers with what its sources would. */
const SHOP: Tree = {
  'package.json': '{"type":"module","name":"shop","imports":{"#settings":"./src/settings.ts"}}',
  'src/server.ts': SERVER,
  'src/middleware.ts': `
    import { createMiddleware, type Middleware } from 'twinroute'
    const authenticate: Middleware = (request, response, next) => {
      if (request.get('authorization') === 'Bearer secret') return next()
      return response.status(401).json({ error: 'NO_TOKEN' })
    }
    export const middleware = createMiddleware({ '/api/admin': [authenticate] })`,
  'src/api/users/me/route.ts': 'export const GET = () => ({ me: true })',
  'src/api/users/[id]/route.ts': `
    import type { Request } from 'twinroute'
    export const GET = (request: Request) => ({ id: request.params.id }), DELETE = () => ({ status: 204 })`,
  'src/api/admin/route.ts': 'export const GET = () => ({ admin: true })',
  'src/api/(group)/old/route.cjs': 'exports.GET = () => ({ old: true })',
  'src/api/files/[...rest]/route.ts': `
    import type { Request } from 'twinroute'
    export const GET = (request: Request) => ({ rest: request.params.rest })`,
  'tsconfig.json': '{"compilerOptions":{"paths":{"@app/*":["./src/*"]}}}',
  'src/api/named/route.ts': `
    import { list } from '@app/lists/list.js'
    import { version } from '#settings'
    export const GET = () => ({ list, version })`,
  'src/lists/list.ts': "import data from './list.json' with { type: 'json' }\nexport const list: number[] = data",
  'src/lists/list.json': '[1,2]',
  'src/settings.ts': 'export const version: string = "2"',
  'src/api/late/route.ts': 'const read = process.env.READ_LATE; export const GET = () => ({ read })',
  'src/api/mail/route.ts': "import { mail } from '../../mail/mail.js'; export const GET = () => mail()",
  'src/mail/mail.ts': `
    import { readdirSync, readFileSync } from 'node:fs'
    import { join } from 'node:path'
    const text = readFileSync(new URL('./mail.txt', import.meta.url), 'utf8')
    export const mail = () => ({
      text,
      list: readFileSync(join(import.meta.dirname, 'lists', 'a.txt'), 'utf8'),
      files: readdirSync(new URL('./lists/', import.meta.url)),
      place: import.meta.url.split('/').slice(-3).join('/')
    })`,
  'src/mail/mail.txt': 'a mail',
  'src/mail/lists/a.txt': 'a list',
  'src/mail/lists/.env': 'SECRET=1',
  'src/api/sum/route.ts': `
    import { Worker } from 'node:worker_threads'
    import { once } from 'node:events'
    export const GET = async () => {
      const [sum] = await once(new Worker(new URL('../../jobs/sum.ts', import.meta.url)), 'message')
      return { sum }
    }`,
  'src/jobs/sum.ts': `
    import { parentPort } from 'node:worker_threads'
    import { add } from './add.js'
    parentPort?.postMessage(add(1, 2) satisfies number)`,
  'src/jobs/add.ts': 'export const add = (a: number, b: number): number => a + b',
  'src/api/optional/route.ts': `
    export const GET = async () => {
      try { return await import('../../drivers/other.js') } catch (error) { return { missing: (error as Error).message } }
    }`,
  'src/drivers/other.ts':
    "import driver, { type Options } from 'not-installed-driver'\nexport const other: Options = driver",
  'node_modules/not-installed-driver/package.json': '{"type":"module","exports":"./index.js"}',
  'node_modules/not-installed-driver/index.js': 'export default {}',
  'src/api/shared/route.ts': "import { price } from '@shop/prices'; export const GET = () => ({ price: price() })",
  'packages/prices/package.json': '{"name":"@shop/prices","type":"module","exports":"./src/index.ts"}',
  'packages/prices/src/index.ts': `
    import { readFileSync } from 'node:fs'
    enum Currency { Euro = 'EUR' }
    const amount = readFileSync(new URL('../amount.txt', import.meta.url), 'utf8')
    export const price = () => amount + Currency.Euro`,
  'packages/prices/amount.txt': '5 ',
  'node_modules/@shop/prices': { link: 'packages/prices' }
}

const ANSWERS: readonly (readonly [path: string, text: string | RegExp])[] = [
  ['/api/users/me', '{"me":true}'],
  ['/api/users/7', '{"id":"7"}'],
  ['/api/admin', '{"error":"NO_TOKEN"}'],
  ['/api/old', '{"old":true}'],
  ['/api/files/a/b', '{"rest":["a","b"]}'],
  ['/api/late', '{"read":"set by the program"}'],
  ['/api/named', '{"list":[1,2],"version":"2"}'],
  ['/api/mail', '{"text":"a mail","list":"a list","files":["a.txt"],"place":"dist/mail/mail.js"}'],
  ['/api/sum', '{"sum":3}'],
  ['/api/optional', /"missing":"Cannot find package 'not-installed-driver'/],
  ['/api/shared', '{"price":"5 EUR"}']
]

t.test('a built program answers as its sources do, without them, by start and by node', async (t) => {
  const top = writeTree(t, SHOP)
  const { code, stdout, stderr } = await runTwinroute(top, ['build', '--no-check'])
  t.strictSame([code, stderr], [0, ''])
  t.match(
    stdout,
    /^Writing dist\ndist is built in [\d.]+ s: server\.js \(\d+ kB\), 11 routes, 1 worker, copied: src\/mail\/mail\.txt, src\/mail\/lists, .*packages\/prices\/amount\.txt\nRun it: twinroute start, or node dist\/server\.js\n$/
  )
  for (const folder of ['src', 'packages']) rmSync(join(top, folder), { recursive: true })
  for (const name of ['@shop', 'not-installed-driver']) rmSync(join(top, 'node_modules', name), { recursive: true })
  t.strictSame(readdirSync(join(top, 'dist')).toSorted(), [
    '_packages',
    'jobs-sum.js',
    'jobs-sum.js.map',
    'mail',
    'package.json',
    'server.js',
    'server.js.map'
  ])
  t.notOk(existsSync(join(top, 'dist/mail/lists/.env')), 'hidden files are not copied')

  for (const [args, mode] of [
    [[TWINROUTE, 'start'], 'production'],
    [['dist/server.js'], ''],
    [['dist'], '']
  ] as const) {
    const { ask, child, rest } = await startProgram(t, top, args)
    t.strictSame(rest, [mode, '2'], 'mode and arguments')
    for (const [path, text] of ANSWERS) t.match(await ask(path), text, `${args.at(-1)} ${path}`)
    child.kill('SIGTERM')
    t.strictSame(await once(child, 'close'), [0, null], 'it ends as it does from its sources')
  }
})

t.test('from any folder: the entry as an argument, --out, and a program that only exports its app', async (t) => {
  const top = writeTree(t, {
    'apps/api/package.json': '{}',
    'apps/api/app.ts': `
      import { join } from 'node:path'
      import { createApp } from 'twinroute'
      export const other: number = 1
      const app = createApp({ apiDir: join(__dirname, 'routes'), fastifyOptions: { logger: false } })
      app.then((it) => it.addHook('onListen', async () => {
        console.log('address', 'http://localhost:' + it.addresses()[0]!.port)
      }))
      export default app`,
    'apps/api/routes/a/route.ts': 'export const GET = () => ({ a: 1 })'
  })
  const built = await runTwinroute(top, ['build', 'apps/api/app.ts', '--out', 'release/api'])
  t.match(built, {
    code: 0,
    stderr: '',
    stdout: /Run it: twinroute start release\/api, or node release\/api\/app\.js\n$/
  })
  const { ask } = await startProgram(t, top, [TWINROUTE, 'start', 'release/api'])
  t.equal(await ask('/api/a'), '{"a":1}')
})

for (const place of ['a (b) [c] {d} c#', "50%20 %zz what? it's é"]) {
  t.test(`build and start in a folder named ${place}, with a file in one of that name`, async (t) => {
    const way = JSON.stringify(`./${encodeURIComponent(place).replaceAll("'", '%27')}/text.txt`)
    const tree: Tree = {
      'package.json': '{"type":"module"}',
      'src/server.ts': SERVER,
      [`src/${place}/text.txt`]: 'a text',
      'src/text.ts': `
        import { readFileSync } from 'node:fs'
        export const text: string = readFileSync(new URL(${way}, import.meta.url), 'utf8')`,
      'src/api/a/route.ts': "import { text } from '../../text.js'\nexport const GET = () => ({ text })"
    }
    const top = writeTree(t, Object.fromEntries(Object.entries(tree).map(([path, text]) => [join(place, path), text])))
    const cwd = join(top, place)
    t.match(await runTwinroute(cwd, ['routes', '--unguarded']), { code: 0, stdout: /^GET {2}\/api\/a/ })
    t.match(await runTwinroute(cwd, ['build', '--no-check']), { code: 0, stderr: '' })
    rmSync(join(cwd, 'src'), { recursive: true })
    for (const args of [[TWINROUTE, 'start'], ['dist']]) {
      const { ask } = await startProgram(t, cwd, args)
      t.equal(await ask('/api/a'), '{"text":"a text"}')
    }
  })
}

t.test('a file is found by the path of its URL, and what follows the path stays: ?v=2, #top', async (t) => {
  const top = writeTree(t, {
    'package.json': '{"type":"module"}',
    'src/server.ts': SERVER,
    'src/mail/a#b.html': 'a mail',
    'src/mail/100%.html': 'not named',
    'src/worker.ts':
      "import { parentPort } from 'node:worker_threads'\nparentPort?.postMessage(import.meta.url satisfies string)",
    'src/api/a/route.ts': `
      import { existsSync, readFileSync } from 'node:fs'
      import { once } from 'node:events'
      import { fileURLToPath } from 'node:url'
      import { Worker } from 'node:worker_threads'
      const text = (url: string | URL): string => readFileSync(url, 'utf8')
      export const GET = async () => {
        const mail = new URL('../../mail/a%23b.html?v=2#top', import.meta.url)
        const folder = new URL('../../mail/?all', import.meta.url)
        const [name] = await once(new Worker(new URL('../../worker.ts?size=2', import.meta.url)), 'message')
        return {
          text: text(mail),
          way: mail.search + mail.hash,
          folder: folder.pathname.slice(-6) + folder.search + existsSync(folder),
          sum: text(fileURLToPath(import.meta.url + '/../../../mail/a%23b.html?v=2')),
          worker: name.slice(name.lastIndexOf('/')),
          own: new URL('?v=3', import.meta.url).search,
          wrong: new URL('../../mail/100%.html', import.meta.url).pathname.slice(-9)
        }
      }`
  })
  t.match(await runTwinroute(top, ['build', '--no-check']), { code: 0, stderr: '' })
  rmSync(join(top, 'src'), { recursive: true })
  const { ask } = await startProgram(t, top, ['dist'])
  t.strictSame(JSON.parse(await ask('/api/a')), {
    text: 'a mail',
    way: '?v=2#top',
    folder: '/mail/?alltrue',
    sum: 'a mail',
    worker: '/worker.js',
    own: '?v=3',
    wrong: '100%.html'
  })
})

t.test('--bundle: the packages are in the file, those with a native part are named and stay outside', async (t) => {
  const top = writeTree(t, {
    'src/server.ts': SERVER,
    'src/api/a/route.ts': `
      import { native } from 'native-package'
      import { createPasswordHasher } from 'twinroute/auth'
      export const GET = async () => {
        const passwords = createPasswordHasher()
        const matches = await passwords.verify('word', await passwords.hash('word'))
        await passwords.close()
        return { native, matches }
      }`,
    'node_modules/native-package/package.json':
      '{"name":"native-package","main":"index.js","dependencies":{"node-gyp-build":"4"}}',
    'node_modules/native-package/index.js': "exports.native = 'from its own file'"
  })
  const built = await runTwinroute(top, ['build', '--bundle'])
  t.match(built, { code: 0, stderr: /^Not in the file, for their native part: native-package\n/m })
  for (const name of ['twinroute', 'express']) rmSync(join(top, 'node_modules', name))
  const { ask } = await startProgram(t, top, ['dist/server.js'])
  t.equal(await ask('/api/a'), '{"native":"from its own file","matches":true}')
})

t.test('types are checked: errors as tsc prints them, exit code 1, and the older output stays', async (t) => {
  const top = writeTree(t, {
    'tsconfig.json':
      '{"compilerOptions":{"module":"nodenext","strict":true,"skipLibCheck":true,"types":[]},"include":["src"]}',
    'src/server.ts': "export const port: number = 'a text'\n",
    'dist/package.json': '{"description":"Written by twinroute build"}',
    'node_modules/typescript': { link: 'no-typescript' }
  })
  rmSync(join(top, 'node_modules/typescript'))
  symlinkSync(join(root, 'node_modules/typescript'), join(top, 'node_modules/typescript'))
  const failed = await runTwinroute(top, ['build'])
  t.equal(
    failed.stdout,
    "Checking the types\nsrc/server.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.\n" +
      'The types are wrong, and nothing was written\n'
  )
  t.strictSame([failed.code, failed.stderr], [1, ''])
  t.strictSame(readdirSync(join(top, 'dist')), ['package.json'])
  t.match(await runTwinroute(top, ['build', '--no-check']), { code: 0, stderr: /never calls start\(\) or listen\(\)/ })
  t.ok(existsSync(join(top, 'dist/server.js')))
})

const ROUTE: Tree = { 'src/server.ts': SERVER, 'src/api/a/route.ts': 'export const GET = () => 1' }

/** The application in a file of its own, without its route files. */
const APP_FILE: Tree = {
  'src/server.ts': "import { app } from './app.js'\nawait app.start()",
  'src/app.ts': `
    import { createApp } from 'twinroute'
    export const app = await createApp({ apiDir: new URL('./api', import.meta.url) })`
}

const REFUSALS: { args: string[]; tree?: Tree; code?: number; says: RegExp }[] = [
  {
    args: ['build', '--minfy'],
    says: /^twinroute build has no option --minfy; it has --out, --bundle, --no-check, --help\n$/
  },
  { args: ['build', '--nocheck'], says: /did you mean --no-check\?\n$/ },
  { args: ['build', '--out'], says: /^--out needs a value: --out FOLDER\n$/ },
  {
    args: ['build'],
    tree: { 'lib/x.ts': '' },
    says: /^There is no src\/server\.ts and no server\.ts and no src\/server\.js and no server\.js in \S+\n.*name the file that starts it: twinroute build src\/main\.ts\n$/
  },
  {
    args: ['build', 'main.ts'],
    says: /^main\.ts does not exist \(seen from .*\)\nName the file that starts the application\n$/
  },
  { args: ['build', 'src'], says: /^src is a directory/ },
  { args: ['build', '--out', '.'], says: /^--out \. holds the sources/ },
  { args: ['build', '--out', 'src'], says: /^--out src holds the sources/ },
  { args: ['build', '--out', 'src/server.ts'], says: /^--out src\/server\.ts (is a file|holds the sources)/ },
  {
    args: ['build', '--out', 'other'],
    tree: { ...ROUTE, 'other/package.json': '{"name":"other"}' },
    says: /^other holds files that no build has written, and a build replaces all of it\nRemove it if .*: --out FOLDER\n$/
  },
  { args: ['build', '--out', 'modules'], tree: { ...ROUTE, 'modules/zod/index.js': '' }, says: /^modules holds files/ },
  { args: ['build'], tree: { ...ROUTE, 'dist/precious.txt': 'not of a build' }, says: /^dist holds files/ },
  {
    args: ['build'],
    tree: { ...ROUTE, 'tsconfig.json': '{}' },
    says: /^TypeScript, which checks the types, is not installed\nInstall it: npm install --save-dev typescript, or build without the check: --no-check\n$/
  },
  {
    args: ['build', '--out', 'package.json/dist'],
    says: /^package\.json\/dist cannot be written, and is as it was: (ENOTDIR|EEXIST)/
  },
  {
    args: ['build'],
    tree: {
      ...ROUTE,
      'src/api/[id/route.ts': 'export const GET = () => 1',
      'src/api/b/route.js': '',
      'src/api/b/route.ts': ''
    },
    says: /^2 problems keep .*src\/api\/\[id.*One folder holds 2 route files/s
  },
  {
    args: ['build'],
    tree: {
      ...ROUTE,
      'dist/package.json': '{"description":"Written by twinroute build"}',
      'src/api/a/route.ts': 'export function get() {}',
      'src/api/b/route.ts': "export const GET = () => 1, config = { bodyLimit: 'much' }"
    },
    says: /^2 problems keep the application from starting\n\n1\. src\/api\/a\/route\.ts exports get, which is not a method \(ROUTE_EXPORT_UNKNOWN\)\n   Fix: Did you mean GET\?\n\n2\. src\/api\/b\/route\.ts has config\.bodyLimit "much" \(ROUTE_CONFIG_INVALID\)\n   Fix: Give /
  },
  {
    args: ['build'],
    tree: { ...ROUTE, 'src/middleware.ts': 'export {}', 'src/middleware.js': '' },
    says: /^1 problem keeps .*MIDDLEWARE_FILE_TWICE.*src\/middleware\.ts/s
  },
  {
    args: ['build'],
    tree: { ...ROUTE, 'src/middleware.ts': 'export const middleware = { admin: [] }' },
    says: /^1 problem keeps .*MIDDLEWARE_KEY_INVALID/s
  },
  {
    args: ['build'],
    tree: { ...ROUTE, 'src/server.ts': SERVER.replace("new URL('./api', import.meta.url)", "'src/api'") },
    says: /^src\/server\.ts gives an apiDir that cannot be found before the program runs\nWrite it .*new URL\('\.\/api', import\.meta\.url\)\n$/
  },
  {
    args: ['build'],
    tree: APP_FILE,
    says: /^1 problem keeps the application from starting\n\n1\. The directory that is apiDir in src\/app\.ts does not exist \(API_DIR_NOT_FOUND\)\n   src\/api\n   Fix: Create it, with a route file such as health\/route\.ts\n$/
  },
  {
    args: ['build'],
    tree: { ...APP_FILE, 'src/api/a/_note.ts': '' },
    says: /^1 problem keeps .*\n\n1\. No route file was found in the directory that is apiDir in src\/app\.ts, or any folder below it \(API_DIR_EMPTY\)\n   src\/api\n   Fix: Add one, such as health\/route\.ts\n$/
  },
  {
    args: ['build'],
    tree: {
      'src/server.ts': SERVER.replace("new URL('./api', import.meta.url)", "path.join(import.meta.dirname, 'api')")
    },
    says: /apiDir in src\/server\.ts does not exist/
  },
  {
    args: ['build'],
    tree: { ...APP_FILE, 'src/app.ts': (APP_FILE['src/app.ts'] as string).replace(/new URL.*url\)/, "'src/api'") },
    says: /^src\/app\.ts gives an apiDir that cannot be found before the program runs\n/
  },
  {
    args: ['build'],
    tree: { ...ROUTE, 'src/api/a/route.ts': 'export const GET = (' },
    code: 1,
    says: /ERROR.*Unexpected end of file.*src\/api\/a\/route\.ts:1:20/s
  },
  {
    args: ['build'],
    tree: { ...ROUTE, 'src/api/a/route.ts': "import 'left-out'; export const GET = 1" },
    code: 1,
    says: /Could not resolve "left-out"/
  },
  { args: ['start'], says: /^There is no dist \(seen from .*\)\nBuild it first: twinroute build\n$/ },
  {
    args: ['start', 'src'],
    tree: { 'src/other.js': '' },
    says: /^There is no src\/server\.js\nBuild it first: twinroute build, or name its folder\n$/
  },
  { args: ['start', '--port', '80'], says: /^twinroute start has no option --port; it has --help\n$/ },
  {
    args: ['start'],
    tree: { 'dist/server.js': 'globalThis.a = 1' },
    says: /^dist\/server\.js has ended without listening: it never calls start\(\) or listen\(\)\n$/
  },
  {
    args: ['start'],
    tree: { 'dist/server.js': 'await new Promise(() => {})' },
    says: /^dist\/server\.js has ended without listening/
  },
  {
    args: ['start'],
    tree: { 'dist/server.js': "throw new Error('no database')" },
    code: 1,
    says: /Error: no database\n +at .*dist\/server\.js:1/
  },
  {
    args: ['start'],
    tree: {
      'dist/api/a/route.js': 'export const GET = () => 1',
      'dist/server.js': `
        import { createServer } from 'node:net'
        const other = createServer().listen(0, '127.0.0.1')
        await new Promise((resolve) => other.once('listening', resolve))
        Object.assign(process.env, { HOST: '127.0.0.1', PORT: String(other.address().port) })
        ${SERVER}`
    },
    says: /^Port \d+ is in use \(127\.0\.0\.1\)\nEnd the process that listens there, or set another port: PORT=\d+\n$/
  },
  {
    args: ['start'],
    tree: { 'dist/api/a/route.js': 'export const get = () => 1', 'dist/server.js': SERVER },
    code: 1,
    says: /^BootError: 1 problem keeps [^]* Fix: Did you mean GET\?\n$/
  }
]

t.test('what cannot be built or started is refused with what to do, and nothing is left', async (t) => {
  for (const { args, tree = ROUTE, code = 2, says } of REFUSALS) {
    const top = writeTree(t, tree)
    const before = readdirSync(top)
    // A started program, and errors of the compiler, write to the streams of the process
    const isTold = args[0] === 'build' && code === 2
    const result = await (isTold ? askTwinroute : runTwinroute)(top, args)
    t.match(result.stderr, says, args.join(' '))
    t.equal(result.code, code, `${args.join(' ')}: exit code`)
    t.strictSame(readdirSync(top), before, `${args.join(' ')}: no output`)
  }
})

t.test('build goes by what route files export, not by what they need where the program runs', async (t) => {
  const top = writeTree(t, {
    ...ROUTE,
    'src/api/a/route.ts':
      "if (!process.env.NOT_SET_HERE) throw new Error('NOT_SET_HERE is missing')\nexport const GET = () => 1"
  })
  t.match(await runTwinroute(top, ['build']), {
    code: 0,
    stderr: 'Not checked, for it cannot be imported here: src/api/a/route.ts (Error: NOT_SET_HERE is missing)'
  })
  const ending = writeTree(t, { ...ROUTE, 'src/api/a/route.ts': 'process.exit(3)\nexport const GET = () => 1' })
  t.match(await runTwinroute(ending, ['build']), {
    code: 0,
    stderr: 'What the route files export is not checked: one of them ends the process when it is imported'
  })
  const waiting = writeTree(t, {
    ...ROUTE,
    'src/api/a/route.ts': 'await new Promise(() => {})\nexport const GET = () => 1'
  })
  // tap's own hooks in each process hide the exit code that says so
  t.match(await runTwinroute(waiting, ['build'], { NODE_OPTIONS: '' }), {
    code: 0,
    stderr: 'is not checked: one of them waits for something that never comes when it is imported'
  })
})

t.test(
  'what route files do when build imports them reaches neither its result nor its output, and ends with it',
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const isGone = new Promise((resolve) =>
      server.once('connection', (socket) => socket.resume().once('close', resolve))
    )
    const { port } = server.address() as AddressInfo
    const top = writeTree(t, {
      ...ROUTE,
      '.env': 'DB=postgres://app:S3CRET-word@db.example/x\n',
      'src/api/a/route.ts': `
      import { spawn } from 'node:child_process'
      import { once } from 'node:events'
      const own = "const socket = require('net').connect(${port}, '127.0.0.1', () => console.log('connected'))"
      const child = spawn(process.execPath, ['-e', own], { stdio: ['ignore', 'pipe', 'ignore'] })
      await once(child.stdout, 'data')
      process.send?.('ready')
      export const GTE = () => 1`,
      'src/api/b/route.ts': "throw new Error('cannot connect to ' + process.env.DB)\nexport const GET = () => 1"
    })
    const { code, stderr } = await runTwinroute(top, ['build'])
    t.equal(code, 2)
    t.match(stderr, 'GTE')
    t.notMatch(stderr, 'S3CRET')
    await isGone // the process that the route file has started is gone
  }
)

t.test('a built program that does not start names the sources, and each cause once', async (t) => {
  const importing = "import { tokens } from '#tokens'\n"
  const top = writeTree(t, {
    'package.json': '{"type":"module","imports":{"#tokens":"./src/tokens.ts"}}',
    'src/server.ts': SERVER,
    'src/tokens.ts': "import { createTokenService } from 'twinroute/auth'\nexport const tokens = createTokenService()",
    'src/middleware.ts': `${importing}export const middleware = { '/api/a': tokens ? [] : [] }`,
    'src/api/a/route.ts': `${importing}export const GET = () => (tokens ? 1 : 2)`
  })
  t.match(await runTwinroute(top, ['build']), { code: 0, stderr: '' })
  const { code, stderr } = await runTwinroute(top, ['start'], { JWT_SECRET: '', REFRESH_TOKEN_SECRET: '' })
  t.equal(code, 1)
  t.match(
    stderr,
    /^BootError: 1 problem keeps .*\n\n1\. src\/middleware\.ts and src\/api\/a\/route\.ts cannot be imported \(MIDDLEWARE_IMPORT_FAILED\)\n   Cause: Error: JWT_SECRET and REFRESH_TOKEN_SECRET not set: .*\n(?: +at .*\n)+   Fix: Set them to .*: openssl rand -base64 48\n$/
  )
})

t.test('build says when types are not checked for want of a tsconfig.json', async (t) => {
  const told = /^The types are not checked: there is no tsconfig\.json\n/
  const top = writeTree(t, { ...ROUTE, 'main.js': SERVER.replace('./api', './src/api') })
  t.match(await runTwinroute(top, ['build']), { code: 0, stdout: told })
  t.notMatch((await runTwinroute(top, ['build', '--no-check'])).stdout, told)
  t.notMatch((await runTwinroute(top, ['build', 'main.js'])).stdout, told)
})

t.test('build does not read a middleware file where the program gives the map itself', async (t) => {
  const top = writeTree(t, {
    ...ROUTE,
    'src/server.ts': SERVER.replace('apiDir:', 'middleware: {}, apiDir:'),
    'src/middleware.ts': 'export const other = 1'
  })
  t.match(await runTwinroute(top, ['build']), { code: 0 })
})

t.test('an output that is empty may be a link: the link stays, and the build is where it leads', async (t) => {
  const top = writeTree(t, { ...ROUTE, 'package.json': '{"type":"module"}' })
  mkdirSync(join(top, 'release'))
  symlinkSync('release', join(top, 'dist'))
  for (const attempt of ['first', 'second']) {
    t.match(await runTwinroute(top, ['build', '--no-check']), { code: 0, stderr: '' }, attempt)
    t.ok(lstatSync(join(top, 'dist')).isSymbolicLink())
    t.ok(existsSync(join(top, 'release/server.js')))
  }
  const { ask } = await startProgram(t, top, ['dist'])
  t.equal(await ask('/api/a'), '1')
})

const LINKED: { what: string; links: Record<string, string>; out: string; place: string }[] = [
  { what: 'a link to what is not there yet', links: { dist: 'release' }, out: 'dist', place: 'release' },
  { what: 'a link on the way', links: { link: 'deep/er' }, out: 'link/app', place: 'deep/er/app' },
  {
    what: 'links that follow each other',
    links: { dist: 'link/now', link: 'deep/er' },
    out: 'dist',
    place: 'deep/er/now'
  },
  {
    what: 'a link out of a linked folder',
    links: { link: 'deep/er', 'deep/er/dist': '../release' },
    out: 'link/dist',
    place: 'deep/release'
  }
]

t.test('an output that is not there yet may be behind links', async (t) => {
  for (const { what, links, out, place } of LINKED) {
    const top = writeTree(t, { ...ROUTE, 'package.json': '{"type":"module"}' })
    mkdirSync(join(top, 'deep/er'), { recursive: true })
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(top, path))
    for (const attempt of ['first', 'second']) {
      t.match(
        await runTwinroute(top, ['build', '--no-check', '--out', out]),
        { code: 0, stderr: '' },
        `${what}, ${attempt}`
      )
      t.ok(existsSync(join(top, place, 'server.js')), what)
    }
    for (const path of Object.keys(links)) t.ok(lstatSync(join(top, path)).isSymbolicLink(), what)
    const { ask } = await startProgram(t, top, [out])
    t.equal(await ask('/api/a'), '1', what)
  }
})

t.test('a link that leads round in a circle is no output', async (t) => {
  const top = writeTree(t, ROUTE)
  symlinkSync('other', join(top, 'dist'))
  symlinkSync('dist', join(top, 'other'))
  t.match(await runTwinroute(top, ['build', '--no-check']), {
    code: 2,
    stderr: /is a link that leads nowhere\nRemove it/
  })
})

t.test(
  'an output that cannot be read is refused',
  { skip: process.getuid?.() === 0 && 'root can read all' },
  async (t) => {
    const top = writeTree(t, ROUTE)
    mkdirSync(join(top, 'dist'), { mode: 0o300 })
    t.match(await runTwinroute(top, ['build', '--no-check']), { code: 2, stderr: /^dist cannot be read: EACCES/ })
  }
)

t.test('a link to the sources is no output', async (t) => {
  const top = writeTree(t, ROUTE)
  symlinkSync('src', join(top, 'dist'))
  t.match(await runTwinroute(top, ['build', '--no-check']), { code: 2, stderr: /^--out src holds the sources/ })
  t.ok(existsSync(join(top, 'src/server.ts')))
})

t.test('an output may be a mount point', { skip: cannotMount() ?? false }, async (t) => {
  const top = writeTree(t, ROUTE)
  mkdirSync(join(top, 'dist'))
  const before = readdirSync(top)
  const args = [process.execPath, TWINROUTE, 'build', '--no-check']
  const twice = '"$@" >&2 && echo old > dist/old.txt && "$@" >&2'
  const built = runMounting(`mount -t tmpfs tmpfs dist && ${twice} && ls -A dist`, { args, cwd: top })
  t.equal(built.status, 0, built.stderr)
  t.strictSame(built.stdout.trim().split('\n'), ['package.json', 'server.js', 'server.js.map'])
  const full = runMounting(`mount -t tmpfs -o size=8k tmpfs dist && "$@"; code=$?; ls -A dist; exit $code`, {
    args,
    cwd: top
  })
  t.match(full, { status: 2, stdout: /writing dist\n$/i, stderr: /dist cannot be written, and is as it was: ENOSPC/ })
  t.strictSame(readdirSync(top), before, 'nothing is left beside it')
})

t.test('build without a package.json in the folder or above is refused', async (t) => {
  const top = writeTree(t, ROUTE)
  rmSync(join(top, 'package.json'))
  const { code, stderr } = await runTwinroute(top, ['build'])
  t.match(stderr, /^There is no package\.json in \S+src or above\nMake one: npm init -y && npm pkg set type=module\n$/)
  t.equal(code, 2)
})

t.test('build without esbuild says what to install', async (t) => {
  const top = writeTree(t, ROUTE)
  const packages = join(top, 'node_modules')
  rmSync(join(packages, 'twinroute'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === 'esbuild' || existsSync(join(packages, name))) continue
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  mkdirSync(join(packages, 'twinroute'))
  cpSync(join(root, 'dist'), join(packages, 'twinroute/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(packages, 'twinroute/package.json'))
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(packages, 'twinroute/dist/command/twinroute.js'), 'build'],
    {
      cwd: top,
      encoding: 'utf8'
    }
  )
  t.equal(stderr, 'twinroute build needs esbuild, which is not installed\nInstall it: npm install --save-dev esbuild\n')
  t.equal(status, 2)
})

t.test(
  'on a full disk the build fails, and the older output stays whole',
  { skip: cannotMount() ?? false },
  async (t) => {
    const top = writeTree(t, { ...ROUTE, 'src/api/a/route.ts': `export const GET = () => '${'x'.repeat(200_000)}'` })
    const script = `mkdir small && mount -t tmpfs -o size=64k tmpfs small && mkdir small/dist && echo old > small/dist/server.js &&
    echo '{"description":"Written by twinroute build"}' > small/dist/package.json &&
    ${process.execPath} ${TWINROUTE} build --out small/dist; echo "code $?"; ls -A small small/dist`
    const { stdout, stderr } = runMounting(script, { cwd: top })
    t.match(stderr, /^small\/dist cannot be written, and is as it was: ENOSPC/)
    t.match(stdout, 'Writing small/dist\ncode 2\nsmall:\ndist\n\nsmall/dist:\npackage.json\nserver.js\n')
  }
)

/** A TypeScript that never ends, and says that it has begun. */
const ENDLESS: Tree = {
  ...ROUTE,
  'tsconfig.json': '{}',
  'dist/package.json': '{"description":"Written by twinroute build"}',
  'node_modules/typescript/package.json': '{"bin":{"tsc":"tsc.cjs"}}',
  'node_modules/typescript/tsc.cjs':
    "require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)"
}

async function untilWritten(file: string, child: ChildProcess): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (text !== '') return text
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('Ctrl-C ends the build and the compiler, and leaves the output as it was', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143]
  ] as const) {
    const top = writeTree(t, ENDLESS)
    const before = readdirSync(top)
    const child = spawn(process.execPath, [TWINROUTE, 'build'], { cwd: top, stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
    const pid = Number(await untilWritten(join(top, 'pid'), child))
    child.kill(signal)
    t.strictSame(await once(child, 'close'), [code, null], signal)
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(readdirSync(top).toSorted(), [...before, 'pid'].toSorted(), 'nothing is left')
    t.strictSame(readdirSync(join(top, 'dist')), ['package.json'])
  }
})

t.test('Ctrl-C ends a started program as it ends it by node', async (t) => {
  const top = writeTree(t, ROUTE)
  await runTwinroute(top, ['build'])
  const { child } = await startProgram(t, top, [TWINROUTE, 'start'])
  child.kill('SIGINT')
  t.strictSame(await once(child, 'close'), [0, null])
})
