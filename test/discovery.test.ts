import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import Fastify from 'fastify'
import t from 'tap'
import express from 'express'
import { ApiError, BootError, createApp, describeRoutes, type App } from 'twinroute'
import { loadManifest } from '../dist/fastify/load-manifest.js'
import { toFastify, formatPattern, parsePath } from '../dist/patterns/pattern.js'
import { echo, echoTree, writeTree, type Tree } from './support/route-tree.js'

interface Test {
  teardown(end: () => unknown): void
}

async function appOf(t: Test, tree: Tree, options: { baseRoute?: string; mode?: string } = {}): Promise<App> {
  const app = await createApp({ apiDir: join(writeTree(t, tree), 'api'), mode: 'test', ...options })
  t.teardown(() => app.close())
  return app
}

type Params = Record<string, string | string[]>
type Ask = readonly [target: string, place: string | number, params?: Params]
interface Row {
  rule: string
  folders: Readonly<Record<string, readonly string[]>> | readonly string[]
  /** `METHOD target`, or a target for GET; the route file that answers, or the status of the error; its parameters. */
  asks: readonly Ask[]
  baseRoute?: string
}

const ROWS: Row[] = [
  {
    rule: 'a file at the top is the base route itself',
    folders: ['', 'a'],
    asks: [
      ['/api', ''],
      ['/api/', ''],
      ['/api/a', 'a'],
      ['/', 404],
      ['/a', 404]
    ]
  },
  {
    rule: 'a base route of / stands for none',
    folders: ['', 'a', '[id]/x'],
    baseRoute: '/',
    asks: [
      ['/', ''],
      ['/a', 'a'],
      ['/7/x', '[id]/x', { id: '7' }]
    ]
  },
  {
    rule: 'a base route may have several segments, parameters among them, and a slash at the end',
    folders: ['users/[id]'],
    baseRoute: '/[tenant]/v1/',
    asks: [['/acme/v1/users/7', 'users/[id]', { tenant: 'acme', id: '7' }]]
  },
  {
    rule: 'two levels may name one parameter differently when the paths differ',
    folders: ['things/[id]', 'things/[thingId]/items', 'items/[item_id]/details', 'items/[parent_item_id]/purge'],
    asks: [
      ['/api/things/foo', 'things/[id]', { id: 'foo' }],
      ['/api/things/foo/items', 'things/[thingId]/items', { thingId: 'foo' }],
      ['/api/items/1/details', 'items/[item_id]/details', { item_id: '1' }],
      ['/api/items/1/purge', 'items/[parent_item_id]/purge', { parent_item_id: '1' }]
    ]
  },
  {
    rule: 'parameters at the same depths with different lengths do not hide each other',
    folders: ['[owner]/[repo]/[pkg]', '[owner]/[repo]/[org]/[pkg]'],
    asks: [
      ['/api/a/b/c', '[owner]/[repo]/[pkg]', { owner: 'a', repo: 'b', pkg: 'c' }],
      ['/api/a/b/c/d', '[owner]/[repo]/[org]/[pkg]', { owner: 'a', repo: 'b', org: 'c', pkg: 'd' }]
    ]
  },
  {
    rule: 'a static name wins over a parameter, and keeps its own methods',
    folders: { 'resource/[id]': ['GET'], 'resource/batch': ['POST'] },
    asks: [
      ['POST /api/resource/batch', 'resource/batch', {}],
      ['GET /api/resource/batch', 405],
      ['/api/resource/other', 'resource/[id]', { id: 'other' }]
    ]
  },
  {
    rule: 'the path decides before the method: never a weaker route for a method that the best one lacks',
    folders: { 'users/me': ['GET'], 'users/[id]': ['GET', 'DELETE'], '[...rest]': ['PUT'] },
    asks: [
      ['DELETE /api/users/me', 405],
      ['DELETE /api/users/7', 'users/[id]', { id: '7' }],
      ['PUT /api/users/7', 405],
      ['PUT /api/users/7/x', '[...rest]', { rest: ['users', '7', 'x'] }]
    ]
  },
  {
    rule: 'a static name beside a parameter is no conflict',
    folders: ['bar', '[foo]'],
    asks: [
      ['/api/bar', 'bar'],
      ['/api/foo', '[foo]', { foo: 'foo' }]
    ]
  },
  {
    rule: 'a rest parameter at the top hides nothing',
    folders: ['[...all]', 'page/web', 'page/[id]'],
    asks: [
      ['/api/page/web', 'page/web'],
      ['/api/page/7', 'page/[id]', { id: '7' }],
      ['/api/page/7/x', '[...all]', { all: ['page', '7', 'x'] }],
      ['/api/other', '[...all]', { all: ['other'] }],
      ['/api', 404]
    ]
  },
  {
    rule: 'the left-most static name wins',
    folders: ['[a]/b/c', 'a/[b]/[c]'],
    asks: [
      ['/api/a/b/c', 'a/[b]/[c]', { b: 'b', c: 'c' }],
      ['/api/x/b/c', '[a]/b/c', { a: 'x' }]
    ]
  },
  {
    rule: 'a path that fails further down goes back to the next best',
    folders: ['a/b/c', '[x]/b/d', '[x]/[y]/e'],
    asks: [
      ['/api/a/b/d', '[x]/b/d', { x: 'a' }],
      ['/api/a/b/e', '[x]/[y]/e', { x: 'a', y: 'b' }]
    ]
  },
  {
    rule: 'a rest parameter wants a segment, an optional one does not',
    folders: ['hello/[...name]', 'bye/[[...name]]'],
    asks: [
      ['/api/hello', 404],
      ['/api/hello/', 404],
      ['/api/hello/a', 'hello/[...name]', { name: ['a'] }],
      ['/api/hello/a/b', 'hello/[...name]', { name: ['a', 'b'] }],
      ['/api/bye', 'bye/[[...name]]', { name: [] }],
      ['/api/bye/a/b', 'bye/[[...name]]', { name: ['a', 'b'] }]
    ]
  },
  {
    rule: 'an optional rest at the top takes everything that is left',
    folders: ['[[...all]]', 'a'],
    asks: [
      ['/api', '[[...all]]', { all: [] }],
      ['/api/a', 'a'],
      ['/api/b/c', '[[...all]]', { all: ['b', 'c'] }]
    ]
  },
  {
    rule: 'an encoded slash stays inside its value',
    folders: ['one/[id]', 'all/[...path]'],
    asks: [
      ['/api/one/a%2Fb', 'one/[id]', { id: 'a/b' }],
      ['/api/one/a/b', 404],
      ['/api/all/a/b%2Fc', 'all/[...path]', { path: ['a', 'b/c'] }]
    ]
  },
  {
    rule: 'values are decoded exactly once',
    folders: ['q/[text]', 'all/[...path]'],
    asks: [
      ['/api/q/100%25awesome', 'q/[text]', { text: '100%awesome' }],
      ['/api/q/a%252Fb', 'q/[text]', { text: 'a%2Fb' }],
      ['/api/q/%25', 'q/[text]', { text: '%' }],
      ['/api/q/something%20with', 'q/[text]', { text: 'something with' }],
      ['/api/q/caf%C3%A9', 'q/[text]', { text: 'caf\u00e9' }],
      ['/api/q/a+b;c=d,e', 'q/[text]', { text: 'a+b;c=d,e' }],
      [`/api/q/${'x'.repeat(1000)}`, 'q/[text]', { text: 'x'.repeat(1000) }],
      ['/api/all/100%25/a%252Fb', 'all/[...path]', { path: ['100%', 'a%2Fb'] }],
      ['/api/q/%', 400],
      ['/api/q/%zz', 400],
      ['/api/q/%E0%A4', 400]
    ]
  },
  {
    rule: 'an empty parameter never matches',
    folders: { 'users/[id]': ['GET', 'DELETE'], '[a]/x': ['GET'], '[a]-[b]': ['GET'], '[c].json': ['GET'] },
    asks: [
      ['DELETE /api/users/', 404],
      ['/api//x', 404],
      ['/api/-b', 404],
      ['/api/a-', 404],
      ['/api/.json', 404]
    ]
  },
  {
    rule: 'parameter names may hold what the router would cut',
    folders: [
      'a/[user-id]',
      'b/[user.id]/[x-y]',
      'c/[n\u00e4me]',
      'd/[a(b)]',
      'e/[_0]/[x-y]',
      'f/[toString]',
      'g/[...path-to]'
    ],
    asks: [
      ['/api/a/42', 'a/[user-id]', { 'user-id': '42' }],
      ['/api/a/42-id', 'a/[user-id]', { 'user-id': '42-id' }],
      ['/api/b/1/2', 'b/[user.id]/[x-y]', { 'user.id': '1', 'x-y': '2' }],
      ['/api/c/1', 'c/[n\u00e4me]', { 'n\u00e4me': '1' }],
      ['/api/d/1', 'd/[a(b)]', { 'a(b)': '1' }],
      ['/api/e/1/2', 'e/[_0]/[x-y]', { _0: '1', 'x-y': '2' }],
      ['/api/f/1', 'f/[toString]', { toString: '1' }],
      ['/api/g/1/2', 'g/[...path-to]', { 'path-to': ['1', '2'] }]
    ]
  },
  {
    rule: 'a colon after the first letter of a folder name is a colon',
    folders: ['a:b', 'x:[id]', '[a]:[b]/z', 'v1:get'],
    asks: [
      ['/api/a:b', 'a:b'],
      ['/api/axyz', 404],
      ['/api/x:7', 'x:[id]', { id: '7' }],
      ['/api/1:2/z', '[a]:[b]/z', { a: '1', b: '2' }],
      ['/api/v1:get', 'v1:get']
    ]
  },
  {
    rule: 'a segment may mix text and parameters',
    folders: ['[code]', '[code].png', 'hello-[name]', '[from]-to-[until]', 'v[major].[minor]', '[id](draft)', '[n]x'],
    asks: [
      ['/api/x', '[code]', { code: 'x' }],
      ['/api/x.png', '[code].png', { code: 'x' }],
      ['/api/x.y.png', '[code].png', { code: 'x.y' }],
      ['/api/xpng', '[code]', { code: 'xpng' }],
      ['/api/hello-world', 'hello-[name]', { name: 'world' }],
      ['/api/hello-', '[code]', { code: 'hello-' }],
      ['/api/a-to-b', '[from]-to-[until]', { from: 'a', until: 'b' }],
      ['/api/v1.2', 'v[major].[minor]', { major: '1', minor: '2' }],
      ['/api/7(draft)', '[id](draft)', { id: '7' }],
      ['/api/7x', '[n]x', { n: '7' }]
    ]
  },
  {
    rule: 'text after a parameter is compared as it stands, and taken from the end',
    folders: ['img/[id].jpg', 'img/[id].tar.gz', 'img/[id].gz', 'range/[a]-[b]'],
    asks: [
      ['/api/img/12346-fr.jpg', 'img/[id].jpg', { id: '12346-fr' }],
      ['/api/img/1.jpg.jpg', 'img/[id].jpg', { id: '1.jpg' }],
      ['/api/img/1xjpg', 404],
      ['/api/img/1.tar.gz', 'img/[id].tar.gz', { id: '1' }],
      ['/api/img/1.gz', 'img/[id].gz', { id: '1' }],
      ['/api/range/x-y-z', 'range/[a]-[b]', { a: 'x-y', b: 'z' }]
    ]
  },
  {
    rule: 'a mixed segment stands before a parameter and after a name, wherever text begins',
    folders: ['f/report.csv', 'f/[name].csv', 'f/[name]', 'f/re[x]'],
    asks: [
      ['/api/f/report.csv', 'f/report.csv'],
      ['/api/f/other.csv', 'f/[name].csv', { name: 'other' }],
      ['/api/f/rest', 'f/re[x]', { x: 'st' }],
      ['/api/f/x', 'f/[name]', { name: 'x' }]
    ]
  },
  {
    rule: 'groups order the folders and leave the path alone',
    folders: ['(shop)/cart', '(shop)/(inner)/items/[id]', '(site)/about'],
    asks: [
      ['/api/cart', '(shop)/cart'],
      ['/api/items/7', '(shop)/(inner)/items/[id]', { id: '7' }],
      ['/api/about', '(site)/about'],
      ['/api/(shop)/cart', 404]
    ]
  },
  {
    rule: 'names may hold spaces, points and other writing, encoded by the client',
    folders: ['my files', 'v1.2', 'x_y-z~', '\u65e5\u672c', '.well-known/security'],
    asks: [
      ['/api/my%20files', 'my files'],
      ['/api/v1.2', 'v1.2'],
      ['/api/x_y-z~', 'x_y-z~'],
      ['/api/%E6%97%A5%E6%9C%AC', '\u65e5\u672c'],
      ['/api/.well-known/security', '.well-known/security']
    ]
  },
  {
    rule: 'a folder in decomposed Unicode serves the composed address',
    folders: ['cafe\u0301'],
    asks: [['/api/caf%C3%A9', 'cafe\u0301']]
  },
  {
    rule: 'upper and lower case are different names',
    folders: ['Users', 'users'],
    asks: [
      ['/api/Users', 'Users'],
      ['/api/users', 'users'],
      ['/api/USERS', 404]
    ]
  },
  {
    rule: 'slashes are not collapsed, and a semicolon is a character',
    folders: ['a/b'],
    asks: [
      ['//api/a/b', 404],
      ['/api/a//b', 404],
      ['/api/a/b//', 404],
      ['/api/a;x/b', 404]
    ]
  }
]

