// ci: once (prints what the library answers, which has tests of its own). Most rows ask the command in this process; those
// that are about the process itself (exit code, both outputs, what keeps it) start it as a shell does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { askTwinroute, runTwinroute } from './support/command.js'
import { writeTree, type Tree } from './support/route-tree.js'
import { root } from './support/source-tree.js'

/** A project in TypeScript, with its map beside the routes. */
const SHOP: Tree = {
  'src/middleware.ts': `
    import { createMiddleware, type Middleware } from 'twinroute'
    const authenticate: Middleware = (_request, _response, next) => next()
    export const middleware = createMiddleware({ '/api/users': [authenticate], '/api/users/open': [] })`,
  'src/api/health/route.ts': 'export const GET = (): object => ({ status: "healthy" })',
  'src/api/users/me/route.ts': 'export const GET = (): object => ({})',
  'src/api/users/open/route.ts': 'export const GET = (): object => ({})',
  'src/api/users/[id]/route.ts': `
    import type { Middleware } from 'twinroute'
    const owner: Middleware = (_request, _response, next) => next()
    export const middleware = { DELETE: [owner] }
    export const GET = (): object => ({}), DELETE = GET`
}

t.test('routes: a table of routes, their middleware, what is public, and the file of the map', async (t) => {
  const { code, stdout, stderr } = await runTwinroute(writeTree(t, SHOP), ['routes'])
  t.equal(
    stdout,
    [
      'methods          path             middleware                               file',
      'GET HEAD         /api/health      public                                   src/api/health/route.ts',
      'GET HEAD         /api/users/me    /api/users: authenticate                 src/api/users/me/route.ts',
      'GET HEAD         /api/users/open  public by /api/users/open                src/api/users/open/route.ts',
      'GET HEAD DELETE  /api/users/[id]  /api/users: authenticate; DELETE: owner  src/api/users/[id]/route.ts',
      '',
      'public inside a guarded prefix',
      '  /api/users/open (inside /api/users)',
      '',
      'without any middleware',
      '  /api/health',
      '',
      'Middleware map: src/middleware.ts',
      ''
    ].join('\n')
  )
  t.strictSame([code, stderr], [0, ''])
})

t.test('routes looks into src/api, then api, and takes the directory as its argument', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js': 'export const GET = () => ({})',
    'elsewhere/routes/b/route.js': 'export const GET = () => ({})'
  })
  const found = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await askTwinroute(top, ['routes', ...args, '--json'])
    return JSON.parse(stdout).routes.map(({ pattern }: { pattern: string }) => pattern)
  }
  t.strictSame(await found(), ['/api/a'])
  t.strictSame(await found('elsewhere/routes'), ['/api/b'])
  t.strictSame(await found('elsewhere/routes', '--base-route', '/v1'), ['/v1/b'])
})

t.test('routes says where a map is read from when there is none', async (t) => {
  const top = writeTree(t, { 'api/a/route.js': 'export const GET = () => ({})' })
  t.match((await askTwinroute(top, ['routes'])).stdout, /No middleware map .* middleware\.ts .* option is not seen/s)
})

t.test('routes --json: the report as data, with files as seen from the working directory', async (t) => {
  const { code, stdout } = await askTwinroute(writeTree(t, SHOP), ['routes', '--json'])
  const { routes, holes, warnings } = JSON.parse(stdout)
  t.strictSame(routes[3], {
    methods: ['GET', 'HEAD', 'DELETE'],
    pattern: '/api/users/[id]',
    file: 'src/api/users/[id]/route.ts',
    middleware: [{ prefix: '/api/users', names: ['authenticate'], file: 'src/middleware.ts', conditional: false }],
    own: { DELETE: ['owner'] },
    public: false,
    publicMethods: []
  })
  t.strictSame(holes, [
    { path: '/api/users/open', kind: 'prefix', inside: ['/api/users'] },
    { path: '/api/health', kind: 'route', inside: [], file: 'src/api/health/route.ts' }
  ])
  t.strictSame([code, warnings], [0, []])
})

