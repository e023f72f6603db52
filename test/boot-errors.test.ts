import { spawnSync } from 'node:child_process'
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
type Told = { code: string; files: readonly string[]; text: RegExp }
type Row = { rule: string; tree: Tree; told: readonly Told[]; options?: Partial<AppOptions> }

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
  {
    rule: 'a lower-case method is answered with the method that was meant',
    tree: { 'api/a/route.js': 'export const get = () => ({})' },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /exports get.*Did you mean GET\?/s }]
  },
  {
    rule: 'a method in mixed case is answered with the method that was meant',
    tree: { 'api/a/route.js': `${GET}export const Delete = () => ({})` },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /Did you mean DELETE\?/ }]
  },
  {
    rule: 'a shortened method is recognised',
    tree: { 'api/a/route.js': 'export const del = () => ({})' },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /Did you mean DELETE\?/ }]
  },
  ...[
    ['GTE', 'GET'],
    ['GT', 'GET'],
    ['DELEET', 'DELETE'],
    ['PTACH', 'PATCH'],
    ['midleware', 'middleware'],
    ['cofnig', 'config']
  ].map(([name, meant]): Row => ({
    rule: `a slip in a name is recognised: ${name}`,
    tree: { 'api/a/route.js': `${GET}export const ${name} = () => ({})` },
    told: [
      {
        code: 'ROUTE_EXPORT_UNKNOWN',
        files: ['api/a/route.js'],
        text: new RegExp(`exports ${name}.*Fix: Did you mean ${meant}\\? If not, let the name begin with _$`, 's')
      }
    ]
  })),
  {
    rule: 'a name that only resembles a method in small letters is unknown',
    tree: { 'api/a/route.js': `${GET}export const path = 'x'` },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /A route file exports/ }]
  },
  {
    rule: 'a plural of middleware or config is recognised',
    tree: { 'api/a/route.js': `${GET}export const middlewares = [], Config = {}` },
    told: [
      { code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /exports Config.*Did you mean config\?/s },
      {
        code: 'ROUTE_EXPORT_UNKNOWN',
        files: ['api/a/route.js'],
        text: /exports middlewares.*Did you mean middleware\?/s
      }
    ]
  },
  {
    rule: 'an unknown export is told what a route file exports',
    tree: { 'api/a/route.js': `${GET}export const title = 'A'` },
    told: [
      { code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /exports title.*GET, HEAD, POST.*begin with _/s }
    ]
  },
  {
    rule: 'a method no route file can serve is unknown',
    tree: { 'api/a/route.js': 'export const TRACE = () => ({})' },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.js'], text: /exports TRACE/ }]
  },
  {
    rule: 'a default export is refused',
    tree: { 'api/a/route.js': 'export default () => ({})' },
    told: [{ code: 'ROUTE_EXPORT_DEFAULT', files: ['api/a/route.js'], text: /one function per method/ }]
  },
  {
    rule: 'a method that is no function is refused with what it is',
    tree: { 'api/a/route.js': 'export const GET = { a: 1 }, POST = null, PUT = "x"' },
    told: [
      { code: 'ROUTE_EXPORT_NOT_FUNCTION', files: ['api/a/route.js'], text: /GET as an object/ },
      { code: 'ROUTE_EXPORT_NOT_FUNCTION', files: ['api/a/route.js'], text: /POST as null/ },
      { code: 'ROUTE_EXPORT_NOT_FUNCTION', files: ['api/a/route.js'], text: /PUT as a string/ }
    ]
  },
  {
    rule: "a folder named in Express's way of writing parameters is refused",
    tree: { 'api/:id/posts/route.js': GET },
    told: [{ code: 'ROUTE_SEGMENT_INVALID', files: ['api/:id'], text: /Express.*Write \[id\]/s }]
  },
  {
    rule: 'an empty file is refused',
    tree: { 'api/a/route.js': '' },
    told: [{ code: 'ROUTE_EMPTY', files: ['api/a/route.js'], text: /exports no method/ }]
  },
  {
    rule: 'a file with private names only is as good as empty',
    tree: { 'api/a/route.js': 'export const _GET = () => ({})' },
    told: [{ code: 'ROUTE_EMPTY', files: ['api/a/route.js'], text: /exports no method/ }]
  },
  {
    rule: 'a file with config and middleware only serves nothing',
    tree: { 'api/a/route.js': 'export const config = {}, middleware = []' },
    told: [{ code: 'ROUTE_EMPTY', files: ['api/a/route.js'], text: /config and middleware, but no method/ }]
  },
  {
    rule: 'a file that throws is named with the cause and its line',
    tree: { 'api/a/route.js': `\n\nthrow new RangeError('no db')\n${GET}` },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.js'], text: /RangeError: no db\s+at .*route\.js:3/ }]
  },
  {
    rule: 'a file with a syntax error is named with the error',
    tree: { 'api/a/route.js': 'export const GET = ( => 1' },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.js'], text: /SyntaxError: Unexpected token/ }]
  },
  {
    rule: 'a TypeScript file with a syntax error is named with its line',
    tree: { 'api/a/route.ts': 'export const GET = (): object => ({})\nconst x: = 1' },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.ts'], text: /route\.ts:2/ }]
  },
  {
    rule: 'a TypeScript file that throws is named with the cause and its line',
    tree: { 'api/a/route.ts': "type A = 1\nthrow new RangeError('no db')\nexport const GET = (): A => 1" },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.ts'], text: /RangeError: no db\s+at .*route\.ts:2/ }]
  },
  {
    rule: 'a name that a package does not export is refused in TypeScript as in JavaScript',
    tree: {
      'api/a/route.ts': `\nimport { NotFound } from 'twinroute'\nexport const GET = (): never => { throw new NotFound() }`,
      'api/b/route.js': `import { NotFound } from 'twinroute'\nexport const GET = () => { throw new NotFound() }`
    },
    told: [
      {
        code: 'ROUTE_IMPORT_FAILED',
        files: ['api/a/route.ts'],
        text: /a\/route\.ts:2[^]*'twinroute' does not provide .* 'NotFound'/
      },
      {
        code: 'ROUTE_IMPORT_FAILED',
        files: ['api/b/route.js'],
        text: /b\/route\.js:1[^]*'twinroute' does not provide .* 'NotFound'/
      }
    ]
  },
  {
    rule: 'a name that a file does not export is refused, as is a default export that it does not have',
    tree: {
      'store.ts': 'export const notes: string[] = []',
      'names.mjs': 'export const POST = 1',
      'api/a/route.ts': `import { note } from '../../store.ts'\nexport const GET = (): unknown => note`,
      'api/b/route.ts': `import store from '../../store.ts'\nexport const GET = (): unknown => store`,
      'api/c/route.ts': `import { PUT as put } from '../../names.mjs'\nexport const GET = (): unknown => put`
    },
    told: [
      {
        code: 'ROUTE_IMPORT_FAILED',
        files: ['api/a/route.ts'],
        text: /does not provide an export named 'note'[^]*Correct the name note/
      },
      { code: 'ROUTE_IMPORT_FAILED', files: ['api/b/route.ts'], text: /does not provide an export named 'default'/ },
      { code: 'ROUTE_IMPORT_FAILED', files: ['api/c/route.ts'], text: /does not provide an export named 'PUT'/ }
    ]
  },
  {
    rule: 'a file that imports a module that throws is named, the file beside it is not',
    tree: {
      'db.ts': `throw new RangeError('no db')\nexport const db: object = {}`,
      'api/a/route.ts': `import { db } from '../../db.ts'\nexport const GET = (): object => db`,
      'api/b/route.ts': `import { ApiError } from 'twinroute'\nexport const GET = (): object => ApiError`
    },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.ts'], text: /RangeError: no db\s+at .*db\.ts:1/ }]
  },
  {
    rule: 'a wrong name in a module that a route file imports is refused with the file that imports it',
    tree: {
      'store.ts': `import { join, jion } from 'node:path'\nexport const place = (): unknown => [join, jion]`,
      'api/a/route.ts': `import { place } from '../../store.ts'\nexport const GET = (): unknown => place()`
    },
    told: [
      {
        code: 'ROUTE_IMPORT_FAILED',
        files: ['api/a/route.ts'],
        text: /store\.ts:1[^]*does not provide an export named 'jion'/
      }
    ]
  },
  {
    rule: 'a missing package is named',
    tree: { 'api/a/route.js': `import 'not-installed'\n${GET}` },
    told: [{ code: 'ROUTE_IMPORT_FAILED', files: ['api/a/route.js'], text: /not-installed/ }]
  },
  {
    rule: 'a CommonJS file is checked by its module.exports',
    tree: { 'api/a/route.cjs': 'module.exports = { get() {}, GET() {} }' },
    told: [{ code: 'ROUTE_EXPORT_UNKNOWN', files: ['api/a/route.cjs'], text: /exports get/ }]
  },
  {
    rule: 'middleware that is one function belongs into an array',
    tree: { 'api/a/route.js': `${GET}export const middleware = () => {}` },
    told: [{ code: 'ROUTE_MIDDLEWARE_INVALID', files: ['api/a/route.js'], text: /middleware as a function/ }]
  },
  {
    rule: 'middleware with something else than functions says where',
    tree: { 'api/a/route.js': `${GET}export const middleware = [() => {}, undefined, [() => {}]]` },
    told: [
      {
        code: 'ROUTE_MIDDLEWARE_INVALID',
        files: ['api/a/route.js'],
        text: /middleware, which holds undefined at index 1.*import/s
      },
      {
        code: 'ROUTE_MIDDLEWARE_INVALID',
        files: ['api/a/route.js'],
        text: /middleware, which holds an array at index 2.*Spread/s
      }
    ]
  },
  {
    rule: 'an error handler is no middleware',
    tree: { 'api/a/route.js': `${GET}export const middleware = [(error, request, response, next) => {}]` },
    told: [{ code: 'ROUTE_MIDDLEWARE_INVALID', files: ['api/a/route.js'], text: /error handler.*index 0/ }]
  },
  {
    rule: 'middleware by method knows the methods and wants them exported',
    tree: { 'api/a/route.js': `${GET}export const middleware = { get: [], POST: [], GET: () => {} }` },
    told: [
      { code: 'ROUTE_MIDDLEWARE_INVALID', files: ['api/a/route.js'], text: /for get.*Did you mean GET\?/s },
      { code: 'ROUTE_MIDDLEWARE_INVALID', files: ['api/a/route.js'], text: /for POST, but does not export it/ },
      {
        code: 'ROUTE_MIDDLEWARE_INVALID',
        files: ['api/a/route.js'],
        text: /middleware\.GET, which is a function instead of an array/
      }
    ]
  },
  {
    rule: 'config that is no object is refused',
    tree: { 'api/a/route.js': `${GET}export const config = 5` },
    told: [{ code: 'ROUTE_CONFIG_INVALID', files: ['api/a/route.js'], text: /config as a number/ }]
  },
  ...(
    [
      { key: 'bodyLimit', value: '0', text: /1 or more/ },
      { key: 'bodyLimit', value: '1.5', text: /1 or more/ },
      { key: 'bodyLimit', value: "'1mb'", text: /"1mb".*a number of bytes/s },
      { key: 'timeout', value: '-1', text: /from 0/ },
      { key: 'timeout', value: '2 ** 31', text: /from 0/ },
      { key: 'timeout', value: 'Infinity', text: /from 0/ },
      { key: 'bodyParser', value: 'true', text: /'late', 'early' or false/ },
      { key: 'bodyParser', value: "'lazy'", text: /"lazy"/ },
      { key: 'bodylimit', value: '1', text: /does not exist.*bodyLimit/s }
    ] as const
  ).map(({ key, value, text }): Row => {
    const tree = { 'api/a/route.js': `${GET}export const config = { ${key}: ${value} }` }
    return {
      rule: `config.${key} ${value} is refused`,
      tree,
      told: [{ code: 'ROUTE_CONFIG_INVALID', files: ['api/a/route.js'], text }]
    }
  })
]