function treeOf(folders: Row['folders']): Tree {
  if (!Array.isArray(folders)) return echoTree(folders as Record<string, readonly string[]>)
  return echoTree(Object.fromEntries((folders as readonly string[]).map((folder) => [folder, ['GET']])))
}

for (const { rule, folders, asks, baseRoute = '/api' } of ROWS) {
  t.test(rule, async (t) => {
    const app = await appOf(t, treeOf(folders), { baseRoute })
    for (const [ask, place, params = {}] of asks) {
      const [method, url] = ask.includes(' ') ? (ask.split(' ') as [string, string]) : ['GET', ask]
      const answer = await app.inject({ method: method as 'GET', url })
      if (typeof place === 'number') t.equal(answer.statusCode, place, ask)
      else t.strictSame(answer.json(), { place, params }, ask)
    }
  })
}

const METHODS: [exported: string[], method: string, status: number, allow: string | undefined][] = [
  [['GET'], 'POST', 405, 'GET, HEAD, OPTIONS'],
  [['GET'], 'OPTIONS', 204, 'GET, HEAD, OPTIONS'],
  [['GET'], 'HEAD', 200, undefined],
  [['POST'], 'OPTIONS', 204, 'OPTIONS, POST'],
  [['POST'], 'GET', 405, 'OPTIONS, POST'],
  [['POST'], 'HEAD', 405, 'OPTIONS, POST'],
  [['GET', 'PUT', 'DELETE'], 'PATCH', 405, 'DELETE, GET, HEAD, OPTIONS, PUT']
]
for (const [exported, method, status, allow] of METHODS) {
  t.test(`a file with ${exported.join(' and ')} answers ${method} with ${status}`, async (t) => {
    const app = await appOf(t, echoTree({ a: exported }))
    const { statusCode, headers } = await app.inject({ method: method as 'GET', url: '/api/a' })
    t.strictSame([statusCode, headers['allow']], [status, allow])
  })
}