const MATCHES: { ask: string; lines: string[] }[] = [
  {
    ask: 'DELETE /api/users/me',
    lines: [
      'DELETE /api/users/me gets 405 with Allow: GET, HEAD, OPTIONS: the best path is /api/users/me (src/api/users/me/route.ts), which has no DELETE',
      '',
      'before it',
      '  /api/users: authenticate  src/middleware.ts',
      '',
      'other candidates',
      '  /api/users/[id] (src/api/users/[id]/route.ts)',
      '    me (text) comes before [id] (parameter); it has DELETE, but the path decides before the method'
    ]
  },
  {
    ask: 'delete /users/7?really=yes',
    lines: [
      'DELETE /api/users/7?really=yes is answered by /api/users/[id] (src/api/users/[id]/route.ts)',
      '',
      'before it',
      '  /api/users: authenticate  src/middleware.ts',
      '  own: owner                src/api/users/[id]/route.ts'
    ]
  },
  {
    ask: '/api/users/open',
    lines: [
      'GET /api/users/open is answered by /api/users/open (src/api/users/open/route.ts)',
      '',
      'before it',
      '  no middleware: public by /api/users/open',
      '',
      'other candidates',
      '  /api/users/[id] (src/api/users/[id]/route.ts)',
      '    open (text) comes before [id] (parameter)'
    ]
  },
  {
    ask: 'OPTIONS /api/health',
    lines: [
      'OPTIONS /api/health gets 204 with Allow: GET, HEAD, OPTIONS, from /api/health (src/api/health/route.ts)',
      '',
      'before it',
      '  no middleware'
    ]
  },
  {
    ask: 'GET /nowhere',
    lines: ['GET /nowhere gets 404: no route has this path', '', 'before it', '  no middleware']
  }
]

t.test('routes --match: who answers, what runs before, why each other candidate loses', async (t) => {
  const top = writeTree(t, SHOP)
  for (const { ask, lines } of MATCHES) {
    const { code, stdout } = await askTwinroute(top, ['routes', '--match', ask])
    t.equal(stdout, `${lines.join('\n')}\n`, ask)
    t.equal(code, 0)
  }
  const { stdout } = await askTwinroute(top, ['routes', '--match', 'DELETE /users/me', '--json'])
  t.match(JSON.parse(stdout), {
    method: 'DELETE',
    url: '/api/users/me',
    answer: 'method-not-allowed',
    route: { pattern: '/api/users/me', file: 'src/api/users/me/route.ts' },
    allow: ['GET', 'HEAD', 'OPTIONS'],
    middleware: [{ prefix: '/api/users', names: ['authenticate'], file: 'src/middleware.ts' }],
    own: [],
    lost: [
      { route: { pattern: '/api/users/[id]' }, hasMethod: true, reason: 'me (text) comes before [id] (parameter)' }
    ]
  })
})

const OPEN = [
  'GET  /api/health      src/api/health/route.ts      no middleware',
  'GET  /api/users/open  src/api/users/open/route.ts  public by /api/users/open'
]

t.test('routes --unguarded lists the methods that pass no middleware', async (t) => {
  const top = writeTree(t, SHOP)
  const { code, stdout } = await askTwinroute(top, ['routes', '--unguarded'])
  t.strictSame([code, stdout], [0, `${OPEN.join('\n')}\n`])
  const json = await askTwinroute(top, ['routes', '--unguarded', '--json'])
  t.strictSame(JSON.parse(json.stdout), {
    public: [
      { method: 'GET', pattern: '/api/health', file: 'src/api/health/route.ts' },
      { method: 'GET', pattern: '/api/users/open', file: 'src/api/users/open/route.ts', publicBy: '/api/users/open' }
    ]
  })
})

