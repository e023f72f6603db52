import { chmodSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import t from 'tap'
import { BootError, createApp, createMiddleware, fileRoutes, type AppOptions } from 'twinroute'
import { BOOT_PROBLEMS, BOOT_WARNINGS } from '../dist/errors/boot-error.js'
import { root } from './support/source-tree.js'
import { echo, writeTree, type Tree } from './support/route-tree.js'

const GET = 'export const GET = () => ({})\n'
const ok: Tree = { 'api/ok/route.js': GET }

/** What boot says: code, files from the top of the tree, and a text that its message, fix or cause must hold. */
type Told = readonly [code: string, files: readonly string[], text: RegExp]
type Row = readonly [rule: string, tree: Tree, told: readonly Told[], options?: Partial<AppOptions>]

async function bootError(top: string, options: Partial<AppOptions> = {}): Promise<BootError> {
  try {
    const app = await createApp({ mode: 'test', ...options, apiDir: join(top, options.apiDir?.toString() ?? 'api') })
    await app.close()
  } catch (error) {
    if (error instanceof BootError) return error
    throw error
  }
  throw new Error('the application started')
}

const MODULES: Row[] = [
  [
    'a lower-case method is answered with the method that was meant',
    { 'api/a/route.js': 'export const get = () => ({})' },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /exports get.*Did you mean GET\?/s]]
  ],
  [
    'a method in mixed case is one too',
    { 'api/a/route.js': `${GET}export const Delete = () => ({})` },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /Did you mean DELETE\?/]]
  ],
  [
    'a shortened method is recognised',
    { 'api/a/route.js': 'export const del = () => ({})' },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /Did you mean DELETE\?/]]
  ],
  [
    'a plural of middleware or config is recognised',
    { 'api/a/route.js': `${GET}export const middlewares = [], Config = {}` },
    [
      ['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /exports Config.*Did you mean config\?/s],
      ['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /exports middlewares.*Did you mean middleware\?/s]
    ]
  ],
  [
    'an unknown export is told what a route file exports',
    { 'api/a/route.js': `${GET}export const title = 'A'` },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /exports title.*GET, HEAD, POST.*begin with _/s]]
  ],
  [
    'a method no route file can serve is unknown',
    { 'api/a/route.js': 'export const TRACE = () => ({})' },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.js'], /exports TRACE/]]
  ],
  [
    'a default export is refused',
    { 'api/a/route.js': 'export default () => ({})' },
    [['ROUTE_EXPORT_DEFAULT', ['api/a/route.js'], /one function per method/]]
  ],
  [
    'a method that is no function is refused with what it is',
    { 'api/a/route.js': 'export const GET = { a: 1 }, POST = null, PUT = "x"' },
    [
      ['ROUTE_EXPORT_NOT_FUNCTION', ['api/a/route.js'], /GET as an object/],
      ['ROUTE_EXPORT_NOT_FUNCTION', ['api/a/route.js'], /POST as null/],
      ['ROUTE_EXPORT_NOT_FUNCTION', ['api/a/route.js'], /PUT as a string/]
    ]
  ],
  [
    "a folder named in Express's way of writing parameters is refused",
    { 'api/:id/posts/route.js': GET },
    [['ROUTE_SEGMENT_INVALID', ['api/:id'], /Express.*Write \[id\]/s]]
  ],
  ['an empty file is refused', { 'api/a/route.js': '' }, [['ROUTE_EMPTY', ['api/a/route.js'], /exports no method/]]],
  [
    'a file with private names only is as good as empty',
    { 'api/a/route.js': 'export const _GET = () => ({})' },
    [['ROUTE_EMPTY', ['api/a/route.js'], /exports no method/]]
  ],
  [
    'a file with config and middleware only serves nothing',
    { 'api/a/route.js': 'export const config = {}, middleware = []' },
    [['ROUTE_EMPTY', ['api/a/route.js'], /config and middleware, but no method/]]
  ],
  [
    'a file that throws is named with the cause and its line',
    { 'api/a/route.js': `\n\nthrow new RangeError('no db')\n${GET}` },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.js'], /RangeError: no db\s+at .*route\.js:3/]]
  ],
  [
    'a file with a syntax error is named with it',
    { 'api/a/route.js': 'export const GET = ( => 1' },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.js'], /SyntaxError: Unexpected token/]]
  ],
  [
    'a TypeScript file with a syntax error is named with its line',
    { 'api/a/route.ts': 'export const GET = (): object => ({})\nconst x: = 1' },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /route\.ts:2/]]
  ],
  [
    'a TypeScript file that throws is named with the cause and its line',
    { 'api/a/route.ts': "type A = 1\nthrow new RangeError('no db')\nexport const GET = (): A => 1" },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /RangeError: no db\s+at .*route\.ts:2/]]
  ],
  [
    'a name that a package does not export is refused in TypeScript as in JavaScript',
    {
      'api/a/route.ts': `\nimport { NotFound } from 'twinroute'\nexport const GET = (): never => { throw new NotFound() }`,
      'api/b/route.js': `import { NotFound } from 'twinroute'\nexport const GET = () => { throw new NotFound() }`
    },
    [
      ['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /a\/route\.ts:2[^]*'twinroute' does not provide .* 'NotFound'/],
      ['ROUTE_IMPORT_FAILED', ['api/b/route.js'], /b\/route\.js:1[^]*'twinroute' does not provide .* 'NotFound'/]
    ]
  ],
  [
    'a name that a file does not export is refused, as is a default export that it does not have',
    {
      'store.ts': 'export const notes: string[] = []',
      'names.mjs': 'export const POST = 1',
      'api/a/route.ts': `import { note } from '../../store.ts'\nexport const GET = (): unknown => note`,
      'api/b/route.ts': `import store from '../../store.ts'\nexport const GET = (): unknown => store`,
      'api/c/route.ts': `import { PUT as put } from '../../names.mjs'\nexport const GET = (): unknown => put`
    },
    [
      ['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /does not provide an export named 'note'[^]*Correct the name note/],
      ['ROUTE_IMPORT_FAILED', ['api/b/route.ts'], /does not provide an export named 'default'/],
      ['ROUTE_IMPORT_FAILED', ['api/c/route.ts'], /does not provide an export named 'PUT'/]
    ]
  ],
  [
    'a file that imports a module that throws is named, the file beside it is not',
    {
      'db.ts': `throw new RangeError('no db')\nexport const db: object = {}`,
      'api/a/route.ts': `import { db } from '../../db.ts'\nexport const GET = (): object => db`,
      'api/b/route.ts': `import { ApiError } from 'twinroute'\nexport const GET = (): object => ApiError`
    },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /RangeError: no db\s+at .*db\.ts:1/]]
  ],
  [
    'a wrong name in a module that a route file imports is refused with the file that imports it',
    {
      'store.ts': `import { join, jion } from 'node:path'\nexport const place = (): unknown => [join, jion]`,
      'api/a/route.ts': `import { place } from '../../store.ts'\nexport const GET = (): unknown => place()`
    },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.ts'], /store\.ts:1[^]*does not provide an export named 'jion'/]]
  ],
  [
    'a missing package is named',
    { 'api/a/route.js': `import 'not-installed'\n${GET}` },
    [['ROUTE_IMPORT_FAILED', ['api/a/route.js'], /not-installed/]]
  ],
  [
    'a CommonJS file is checked by its module.exports',
    { 'api/a/route.cjs': 'module.exports = { get() {}, GET() {} }' },
    [['ROUTE_EXPORT_UNKNOWN', ['api/a/route.cjs'], /exports get/]]
  ],
  [
    'middleware that is one function belongs into an array',
    { 'api/a/route.js': `${GET}export const middleware = () => {}` },
    [['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /middleware as a function/]]
  ],
  [
    'middleware with something else than functions says where',
    { 'api/a/route.js': `${GET}export const middleware = [() => {}, undefined, [() => {}]]` },
    [
      ['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /middleware, which holds undefined at index 1.*import/s],
      ['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /middleware, which holds an array at index 2.*Spread/s]
    ]
  ],
  [
    'an error handler is no middleware',
    { 'api/a/route.js': `${GET}export const middleware = [(error, request, response, next) => {}]` },
    [['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /error handler.*index 0/]]
  ],
  [
    'middleware by method knows the methods and wants them exported',
    { 'api/a/route.js': `${GET}export const middleware = { get: [], POST: [], GET: () => {} }` },
    [
      ['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /for get.*Did you mean GET\?/s],
      ['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /for POST, but does not export it/],
      ['ROUTE_MIDDLEWARE_INVALID', ['api/a/route.js'], /middleware\.GET, which is a function instead of an array/]
    ]
  ],
  [
    'config that is no object is refused',
    { 'api/a/route.js': `${GET}export const config = 5` },
    [['ROUTE_CONFIG_INVALID', ['api/a/route.js'], /config as a number/]]
  ],
  ...(
    [
      ['bodyLimit', '0', /1 or more/],
      ['bodyLimit', '1.5', /1 or more/],
      ['bodyLimit', "'1mb'", /"1mb".*a number of bytes/s],
      ['timeout', '-1', /from 0/],
      ['timeout', '2 ** 31', /from 0/],
      ['timeout', 'Infinity', /from 0/],
      ['bodyParser', 'true', /'late', 'early' or false/],
      ['bodyParser', "'lazy'", /"lazy"/],
      ['bodylimit', '1', /does not exist.*bodyLimit/s]
    ] as const
  ).map(([key, value, text]): Row => {
    const tree = { 'api/a/route.js': `${GET}export const config = { ${key}: ${value} }` }
    return [`config.${key} ${value} is refused`, tree, [['ROUTE_CONFIG_INVALID', ['api/a/route.js'], text]]]
  })
]

const TREES: Row[] = [
  ['an apiDir that is not there is named', {}, [['API_DIR_NOT_FOUND', ['api'], /import\.meta\.url/]]],
  ['an apiDir that is a file is named', { api: '' }, [['API_DIR_NOT_DIRECTORY', ['api'], /is a file/]]],
  ['an apiDir below a file is named', { x: '' }, [['API_DIR_NOT_FOUND', ['x/api'], /x\/api/]], { apiDir: 'x/api' }],
  ['an apiDir without route files is named', { 'api/a/x.js': '' }, [['API_DIR_EMPTY', ['api'], /route\.ts/]]],
  [
    'an apiDir with a misnamed file only says so',
    { 'api/a/routes.ts': GET },
    [['API_DIR_EMPTY', ['api'], /routes\.ts is not served/]]
  ],
  [
    'a .ts beside a .js is refused, both named',
    { 'api/a/route.ts': GET, 'api/a/route.js': GET },
    [['ROUTE_FILE_TWICE', ['api/a/route.js', 'api/a/route.ts'], /left over from a build/]]
  ],
  [
    'two names for one parameter are refused, both files named',
    { 'api/users/[id]/route.js': GET, 'api/users/[slug]/route.js': GET },
    [['ROUTE_SLOT_CONFLICT', ['api/users/[id]/route.js', 'api/users/[slug]/route.js'], /one name/]]
  ],
  [
    'two names for one parameter are refused with different methods too',
    { 'api/users/[id]/route.js': GET, 'api/users/[slug]/route.js': 'export const POST = () => ({})' },
    [['ROUTE_SLOT_CONFLICT', ['api/users/[id]/route.js', 'api/users/[slug]/route.js'], /match the same requests/]]
  ],
  [
    'two groups that give one path are refused, both files named',
    { 'api/(a)/x/route.js': GET, 'api/(b)/x/route.js': GET, 'api/x/route.js': GET },
    [
      [
        'ROUTE_SLOT_CONFLICT',
        ['api/(a)/x/route.js', 'api/(b)/x/route.js', 'api/x/route.js'],
        /3 route files serve \/api\/x/
      ]
    ]
  ],
  [
    'groups nested in each other are looked through',
    { 'api/(a)/(b)/x/[id]/route.js': GET, 'api/x/(c)/[key]/route.js': GET },
    [['ROUTE_SLOT_CONFLICT', ['api/(a)/(b)/x/[id]/route.js', 'api/x/(c)/[key]/route.js'], /\[id\].*\[key\]/]]
  ],
  [
    'one name in two Unicode spellings is one path',
    { [`api/caf\u00e9/route.js`]: GET, [`api/cafe\u0301/route.js`]: GET },
    [['ROUTE_SLOT_CONFLICT', ['api/cafe\u0301/route.js', 'api/caf\u00e9/route.js'], /serve \/api\/caf/]]
  ],
  [
    'an optional rest beside its own start is refused',
    { 'api/docs/route.js': GET, 'api/docs/[[...path]]/route.js': GET },
    [['ROUTE_SLOT_CONFLICT', ['api/docs/route.js', 'api/docs/[[...path]]/route.js'], /match the same requests/]]
  ],
  [
    'a rest beside an optional rest is refused',
    { 'api/docs/[...a]/route.js': GET, 'api/docs/[[...b]]/route.js': GET },
    [['ROUTE_SLOT_CONFLICT', ['api/docs/[...a]/route.js', 'api/docs/[[...b]]/route.js'], /match the same requests/]]
  ],
  [
    'mixed segments differ by their text, not by their names',
    { 'api/[a].png/route.js': GET, 'api/[b].png/route.js': GET, 'api/[b].gif/route.js': GET },
    [['ROUTE_SLOT_CONFLICT', ['api/[a].png/route.js', 'api/[b].png/route.js'], /match the same requests/]]
  ],
  [
    'a parameter name twice in one path is refused',
    { 'api/[id]/e/[id]/route.js': GET },
    [['ROUTE_PARAM_REPEATED', ['api/[id]/e/[id]'], /two parameters named id/]]
  ],
  [
    'a parameter name twice in one segment is refused',
    { 'api/[a]-[a]/route.js': GET },
    [['ROUTE_PARAM_REPEATED', ['api/[a]-[a]'], /named a/]]
  ],
  [
    'a base route counts for repeated names',
    { 'api/[id]/route.js': GET },
    [['ROUTE_PARAM_REPEATED', ['api/[id]'], /\/\[id\]\/\[id\]/]],
    { baseRoute: '/[id]' }
  ],
  [
    'nothing can follow a rest parameter',
    { 'api/[...path]/edit/route.js': GET },
    [['ROUTE_REST_NOT_LAST', ['api/[...path]/edit/route.js'], /last folder/]]
  ],
  ...(
    [
      ['a*b', /"\*"/],
      ['50%', /"%"/],
      ['%61dmin', /"%"/],
      ['what?', /"\?"/],
      ['a#b', /"#"/],
      ['a\\b', /"\\\\"/],
      ['a\nb', /"\\n"/],
      ['[id', /unbalanced/],
      ['id]', /unbalanced/],
      ['[[id]]', /optional parameter.*\[\[\.\.\.id\]\]/s],
      ['[]', /without a name/],
      ['[ id]', /without a name/],
      ['[...]', /without a name/],
      ['[a][b]', /nothing between/],
      ['x[...rest]', /rest parameter with text/],
      ['[__proto__]', /__proto__/],
      ['()', /group name/],
      ['([id])', /group name/]
    ] as const
  ).map(([name, text]): Row => {
    const tree = { [`api/${name}/route.js`]: GET }
    return [
      `the folder name ${JSON.stringify(name)} is refused`,
      tree,
      [['ROUTE_SEGMENT_INVALID', [`api/${name}`], text]]
    ]
  }),
  [
    'a folder name above several route files is refused once',
    { 'api/a*/b/route.js': GET, 'api/a*/c/route.js': GET },
    [['ROUTE_SEGMENT_INVALID', ['api/a*'], /"\*"/]]
  ],
  [
    'a link that leads nowhere is named',
    { ...ok, 'api/gone': { link: 'nowhere' } },
    [['ROUTE_ENTRY_UNREADABLE', ['api/gone'], /ENOENT/]]
  ]
]

const MAPS: Row[] = [
  [
    'two middleware files are refused, both named',
    { ...ok, 'middleware.js': '', 'api/middleware.js': '' },
    [['MIDDLEWARE_FILE_TWICE', ['api/middleware.js', 'middleware.js'], /Keep one/]]
  ],
  [
    'a middleware file that is a link to nothing is not passed over',
    { ...ok, 'middleware.js': { link: 'gone.js' } },
    [['MIDDLEWARE_IMPORT_FAILED', ['middleware.js'], /middleware\.js/]]
  ],
  [
    'a middleware file without the export is refused',
    { ...ok, 'middleware.js': 'export default {}' },
    [['MIDDLEWARE_FILE_INVALID', ['middleware.js'], /exports no middleware.*createMiddleware/s]]
  ],
  [
    'a middleware file that exports an array is refused',
    { ...ok, 'middleware.js': 'export const middleware = []' },
    [['MIDDLEWARE_FILE_INVALID', ['middleware.js'], /as an array/]]
  ],
  [
    'a middleware file that throws is named with the cause',
    { ...ok, 'api/middleware.js': "throw new Error('no key')" },
    [['MIDDLEWARE_IMPORT_FAILED', ['api/middleware.js'], /no key/]]
  ],
  [
    'what createMiddleware refuses in the file is listed key by key, the file named',
    {
      ...ok,
      'middleware.ts': `import { createMiddleware } from 'twinroute'
        export const middleware = createMiddleware({ 'api': [], '/api//x': [], '/api/y': [undefined as never] })`
    },
    [
      ['MIDDLEWARE_KEY_INVALID', ['middleware.ts'], /"api" .*slash/],
      ['MIDDLEWARE_KEY_INVALID', ['middleware.ts'], /"\/api\/\/x"/],
      ['MIDDLEWARE_VALUE_INVALID', ['middleware.ts'], /"\/api\/y" .*undefined at index 0/]
    ]
  ],
  [
    'a plain map in the file is checked alike',
    { ...ok, 'middleware.js': "export const middleware = { 'api/admin': [] }" },
    [['MIDDLEWARE_KEY_INVALID', ['middleware.js'], /"api\/admin".*"\/api\/admin"/s]]
  ],
  [
    'a key of the map that names a method is answered with where methods belong',
    { 'middleware.js': "export const middleware = { 'GET /api/a': [] }", 'api/a/route.js': GET },
    [['MIDDLEWARE_KEY_INVALID', ['middleware.js'], /"\/api\/a" for all methods, or export middleware = \{ GET: \[/]]
  ],
  [
    'a map given as an option is checked alike',
    ok,
    [['MIDDLEWARE_KEY_INVALID', [], /"admin"/]],
    { middleware: { admin: [] } }
  ]
]

for (const [rule, tree, told, options] of [...MODULES, ...TREES, ...MAPS]) {
  t.test(rule, async (t) => {
    const top = writeTree(t, tree)
    const { problems } = await bootError(top, options)
    t.strictSame(
      problems.map(({ code, files }) => [code, files.map((file) => relative(top, file))]),
      told.map(([code, files]) => [code, files])
    )
    for (const [index, [, , text]] of told.entries()) {
      const problem = problems[index]!
      t.match(new BootError([problem]).message, text)
    }
  })
}

t.test('imports of types, of undefined values and of what a CommonJS module exports are not refused', async (t) => {
  const top = writeTree(t, {
    'common.cjs': 'module.exports = Object.assign(Object.create(null), { [["na", "me"].join("")]: 1 })',
    'store.ts': `import { again } from './again.ts'
      export interface Note { id: number }
      export type Id = number
      export const nothing: undefined = undefined
      export const store = (): unknown => again
      export default class Store {}`,
    'again.ts': `import { store } from './store.ts'\nexport const again = (): unknown => store`,
    'api/a/route.ts': `import type { Missing } from '../../store.ts'
      import { type Note, type Id as Key, nothing } from '../../store.ts'
      import Store, * as everything from '../../store.ts'
      import { type Request, ApiError, GET as _get } from '../../names.ts'
      import common from '../../common.cjs'
      const __filename = import.meta.url
      export const _note: Note = { id: 1 }
      export const GET = (_request: Request): object => {
        const key: Key = 1
        const missing: Missing | undefined = undefined
        return { seen: [key, nothing === missing, typeof Store, typeof everything.store, ApiError.name, _get, common.name, typeof __filename] }
      }`,
    'names.ts': `export { ApiError, type Request } from 'twinroute'\nexport const GET = 'GET'`
  })
  const app = await createApp({ mode: 'test', apiDir: join(top, 'api') })
  t.teardown(() => app.close())
  t.strictSame((await app.inject('/api/a')).json(), {
    seen: [1, true, 'function', 'function', 'ApiError', 'GET', 1, 'string']
  })
})

t.test('an unreadable folder is named', { skip: process.getuid?.() === 0 && 'root reads everything' }, async (t) => {
  const top = writeTree(t, { ...ok, 'api/shut/route.js': GET })
  chmodSync(join(top, 'api/shut'), 0o000)
  t.teardown(() => chmodSync(join(top, 'api/shut'), 0o700))
  const { problems } = await bootError(top)
  t.match(problems, [{ code: 'ROUTE_ENTRY_UNREADABLE', files: [join(top, 'api/shut')] }])
})

t.test('all problems are found in one pass and printed with their files and fixes', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js': 'export const get = () => ({})',
    'api/b/[x]/route.js': GET,
    'api/b/[y]/route.js': GET,
    'api/c/route.js': "throw new RangeError('no db')",
    'api/d*/route.js': GET,
    'middleware.js': "export const middleware = { 'x': [] }"
  })
  const error = await bootError(top, { baseRoute: 'api' })
  t.strictSame(
    error.problems.map(({ code }) => code),
    [
      'BASE_ROUTE_INVALID',
      'ROUTE_SEGMENT_INVALID',
      'ROUTE_SLOT_CONFLICT',
      'MIDDLEWARE_KEY_INVALID',
      'ROUTE_EXPORT_UNKNOWN',
      'ROUTE_IMPORT_FAILED'
    ]
  )
  t.equal(error.name, 'BootError')
  t.equal(error.code, 'BOOT_ERROR')
  t.match(error.message, /^6 problems keep the application from starting\n/)
  t.match(error.cause, { message: 'no db' }, 'the first underlying error')
  for (const problem of error.problems) {
    t.ok(error.message.includes(problem.fix), problem.fix)
    t.ok(error.message.includes(`(${problem.code})`), problem.code)
  }
  for (const path of ['a/route.js', 'b/[x]/route.js', 'b/[y]/route.js', 'c/route.js', 'd*']) {
    t.ok(error.message.includes(`/api/${path}`), `${path} is printed`)
  }
})

t.test('paths below the working directory are printed from there', async (t) => {
  const top = writeTree(t, { 'api/a/route.js': '' })
  const before = process.cwd()
  process.chdir(top)
  t.teardown(() => process.chdir(before))
  const { message } = await bootError('', { apiDir: './api' })
  t.match(message, 'api/a/route.js exports no method')
  t.notMatch(message, top)
})

const CIRCLE: Record<string, unknown> = {}
CIRCLE.self = CIRCLE

const OPTIONS: [rule: string, options: object, message: RegExp][] = [
  ['apiDir is wanted', {}, /apiDir of createApp must be a directory.*it is undefined/],
  ['apiDir is no number', { apiDir: 5 }, /apiDir of createApp must be.*it is 5/],
  ['apiDir is not empty', { apiDir: '' }, /apiDir/],
  ['apiDir is no http URL', { apiDir: new URL('http://localhost/api') }, /apiDir .*file URL/],
  ['baseRoute is a text', { apiDir: 'api', baseRoute: null }, /baseRoute of createApp must be a path.*null/],
  [
    'host is not empty',
    { apiDir: 'api', host: '' },
    /option host of createApp must be a host name or address.*it is ""/
  ],
  ['bodyLimit is no BigInt', { apiDir: 'api', bodyLimit: 1n }, /bodyLimit of createApp must be .*it is a bigint/],
  [
    'handlerTimeout is a number',
    { apiDir: 'api', handlerTimeout: NaN },
    /handlerTimeout of createApp must be .*it is NaN/
  ],
  ['mode is no symbol', { apiDir: 'api', mode: Symbol('test') }, /mode of createApp must be a word.*it is a symbol/],
  [
    'bodyParser is no circle',
    { apiDir: 'api', bodyParser: CIRCLE },
    /bodyParser of createApp must be.*it is an object/
  ],
  ['port is no function', { apiDir: 'api', port: () => 1 }, /port of createApp must be.*it is a function/],
  [
    'an option has its own name',
    { apiDir: 'api', bodylimit: 1 },
    /createApp has no option bodylimit; .*fastifyOptions/
  ],
  [
    'so has one of expressOptions',
    { apiDir: 'api', expressOptions: { cors: {} } },
    /expressOptions of createApp has no field cors; its fields are enableCors/
  ],
  ['middleware is no list', { apiDir: 'api', middleware: [] }, /middleware of createApp must be a map.*it is \[\]/]
]
for (const [rule, options, message] of OPTIONS) {
  t.test(`a wrong option is a TypeError that names it: ${rule}`, async (t) => {
    await t.rejects(createApp(options as AppOptions), { name: 'TypeError', message })
  })
}

t.test('an option that fileRoutes does not have is refused; those of Fastify’s register are not', async (t) => {
  const apiDir = join(writeTree(t, ok), 'api')
  for (const [name, message] of [
    ['errorHandler', /fileRoutes has no option errorHandler.*the instance/],
    ['bodylimit', /fileRoutes has no option bodylimit/]
  ] as const) {
    const refused = Fastify()
    void refused.register(fileRoutes, { apiDir, mode: 'test', [name]: undefined } as { apiDir: string })
    await t.rejects(async () => refused.ready(), { name: 'TypeError', message })
  }
  const host = Fastify()
  t.teardown(() => host.close())
  await host.register(fileRoutes, { apiDir, mode: 'test', prefix: '/v1', logLevel: 'warn', logSerializers: {} })
  t.equal((await host.inject('/v1/api/ok')).statusCode, 200)
})

const BASES: [base: string, text: RegExp][] = [
  ['api', /slash.*"\/api"/s],
  ['/api//v1', /"\/\/"/],
  ['/api/../x', /dot segment/],
  ['/%61pi', /"%"/],
  ['/api?x', /query/],
  ['/api/*', /"\*"/],
  ['/:tenant/api', /\[tenant\]/],
  ['/(group)/api', /group/],
  ['/[...rest]', /rest segment/],
  ['/a*b', /"\*"/]
]
for (const [baseRoute, text] of BASES) {
  t.test(`the base route ${JSON.stringify(baseRoute)} is refused`, async (t) => {
    const error = await bootError(writeTree(t, ok), { baseRoute })
    t.strictSame(
      error.problems.map(({ code }) => code),
      ['BASE_ROUTE_INVALID']
    )
    t.match(error.message, text)
    t.ok(error.message.includes(JSON.stringify(baseRoute)))
  })
}

const KEYS: [key: string, text: RegExp][] = [
  ['', /slash/],
  ['api/admin', /"\/api\/admin"/],
  ['/api//admin', /"\/\/"/],
  ['//', /"\/\/"/],
  ['/api/%61dmin', /"%"/],
  ['/api/../admin', /dot segment/],
  ['/api/./admin', /dot segment/],
  ['/api/admin/*', /"\/api\/admin\/"/],
  ['/api/admin?x=1', /query/],
  ['/api/admin#x', /query or fragment/],
  ['/api/:id', /\[id\]/],
  ['/api/[id', /unbalanced/],
  ['/api/[...rest]', /rest/],
  ['/api/(a)/x', /group/],
  ['/api\\admin', /\\/]
]
for (const [key, text] of KEYS) {
  t.test(`createMiddleware refuses the key ${JSON.stringify(key)} and names it`, async (t) => {
    try {
      createMiddleware({ [key]: [] })
      t.fail('it was accepted')
    } catch (error) {
      t.match(error, { name: 'BootError', problems: [{ code: 'MIDDLEWARE_KEY_INVALID' }] })
      t.ok((error as Error).message.includes(JSON.stringify(key)))
      t.match((error as Error).message, text)
    }
  })
}

t.test('createMiddleware refuses two keys that mean one prefix, and names both', async (t) => {
  const pairs = [
    ['/api/admin', '/api/admin/'],
    ['/api/[id]', '/api/[userId]/']
  ] as const
  for (const [a, b] of pairs) {
    t.throws(() => createMiddleware({ [a]: [], [b]: [] }), { message: `"${a}" and "${b}"` })
    t.throws(() => createMiddleware({ [a]: [], [b]: [] }), { message: '(MIDDLEWARE_KEY_TWICE)' })
  }
})

t.test('createMiddleware refuses what is no map with a TypeError', async (t) => {
  for (const map of [undefined, null, [], 'x', () => {}]) {
    t.throws(() => createMiddleware(map as never), { name: 'TypeError', message: /map of path prefix/ })
  }
})

t.test('a copy of the map is frozen', async (t) => {
  const list = [() => {}]
  const map = createMiddleware({ '/api/': list })
  list.push(() => {})
  t.equal(map['/api/']?.length, 1)
  t.ok(Object.isFrozen(map) && Object.isFrozen(map['/api/']))
})

t.test('apiDir may be a path or a file URL, and a tree that is right has no problems', async (t) => {
  const top = writeTree(t, { 'api/a/route.js': echo('a') })
  const url = pathToFileURL(join(top, 'api'))
  for (const apiDir of [join(top, 'api'), url, url.href, `${join(top, 'api')}/`]) {
    const app = await createApp({ apiDir, mode: 'test' })
    t.equal((await app.inject('/api/a')).statusCode, 200)
    await app.close()
  }
})

t.test('docs/errors.md explains every boot code, and no other', async (t) => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  const codesUnder = (heading: string): string[] => {
    const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
    return [...section.matchAll(/^### `([A-Z_]+)`$/gm)].map(([, code = '']) => code)
  }
  t.strictSame(codesUnder('Boot problems').toSorted(), Object.keys(BOOT_PROBLEMS).toSorted())
  t.strictSame(codesUnder('Boot warnings').toSorted(), Object.keys(BOOT_WARNINGS).toSorted())
})