t.test('only files named route are served; what is near is warned of', async (t) => {
  const text = echo('x')
  const app = await appOf(t, {
    'api/a/route.js': echo('a'),
    'api/a/route.test.js': 'throw new Error("a test was loaded")',
    'api/a/route.spec.ts': 'throw new Error("a test was loaded")',
    'api/a/route.d.ts': 'export declare const x: 1',
    'api/a/route.js.map': '{}',
    'api/a/helper.js': 'throw new Error("a helper was loaded")',
    'api/b/Route.js': text,
    'api/c/routes.ts': text,
    'api/d/route.tsx': text,
    'api/e/[id].ts': text,
    'api/e/[...rest].mjs': text,
    'api/e/[id].test.ts': 'throw new Error("a test was loaded")',
    'api/e/route.get.ts': text,
    'api/e/route.DELETE.js': text,
    'api/e/route.schema.ts': 'throw new Error("a colocated module was loaded")',
    'api/hello.ts': echo('hello'),
    'api/deep/er/list.mjs': 'export const POST = () => 1',
    'api/deep/er/store.js': 'export const notes = []',
    'api/a/colocated.js': echo('a colocated module with a handler'),
    'api/_private/route.js': text,
    'api/a/_private/route.js': text,
    'api/__tests__/route.js': text,
    'api/.hidden/route.js': text,
    'api/node_modules/pkg/route.js': text,
    'api/any%name*/at[all/x.js': ''
  })
  const { routes, warnings } = describeRoutes(app)
  t.strictSame(
    routes.map(({ pattern }) => pattern),
    ['/api/a']
  )
  t.match(
    warnings.map(({ code, message }) => `${code} ${message}`),
    [
      /ROUTE_FILE_NAME .*hello\.ts exports GET but is not served: move it to hello\/route\.ts/,
      /ROUTE_FILE_NAME .*b\/Route\.js/,
      /ROUTE_FILE_NAME .*c\/routes\.ts/,
      /ROUTE_FILE_NAME .*d\/route\.tsx/,
      /ROUTE_FILE_NAME .*deep\/er\/list\.mjs exports POST but is not served: move it to list\/route\.mjs/,
      /ROUTE_FILE_NAME .*e\/\[\.\.\.rest\]\.mjs is not served: move it to \[\.\.\.rest\]\/route\.ts/,
      /ROUTE_FILE_NAME .*e\/\[id\]\.ts is not served: move it to \[id\]\/route\.ts/,
      /ROUTE_FILE_NAME .*e\/route\.DELETE\.js is not served: export DELETE from route\.ts/,
      /ROUTE_FILE_NAME .*e\/route\.get\.ts is not served: export GET from route\.ts/
    ]
  )
})