t.test(
  'routes --unguarded --baseline: its own output allows what is public, exit code 1 for anything new',
  async (t) => {
    const check = (top: string, ...more: string[]) =>
      askTwinroute(top, ['routes', '--unguarded', '--baseline', 'public.txt', ...more])
    const same = writeTree(t, SHOP)
    const allowed = (await askTwinroute(same, ['routes', '--unguarded'])).stdout
    writeFileSync(join(same, 'public.txt'), allowed)
    t.match(await check(same), { code: 0, stdout: 'Nothing is public that public.txt does not allow (2 public)\n' })

    const top = writeTree(t, {
      ...SHOP,
      'public.txt': allowed,
      'src/api/health/route.ts': 'export const GET = (): object => ({}), POST = GET'
    })
    const added = await check(top)
    t.equal(added.code, 1, 'a new method of a route that is public already')
    t.equal(
      added.stdout,
      [
        'Public, and not in public.txt',
        '  POST  /api/health  src/api/health/route.ts  no middleware',
        'Guard it with the middleware map or the route file, or add the line to public.txt',
        ''
      ].join('\n')
    )
    const json = await check(top, '--json')
    t.equal(json.code, 1)
    t.match(JSON.parse(json.stdout), { added: [{ method: 'POST', pattern: '/api/health' }], removed: [] })

    const lines = [
      '# reviewed by the team',
      '',
      'GET /api/health',
      'POST /api/health',
      'GET /api/users/open',
      'GET /api/gone'
    ]
    writeFileSync(join(top, 'public.txt'), lines.join('\r\n'))
    t.match(await check(top), { code: 0, stdout: /no longer public: remove the line\n {2}GET \/api\/gone\n$/ })
  }
)

const TYPES = `// Written by \`twinroute types\`. Run it again when a route file is added, moved or removed.
export interface Routes {
  '/api/health': typeof import('../src/api/health/route.js')
  '/api/users/me': typeof import('../src/api/users/me/route.js')
  '/api/users/open': typeof import('../src/api/users/open/route.js')
  '/api/users/[id]': typeof import('../src/api/users/[id]/route.js')
}
`

t.test('types writes an interface of paths and route files, and leaves it alone while nothing changes', async (t) => {
  const top = writeTree(t, SHOP)
  const file = join(top, '.twinroute/routes.d.ts')
  const written = await askTwinroute(top, ['types'])
  t.match(written, { code: 0, stdout: '.twinroute/routes.d.ts written: 4 routes\n', stderr: '' })
  t.equal(readFileSync(file, 'utf8'), TYPES)
  const before = statSync(file).mtimeMs
  t.match(await askTwinroute(top, ['types']), { code: 0, stdout: '.twinroute/routes.d.ts is up to date: 4 routes\n' })
  t.equal(statSync(file).mtimeMs, before)
})

t.test('types --check writes nothing, and has exit code 1 when the file is not what it would write', async (t) => {
  const top = writeTree(t, SHOP)
  const file = join(top, '.twinroute/routes.d.ts')
  const check = () => askTwinroute(top, ['types', '--check'])
  const missing = await runTwinroute(top, ['types', '--check'])
  t.equal(missing.code, 1)
  t.match(missing.stdout, /^\.twinroute\/routes\.d\.ts does not exist\n\+ '\/api\/health': typeof import/)
  t.notOk(existsSync(file))

  await askTwinroute(top, ['types'])
  writeFileSync(file, TYPES.replaceAll('\n', '\r\n'))
  t.match(
    await check(),
    { code: 0, stdout: '.twinroute/routes.d.ts is up to date: 4 routes\n' },
    'line ends of Windows'
  )

  renameSync(join(top, 'src/api/users/me'), join(top, 'src/api/users/self'))
  const stale = await check()
  t.equal(
    stale.stdout,
    [
      '.twinroute/routes.d.ts is out of date',
      "+ '/api/users/self': typeof import('../src/api/users/self/route.js')",
      "- '/api/users/me': typeof import('../src/api/users/me/route.js')",
      'Run twinroute types, and commit the file',
      ''
    ].join('\n')
  )
  t.strictSame([stale.code, stale.stderr], [1, ''])
  writeFileSync(file, `${TYPES.replaceAll('/users/me', '/users/self')}// by hand\n`)
  t.match(await check(), { code: 1, stdout: /is out of date\nRun twinroute types/ }, 'any other difference')
})