const TREES: Row[] = [
  ...['js', 'ts'].map((type): Row => ({
    rule: `what a shared module throws is one problem of all files that import it: .${type}`,
    tree: {
      [`api/a/route.${type}`]: `import '../../shared.js'\n${GET}`,
      [`api/b/route.${type}`]: `import '../../shared.js'\n${GET}`,
      [`api/c/route.${type}`]: `throw new Error('another')\n${GET}`,
      'middleware.js': "import './shared.js'\nexport const middleware = {}",
      'shared.js': "throw new Error('no secret')"
    },
    told: [
      {
        code: 'MIDDLEWARE_IMPORT_FAILED',
        files: ['middleware.js', `api/a/route.${type}`, `api/b/route.${type}`],
        text: /middleware\.js and .*a\/route.* and .*b\/route.* cannot be imported.*no secret/s
      },
      { code: 'ROUTE_IMPORT_FAILED', files: [`api/c/route.${type}`], text: /another/ }
    ]
  })),
  {
    rule: 'an error that says what to do is shown with that as its fix, once',
    tree: {
      'api/a/route.js': "throw Object.assign(new Error('NAME not set. Set it: NAME=x'), { fix: 'Set it: NAME=x' })"
    },
    told: [
      {
        code: 'ROUTE_IMPORT_FAILED',
        files: ['api/a/route.js'],
        text: /Cause: Error: NAME not set\.\n(?: +at .*\n)+ +Fix: Set it: NAME=x$/
      }
    ]
  },
  {
    rule: 'an apiDir that is not there is named',
    tree: {},
    told: [{ code: 'API_DIR_NOT_FOUND', files: ['api'], text: /Fix: Create it, or build the program first$/ }]
  },
  {
    rule: 'an apiDir that is a file is named',
    tree: { api: '' },
    told: [{ code: 'API_DIR_NOT_DIRECTORY', files: ['api'], text: /is a file/ }]
  },
  {
    rule: 'an apiDir below a file is named',
    tree: { x: '' },
    told: [{ code: 'API_DIR_NOT_FOUND', files: ['x/api'], text: /x\/api/ }],
    options: { apiDir: 'x/api' }
  },
  {
    rule: 'an apiDir without route files is named',
    tree: { 'api/a/x.js': '' },
    told: [{ code: 'API_DIR_EMPTY', files: ['api'], text: /route\.ts/ }]
  },
  {
    rule: 'an apiDir with a misnamed file only says so',
    tree: { 'api/a/routes.ts': GET },
    told: [{ code: 'API_DIR_EMPTY', files: ['api'], text: /routes\.ts is not served/ }]
  },
  {
    rule: 'a .ts beside a .js is refused, both named',
    tree: { 'api/a/route.ts': GET, 'api/a/route.js': GET },
    told: [{ code: 'ROUTE_FILE_TWICE', files: ['api/a/route.js', 'api/a/route.ts'], text: /left over from a build/ }]
  },
  {
    rule: 'two names for one parameter are refused, both files named',
    tree: { 'api/users/[id]/route.js': GET, 'api/users/[slug]/route.js': GET },
    told: [
      { code: 'ROUTE_SLOT_CONFLICT', files: ['api/users/[id]/route.js', 'api/users/[slug]/route.js'], text: /one name/ }
    ]
  },
  {
    rule: 'two names for one parameter are refused with different methods too',
    tree: { 'api/users/[id]/route.js': GET, 'api/users/[slug]/route.js': 'export const POST = () => ({})' },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/users/[id]/route.js', 'api/users/[slug]/route.js'],
        text: /match the same requests/
      }
    ]
  },
  {
    rule: 'two groups that give one path are refused, both files named',
    tree: { 'api/(a)/x/route.js': GET, 'api/(b)/x/route.js': GET, 'api/x/route.js': GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/(a)/x/route.js', 'api/(b)/x/route.js', 'api/x/route.js'],
        text: /3 route files serve \/api\/x/
      }
    ]
  },
  {
    rule: 'groups nested in each other are looked through',
    tree: { 'api/(a)/(b)/x/[id]/route.js': GET, 'api/x/(c)/[key]/route.js': GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/(a)/(b)/x/[id]/route.js', 'api/x/(c)/[key]/route.js'],
        text: /\[id\].*\[key\]/
      }
    ]
  },
  {
    rule: 'one name in two Unicode spellings is one path',
    tree: { [`api/caf\u00e9/route.js`]: GET, [`api/cafe\u0301/route.js`]: GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/cafe\u0301/route.js', 'api/caf\u00e9/route.js'],
        text: /serve \/api\/caf/
      }
    ]
  },
  {
    rule: 'an optional rest beside its own start is refused',
    tree: { 'api/docs/route.js': GET, 'api/docs/[[...path]]/route.js': GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/docs/route.js', 'api/docs/[[...path]]/route.js'],
        text: /match the same requests/
      }
    ]
  },
  {
    rule: 'a rest beside an optional rest is refused',
    tree: { 'api/docs/[...a]/route.js': GET, 'api/docs/[[...b]]/route.js': GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/docs/[...a]/route.js', 'api/docs/[[...b]]/route.js'],
        text: /match the same requests/
      }
    ]
  },
  {
    rule: 'mixed segments differ by their text, not by their names',
    tree: { 'api/[a].png/route.js': GET, 'api/[b].png/route.js': GET, 'api/[b].gif/route.js': GET },
    told: [
      {
        code: 'ROUTE_SLOT_CONFLICT',
        files: ['api/[a].png/route.js', 'api/[b].png/route.js'],
        text: /match the same requests/
      }
    ]
  },
  {
    rule: 'a parameter name twice in one path is refused',
    tree: { 'api/[id]/e/[id]/route.js': GET },
    told: [{ code: 'ROUTE_PARAM_REPEATED', files: ['api/[id]/e/[id]'], text: /two parameters named id/ }]
  },
  {
    rule: 'a parameter name twice in one segment is refused',
    tree: { 'api/[a]-[a]/route.js': GET },
    told: [{ code: 'ROUTE_PARAM_REPEATED', files: ['api/[a]-[a]'], text: /named a/ }]
  },
  {
    rule: 'a base route counts for repeated names',
    tree: { 'api/[id]/route.js': GET },
    told: [{ code: 'ROUTE_PARAM_REPEATED', files: ['api/[id]'], text: /\/\[id\]\/\[id\]/ }],
    options: { baseRoute: '/[id]' }
  },
  {
    rule: 'nothing can follow a rest parameter',
    tree: { 'api/[...path]/edit/route.js': GET },
    told: [{ code: 'ROUTE_REST_NOT_LAST', files: ['api/[...path]/edit/route.js'], text: /last folder/ }]
  },
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
    return {
      rule: `the folder name ${JSON.stringify(name)} is refused`,
      tree,
      told: [{ code: 'ROUTE_SEGMENT_INVALID', files: [`api/${name}`], text }]
    }
  }),
  {
    rule: 'a folder name above several route files is refused once',
    tree: { 'api/a*/b/route.js': GET, 'api/a*/c/route.js': GET },
    told: [{ code: 'ROUTE_SEGMENT_INVALID', files: ['api/a*'], text: /"\*"/ }]
  },
  {
    rule: 'a link that leads nowhere is named',
    tree: { ...ok, 'api/gone': { link: 'nowhere' } },
    told: [{ code: 'ROUTE_ENTRY_UNREADABLE', files: ['api/gone'], text: /ENOENT/ }]
  }
]

