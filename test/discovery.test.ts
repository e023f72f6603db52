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
type Ask = { target: string; place: string | number; params?: Params }
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
      { target: '/api', place: '' },
      { target: '/api/', place: '' },
      { target: '/api/a', place: 'a' },
      { target: '/', place: 404 },
      { target: '/a', place: 404 }
    ]
  },
  {
    rule: 'a base route of / stands for none',
    folders: ['', 'a', '[id]/x'],
    baseRoute: '/',
    asks: [
      { target: '/', place: '' },
      { target: '/a', place: 'a' },
      { target: '/7/x', place: '[id]/x', params: { id: '7' } }
    ]
  },
  {
    rule: 'a base route may have several segments, parameters among them, and a slash at the end',
    folders: ['users/[id]'],
    baseRoute: '/[tenant]/v1/',
    asks: [{ target: '/acme/v1/users/7', place: 'users/[id]', params: { tenant: 'acme', id: '7' } }]
  },
  {
    rule: 'two levels may name one parameter differently when the paths differ',
    folders: ['things/[id]', 'things/[thingId]/items', 'items/[item_id]/details', 'items/[parent_item_id]/purge'],
    asks: [
      { target: '/api/things/foo', place: 'things/[id]', params: { id: 'foo' } },
      { target: '/api/things/foo/items', place: 'things/[thingId]/items', params: { thingId: 'foo' } },
      { target: '/api/items/1/details', place: 'items/[item_id]/details', params: { item_id: '1' } },
      { target: '/api/items/1/purge', place: 'items/[parent_item_id]/purge', params: { parent_item_id: '1' } }
    ]
  },
  {
    rule: 'parameters at the same depths with different lengths do not hide each other',
    folders: ['[owner]/[repo]/[pkg]', '[owner]/[repo]/[org]/[pkg]'],
    asks: [
      { target: '/api/a/b/c', place: '[owner]/[repo]/[pkg]', params: { owner: 'a', repo: 'b', pkg: 'c' } },
      {
        target: '/api/a/b/c/d',
        place: '[owner]/[repo]/[org]/[pkg]',
        params: { owner: 'a', repo: 'b', org: 'c', pkg: 'd' }
      }
    ]
  },
  {
    rule: 'a static name wins over a parameter, and keeps its own methods',
    folders: { 'resource/[id]': ['GET'], 'resource/batch': ['POST'] },
    asks: [
      { target: 'POST /api/resource/batch', place: 'resource/batch', params: {} },
      { target: 'GET /api/resource/batch', place: 405 },
      { target: '/api/resource/other', place: 'resource/[id]', params: { id: 'other' } }
    ]
  },
  {
    rule: 'the path decides before the method: never a weaker route for a method that the best one lacks',
    folders: { 'users/me': ['GET'], 'users/[id]': ['GET', 'DELETE'], '[...rest]': ['PUT'] },
    asks: [
      { target: 'DELETE /api/users/me', place: 405 },
      { target: 'DELETE /api/users/7', place: 'users/[id]', params: { id: '7' } },
      { target: 'PUT /api/users/7', place: 405 },
      { target: 'PUT /api/users/7/x', place: '[...rest]', params: { rest: ['users', '7', 'x'] } }
    ]
  },
  {
    rule: 'a static name beside a parameter is no conflict',
    folders: ['bar', '[foo]'],
    asks: [
      { target: '/api/bar', place: 'bar' },
      { target: '/api/foo', place: '[foo]', params: { foo: 'foo' } }
    ]
  },
  {
    rule: 'a rest parameter at the top hides nothing',
    folders: ['[...all]', 'page/web', 'page/[id]'],
    asks: [
      { target: '/api/page/web', place: 'page/web' },
      { target: '/api/page/7', place: 'page/[id]', params: { id: '7' } },
      { target: '/api/page/7/x', place: '[...all]', params: { all: ['page', '7', 'x'] } },
      { target: '/api/other', place: '[...all]', params: { all: ['other'] } },
      { target: '/api', place: 404 }
    ]
  },
  {
    rule: 'the left-most static name wins',
    folders: ['[a]/b/c', 'a/[b]/[c]'],
    asks: [
      { target: '/api/a/b/c', place: 'a/[b]/[c]', params: { b: 'b', c: 'c' } },
      { target: '/api/x/b/c', place: '[a]/b/c', params: { a: 'x' } }
    ]
  },
  {
    rule: 'a path that fails further down goes back to the next best',
    folders: ['a/b/c', '[x]/b/d', '[x]/[y]/e'],
    asks: [
      { target: '/api/a/b/d', place: '[x]/b/d', params: { x: 'a' } },
      { target: '/api/a/b/e', place: '[x]/[y]/e', params: { x: 'a', y: 'b' } }
    ]
  },
  {
    rule: 'a rest parameter wants a segment, an optional one does not',
    folders: ['hello/[...name]', 'bye/[[...name]]'],
    asks: [
      { target: '/api/hello', place: 404 },
      { target: '/api/hello/', place: 404 },
      { target: '/api/hello/a', place: 'hello/[...name]', params: { name: ['a'] } },
      { target: '/api/hello/a/b', place: 'hello/[...name]', params: { name: ['a', 'b'] } },
      { target: '/api/bye', place: 'bye/[[...name]]', params: { name: [] } },
      { target: '/api/bye/a/b', place: 'bye/[[...name]]', params: { name: ['a', 'b'] } }
    ]
  },
  {
    rule: 'an optional rest at the top takes everything that is left',
    folders: ['[[...all]]', 'a'],
    asks: [
      { target: '/api', place: '[[...all]]', params: { all: [] } },
      { target: '/api/a', place: 'a' },
      { target: '/api/b/c', place: '[[...all]]', params: { all: ['b', 'c'] } }
    ]
  },
  {
    rule: 'an encoded slash stays inside its value',
    folders: ['one/[id]', 'all/[...path]'],
    asks: [
      { target: '/api/one/a%2Fb', place: 'one/[id]', params: { id: 'a/b' } },
      { target: '/api/one/a/b', place: 404 },
      { target: '/api/all/a/b%2Fc', place: 'all/[...path]', params: { path: ['a', 'b/c'] } }
    ]
  },
  {
    rule: 'values are decoded exactly once',
    folders: ['q/[text]', 'all/[...path]'],
    asks: [
      { target: '/api/q/100%25awesome', place: 'q/[text]', params: { text: '100%awesome' } },
      { target: '/api/q/a%252Fb', place: 'q/[text]', params: { text: 'a%2Fb' } },
      { target: '/api/q/%25', place: 'q/[text]', params: { text: '%' } },
      { target: '/api/q/something%20with', place: 'q/[text]', params: { text: 'something with' } },
      { target: '/api/q/caf%C3%A9', place: 'q/[text]', params: { text: 'caf\u00e9' } },
      { target: '/api/q/a+b;c=d,e', place: 'q/[text]', params: { text: 'a+b;c=d,e' } },
      { target: `/api/q/${'x'.repeat(1000)}`, place: 'q/[text]', params: { text: 'x'.repeat(1000) } },
      { target: '/api/all/100%25/a%252Fb', place: 'all/[...path]', params: { path: ['100%', 'a%2Fb'] } },
      { target: '/api/q/%', place: 400 },
      { target: '/api/q/%zz', place: 400 },
      { target: '/api/q/%E0%A4', place: 400 }
    ]
  },
  {
    rule: 'an empty parameter never matches',
    folders: { 'users/[id]': ['GET', 'DELETE'], '[a]/x': ['GET'], '[a]-[b]': ['GET'], '[c].json': ['GET'] },
    asks: [
      { target: 'DELETE /api/users/', place: 404 },
      { target: '/api//x', place: 404 },
      { target: '/api/-b', place: 404 },
      { target: '/api/a-', place: 404 },
      { target: '/api/.json', place: 404 }
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
      { target: '/api/a/42', place: 'a/[user-id]', params: { 'user-id': '42' } },
      { target: '/api/a/42-id', place: 'a/[user-id]', params: { 'user-id': '42-id' } },
      { target: '/api/b/1/2', place: 'b/[user.id]/[x-y]', params: { 'user.id': '1', 'x-y': '2' } },
      { target: '/api/c/1', place: 'c/[n\u00e4me]', params: { 'n\u00e4me': '1' } },
      { target: '/api/d/1', place: 'd/[a(b)]', params: { 'a(b)': '1' } },
      { target: '/api/e/1/2', place: 'e/[_0]/[x-y]', params: { _0: '1', 'x-y': '2' } },
      { target: '/api/f/1', place: 'f/[toString]', params: { toString: '1' } },
      { target: '/api/g/1/2', place: 'g/[...path-to]', params: { 'path-to': ['1', '2'] } }
    ]
  },
  {
    rule: 'a colon after the first letter of a folder name is a colon',
    folders: ['a:b', 'x:[id]', '[a]:[b]/z', 'v1:get'],
    asks: [
      { target: '/api/a:b', place: 'a:b' },
      { target: '/api/axyz', place: 404 },
      { target: '/api/x:7', place: 'x:[id]', params: { id: '7' } },
      { target: '/api/1:2/z', place: '[a]:[b]/z', params: { a: '1', b: '2' } },
      { target: '/api/v1:get', place: 'v1:get' }
    ]
  },
  {
    rule: 'a segment may mix text and parameters',
    folders: ['[code]', '[code].png', 'hello-[name]', '[from]-to-[until]', 'v[major].[minor]', '[id](draft)', '[n]x'],
    asks: [
      { target: '/api/x', place: '[code]', params: { code: 'x' } },
      { target: '/api/x.png', place: '[code].png', params: { code: 'x' } },
      { target: '/api/x.y.png', place: '[code].png', params: { code: 'x.y' } },
      { target: '/api/xpng', place: '[code]', params: { code: 'xpng' } },
      { target: '/api/hello-world', place: 'hello-[name]', params: { name: 'world' } },
      { target: '/api/hello-', place: '[code]', params: { code: 'hello-' } },
      { target: '/api/a-to-b', place: '[from]-to-[until]', params: { from: 'a', until: 'b' } },
      { target: '/api/v1.2', place: 'v[major].[minor]', params: { major: '1', minor: '2' } },
      { target: '/api/7(draft)', place: '[id](draft)', params: { id: '7' } },
      { target: '/api/7x', place: '[n]x', params: { n: '7' } }
    ]
  },
  {
    rule: 'text after a parameter is compared as it stands, and taken from the end',
    folders: ['img/[id].jpg', 'img/[id].tar.gz', 'img/[id].gz', 'range/[a]-[b]'],
    asks: [
      { target: '/api/img/12346-fr.jpg', place: 'img/[id].jpg', params: { id: '12346-fr' } },
      { target: '/api/img/1.jpg.jpg', place: 'img/[id].jpg', params: { id: '1.jpg' } },
      { target: '/api/img/1xjpg', place: 404 },
      { target: '/api/img/1.tar.gz', place: 'img/[id].tar.gz', params: { id: '1' } },
      { target: '/api/img/1.gz', place: 'img/[id].gz', params: { id: '1' } },
      { target: '/api/range/x-y-z', place: 'range/[a]-[b]', params: { a: 'x-y', b: 'z' } }
    ]
  },
  {
    rule: 'a mixed segment stands before a parameter and after a name, wherever text begins',
    folders: ['f/report.csv', 'f/[name].csv', 'f/[name]', 'f/re[x]'],
    asks: [
      { target: '/api/f/report.csv', place: 'f/report.csv' },
      { target: '/api/f/other.csv', place: 'f/[name].csv', params: { name: 'other' } },
      { target: '/api/f/rest', place: 'f/re[x]', params: { x: 'st' } },
      { target: '/api/f/x', place: 'f/[name]', params: { name: 'x' } }
    ]
  },
  {
    rule: 'groups order the folders and leave the path alone',
    folders: ['(shop)/cart', '(shop)/(inner)/items/[id]', '(site)/about'],
    asks: [
      { target: '/api/cart', place: '(shop)/cart' },
      { target: '/api/items/7', place: '(shop)/(inner)/items/[id]', params: { id: '7' } },
      { target: '/api/about', place: '(site)/about' },
      { target: '/api/(shop)/cart', place: 404 }
    ]
  },
  {
    rule: 'names may hold spaces, points and other writing, encoded by the client',
    folders: ['my files', 'v1.2', 'x_y-z~', '\u65e5\u672c', '.well-known/security'],
    asks: [
      { target: '/api/my%20files', place: 'my files' },
      { target: '/api/v1.2', place: 'v1.2' },
      { target: '/api/x_y-z~', place: 'x_y-z~' },
      { target: '/api/%E6%97%A5%E6%9C%AC', place: '\u65e5\u672c' },
      { target: '/api/.well-known/security', place: '.well-known/security' }
    ]
  },
  {
    rule: 'a folder in decomposed Unicode serves the composed address',
    folders: ['cafe\u0301'],
    asks: [{ target: '/api/caf%C3%A9', place: 'cafe\u0301' }]
  },
  {
    rule: 'upper and lower case are different names',
    folders: ['Users', 'users'],
    asks: [
      { target: '/api/Users', place: 'Users' },
      { target: '/api/users', place: 'users' },
      { target: '/api/USERS', place: 404 }
    ]
  },
  {
    rule: 'slashes are not collapsed, and a semicolon is a character',
    folders: ['a/b'],
    asks: [
      { target: '//api/a/b', place: 404 },
      { target: '/api/a//b', place: 404 },
      { target: '/api/a/b//', place: 404 },
      { target: '/api/a;x/b', place: 404 }
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
    for (const { target: ask, place, params = {} } of asks) {
      const [method, url] = ask.includes(' ') ? (ask.split(' ') as [string, string]) : ['GET', ask]
      const answer = await app.inject({ method: method as 'GET', url })
      if (typeof place === 'number') t.equal(answer.statusCode, place, ask)
      else t.strictSame(answer.json(), { place, params }, ask)
    }
  })
}

const METHODS: { exported: string[]; method: string; status: number; allow: string | undefined }[] = [
  { exported: ['GET'], method: 'POST', status: 405, allow: 'GET, HEAD, OPTIONS' },
  { exported: ['GET'], method: 'OPTIONS', status: 204, allow: 'GET, HEAD, OPTIONS' },
  { exported: ['GET'], method: 'HEAD', status: 200, allow: undefined },
  { exported: ['POST'], method: 'OPTIONS', status: 204, allow: 'OPTIONS, POST' },
  { exported: ['POST'], method: 'GET', status: 405, allow: 'OPTIONS, POST' },
  { exported: ['POST'], method: 'HEAD', status: 405, allow: 'OPTIONS, POST' },
  { exported: ['GET', 'PUT', 'DELETE'], method: 'PATCH', status: 405, allow: 'DELETE, GET, HEAD, OPTIONS, PUT' }
]
for (const { exported, method, status, allow } of METHODS) {
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
