import { AsyncLocalStorage } from 'node:async_hooks'
import { join, relative } from 'node:path'
import { connect, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import {
  createApp,
  createMiddleware,
  describeRoutes,
  fileRoutes,
  type Middleware,
  type MiddlewareMap,
  type Request,
  type Response
} from 'twinroute'
import { createBinder, type Binder } from '../dist/middleware/bind.js'
import { parseMiddlewareMap } from '../dist/middleware/map.js'
import { composeChain, type ChainOptions, type LateNext } from '../dist/middleware/run-chain.js'
import { matchesParts, parseFastifyPath } from '../dist/patterns/pattern.js'
import { echoTree, writeTree, type Tree } from './support/route-tree.js'
import { cpuOf } from './support/work.js'

/** Middleware that notes its name in the answer's `x-ran` header and goes on. */
function mark(name: string): Middleware {
  const middleware: Middleware = (_request, response, next) => {
    response.append('x-ran', name)
    next()
  }
  Object.defineProperty(middleware, 'name', { value: name })
  return middleware
}

/** `{ '/api/': 'a b' }` as a map of marks; an empty text is an empty array. */
function marks(map: Readonly<Record<string, string>>): MiddlewareMap {
  const lists = Object.entries(map).map(([key, names]) => [key, names.split(' ').filter(Boolean).map(mark)] as const)
  return createMiddleware(Object.fromEntries(lists))
}

function binderOf(map: Readonly<Record<string, string>>): Binder {
  return createBinder(parseMiddlewareMap(marks(map)).entries, { caseSensitive: true })
}

type Ask = { target: string; ran: string; place: string | number }
interface Row {
  rule: string
  folders: readonly string[]
  map: Readonly<Record<string, string>>
  /** Target, names of the middleware that ran, and the route file that answered or the status of the error. */
  asks: readonly Ask[]
}

const ROWS: Row[] = [
  {
    rule: 'a prefix covers itself and what is below, never a longer name',
    folders: ['admin', 'admin/stats', 'administrator', 'admin-x', 'adm'],
    map: { '/api/admin/': 'guard' },
    asks: [
      { target: '/api/admin', ran: 'guard', place: 'admin' },
      { target: '/api/admin/', ran: 'guard', place: 'admin' },
      { target: '/api/admin/stats', ran: 'guard', place: 'admin/stats' },
      { target: '/api/admin/stats?x=/api/adm', ran: 'guard', place: 'admin/stats' },
      { target: '/api/administrator', ran: '', place: 'administrator' },
      { target: '/api/admin-x', ran: '', place: 'admin-x' },
      { target: '/api/adm', ran: '', place: 'adm' }
    ]
  },
  {
    rule: 'a key covers the same without a slash at its end',
    folders: ['admin', 'admin/stats', 'administrator'],
    map: { '/api/admin': 'guard' },
    asks: [
      { target: '/api/admin', ran: 'guard', place: 'admin' },
      { target: '/api/admin/stats', ran: 'guard', place: 'admin/stats' },
      { target: '/api/administrator', ran: '', place: 'administrator' }
    ]
  },
  {
    rule: 'the key / covers everything',
    folders: ['', 'a'],
    map: { '/': 'all' },
    asks: [
      { target: '/api', ran: 'all', place: '' },
      { target: '/api/a', ran: 'all', place: 'a' },
      { target: '/elsewhere', ran: 'all', place: 404 }
    ]
  },
  {
    rule: 'all prefixes that cover a route run, the shortest first, whatever order they are written in',
    folders: ['a/b/c'],
    map: { '/api/a/b/': 'third fourth', '/api/a/b/c': 'fifth', '/api/': 'first', '/api/a': 'second' },
    asks: [{ target: '/api/a/b/c', ran: 'first, second, third, fourth, fifth', place: 'a/b/c' }]
  },
  {
    rule: 'an empty array makes its prefix public, and only that',
    folders: ['auth/login', 'authors', 'users'],
    map: { '/api/': 'guard', '/api/auth/': '' },
    asks: [
      { target: '/api/auth/login', ran: '', place: 'auth/login' },
      { target: '/api/authors', ran: 'guard', place: 'authors' },
      { target: '/api/users', ran: 'guard', place: 'users' }
    ]
  },
  {
    rule: 'what a longer key asks for below a public prefix still runs',
    folders: ['auth/login', 'auth/sessions/all'],
    map: { '/api/': 'guard', '/api/auth/': '', '/api/auth/sessions': 'admin' },
    asks: [
      { target: '/api/auth/login', ran: '', place: 'auth/login' },
      { target: '/api/auth/sessions/all', ran: 'admin', place: 'auth/sessions/all' }
    ]
  },
  {
    rule: 'a key may hold a parameter, which takes any value',
    folders: ['users/[id]/files', 'users/me/files', 'users/[id]'],
    map: { '/api/users/[userId]/files': 'guard' },
    asks: [
      { target: '/api/users/7/files', ran: 'guard', place: 'users/[id]/files' },
      { target: '/api/users/me/files', ran: 'guard', place: 'users/me/files' },
      { target: '/api/users/7', ran: '', place: 'users/[id]' }
    ]
  },
  {
    rule: 'of two keys of one length the one with a parameter counts as the broader',
    folders: ['health', 'users'],
    map: { '/api/health': '', '/api/[section]': 'guard' },
    asks: [
      { target: '/api/health', ran: '', place: 'health' },
      { target: '/api/users', ran: 'guard', place: 'users' }
    ]
  },
  {
    rule: 'a key may hold a mixed segment',
    folders: ['[id].json', '[id]'],
    map: { '/api/[name].json': 'guard' },
    asks: [
      { target: '/api/a.json', ran: 'guard', place: '[id].json' },
      { target: '/api/a', ran: '', place: '[id]' }
    ]
  },
  {
    rule: 'a parameter in the place of a guarded name runs the guard when its value equals it',
    folders: ['[section]/stats', '[section]', 'admin/other'],
    map: { '/api/admin/': 'guard' },
    asks: [
      { target: '/api/admin/stats', ran: 'guard', place: '[section]/stats' },
      { target: '/api/%61dmin/stats', ran: 'guard', place: '[section]/stats' },
      { target: '/api/admin', ran: 'guard', place: '[section]' },
      { target: '/api/users/stats', ran: '', place: '[section]/stats' },
      { target: '/api/ADMIN/stats', ran: '', place: '[section]/stats' },
      { target: '/api/admin%20/stats', ran: '', place: '[section]/stats' },
      { target: '/api/administrator', ran: '', place: '[section]' }
    ]
  },
  {
    rule: 'a parameter in the place of the second of two guarded names is compared alone',
    folders: ['v1/[section]/[page]'],
    map: { '/api/v1/admin/users': 'guard', '/api/v2/admin': 'other' },
    asks: [
      { target: '/api/v1/admin/users', ran: 'guard', place: 'v1/[section]/[page]' },
      { target: '/api/v1/admin/posts', ran: '', place: 'v1/[section]/[page]' },
      { target: '/api/v1/x/users', ran: '', place: 'v1/[section]/[page]' }
    ]
  },
  {
    rule: 'a parameter with an awkward name is compared too',
    folders: ['[my-section.name]/stats'],
    map: { '/api/admin/': 'guard' },
    asks: [
      { target: '/api/admin/stats', ran: 'guard', place: '[my-section.name]/stats' },
      { target: '/api/users/stats', ran: '', place: '[my-section.name]/stats' }
    ]
  },
  {
    rule: 'a mixed segment is compared whole',
    folders: ['a[x]n/stats', '[y].json'],
    map: { '/api/admin/': 'guard', '/api/data.json': 'file', '/api/never': 'never' },
    asks: [
      { target: '/api/admin/stats', ran: 'guard', place: 'a[x]n/stats' },
      { target: '/api/adn/stats', ran: '', place: 'a[x]n/stats' },
      { target: '/api/data.json', ran: 'file', place: '[y].json' },
      { target: '/api/date.json', ran: '', place: '[y].json' }
    ]
  },
  {
    rule: 'a rest parameter is compared segment by segment',
    folders: ['[...path]'],
    map: { '/api/admin/': 'guard', '/api/docs/private': 'docs', '/api/users/[id]/files': 'files' },
    asks: [
      { target: '/api/admin', ran: 'guard', place: '[...path]' },
      { target: '/api/admin/x/y', ran: 'guard', place: '[...path]' },
      { target: '/api/%61dmin/x', ran: 'guard', place: '[...path]' },
      { target: '/api/x/admin', ran: '', place: '[...path]' },
      { target: '/api/docs/public/private', ran: '', place: '[...path]' },
      { target: '/api/docs/private/x', ran: 'docs', place: '[...path]' },
      { target: '/api/users/7/files', ran: 'files', place: '[...path]' },
      { target: '/api/users/7', ran: '', place: '[...path]' },
      { target: '/api/admin%2Fx', ran: '', place: 404 },
      { target: '/api/x%2Fy', ran: '', place: 404 }
    ]
  },
  {
    rule: 'an optional rest parameter is compared where it has a value',
    folders: ['docs/[[...path]]'],
    map: { '/api/docs/private': 'guard' },
    asks: [
      { target: '/api/docs', ran: '', place: 'docs/[[...path]]' },
      { target: '/api/docs/private/x', ran: 'guard', place: 'docs/[[...path]]' },
      { target: '/api/docs/open', ran: '', place: 'docs/[[...path]]' }
    ]
  },
  {
    rule: 'a public key opens no route that only might stand there: the guard keeps running',
    folders: ['[section]'],
    map: { '/api/': 'guard', '/api/health': '' },
    asks: [
      { target: '/api/health', ran: 'guard', place: '[section]' },
      { target: '/api/users', ran: 'guard', place: '[section]' }
    ]
  },
  {
    rule: 'a path that no route matches runs the chain of its prefix first',
    folders: ['admin/stats', 'auth/login', 'users'],
    map: { '/api/': 'guard', '/api/admin/': 'admin', '/api/auth/': '' },
    asks: [
      { target: '/api/nothing', ran: 'guard', place: 404 },
      { target: '/api/admin', ran: 'guard, admin', place: 404 },
      { target: '/api/admin/nothing', ran: 'guard, admin', place: 404 },
      { target: '/api/%61dmin/nothing', ran: 'guard, admin', place: 404 },
      { target: '/api/admin//stats', ran: 'guard, admin', place: 404 },
      { target: '/api/administrator', ran: 'guard', place: 404 },
      { target: '/api/auth/nothing', ran: '', place: 404 },
      { target: '/elsewhere', ran: '', place: 404 }
    ]
  },
  {
    rule: 'an unmatched path runs all prefixes that cover it, those with parameters too',
    folders: ['x'],
    map: { '/api/admin/': 'admin', '/api/[section]/settings': 'settings', '/api/[section]/open': '' },
    asks: [
      { target: '/api/admin/settings/x', ran: 'admin, settings', place: 404 },
      { target: '/api/users/settings/x', ran: 'settings', place: 404 },
      { target: '/api/users/other', ran: '', place: 404 },
      { target: '/api/admin/other', ran: 'admin', place: 404 }
    ]
  },
  {
    rule: 'other spellings of a guarded path are other paths',
    folders: ['admin/stats', 'health'],
    map: { '/api/admin/': 'guard' },
    asks: [
      { target: '//api/admin/stats', ran: '', place: 404 },
      { target: '/api//admin/stats', ran: '', place: 404 },
      { target: '/API/admin/stats', ran: '', place: 404 },
      { target: '/api/ADMIN/stats', ran: '', place: 404 },
      { target: '/api/health/../admin/stats', ran: '', place: 404 },
      { target: '/api/health/%2e%2e/admin/stats', ran: '', place: 404 },
      { target: '/api/./admin/stats', ran: '', place: 404 },
      { target: '/api/%2E/admin/stats', ran: '', place: 404 },
      { target: '/api/auth/..;/admin/stats', ran: '', place: 404 },
      { target: '/api/admin/stats/.', ran: 'guard', place: 404 },
      { target: 'http://localhost/api/admin/stats', ran: '', place: 400 },
      { target: 'http://localhost/api/health', ran: '', place: 400 },
      { target: '/api/%2561dmin/stats', ran: '', place: 404 },
      { target: '/api%2Fadmin%2Fstats', ran: '', place: 404 },
      { target: '/api/admin%2Fstats', ran: '', place: 404 },
      { target: '/api/%61dmin/stats', ran: 'guard', place: 'admin/stats' }
    ]
  },
  {
    rule: 'groups are no part of a path, and so of no key',
    folders: ['(internal)/admin/stats'],
    map: { '/api/admin/': 'guard' },
    asks: [{ target: '/api/admin/stats', ran: 'guard', place: '(internal)/admin/stats' }]
  },
  {
    rule: 'a prefix with a route file nowhere but below is guarded there',
    folders: ['admin/a/b/dashboard'],
    map: { '/api/admin/': 'guard' },
    asks: [{ target: '/api/admin/a/b/dashboard', ran: 'guard', place: 'admin/a/b/dashboard' }]
  },
  {
    rule: 'siblings and parents of a prefix stay untouched',
    folders: ['', 'admin', 'users'],
    map: { '/api/admin/': 'guard' },
    asks: [
      { target: '/api', ran: '', place: '' },
      { target: '/api/users', ran: '', place: 'users' },
      { target: '/api/admin', ran: 'guard', place: 'admin' }
    ]
  },
  {
    rule: 'a key in another Unicode spelling covers the same',
    folders: ['caf\u00e9/x'],
    map: { '/api/cafe\u0301': 'guard' },
    asks: [{ target: '/api/caf%C3%A9/x', ran: 'guard', place: 'caf\u00e9/x' }]
  }
]

function treeOf(folders: readonly string[]): Tree {
  return echoTree(Object.fromEntries(folders.map((folder) => [folder, ['GET']])))
}

/** Written to a socket as it stands: clients and `inject` would resolve dots and put hosts right. */
function askRaw(app: FastifyInstance, target: string): Promise<{ ran: string; place: unknown }> {
  const { port } = app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    })
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    socket.on('error', reject).on('end', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const status = Number(head.slice(9, 12))
      const ran = [...head.matchAll(/^x-ran: (.*)$/gim)].map(([, names = '']) => names.trim()).join(', ')
      resolve({ ran, place: status === 200 ? JSON.parse(body).place : status })
    })
  })
}