t.test('types takes a directory, a file and a base route; names of folders may be unusual', async (t) => {
  const top = writeTree(t, {
    "out/it's/[...rest]/route.mjs": 'export const GET = () => ({})',
    'out/b/route.mts': 'export const GET = (): object => ({})',
    'out/(group)/c/route.cjs': 'exports.GET = () => ({})'
  })
  const args = ['types', 'out', '--output', 'web/src/routes.d.ts', '--base-route', '/']
  t.match(await askTwinroute(top, args), { code: 0, stdout: 'web/src/routes.d.ts written: 3 routes\n' })
  t.strictSame(readFileSync(join(top, 'web/src/routes.d.ts'), 'utf8').split('\n').slice(2, -2), [
    "  '/b': typeof import('../../out/b/route.mjs')",
    "  '/c': typeof import('../../out/(group)/c/route.cjs')",
    "  '/it\\'s/[...rest]': typeof import('../../out/it\\'s/[...rest]/route.mjs')"
  ])
  await askTwinroute(top, ['types', 'out', '--output', 'routes.ts'])
  t.match(readFileSync(join(top, 'routes.ts'), 'utf8'), "typeof import('./out/b/route.mjs')")
})

/** A program of a page beside the routes. */
const PAGE = `import { createClient } from 'twinroute/client'
import type { Routes } from '../.twinroute/routes.js'
const client = createClient<Routes>()
const { ok, body } = await client.GET('/api/users/[id]', { params: { id: 7 } })
export const name: string = ok ? body.name : ''
export const wrong = [
  await client.GET('/api/users/[name]', { params: { name: 'Ann' } }),
  await client.GET('/api/users/[id]'),
  await client.DELETE('/api/health')
]
`

const SETTINGS: Record<string, ts.CompilerOptions> = {
  'in Node': { module: ts.ModuleKind.NodeNext, lib: ['lib.es2022.d.ts'], types: ['node'] },
  'in a browser, by a bundler': {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: []
  }
}