t.test('links to folders and files are followed, links that lead back are not', async (t) => {
  const app = await appOf(t, {
    'api/a/route.js': echo('a'),
    'elsewhere/x/route.js': echo('x'),
    'elsewhere/one.js': echo('one'),
    'api/linked': { link: 'elsewhere' },
    'api/again': { link: 'elsewhere/x' },
    'api/file/route.js': { link: 'elsewhere/one.js' },
    'api/a/up': { link: 'api' },
    'api/b/self': { link: 'api/b' }
  })
  const { routes, warnings } = describeRoutes(app)
  t.strictSame(
    routes.map(({ pattern }) => pattern),
    ['/api/a', '/api/again', '/api/file', '/api/linked/x']
  )
  t.match(
    warnings.map(({ code, message }) => `${code} ${message}`),
    [/ROUTE_LINK_LOOP .*a\/up/, /ROUTE_LINK_LOOP .*b\/self/]
  )
  t.equal((await app.inject('/api/linked/x')).json().place, 'x')
})

t.test('the places of the middleware file: in apiDir, or beside it, in any of its forms', async (t) => {
  const source = `export const middleware = { '/api/': [(request, response, next) => { response.set('x-ran', 'yes'); next() }] }`
  const forms = [
    'middleware.js',
    'middleware.mjs',
    'middleware.ts',
    'middleware.mts',
    'api/middleware.js',
    'api/middleware.ts'
  ]
  const other = {
    'api/a/route.js': echo('a'),
    'middleware.d.ts': '',
    'middleware.test.js': '',
    'api/a/middleware.js': ''
  }
  const commonJs = source.replace('export const middleware', 'exports.middleware')
  for (const [file, text] of [...forms.map((form) => [form, source] as const), ['middleware.cjs', commonJs] as const]) {
    const app = await appOf(t, { ...other, [file]: text })
    t.equal((await app.inject('/api/a')).headers['x-ran'], 'yes', file)
  }
  const none = await appOf(t, { ...other, 'middleware/index.js': source })
  t.equal((await none.inject('/api/a')).headers['x-ran'], undefined, 'a folder of that name is none')
})