for (const { rule, folders, map, asks } of ROWS) {
  t.test(rule, async (t) => {
    const apiDir = join(writeTree(t, treeOf(folders)), 'api')
    const app = await createApp({ apiDir, mode: 'test', middleware: marks(map) })
    t.teardown(() => app.close())
    await app.listen({ port: 0, host: '127.0.0.1' })
    for (const { target, ran, place } of asks) t.strictSame(await askRaw(app, target), { ran, place }, target)
  })
}

t.test('the binding holds on a host whose router is loose', async (t) => {
  const apiDir = join(writeTree(t, treeOf(['admin/stats', '[section]/stats', 'users'])), 'api')
  const loose = {
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    useSemicolonDelimiter: true
  }
  const app = Fastify({ routerOptions: loose } as FastifyServerOptions)
  t.teardown(() => app.close())
  await app.register(fileRoutes, { apiDir, mode: 'test', middleware: marks({ '/api/Admin/': 'guard' }) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const asks: readonly Ask[] = [
    { target: '/api/admin/stats', ran: 'guard', place: 'admin/stats' },
    { target: '/API/ADMIN/STATS', ran: 'guard', place: 'admin/stats' },
    { target: '//api//admin///stats/', ran: 'guard', place: 'admin/stats' },
    { target: '/api/admin/stats;a=1/../..', ran: 'guard', place: 'admin/stats' },
    { target: '/api/admin%2Fstats', ran: '', place: 404 },
    { target: '/api/aDmin/nothing', ran: 'guard', place: 404 },
    { target: '/api/aDmin;a=1/stats', ran: 'guard', place: 404 },
    { target: '/api/users/stats', ran: '', place: '[section]/stats' },
    { target: '/api/users', ran: '', place: 'users' }
  ]
  for (const { target, ran, place } of asks) t.strictSame(await askRaw(app, target), { ran, place }, target)
})

t.test("keys leave a plugin's prefix out, and baseUrl holds it", async (t) => {
  const apiDir = join(writeTree(t, treeOf(['admin/stats'])), 'api')
  const app = Fastify()
  t.teardown(() => app.close())
  const seen: unknown[] = []
  const look: Middleware = (request, _response, next) => {
    seen.push([request.baseUrl, request.url, request.originalUrl])
    next()
  }
  await app.register(fileRoutes, { prefix: '/v1', apiDir, mode: 'test', middleware: { '/api/admin/': [look] } })
  t.equal((await app.inject('/v1/api/admin/stats?a=1')).json().place, 'admin/stats')
  t.strictSame(seen, [['/v1/api/admin', '/stats?a=1', '/v1/api/admin/stats?a=1']])
})

t.test("a route's own middleware runs after the prefixes', by method where it says so", async (t) => {
  const route = `
    const mark = (name) => (request, response, next) => { response.append('x-ran', name); next() }
    export const GET = () => ({}), POST = GET, PUT = GET`
  const top = writeTree(t, {
    'api/all/route.js': `${route}\nexport const middleware = [mark('own'), mark('second')]`,
    'api/by/route.js': `${route}\nexport const middleware = { GET: [mark('get')], POST: [mark('post')] }`,
    'api/head/route.js': `${route}
      export const HEAD = (request, response) => { response.end() }
      export const middleware = { GET: [mark('get')], HEAD: [mark('head')] }`
  })
  const app = await createApp({ apiDir: join(top, 'api'), mode: 'test', middleware: marks({ '/api/': 'prefix' }) })
  t.teardown(() => app.close())
  const rows = [
    { method: 'GET', url: '/api/all', ran: 'prefix, own, second' },
    { method: 'PUT', url: '/api/all', ran: 'prefix, own, second' },
    { method: 'GET', url: '/api/by', ran: 'prefix, get' },
    { method: 'HEAD', url: '/api/by', ran: 'prefix, get' },
    { method: 'POST', url: '/api/by', ran: 'prefix, post' },
    { method: 'PUT', url: '/api/by', ran: 'prefix' },
    { method: 'HEAD', url: '/api/head', ran: 'prefix, head' },
    { method: 'DELETE', url: '/api/by', ran: 'prefix' }
  ] as const
  for (const { method, url, ran } of rows) {
    const { headers } = await app.inject({ method, url })
    t.equal([headers['x-ran']].flat().join(', '), ran, `${method} ${url}`)
  }
})

t.test('a map key is compared with routes of plugins in the syntax of the router', async (t) => {
  const binder = binderOf({ '/graphql': 'graphql', '/api/admin': 'admin', '/files/private': 'files' })
  const rows = [
    ['/graphql', ['/graphql']],
    ['/graphql/', ['/graphql']],
    ['/graphql/health', ['/graphql']],
    ['/graphql/:id(a/b)/*', ['/graphql']],
    ['/graphqlx', []],
    ['/api/:section', ['/api/admin by value']],
    ['/api/:section?', ['/api/admin by rest']],
    ['/api/:section(^[a-z]+$)/x', ['/api/admin by rest']],
    ['/api/:a-:b', ['/api/admin by value']],
    ['/api/:a:b', ['/api/admin by value']],
    ['/api/ad::min', ['/api/admin by value']],
    ['/:one', ['/graphql by value']],
    ['/files/:a/:b?', ['/files/private by value']],
    ['/files/a*', ['/files/private by rest']],
    ['/files//private', ['/files/private by rest']],
    ['/files/*', ['/files/private by rest']],
    ['/other/*', []],
    ['*', ['/graphql by rest', '/files/private by rest', '/api/admin by rest']]
  ] as const
  for (const [path, steps] of rows) {
    const chain = binder.chainFor(parseFastifyPath(path))
    const told = chain.steps.map((step) => `${step.prefix}${step.conditional ? ` by ${step.conditional}` : ''}`)
    t.strictSame(told, steps, path)
  }
})

t.test('a segment of several parameters is matched as an expression would, in any way it can be split', async () => {
  const literal = fc.constantFrom('-', '--', '.', 'a', 'aa', 'a-', '-a').map((literal) => ({ literal }))
  const value = fc.array(fc.constant({ name: 'p' }), { minLength: 1, maxLength: 2 })
  const pieces = fc.array(fc.tuple(value, literal), { maxLength: 4 })
  const parts = fc
    .tuple(fc.option(literal), pieces, fc.option(value))
    .map(([first, middle, last]) => [...(first ? [first] : []), ...middle.flat(2), ...(last ?? [])])
  const segment = fc.array(fc.constantFrom('-', '.', 'a', '\n'), { maxLength: 9 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(parts, segment, (parts, text) => {
      const source = parts.map((part) => ('literal' in part ? part.literal.replaceAll('.', '\\.') : '.+')).join('')
      return matchesParts(parts, text) === new RegExp(`^${source}$`, 's').test(text)
    }),
    { seed: 11, numRuns: 20_000 }
  )
})

t.test('a long segment below a key of several parameters takes no longer than any other', async (t) => {
  const folders = ['files/[name]', 'named/[a]-[b]-[c]-[d]', 'rest/[...path]']
  const map = marks({
    '/api/files/[a]-[b]-[c]-[d]x': 'key',
    '/api/rest/[a]-[b].[c]-[d]x': 'below',
    '/api/named/[a]--[b]--[c]--[d]x': 'beside'
  })
  const apiDir = join(writeTree(t, treeOf(folders)), 'api')
  const app = await createApp({ apiDir, middleware: map, mode: 'test' })
  t.teardown(() => app.close())
  for (const path of ['files', 'named', 'rest', 'nowhere']) {
    for (const unit of ['-', '-.', 'a-', '%2D']) {
      const target = `/api/${path}/${unit.repeat(990 / unit.length)}`
      let status = 0
      const cpu = await cpuOf(async () => (status = (await app.inject(target)).statusCode))
      t.ok(cpu < 1000, `${path}, ${unit}: ${cpu} ms of CPU`)
      if (path === 'files') t.equal(status, 200, 'the value has reached the key')
    }
  }
})

t.test('the report names every hole, every odd key and every parameter beside a guarded name', async (t) => {
  const top = writeTree(t, {
    ...treeOf(['admin/stats', 'auth/login', 'health', 'open/x', '[section]/stats', 'Users']),
    'api/own/route.js': 'export const GET = () => ({}), POST = GET, middleware = [function own() {}]',
    'api/half/route.js': 'export const GET = () => ({}), POST = GET, middleware = { POST: [function own() {}] }'
  })
  const map = {
    '/api/admin': 'guard',
    '/api/admin/stats': '',
    '/api/auth/': 'auth',
    '/api/health': '',
    '/api/users': 'users',
    '/nowhere': 'guard'
  }
  const app = await createApp({ apiDir: join(top, 'api'), mode: 'test', middleware: marks(map) })
  t.teardown(() => app.close())
  const report = describeRoutes(app)
  t.strictSame(
    report.holes.map(({ kind, path, inside }) => [kind, path, ...inside]),
    [
      ['prefix', '/api/admin/stats', '/api/admin'],
      ['route', '/api/Users'],
      ['route', '/api/half'],
      ['route', '/api/open/x'],
      ['route', '/api/[section]/stats']
    ]
  )
  t.strictSame(
    report.warnings.map(({ code, message }) => [code, /"[^"]*"|^\/\S+/.exec(message)?.[0]]),
    [
      ['MIDDLEWARE_KEY_UNUSED', '"/nowhere"'],
      ['MIDDLEWARE_KEY_CASE', '"/api/users"'],
      ['MIDDLEWARE_PARAM_SIBLING', '/api/[section]/stats']
    ]
  )
  t.strictSame(
    report.warnings.map(({ message }) => message),
    [
      'The key "/nowhere" of the middleware map matches no route',
      'The key "/api/users" of the middleware map covers nothing: /api/Users differs from it by case',
      '/api/[section]/stats can stand in for /api/users, /api/auth/, /api/admin: the middleware of the prefix runs where the value equals it'
    ],
    'each warning says what is wrong'
  )
  const rows = Object.fromEntries(report.routes.map((route) => [route.pattern, route]))
  t.match(rows['/api/admin/stats'], { methods: ['GET', 'HEAD'], public: true, publicBy: '/api/admin/stats' })
  t.match(rows['/api/auth/login'], { public: false, middleware: [{ prefix: '/api/auth/', names: ['auth'] }] })
  t.match(rows['/api/own'], { public: false, own: { GET: ['own'], HEAD: ['own'], POST: ['own'] } })
  t.match(rows['/api/half'], { public: true, own: { POST: ['own'] } })
  t.match(rows['/api/[section]/stats'], { public: true, middleware: [{ conditional: true }, {}, {}] })
})

t.test('a route that comes from no file is reported once, by the map that guards it', async (t) => {
  const apiDir = join(writeTree(t, treeOf(['users'])), 'api')
  const app = await createApp({ apiDir, mode: 'test', middleware: marks({ '/plain': 'guard' }) })
  t.teardown(() => app.close())
  await app.register(fileRoutes, { apiDir, mode: 'test', baseRoute: '/more', middleware: {} })
  app.get('/plain', async () => ({}))
  await app.ready()
  const { routes, holes } = describeRoutes(app)
  t.strictSame(
    routes.map((route) => [route.pattern, route.public]),
    [
      ['/api/users', true],
      ['/plain', false],
      ['/more/users', true]
    ]
  )
  t.notOk(holes.some(({ path }) => path === '/plain'))
})

t.test("an app's map guards all that is registered later: wildcards, parameters, a second fileRoutes", async (t) => {
  const apiDir = join(writeTree(t, treeOf(['users'])), 'api')
  const deny = (request: Request, response: Response): unknown =>
    response.status(401).json([request.baseUrl, request.url])
  const guarded = ['/files/private', '/kinds/secret', '/more/']
  const app = await createApp({
    apiDir,
    mode: 'test',
    middleware: createMiddleware(Object.fromEntries(guarded.map((prefix) => [prefix, [deny]])))
  })
  t.teardown(() => app.close())
  await app.register(fileRoutes, { apiDir, mode: 'test', baseRoute: '/more', middleware: {} })
  app.get('/files/*', async () => 'open')
  app.get('/kinds/:kind', async () => 'open')
  const rows = [
    { url: '/files/public', status: 200, body: 'open' },
    { url: '/files/other/private', status: 200, body: 'open' },
    { url: '/files/private', status: 401, body: '["/files/private","/"]' },
    { url: '/files/private/a%2Fb', status: 401, body: '["/files/private","/a%2Fb"]' },
    { url: '/files/%70rivate/a', status: 401, body: '["/files/private","/a"]' },
    { url: '/kinds/open', status: 200, body: 'open' },
    { url: '/kinds/secret', status: 401, body: '["/kinds/secret","/"]' },
    { url: '/kinds/s%65cret', status: 401, body: '["/kinds/secret","/"]' },
    { url: '/more/users', status: 401, body: '["/more","/users"]' },
    { url: '/more/nothing', status: 401, body: '["/more","/nothing"]' },
    { url: '/more', status: 401, body: '["/more","/"]' }
  ] as const
  for (const { url, status, body } of rows) {
    const answer = await app.inject(url)
    t.strictSame([answer.statusCode, answer.body], [status, body], url)
  }
  const { routes, warnings } = describeRoutes(app)
  t.match(
    routes.find(({ pattern }) => pattern === '/more/users'),
    { public: false, middleware: [{ prefix: '/more/', names: ['deny'] }] }
  )
  t.notOk(warnings.some(({ code }) => code === 'MIDDLEWARE_KEY_UNUSED'))
})

t.test('the report as text is a table with holes and warnings below', async (t) => {
  const apiDir = join(writeTree(t, treeOf(['admin', 'admin/open'])), 'api')
  const middleware = marks({ '/api/admin': 'authenticate log', '/api/admin/open': '', '/x': '' })
  const app = await createApp({ apiDir, mode: 'test', middleware })
  t.teardown(() => app.close())
  // Whichever is shorter is printed: the path, or the way there from the working directory.
  const text = describeRoutes(app).toString().replaceAll(apiDir, '').replaceAll(relative(process.cwd(), apiDir), '')
  t.equal(
    text,
    [
      'methods   path             middleware                     file',
      'GET HEAD  /api/admin       /api/admin: authenticate, log  /admin/route.js',
      'GET HEAD  /api/admin/open  public by /api/admin/open      /admin/open/route.js',
      '',
      'public inside a guarded prefix',
      '  /api/admin/open (inside /api/admin)',
      '',
      'warnings',
      '  The key "/x" of the middleware map matches no route (MIDDLEWARE_KEY_UNUSED)',
      ''
    ].join('\n')
  )
})

// The runner alone, with plain objects in the place of request and response.

interface Run {
  request: Request
  done: readonly unknown[]
  late: readonly LateNext[]
}

type StepOf = readonly [depth: number, ...middleware: readonly Middleware[]]

/** Runs the chain to its end: all that is asynchronous in these tests settles within one turn of the event loop. */
async function run(steps: readonly StepOf[], url = '/api/admin/x?a=1', more: Partial<ChainOptions> = {}): Promise<Run> {
  const late: LateNext[] = []
  const done: unknown[] = []
  const chain = { steps: steps.map(([depth, ...middleware]) => ({ prefix: `depth ${depth}`, depth, middleware })) }
  const runner = composeChain(chain, [], { onLateNext: (what) => late.push(what), ...more })
  const request = { url, baseUrl: '', params: {} } as Request
  runner?.(request, {} as Response, (...given) => done.push(given))
  await new Promise((resolve) => setImmediate(resolve))
  return { request, done, late }
}

const pass: Middleware = (_request, _response, next) => next()

t.test('an empty chain is no chain', async (t) => {
  t.equal(composeChain({ steps: [] }, []), null)
  t.equal(composeChain({ steps: [{ prefix: '/', depth: 0, middleware: [] }] }, []), null)
})

const PASSES: { rule: string; steps: readonly StepOf[]; done: readonly unknown[] }[] = [
  {
    rule: 'all pass',
    steps: [
      [0, pass, pass],
      [1, pass]
    ],
    done: [[]]
  },
  { rule: 'one answers and does not go on', steps: [[0, pass, () => {}, pass]], done: [] },
  {
    rule: 'next(error) ends it',
    steps: [[0, (_request, _response, next) => next('an error'), pass]],
    done: [['an error']]
  },
  {
    rule: 'a thrown error ends it',
    steps: [
      [
        0,
        () => {
          throw new RangeError('x')
        },
        pass
      ]
    ],
    done: [[new RangeError('x')]]
  },
  {
    rule: 'a rejection ends it',
    steps: [[0, () => Promise.reject(new RangeError('x')), pass]],
    done: [[new RangeError('x')]]
  },
  { rule: 'a rejection with undefined is an error', steps: [[0, () => Promise.reject(), pass]], done: [[Error]] },
  {
    rule: 'a throw of undefined is an error',
    steps: [
      [
        0,
        () => {
          throw undefined
        },
        pass
      ]
    ],
    done: [[Error]]
  },
  {
    rule: 'a throw of null is an error',
    steps: [
      [
        0,
        () => {
          throw null
        },
        pass
      ]
    ],
    done: [[Error]]
  },
  { rule: 'next(null) is none', steps: [[0, (_request, _response, next) => next(null), pass]], done: [[]] },
  {
    rule: 'an async middleware that calls next passes',
    steps: [[0, async (_q, _s, next) => next(), pass]],
    done: [[]]
  },
  { rule: 'a promise that resolves without next waits', steps: [[0, async () => {}, pass]], done: [] },
  {
    rule: "next('route') in a prefix passes on, as in Express",
    steps: [[0, (_q, _s, next) => next('route'), pass]],
    done: [[]]
  },
  {
    rule: "next('router') leaves the routes: 404",
    steps: [[0, (_q, _s, next) => next('router'), pass]],
    done: [[{ statusCode: 404 }]]
  }
]
for (const { rule, steps, done: expected } of PASSES) {
  t.test(`how a chain ends: ${rule}`, async (t) => {
    const { done } = await run(steps)
    t.equal(done.length, expected.length)
    t.match(done, expected)
  })
}

t.test("next('route') in a route's own middleware passes over the route: 404", async (t) => {
  const skip: Middleware = (_request, _response, next) => next('route')
  const given: unknown[] = []
  composeChain({ steps: [] }, [skip, pass])?.({ url: '/' } as Request, {} as Response, (...error) => given.push(error))
  t.match(given, [[{ statusCode: 404 }]])
})

t.test('a second next of one middleware does not pass another', async (t) => {
  let waiting = (): void => {}
  const ran: string[] = []
  const twice: Middleware = function twice(_request, _response, next) {
    next()
    next()
    setImmediate(next)
  }
  const guard: Middleware = (_request, _response, next) => {
    ran.push('guard')
    waiting = next
  }
  const { done, late } = await run([[1, twice, guard, (_q, _s, next) => (ran.push('after'), next())]])
  t.strictSame([ran, done], [['guard'], []], 'the guard has not let anybody pass')
  t.match(late, [{ middleware: 'twice', prefix: 'depth 1', error: undefined }, {}])
  waiting()
  t.strictSame([ran, done], [['guard', 'after'], [[]]])
})

t.test('an error after next is told, and does not reach the request', async (t) => {
  const throws: Middleware = (_request, _response, next) => {
    next()
    throw new RangeError('too late')
  }
  const rejects: Middleware = async (_request, _response, next) => {
    next()
    throw new RangeError('too late')
  }
  for (const middleware of [throws, rejects]) {
    const { done, late } = await run([[0, middleware]])
    t.strictSame(done, [[]])
    t.match(late, [{ error: { message: 'too late' } }])
  }
})

t.test('a middleware that has answered and calls next ends the chain', async (t) => {
  const isOver = (response: Response): boolean => 'flag' in response
  const rows = [
    { answered: { headersSent: true }, options: {}, ran: [] },
    { answered: { flag: true }, options: { isOver }, ran: [] },
    { answered: { headersSent: true }, options: { isOver }, ran: ['ran'] } // only begun
  ]
  for (const { answered, options, ran } of rows) {
    const given: unknown[] = []
    const respond: Middleware = (_request, response, next) => {
      Object.assign(response, answered)
      next()
    }
    const never: Middleware = () => given.push('ran')
    const runner = composeChain({ steps: [] }, [respond, never], options)
    runner?.({ url: '/' } as Request, {} as Response, (...error) => given.push(error))
    t.strictSame(given, ran)
  }
})

t.test('the continuation runs in the tick and the async context of next', async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const enter: Middleware = (_request, _response, next) => storage.run('context', next)
  const look: Middleware = (_request, _response, next) => {
    seen.push(storage.getStore())
    next()
  }
  let after = false
  composeChain({ steps: [] }, [enter, look])?.({ url: '/' } as Request, {} as Response, () => {
    seen.push(storage.getStore(), after)
  })
  after = true
  t.strictSame(seen, ['context', 'context', false])
})

const URLS: { url: string; depth: number; base: string; rest: string }[] = [
  { url: '/api/admin/x', depth: 2, base: '/api/admin', rest: '/x' },
  { url: '/api/%61dmin/x', depth: 2, base: '/api/%61dmin', rest: '/x' },
  { url: '/api/admin/x%2Fy/?q=/a/b', depth: 2, base: '/api/admin', rest: '/x%2Fy/?q=/a/b' },
  { url: '/api/admin', depth: 2, base: '/api/admin', rest: '/' },
  { url: '/api/admin/', depth: 2, base: '/api/admin', rest: '/' },
  { url: '/api/admin?a=1', depth: 2, base: '/api/admin', rest: '/?a=1' },
  { url: '/api/admin/?a=1', depth: 2, base: '/api/admin', rest: '/?a=1' },
  { url: '/api/admin?a=/b/c', depth: 3, base: '/api/admin', rest: '/?a=/b/c' },
  { url: '//api///admin//x', depth: 2, base: '//api///admin', rest: '//x' },
  { url: '/api/admin/x', depth: 0, base: '', rest: '/api/admin/x' },
  { url: 'http://host/api/admin/x', depth: 2, base: '', rest: 'http://host/api/admin/x' },
  { url: '*', depth: 1, base: '', rest: '*' }
]
for (const { url, depth, base, rest } of URLS) {
  t.test(`middleware of depth ${depth} sees its part of ${url}`, async (t) => {
    const seen: unknown[] = []
    const look: Middleware = (request, _response, next) => {
      seen.push({ base: request.baseUrl, rest: request.url, original: request.originalUrl ?? request.url })
      next()
    }
    const { request, done } = await run([[depth, look, look]], url)
    t.strictSame(seen, [
      { base, rest, original: url },
      { base, rest, original: url }
    ])
    t.strictSame([done, request.url, request.baseUrl], [[[]], url, ''], 'whole again for the handler')
  })
}

t.test('each prefix sees its own part, an error the whole url, and an originalUrl that is set stays', async (t) => {
  const seen: unknown[] = []
  const look: Middleware = (request, _response, next) => {
    seen.push([request.baseUrl, request.url, request.originalUrl])
    next()
  }
  const fail: Middleware = (_request, _response, next) => next('failed')
  const request = { url: '/a/b/c/d', baseUrl: '', originalUrl: '/before/rewrite', params: {} } as Request
  const steps = [1, 3].map((depth) => ({ prefix: String(depth), depth, middleware: [look] }))
  const chain = { steps: [...steps, { prefix: '2', depth: 2, middleware: [fail] }] }
  composeChain(chain, [])?.(request, {} as Response, (error) => seen.push([error, request.url, request.baseUrl]))
  t.strictSame(seen, [
    ['/a', '/b/c/d', '/before/rewrite'],
    ['/a/b/c', '/d', '/before/rewrite'],
    ['failed', '/a/b/c/d', '']
  ])
})

const REWRITES: { rule: string; steps: readonly StepOf[]; url: string }[] = [
  { rule: 'at depth 0', steps: [[0, rewrite('/new?b=2')]], url: '/new?b=2' },
  { rule: 'below a prefix', steps: [[2, rewrite('/new')]], url: '/api/admin/new' },
  {
    rule: 'below a prefix, with more to come',
    steps: [
      [2, rewrite('/new'), pass],
      [0, pass]
    ],
    url: '/api/admin/new'
  },
  {
    rule: 'twice',
    steps: [
      [1, rewrite('/one/x')],
      [2, rewrite('/two')]
    ],
    url: '/api/one/two'
  },
  {
    rule: 'to something shorter than the next prefix',
    steps: [
      [0, rewrite('/new')],
      [2, pass]
    ],
    url: '/new'
  },
  { rule: 'of the query', steps: [[2, rewrite('/x?a=2')]], url: '/api/admin/x?a=2' },
  { rule: 'that changes nothing', steps: [[2, rewrite('/x?a=1')]], url: '/api/admin/x?a=1' }
]
function rewrite(url: string): Middleware {
  return (request, _response, next) => {
    request.url = url
    next()
  }
}
for (const { rule, steps, url } of REWRITES) {
  t.test(`a rewritten url is kept: ${rule}`, async (t) => {
    const { request, done } = await run(steps)
    t.strictSame([request.url, request.baseUrl, done], [url, '', [[]]])
  })
}

t.test('no middleware can talk a conditional one out of running', async (t) => {
  const binder = binderOf({ '/api/': 'first', '/api/admin': 'guard' })
  const { steps } = binder.chainFor(parseFastifyPath('/api/:section'))
  const ran: string[] = []
  const noted = steps.map((step) => ({
    ...step,
    middleware: [
      ((request, _response, next) => {
        ran.push(step.prefix)
        request.url = '/elsewhere'
        request.params = {}
        next()
      }) satisfies Middleware
    ]
  }))
  const request = { url: '/api/admin', params: { section: 'admin' } } as Partial<Request> as Request
  composeChain({ steps: noted }, [], { covering: binder.covering })?.(request, {} as Response, () => {})
  t.strictSame(ran, ['/api/', '/api/admin'])
})

interface MatchRow {
  ask: string
  answer: 'handler' | 'options' | 'method-not-allowed' | 'not-found'
  pattern?: string
  /** The pattern of each other candidate, with the reason. */
  lost?: Record<string, string>
  runs?: string[]
  /** The status and, of a handler, the place that a request gets. */
  sent: (number | string)[]
}

const MATCHED = [
  'users/me',
  'users/[id]',
  'users/[id].json',
  'users/[id].tar.gz',
  'users/[id].gz',
  'files/[...path]',
  'docs/[[...path]]',
  'docs/[page]/edit'
]

const MATCHES: MatchRow[] = [
  {
    ask: 'GET /api/users/me',
    answer: 'handler',
    pattern: '/api/users/me',
    lost: { '/api/users/[id]': 'me (text) comes before [id] (parameter)' },
    runs: ['/api/users', '/api/users/me'],
    sent: [200, 'users/me']
  },
  {
    ask: 'DELETE /api/users/me',
    answer: 'method-not-allowed',
    pattern: '/api/users/me',
    lost: { '/api/users/[id]': 'me (text) comes before [id] (parameter)' },
    runs: ['/api/users', '/api/users/me'],
    sent: [405]
  },
  {
    ask: 'DELETE /api/users/7',
    answer: 'handler',
    pattern: '/api/users/[id]',
    runs: ['/api/users'],
    sent: [200, 'users/[id]']
  },
  {
    ask: 'GET /api/users/a.tar.gz?x=1',
    answer: 'handler',
    pattern: '/api/users/[id].tar.gz',
    lost: {
      '/api/users/[id].gz': '[id].tar.gz has more text than [id].gz',
      '/api/users/[id]': '[id].tar.gz (text with a parameter) comes before [id] (parameter)'
    },
    runs: ['/api/users'],
    sent: [200, 'users/[id].tar.gz']
  },
  { ask: 'OPTIONS /api/users/7', answer: 'options', pattern: '/api/users/[id]', runs: ['/api/users'], sent: [204] },
  { ask: 'HEAD /api/users/7', answer: 'handler', pattern: '/api/users/[id]', runs: ['/api/users'], sent: [200] },
  { ask: 'GET /api/files/a/b', answer: 'handler', pattern: '/api/files/[...path]', sent: [200, 'files/[...path]'] },
  { ask: 'GET /api/files', answer: 'not-found', sent: [404] },
  { ask: 'GET /api/docs/', answer: 'handler', pattern: '/api/docs/[[...path]]', sent: [200, 'docs/[[...path]]'] },
  {
    ask: 'GET /api/docs/x/edit',
    answer: 'handler',
    pattern: '/api/docs/[page]/edit',
    lost: { '/api/docs/[[...path]]': '[page] (parameter) comes before [[...path]] (optional catch-all)' },
    sent: [200, 'docs/[page]/edit']
  },
  { ask: 'GET /api/users/nothing/there', answer: 'not-found', runs: ['/api/users'], sent: [404] }
]

t.test(
  'a report says which route answers a request, what runs before it, and why the other candidates lose',
  async (t) => {
    const folders = MATCHED.map((folder) => [folder, folder === 'users/me' ? ['GET'] : ['GET', 'DELETE']] as const)
    const apiDir = join(writeTree(t, echoTree(Object.fromEntries(folders))), 'api')
    const middleware = marks({ '/api/users': 'users', '/api/users/me': 'me', '/api/other': 'other' })
    const app = await createApp({ apiDir, mode: 'test', middleware })
    t.teardown(() => app.close())
    const report = describeRoutes(app)
    for (const { ask, answer, pattern, lost = {}, runs = [], sent } of MATCHES) {
      const [method = '', url = ''] = ask.split(' ')
      const match = report.match(method, url)
      t.equal(match.answer, answer, ask)
      t.equal(match.route?.pattern, pattern, `${ask}: the route`)
      t.strictSame(
        Object.fromEntries(match.lost.map(({ route, reason }) => [route.pattern, reason])),
        lost,
        `${ask}: others`
      )
      t.strictSame(
        match.middleware.map(({ prefix }) => prefix),
        runs,
        `${ask}: what runs`
      )
      const real = await app.inject({ method: method as 'GET', url })
      const [status, place] = sent
      t.equal(real.statusCode, status, `${ask}: the answer itself`)
      if (place !== undefined) t.equal(real.json().place, place, `${ask}: the handler itself`)
    }
    const refused = report.match('DELETE', '/api/users/me')
    t.strictSame(refused.allow, ['GET', 'HEAD', 'OPTIONS'])
    t.strictSame(
      refused.lost.map(({ hasMethod }) => hasMethod),
      [true]
    )
  }
)

t.test('a middleware of a name runs where the value of a parameter equals it, and the report says so', async (t) => {
  const apiDir = join(writeTree(t, treeOf(['[section]/stats', 'admin'])), 'api')
  const app = await createApp({ apiDir, mode: 'test', middleware: marks({ '/api/admin': 'guard' }) })
  t.teardown(() => app.close())
  const report = describeRoutes(app)
  t.match(report.match('GET', '/api/admin/stats'), {
    route: { pattern: '/api/[section]/stats', publicMethods: ['GET', 'HEAD'] },
    middleware: [{ prefix: '/api/admin', names: ['guard'], conditional: false }]
  })
  t.strictSame(report.match('GET', '/api/shop/stats').middleware, [])
})

t.test('a match knows routes of plugins, prefixes of registrations, and the options of the router', async (t) => {
  const apiDir = join(writeTree(t, treeOf(['users/[id]'])), 'api')
  const routerOptions = { caseSensitive: false }
  const app = await createApp({ apiDir, mode: 'test', middleware: {}, fastifyOptions: { routerOptions } })
  t.teardown(() => app.close())
  app.get('/api/users/me', async () => ({}))
  await app.register(fileRoutes, { apiDir, mode: 'test', baseRoute: '/', prefix: '/v2', middleware: {} })
  await app.ready()
  const report = describeRoutes(app)
  t.match(report.match('GET', '/api/users/me'), {
    answer: 'handler',
    route: { pattern: '/api/users/me', file: undefined },
    lost: [{ route: { pattern: '/api/users/[id]' } }]
  })
  t.equal(report.match('POST', '/api/users/me').route?.pattern, '/api/users/[id]', 'the plugin has no POST')
  t.equal(report.match('GET', '/API/Users/7').route?.pattern, '/api/users/[id]')
  t.match(report.match('GET', '/v2/users/7'), { answer: 'handler', route: { pattern: '/v2/users/[id]' } })
  t.equal(report.match('GET', '/users/7').answer, 'not-found')
})

t.test(
  'the report of a registration with a prefix has the prefix in its paths, and sees what guards them',
  async (t) => {
    const apiDir = join(writeTree(t, treeOf(['admin/stats', 'users/[id]'])), 'api')
    const guard: Middleware = function guard(_request, _response, next) {
      next()
    }
    const own = { apiDir, mode: 'test', middleware: { '/api/users': [guard] } }
    const host = Fastify()
    t.teardown(() => host.close())
    await host.register(fileRoutes, { ...own, prefix: '/:tenant' })
    await host.register(fileRoutes, { ...own, prefix: '/root', baseRoute: '/', middleware: {} })
    await host.ready()
    const ofHost = describeRoutes(host)
    t.strictSame(
      ofHost.routes.map(({ pattern, public: isPublic }) => [pattern, isPublic]),
      [
        ['/[tenant]/api/admin/stats', true],
        ['/[tenant]/api/users/[id]', false],
        ['/root/admin/stats', true],
        ['/root/users/[id]', true]
      ]
    )
    t.match(ofHost.holes, [{ path: '/[tenant]/api/admin/stats', kind: 'route' }])
    t.match(String(ofHost), /^GET HEAD +\/\[tenant\]\/api\/users\/\[id\] +\/api\/users: guard /m)
    t.equal(ofHost.match('GET', '/acme/api/users/7').route?.pattern, '/[tenant]/api/users/[id]')

    const middleware = { '/v1/api/admin': [guard], '/api/admin': [guard] }
    const app = await createApp({ apiDir, mode: 'test', middleware })
    t.teardown(() => app.close())
    await app.register(fileRoutes, { ...own, prefix: '/v1' })
    await app.register(fileRoutes, { ...own, prefix: '/v2', middleware: {} })
    await app.ready()
    const { routes, holes, warnings } = describeRoutes(app)
    t.strictSame(
      routes.map((route) => [route.pattern, route.middleware.map(({ prefix }) => prefix), route.public]),
      [
        ['/api/admin/stats', ['/api/admin'], false],
        ['/api/users/[id]', [], true],
        ['/v1/api/admin/stats', ['/v1/api/admin'], false],
        ['/v1/api/users/[id]', ['/api/users'], false],
        ['/v2/api/admin/stats', [], true],
        ['/v2/api/users/[id]', [], true]
      ],
      'keys of the app have the prefix, keys of the registration leave it out'
    )
    t.strictSame(
      holes.map(({ path }) => path),
      ['/api/users/[id]']
    )
    t.strictSame(warnings, [])
    for (const [path, ran] of [
      ['/v1/api/admin/stats', 1],
      ['/v2/api/admin/stats', 0]
    ] as const)
      t.equal(describeRoutes(app).match('GET', path).middleware.length, ran, path)
  }
)

t.test('a report names the methods that pass no middleware, and the file of the map', async (t) => {
  const top = writeTree(t, {
    'middleware.js': "export const middleware = { '/api/admin': [function guard(q, s, next) { next() }] }",
    ...treeOf(['admin']),
    'api/half/route.js': 'export const GET = () => ({}), POST = GET, middleware = { POST: [function own() {}] }'
  })
  const app = await createApp({ apiDir: join(top, 'api'), mode: 'test' })
  t.teardown(() => app.close())
  const { routes } = describeRoutes(app)
  t.strictSame(
    routes.map(({ pattern, publicMethods }) => [pattern, publicMethods]),
    [
      ['/api/admin', []],
      ['/api/half', ['GET', 'HEAD']]
    ]
  )
  t.match(routes[0]?.middleware, [{ prefix: '/api/admin', names: ['guard'], file: join(top, 'middleware.js') }])
})