t.test('a program with what types has written compiles, and is told what is wrong', async (t) => {
  const top = writeTree(t, {
    'src/api/health/route.ts': 'export const GET = () => ({ status: "healthy" })',
    'src/api/users/[id]/route.ts': 'export const GET = async () => ({ name: "Ann", born: new Date() })',
    'web/page.ts': PAGE
  })
  await askTwinroute(top, ['types'])
  symlinkSync(join(root, 'node_modules/@types'), join(top, 'node_modules/@types'))
  for (const [where, settings] of Object.entries(SETTINGS)) {
    const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, strict: true, noEmit: true, ...settings }
    const program = ts.createProgram([join(top, 'web/page.ts')], { ...options, skipLibCheck: true })
    const found = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = file?.getLineAndCharacterOfPosition(start).line ?? 0
      return `${file?.fileName.slice(top.length + 1)}:${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
    t.match(
      found,
      [
        /^web\/page\.ts:7: Argument of type '"\/api\/users\/\[name\]"' is not assignable to .*"\/api\/users\/\[id\]"/,
        'web/page.ts:8: Expected 2 arguments, but got 1.',
        /^web\/page\.ts:9: Argument of type '"\/api\/health"' is not assignable to parameter of type 'never'/
      ],
      where
    )
    t.equal(found.length, 3)
  }
})

t.test('what route files write while they are imported stays out of the answer', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js': 'console.log("connected"); setInterval(() => {}, 1000); export const GET = () => ({})'
  })
  const { code, stdout, stderr } = await runTwinroute(top, ['routes', '--json'])
  t.equal(JSON.parse(stdout).routes.length, 1)
  t.strictSame([code, stderr], [0, 'connected\n'], 'and what they have opened does not hold the process')
})

const PROJECT: Tree = { 'api/a/route.js': 'export const GET = () => ({})', 'notes.txt': 'no route\n' }

/** An application that listens where the environment says. */
const STARTED: Tree = {
  ...PROJECT,
  'server.js': `
    import { createApp } from 'twinroute'
    await (await createApp({ apiDir: new URL('./api', import.meta.url) })).start()`
}

interface Refusal {
  args: string[]
  says: RegExp
  tree?: Tree
  /** Default: in this process. */
  run?: typeof runTwinroute
  env?: NodeJS.ProcessEnv
}

/** Node reads TypeScript itself, and has messages of its own. */
const nativeTypes = 'typescript' in process.features && Boolean(process.features.typescript)

const SYNTAX_ERROR =
  /^1 problem keeps the application from starting\n\n1\. api\/a\/route\.ts cannot be imported \(ROUTE_IMPORT_FAILED\)\n   Cause: api\/a\/route\.ts:2:10\n   SyntaxError: Unexpected token\n     1 \| export const a = 1\n   > 2 \| const x: = 2\n       \| {10}\^\n/

const REFUSALS: Refusal[] = [
  { args: [], says: /^Which command\?\n\nUsage: twinroute/ },
  { args: ['rotues'], says: /^twinroute has no command rotues; did you mean routes\?\n$/, run: runTwinroute },
  { args: ['deploy'], says: /^twinroute has no command deploy; it has .*routes, .*help\n$/ },
  { args: ['routes', '--jsn'], says: /^twinroute routes has no option --jsn; did you mean --json\?\n$/ },
  { args: ['routes', '--base'], says: /has no option --base; did you mean --base/ },
  {
    args: ['routes', '-j'],
    says: /has no option -j; it has --match, --unguarded, --baseline, --json, --base-route, --help\n$/
  },
  { args: ['routes', '--json=yes'], says: /^--json takes no value\n$/ },
  { args: ['routes', '--match'], says: /^--match needs a value: --match "DELETE \/users\/me"\n$/ },
  { args: ['routes', '--match', '--json'], says: /^--match needs a value/ },
  { args: ['routes', '--match', 'users/me'], says: /^--match takes a method and a path, .* not "users\/me"\n$/ },
  { args: ['routes', '--match', 'FETCH /users'], says: /does not accept FETCH; it accepts DELETE, GET, HEAD/ },
  { args: ['routes', '--match', 'GET /a', '--unguarded'], says: /^Give --match or --unguarded, not both\n$/ },
  { args: ['routes', '--baseline', 'x'], says: /^--baseline is for --unguarded: add it\n$/ },
  { args: ['routes', 'api', 'more'], says: /takes one apiDir, not "more" too/ },
  {
    args: ['types', '--output', 'routes.json'],
    says: /^--output takes a file that ends in \.d\.ts or \.ts, not routes\.json\n$/
  },
  {
    args: ['types', '--output', 'notes.txt/routes.ts'],
    says: /^notes\.txt\/routes\.ts cannot be (read|written): ENOTDIR/
  },
  {
    args: ['types', '--output', '/proc/none/routes.ts'], // the system says of the new folder what it says of a missing parent
    run: runTwinroute,
    says: /^\/proc\/none\/routes\.ts cannot be written: E(NOENT|ROFS|ACCES)/
  },
  { args: ['help', 'rotues'], says: /^twinroute has no command rotues; did you mean routes\?\n$/ },
  {
    args: ['dev'],
    says: /^There is no src\/server\.ts and no server\.ts and .*\n.*name the file that starts it: twinroute dev src\/main\.ts\n$/
  },
  {
    args: ['dev', 'src/main.ts'],
    says: /^src\/main\.ts does not exist \(seen from .*\)\nName the file that starts the application\n$/
  },
  { args: ['dev', 'api'], says: /^api is a directory \(seen from/ },
  ...['abc', '80', '70000', 'localhost', 'localhost:', '9230x', '-1', '::1'].map((address) => ({
    args: ['dev', 'notes.txt', `--inspect-port=${address}`],
    says: new RegExp(
      `^--inspect-port takes a port from 1024 to 65535, or 0 .*, not "${address}"\\nWrite it so: --inspect-port 9230`
    )
  })),
  ...['abc', '65536', '80.5', '-1'].map((port) => ({
    args: ['dev'],
    tree: STARTED,
    env: { PORT: port },
    run: runTwinroute,
    says: new RegExp(
      `^The environment variable PORT must be an integer from 0 to 65535; it is "${port}"\\nWrite it so: PORT=3000 twinroute dev\\n$`
    )
  })),
  {
    args: ['dev'],
    tree: STARTED,
    env: { PORT: '0', HOST: '192.0.2.1' },
    run: runTwinroute,
    says: /^The environment variable HOST is no address of this machine: "192\.0\.2\.1" \(EADDRNOTAVAIL\)\nWrite it so: HOST=localhost twinroute dev; HOST=0\.0\.0\.0 is every address\n$/
  },
  { args: ['dev', '--inspct'], says: /^twinroute dev has no option --inspct; did you mean --inspect\?\n$/ },
  { args: ['types', '--chek'], says: /^twinroute types has no option --chek; did you mean --check\?\n$/ },
  {
    args: ['types'],
    tree: { 'api/a/route.js': 'export const get = () => ({})' },
    says: /api\/a\/route\.js exports get.*Fix: Did you mean GET\?/s
  },
  {
    args: ['routes', 'nowhere'],
    says: /^nowhere does not exist \(seen from .*\)\nName the directory of the route files\n$/
  },
  { args: ['routes', 'notes.txt'], says: /^notes\.txt is no directory/ },
  { args: ['routes', '--base-route', 'v1'], says: /baseRoute "v1" does not begin with a slash/ },
  {
    args: ['routes', '--unguarded', '--baseline', 'nowhere.txt'],
    says: /^The baseline cannot be read: ENOENT.*\nWrite it once: twinroute routes --unguarded > nowhere\.txt\n$/
  },
  {
    args: ['routes', '--unguarded', '--baseline', 'notes.txt'],
    says: /^notes\.txt:1 is not a method and a path such as GET \/api\/health: no route\n$/
  },
  { args: ['routes'], tree: { 'lib/x.js': '' }, says: /^There is no src\/api and no api in \S+\n.*name the directory/ },
  {
    args: ['routes'],
    tree: { 'api/a/route.js': 'export const get = () => ({})', 'api/b/route.ts': 'export const GET = (' },
    run: runTwinroute,
    says: /^2 problems keep .*api\/a\/route\.js exports get.*Fix: Did you mean GET\?.*api\/b\/route\.ts cannot be imported.*Cause: .*Fix: /s
  },
  ...['routes', 'types'].map((name) => ({
    args: [name],
    tree: { 'api/a/route.ts': 'export const a = 1\nconst x: = 2\nexport const GET = () => 1' },
    run: runTwinroute,
    says: nativeTypes ? /SyntaxError|api\/a\/route\.ts/ : SYNTAX_ERROR
  })),
  {
    args: ['routes'],
    tree: { 'api/a/route.ts': "import { name } from './nowhere.js'\nexport const GET = () => name" },
    run: runTwinroute,
    says: nativeTypes
      ? /nowhere/
      : /Cause: api\/a\/route\.ts:1:22\n   Error: Cannot find module '\.\/nowhere\.js'\n   > 1 \| .*\n {7}\| {22}\^\n/
  },
  {
    args: ['routes'],
    tree: { 'api/a/route.js': 'await new Promise(() => {}); export const GET = () => ({})' },
    run: runTwinroute,
    says: /^A route file .* waits for something at its top level \(await\) that never comes/
  }
]

t.test('what cannot be answered is refused with what is wrong and what to do, and exit code 2', async (t) => {
  for (const { args, says, tree = PROJECT, run = askTwinroute, env } of REFUSALS) {
    const { code, stdout, stderr } = await run(writeTree(t, tree), args, env)
    t.match(stderr, says, args.join(' '))
    t.notMatch(stderr, /\n {4}at .*dist/, 'without our own stack')
    t.strictSame([code, stdout], [2, ''], `${args.join(' ')}: exit code, nothing on the standard output`)
  }
})

t.test('help and version', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.match(await runTwinroute(root, ['--version']), { code: 0, stdout: `${version}\n` })
  for (const args of [['--help'], ['-h'], ['help']])
    t.match(await askTwinroute(root, args), { code: 0, stdout: /^Usage: twinroute <command>.*\n {2}routes +Shows/s })
  for (const args of [
    ['routes', '--help'],
    ['routes', '-h'],
    ['help', 'routes']
  ]) {
    const { code, stdout } = await askTwinroute(root, args)
    t.equal(code, 0)
    for (const option of ['--match', '--unguarded', '--baseline FILE', '--json', '--base-route'])
      t.ok(stdout.includes(`  ${option}`), `${args.join(' ')}: ${option}`)
  }
})

t.test('a reader that closes the pipe ends the command without an error', async (t) => {
  const routes = Array.from({ length: 300 }, (_, n) => [
    `api/${'long'.repeat(40)}${n}/route.js`,
    'export const GET = () => 1'
  ])
  const cwd = writeTree(t, Object.fromEntries(routes))
  const child = spawn(process.execPath, [join(root, 'dist/command/twinroute.js'), 'routes', '--json'], { cwd })
  let errors = ''
  child.stderr.on('data', (text) => (errors += String(text)))
  child.stdout.destroy()
  await once(child, 'close')
  t.equal(errors, '')
})

const NOTE = `
  import { defineHandler } from 'twinroute'
  export const GET = defineHandler({ summary: 'Read a note' }, () => ({}))`

const DOCUMENTED: Tree = {
  'package.json': '{"type":"module","name":"notes","version":"2.0.0"}',
  'api/notes/[id]/route.js': NOTE
}

t.test('openapi: the document on the standard output, as the package is called', async (t) => {
  const noisy = { ...DOCUMENTED, 'api/notes/[id]/route.js': `${NOTE}\nconsole.log('noise')` }
  const { code, stdout } = await runTwinroute(writeTree(t, noisy), ['openapi'])
  t.equal(code, 0)
  t.strictSame(JSON.parse(stdout), {
    openapi: '3.1.0',
    info: { title: 'notes', version: '2.0.0' },
    components: { schemas: {} },
    paths: {
      '/api/notes/{id}': {
        get: {
          operationId: 'getApiNotesById',
          summary: 'Read a note',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { default: { description: 'An answer without a schema' } }
        }
      }
    }
  })
})

t.test(
  'openapi --output writes the file and its folder; --check: 1 and what differs when the file is not the document',
  async (t) => {
    const top = writeTree(t, DOCUMENTED)
    const written = await askTwinroute(top, ['openapi', '--output', 'docs/openapi.json'])
    t.match(written, { code: 0, stdout: 'docs/openapi.json describes 1 operation\n' })
    const check = ['openapi', '--output', 'docs/openapi.json', '--check']
    const same = await askTwinroute(top, check)
    t.match(same, { code: 0, stdout: 'docs/openapi.json describes the routes as they are (1 operation)\n' })
    const file = join(top, 'docs/openapi.json')
    const document = JSON.parse(readFileSync(file, 'utf8'))
    const { get } = document.paths['/api/notes/{id}']
    const paths = { '/api/notes/{id}': { get: { ...get, summary: 'Reads' }, put: get } }
    writeFileSync(file, JSON.stringify({ ...document, paths, info: { version: '1.0.0', title: 'notes' } }))
    t.match(await askTwinroute(top, check), {
      code: 1,
      stdout: [
        'docs/openapi.json is not the document of these routes',
        '  changed: GET /api/notes/{id}',
        '  removed: PUT /api/notes/{id}',
        '  changed: info',
        'Write it again: twinroute openapi --output docs/openapi.json',
        ''
      ].join('\n')
    })
    t.match(readFileSync(file, 'utf8'), '"summary":"Reads"', 'it stays as it was')
  }
)

t.test('openapi says what to do when it cannot answer', async (t) => {
  const undescribed = `
    import { defineHandler } from 'twinroute'
    const body = { '~standard': { version: 1, vendor: 'own', validate: (value) => ({ value }) } }
    export const POST = defineHandler({ body }, () => ({}))`
  const rows: { tree: Tree; args: string[]; message: RegExp }[] = [
    { tree: DOCUMENTED, args: ['--check'], message: /^--check compares with a file: add --output openapi\.json$/m },
    {
      tree: DOCUMENTED,
      args: ['--output', 'none.json', '--check'],
      message: /Write it once: twinroute openapi --output none/
    },
    {
      tree: DOCUMENTED,
      args: ['--output', 'package.json/openapi.json'],
      message: /^package\.json\/openapi\.json cannot be written: (EEXIST|ENOTDIR)/m
    },
    { tree: { 'api/a/route.js': undescribed }, args: [], message: /OPENAPI_SCHEMA_UNDESCRIBED/ }
  ]
  for (const { tree, args, message } of rows) {
    const { code, stdout, stderr } = await askTwinroute(writeTree(t, tree), ['openapi', ...args])
    t.strictSame([code, stdout], [2, ''], message.source)
    t.match(stderr, message)
  }
})