t.test('route files come in every module form', async (t) => {
  const typed = echo('typed').replaceAll('(request)', '(request: { params: unknown })')
  const common = `const type = 1; module.exports = { GET: (request) => ({ place: 'common', params: request.params }) }`
  const app = await appOf(t, {
    'api/js/route.js': echo('js'),
    'api/mjs/route.mjs': echo('mjs'),
    'api/cjs/route.cjs': common,
    'api/ts/route.ts': `type Color = 'red'\n${typed}export const _color: Color = 'red'`,
    'api/mts/route.mts': typed,
    'api/cts/route.cts': common.replace('type = 1', 'type: number = 1')
  })
  for (const [form, place] of Object.entries({
    js: 'js',
    mjs: 'mjs',
    cjs: 'common',
    ts: 'typed',
    mts: 'typed',
    cts: 'common'
  })) {
    t.equal((await app.inject(`/api/${form}`)).json().place, place, form)
  }
})

t.test('TypeScript route files share one instance of each module, and the packages of the program', async (t) => {
  const route = `
    import { store } from '../../store.js'
    import express from 'express'
    import { ApiError } from 'twinroute'
    export const _seen: unknown = { store, express, ApiError }
    export const GET = (): object => ({})`
  const top = writeTree(t, {
    'store.ts': 'export const store: object = {}\nawait new Promise((done) => setImmediate(done))',
    'api/a/route.ts': route,
    'api/b/route.ts': route,
    'api/c/route.ts': route,
    'middleware.ts': `import { store } from './store.js'\nimport { createMiddleware } from 'twinroute'
      export const _store: object = store\nexport const middleware = createMiddleware({ '/api/x': [] })`
  })
  const { loadModules } = await import('../dist/discovery/load-module.js')
  const files = ['api/a/route.ts', 'api/b/route.ts', 'api/c/route.ts', 'middleware.ts'].map((file) => join(top, file))
  const loaded = [...(await loadModules(files)).values()].map((one) =>
    'exports' in one ? one.exports : { error: one.error }
  )
  const [a, b, c, middleware] = loaded as any[]
  t.equal(a._seen.store, b._seen.store)
  t.equal(b._seen.store, c._seen.store)
  t.equal(c._seen.store, middleware._store)
  t.equal(a._seen.express, express)
  t.equal(a._seen.ApiError, ApiError)
})