const MAPS: Row[] = [
  {
    rule: 'two middleware files are refused, both named',
    tree: { ...ok, 'middleware.js': '', 'api/middleware.js': '' },
    told: [{ code: 'MIDDLEWARE_FILE_TWICE', files: ['api/middleware.js', 'middleware.js'], text: /Keep one/ }]
  },
  {
    rule: 'a middleware file that is a link to nothing is not passed over',
    tree: { ...ok, 'middleware.js': { link: 'gone.js' } },
    told: [{ code: 'MIDDLEWARE_IMPORT_FAILED', files: ['middleware.js'], text: /middleware\.js/ }]
  },
  {
    rule: 'a middleware file without the export is refused',
    tree: { ...ok, 'middleware.js': 'export default {}' },
    told: [
      { code: 'MIDDLEWARE_FILE_INVALID', files: ['middleware.js'], text: /exports no middleware.*createMiddleware/s }
    ]
  },
  {
    rule: 'a middleware file that exports an array is refused',
    tree: { ...ok, 'middleware.js': 'export const middleware = []' },
    told: [{ code: 'MIDDLEWARE_FILE_INVALID', files: ['middleware.js'], text: /as an array/ }]
  },
  {
    rule: 'a middleware file that throws is named with the cause',
    tree: { ...ok, 'api/middleware.js': "throw new Error('no key')" },
    told: [{ code: 'MIDDLEWARE_IMPORT_FAILED', files: ['api/middleware.js'], text: /no key/ }]
  },
  {
    rule: 'what createMiddleware refuses in the file is listed key by key, the file named',
    tree: {
      ...ok,
      'middleware.ts': `import { createMiddleware } from 'twinroute'
        export const middleware = createMiddleware({ 'api': [], '/api//x': [], '/api/y': [undefined as never] })`
    },
    told: [
      { code: 'MIDDLEWARE_KEY_INVALID', files: ['middleware.ts'], text: /"api" .*slash/ },
      { code: 'MIDDLEWARE_KEY_INVALID', files: ['middleware.ts'], text: /"\/api\/\/x"/ },
      { code: 'MIDDLEWARE_VALUE_INVALID', files: ['middleware.ts'], text: /"\/api\/y" .*undefined at index 0/ }
    ]
  },
  {
    rule: 'a plain map in the middleware file is checked as createMiddleware checks its own',
    tree: { ...ok, 'middleware.js': "export const middleware = { 'api/admin': [] }" },
    told: [{ code: 'MIDDLEWARE_KEY_INVALID', files: ['middleware.js'], text: /"api\/admin".*"\/api\/admin"/s }]
  },
  {
    rule: 'a key of the map that names a method is answered with where methods belong',
    tree: { 'middleware.js': "export const middleware = { 'GET /api/a': [] }", 'api/a/route.js': GET },
    told: [
      {
        code: 'MIDDLEWARE_KEY_INVALID',
        files: ['middleware.js'],
        text: /"\/api\/a" for all methods, or export middleware = \{ GET: \[/
      }
    ]
  },
  {
    rule: 'a map given as an option is checked as the middleware file is',
    tree: ok,
    told: [{ code: 'MIDDLEWARE_KEY_INVALID', files: [], text: /"admin"/ }],
    options: { middleware: { admin: [] } }
  }
]

for (const { rule, tree, told, options } of [...MODULES, ...TREES, ...MAPS]) {
  t.test(rule, async (t) => {
    const top = writeTree(t, tree)
    const { problems } = await bootError(top, options)
    t.strictSame(
      problems.map(({ code, files }) => [code, files.map((file) => relative(top, file))]),
      told.map(({ code, files }) => [code, files])
    )
    for (const [index, { text }] of told.entries()) {
      const problem = problems[index]!
      t.match(new BootError([problem]).message, text)
    }
  })
}

t.test('a module of the application may be named like one of this package', async (t) => {
  const top = writeTree(t, {
    'auth.ts': 'export const own = 1',
    'core.ts': 'export const own = 1',
    'middleware.ts': "import { own } from './auth.js'\nexport const middleware = { '/api/a': own ? [] : [] }",
    'api/a/route.ts': "import { own } from '../../core.js'\nexport const GET = () => own"
  })
  const app = await createApp({ apiDir: join(top, 'api'), mode: 'test' })
  t.equal((await app.inject('/api/a')).body, '1')
  await app.close()
})

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

t.test('a boot error is printed once, by console.error and when nobody handles it; its members stay', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js': "throw new RangeError('no db')",
    'server.js': `
      import { createApp } from 'twinroute'
      const opening = createApp({ apiDir: new URL('./api', import.meta.url), mode: 'production' })
      if (process.argv[2] === 'handled') await opening.catch((error) => console.error(error))
      else await opening`
  })
  for (const way of ['handled', 'uncaught']) {
    const { status, stderr } = spawnSync(process.execPath, ['server.js', way], { cwd: top, encoding: 'utf8' })
    t.match(stderr, /^BootError: 1 problem keeps the application from starting\n\n1\. api\/a\/route\.js .*\n/, way)
    t.equal(stderr.split('no db').length, 2, `${way}: once`)
    t.match(stderr, /\n   Fix: [^\n]*\n$/, `${way}: nothing follows`)
    t.equal(status, way === 'handled' ? 0 : 1, way)
  }
  t.match(await bootError(top), { code: 'BOOT_ERROR', problems: [{ cause: RangeError }], cause: RangeError })
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

t.test(
  'an apiDir that is not there: only a path from the working directory is to be given in another way',
  async (t) => {
    const top = writeTree(t, {})
    const adviceFor = async (apiDir: string | URL): Promise<string | undefined> =>
      createApp({ apiDir, mode: 'test' }).then(
        () => undefined,
        (error: BootError) => error.problems[0]?.fix
      )
    t.equal(await adviceFor(pathToFileURL(join(top, 'api'))), 'Create it, or build the program first')
    t.match(
      await adviceFor('no-such-folder'),
      /^Create it, .* working directory .*new URL\('\.\/api', import\.meta\.url\)$/
    )
  }
)

const CIRCLE: Record<string, unknown> = {}
CIRCLE.self = CIRCLE

const OPTIONS: { rule: string; options: object; message: RegExp }[] = [
  { rule: 'apiDir is wanted', options: {}, message: /apiDir of createApp must be a directory.*it is undefined/ },
  { rule: 'apiDir is no number', options: { apiDir: 5 }, message: /apiDir of createApp must be.*it is 5/ },
  { rule: 'apiDir is not empty', options: { apiDir: '' }, message: /apiDir/ },
  { rule: 'apiDir is no http URL', options: { apiDir: new URL('http://localhost/api') }, message: /apiDir .*file URL/ },
  {
    rule: 'baseRoute is a text',
    options: { apiDir: 'api', baseRoute: null },
    message: /baseRoute of createApp must be a path.*null/
  },
  {
    rule: 'host is not empty',
    options: { apiDir: 'api', host: '' },
    message: /option host of createApp must be a host name or address.*it is ""/
  },
  {
    rule: 'bodyLimit is no BigInt',
    options: { apiDir: 'api', bodyLimit: 1n },
    message: /bodyLimit of createApp must be .*it is a bigint/
  },
  {
    rule: 'handlerTimeout is a number',
    options: { apiDir: 'api', handlerTimeout: NaN },
    message: /handlerTimeout of createApp must be .*it is NaN/
  },
  {
    rule: 'mode is no symbol',
    options: { apiDir: 'api', mode: Symbol('test') },
    message: /mode of createApp must be a word.*it is a symbol/
  },
  {
    rule: 'bodyParser is no circle',
    options: { apiDir: 'api', bodyParser: CIRCLE },
    message: /bodyParser of createApp must be.*it is an object/
  },
  {
    rule: 'port is no function',
    options: { apiDir: 'api', port: () => 1 },
    message: /port of createApp must be.*it is a function/
  },
  {
    rule: 'an option has its own name',
    options: { apiDir: 'api', bodylimit: 1 },
    message: /createApp has no option bodylimit; .*fastifyOptions/
  },
  {
    rule: 'expressOptions has no field of another name',
    options: { apiDir: 'api', expressOptions: { cors: {} } },
    message: /expressOptions of createApp has no field cors; its fields are enableCors/
  },
  {
    rule: 'middleware is no list',
    options: { apiDir: 'api', middleware: [] },
    message: /middleware of createApp must be a map.*it is \[\]/
  }
]
for (const { rule, options, message } of OPTIONS) {
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
  ['/a*b', /"\*"/],
  ['GET /api', /names a method.*Write "\/api": route files export one function per method/s]
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