t.test('production serves TypeScript sources, and warns once', async (t) => {
  const tree = { 'api/a/route.ts': echo('a'), 'api/b/route.ts': echo('b'), 'api/c/route.js': echo('c') }
  const production = await appOf(t, tree, { mode: 'production' })
  t.equal((await production.inject('/api/a')).json().place, 'a')
  t.match(describeRoutes(production).warnings, [
    { code: 'ROUTE_TYPESCRIPT_IN_PRODUCTION', message: /^2 TypeScript files/ }
  ])
  const development = await appOf(t, tree, { mode: 'development' })
  t.strictSame(describeRoutes(development).warnings, [])
})

t.test('private exports stay private, and config and middleware come with the methods', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js': `export const GET = () => ({}), HEAD = GET, _helper = 1
      export const config = { bodyLimit: 10, timeout: 0, bodyParser: false }
      export const middleware = { GET: [] }`
  })
  const { routes } = await loadManifest({ apiDir: join(top, 'api'), baseRoute: '/api', mode: 'test' })
  t.match(routes, [{ pattern: '/api/a', module: { config: { bodyLimit: 10, timeout: 0, bodyParser: false } } }])
  t.strictSame(Object.keys(routes[0]?.module.handlers ?? {}), ['GET', 'HEAD'])
})

t.test('routes are listed from the most to the least specific, the same on every machine', async (t) => {
  const folders = [
    'b',
    'a',
    'a/[id]',
    'a/[id].tar.gz',
    'a/[id].gz',
    'a/x',
    'a/x/y',
    'c/[...rest]',
    'c/d',
    'e/[[...rest]]',
    '[z]',
    '(g)/aa'
  ]
  const app = await appOf(t, treeOf(folders))
  t.strictSame(
    describeRoutes(app).routes.map(({ pattern }) => pattern.slice('/api/'.length)),
    [
      'a',
      'a/x',
      'a/x/y',
      'a/[id].tar.gz',
      'a/[id].gz',
      'a/[id]',
      'aa',
      'b',
      'c/d',
      'c/[...rest]',
      'e/[[...rest]]',
      '[z]'
    ]
  )
})

t.test('a thousand route files are found, each at its place', async (t) => {
  const folders = Array.from({ length: 1000 }, (_, i) => `group${i % 7}/[a${i % 7}]/route${i}`)
  const app = await appOf(t, treeOf(folders))
  t.equal(describeRoutes(app).routes.length, 1000)
  t.strictSame((await app.inject('/api/group4/x/route999')).statusCode, 404)
  t.strictSame((await app.inject('/api/group5/x/route999')).json(), {
    place: 'group5/[a5]/route999',
    params: { a5: 'x' }
  })
})

// Every pattern means to Fastify's router what it means on disk; the router is asked by itself.
t.test('mixed segments take time in proportion to what they are asked, whatever it is', async (t) => {
  const parsed = parsePath('/[a]-[b]-[c]-[d].[e]')
  if (!('segments' in parsed)) throw new Error(parsed.wrong)
  const app = Fastify({ routerOptions: { maxParamLength: 1024 } })
  t.teardown(() => app.close())
  const { paths, params } = toFastify(parsed.segments)
  for (const path of paths) app.get(path, (request) => request.params)
  t.equal(formatPattern(parsed.segments), '/[a]-[b]-[c]-[d].[e]')
  t.strictSame(
    params.map(({ name }) => name),
    ['a', 'b', 'c', 'd', 'e']
  )
  t.strictSame((await app.inject('/1-2-3-4-5.6')).json(), { a: '1-2', b: '3', c: '4', d: '5', e: '6' })
  for (const text of ['-'.repeat(4000), 'a-'.repeat(2000), '.-'.repeat(2000), `${'-a'.repeat(2000)}.`]) {
    t.equal((await app.inject(`/${text}`)).statusCode, 404)
  }
})

t.test('a file that is mended is found right at the next boot of a program', async (t) => {
  const top = writeTree(t, { 'api/a/route.js': 'export const get = 1' })
  const apiDir = join(top, 'api')
  await t.rejects(createApp({ apiDir, mode: 'test' }), BootError)
  writeFileSync(join(apiDir, 'a/route.mjs'), echo('a'))
  const error = await createApp({ apiDir, mode: 'test' }).catch((error: unknown) => error as BootError)
  t.match(error, { problems: [{ code: 'ROUTE_FILE_TWICE' }] })
  t.strictSame(
    (error as BootError).problems[0]?.files.map((file) => relative(top, file)),
    ['api/a/route.js', 'api/a/route.mjs']
  )
})
