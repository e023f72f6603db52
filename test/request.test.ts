import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { METHODS } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished, Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import express from 'express'
import t from 'tap'
import { createApp, createMiddleware, type AppOptions } from 'twinroute'
import {
  addressOf,
  appOf,
  callByInject,
  callOver,
  onEveryHost,
  type Answer,
  type Routes,
  type Sent
} from './support/hosts.js'
import { connectTo, get } from './support/connection.js'
import { asExpress, listen } from './support/express-server.js'

type Read = (request: any, response: any) => unknown
type Row = { rule: string; line: string; headers: Sent['headers']; read: Read; expected: unknown }

/** One route whose handler answers what the row with the number of the `x-row` header reads. */
function reading(rows: readonly Row[]): Routes {
  const handler = async (request: any, response: any): Promise<unknown> => {
    const read = rows[request.headers['x-row']]?.read
    return { read: await read?.(request, response) }
  }
  return {
    'things/[id]': Object.fromEntries(
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((name) => [name, handler])
    )
  }
}

function checkRows(t: any, rows: readonly Row[], options: Partial<AppOptions> = {}): void {
  onEveryHost(t, { routes: reading(rows), options }, async (t, call) => {
    for (const [index, { rule, line, headers, expected }] of rows.entries()) {
      const { status, json } = await call(line, { headers: { ...headers, 'x-row': String(index) } })
      t.equal(status, 200, rule)
      t.strictSame(json, expected === undefined ? {} : { read: expected }, rule)
    }
  })
}

const GET = 'GET /api/things/1'

t.test('the request has every documented member', async (t) => {
  checkRows(t, [
    {
      rule: 'params: decoded text',
      line: 'GET /api/things/a%20%2F%C3%BC',
      headers: {},
      read: (r) => r.params,
      expected: { id: 'a /ü' }
    },
    {
      rule: 'params: decoded once',
      line: 'GET /api/things/%2541',
      headers: {},
      read: (r) => r.params.id,
      expected: '%41'
    },
    {
      rule: 'query: text',
      line: 'GET /api/things/1?a=1&b=%C3%BC+x&c=',
      headers: {},
      read: (r) => r.query,
      expected: { a: '1', b: 'ü x', c: '' }
    },
    {
      rule: 'query: a repeated key is an array',
      line: 'GET /api/things/1?a=1&a=2',
      headers: {},
      read: (r) => r.query,
      expected: { a: ['1', '2'] }
    },
    {
      rule: 'query: brackets are part of the key',
      line: 'GET /api/things/1?a[b]=1',
      headers: {},
      read: (r) => r.query,
      expected: { 'a[b]': '1' }
    },
    { rule: 'query: none', line: GET, headers: {}, read: (r) => r.query, expected: {} },
    {
      rule: 'query: no __proto__',
      line: 'GET /api/things/1?__proto__=1&a=2',
      headers: {},
      read: (r) => [Object.keys(r.query), r.query.a],
      expected: [['a'], '2']
    },
    {
      rule: 'headers: any case',
      line: GET,
      headers: { 'X-A': 'b' },
      read: (r) => [r.headers['x-a'], r.get('X-A'), r.header('x-A')],
      expected: ['b', 'b', 'b']
    },
    {
      rule: 'get: Referer by both spellings',
      line: GET,
      headers: { Referer: 'x' },
      read: (r) => [r.get('Referrer'), r.header('referer')],
      expected: ['x', 'x']
    },
    { rule: 'get: a missing header', line: GET, headers: {}, read: (r) => r.get('x-none'), expected: undefined },
    { rule: 'method', line: 'DELETE /api/things/1', headers: {}, read: (r) => r.method, expected: 'DELETE' },
    {
      rule: 'path: without the query',
      line: 'GET /api/things/a%20b?q=1',
      headers: {},
      read: (r) => r.path,
      expected: '/api/things/a%20b'
    },
    {
      rule: 'url: with the query, whole, still encoded',
      line: 'GET /api/things/a%20b?q=1',
      headers: {},
      read: (r) => r.url,
      expected: '/api/things/a%20b?q=1'
    },
    {
      rule: 'originalUrl',
      line: 'GET /api/things/1?q=1',
      headers: {},
      read: (r) => r.originalUrl,
      expected: '/api/things/1?q=1'
    },
    { rule: 'baseUrl: empty in a handler', line: GET, headers: {}, read: (r) => r.baseUrl, expected: '' },
    { rule: 'protocol', line: GET, headers: {}, read: (r) => [r.protocol, r.secure], expected: ['http', false] },
    {
      rule: 'hostname: without the port',
      line: GET,
      headers: { host: 'a.example.com:8080' },
      read: (r) => [r.hostname, r.host],
      expected: ['a.example.com', 'a.example.com:8080']
    },
    {
      rule: 'hostname: an IPv6 address',
      line: GET,
      headers: { host: '[::1]:80' },
      read: (r) => r.hostname,
      expected: '[::1]'
    },
    { rule: 'ip', line: GET, headers: {}, read: (r) => r.ip.endsWith('127.0.0.1'), expected: true },
    {
      rule: 'ips: none without a proxy',
      line: GET,
      headers: { 'x-forwarded-for': '1.2.3.4' },
      read: (r) => r.ips,
      expected: []
    },
    {
      rule: 'ip and protocol: a proxy that is not trusted says nothing',
      line: GET,
      headers: { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil' },
      read: (r) => [r.ip === '1.2.3.4', r.protocol, r.hostname],
      expected: [false, 'http', 'example.com']
    },
    { rule: 'xhr', line: GET, headers: { 'X-Requested-With': 'xmlhttprequest' }, read: (r) => r.xhr, expected: true },
    { rule: 'xhr: not by default', line: GET, headers: {}, read: (r) => r.xhr, expected: false },
    {
      rule: 'subdomains: nearest the domain first',
      line: GET,
      headers: { host: 'a.b.example.com' },
      read: (r) => r.subdomains,
      expected: ['b', 'a']
    },
    {
      rule: 'fresh and stale: nothing to compare',
      line: GET,
      headers: {},
      read: (r) => [r.fresh, r.stale],
      expected: [false, true]
    },
    {
      rule: 'fresh and stale: the ETag the client has',
      line: GET,
      headers: { 'if-none-match': '"x"' },
      read: (r, s) => [s.set('ETag', '"x"') && r.fresh, r.stale],
      expected: [true, false]
    },
    { rule: 'route: the pattern', line: GET, headers: {}, read: (r) => r.route, expected: { path: '/api/things/:id' } },
    {
      rule: 'signedCookies: nothing without a parser',
      line: GET,
      headers: {},
      read: (r) => r.signedCookies,
      expected: undefined
    },
    {
      rule: 'app: the Express side',
      line: GET,
      headers: {},
      read: (r, s) => [typeof r.app.get, r.app === s.app, r.app.get('env'), r.app.enabled('x')],
      expected: ['function', true, 'test', false]
    },
    {
      rule: 'app: locals are kept',
      line: GET,
      headers: {},
      read: (r, s) => ((r.app.locals.mark = 1), s.app.locals.mark),
      expected: 1
    },
    {
      rule: 'res and req know each other',
      line: GET,
      headers: {},
      read: (r, s) => [r.res === s, s.req === r],
      expected: [true, true]
    },
    {
      rule: 'locals: without a prototype',
      line: GET,
      headers: {},
      read: (_, s) => Object.getPrototypeOf(s.locals) === null && ((s.locals.a = 1), s.locals),
      expected: { a: 1 }
    },
    ...[
      'file',
      'files',
      'user',
      'session',
      'sessionID',
      'authInfo',
      'cspNonce',
      'body',
      'validatedData',
      'apiVersion'
    ].map((name): Row => ({
      rule: `${name}: undefined until somebody sets it`,
      line: GET,
      headers: {},
      read: (r) => r[name],
      expected: undefined
    })),
    {
      rule: "httpVersion and socket are node's",
      line: GET,
      headers: {},
      read: (r) => [r.httpVersion, typeof r.socket],
      expected: ['1.1', 'object']
    }
  ])
})

t.test('the methods of the request are those of Express', async (t) => {
  const all = {
    accept: 'text/html;q=0.5, application/json',
    'accept-charset': 'utf-8',
    'accept-encoding': 'gzip, br;q=0.1',
    'accept-language': 'de-AT, en;q=0.5'
  }
  const posted = { 'content-type': 'application/json; charset=utf-8', 'content-length': '2' }
  checkRows(t, [
    {
      rule: 'accepts: the best of a list',
      line: GET,
      headers: all,
      read: (r) => [r.accepts('html', 'json'), r.accepts(['html', 'text/plain']), r.accepts('png')],
      expected: ['json', 'html', false]
    },
    {
      rule: 'accepts: all types',
      line: GET,
      headers: all,
      read: (r) => r.accepts(),
      expected: ['application/json', 'text/html']
    },
    {
      rule: 'accepts: everything without a header',
      line: GET,
      headers: {},
      read: (r) => r.accepts('png'),
      expected: 'png'
    },
    {
      rule: 'acceptsCharsets',
      line: GET,
      headers: all,
      read: (r) => [r.acceptsCharsets('utf-8'), r.acceptsCharsets('latin1')],
      expected: ['utf-8', false]
    },
    {
      rule: 'acceptsEncodings',
      line: GET,
      headers: all,
      read: (r) => [r.acceptsEncodings('br', 'gzip'), r.acceptsEncodings('deflate')],
      expected: ['gzip', false]
    },
    {
      rule: 'acceptsLanguages',
      line: GET,
      headers: all,
      read: (r) => [r.acceptsLanguages('en', 'de-AT'), r.acceptsLanguages('fr')],
      expected: ['de-AT', false]
    },
    {
      rule: 'range',
      line: GET,
      headers: { range: 'bytes=0-4,90-' },
      read: (r) => [...r.range(100)],
      expected: [
        { start: 0, end: 4 },
        { start: 90, end: 99 }
      ]
    },
    {
      rule: 'range: not satisfiable',
      line: GET,
      headers: { range: 'bytes=200-' },
      read: (r) => r.range(100),
      expected: -1
    },
    { rule: 'range: malformed', line: GET, headers: { range: 'x' }, read: (r) => r.range(100), expected: -2 },
    { rule: 'range: none', line: GET, headers: {}, read: (r) => r.range(100), expected: undefined }
  ])
  const routes = {
    is: {
      POST: (r: any) => [r.is('json'), r.is('application/*'), r.is(['html', 'json']), r.is('html')],
      config: { bodyParser: false }
    }
  }
  onEveryHost(t, { routes }, async (t, call) => {
    t.strictSame(
      (await call('POST /api/is', { headers: posted, body: '{}' })).json,
      ['json', 'application/json', 'json', false],
      'is'
    )
    t.notOk((await call('POST /api/is')).json.some(Boolean), 'is: no body')
  })
})

t.test('every method reaches its handler under its own name', async (t) => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
  const routes = {
    all: Object.fromEntries(methods.map((name) => [name, (request: any) => ({ exported: name, seen: request.method })]))
  }
  onEveryHost(t, { routes }, async (t, call) => {
    for (const name of methods)
      t.strictSame((await call(`${name} /api/all`)).json, { exported: name, seen: name }, name)
    t.equal((await call('HEAD /api/all')).status, 200, 'HEAD')
    for (const name of METHODS) if (name === 'TRACE') t.equal((await call(`${name} /api/all`)).status, 405, name)
  })
})

t.test('whatever middleware assigns is kept, for that request only', async (t) => {
  const getters = [
    'query',
    'params',
    'cookies',
    'hostname',
    'host',
    'ip',
    'ips',
    'protocol',
    'secure',
    'xhr',
    'fresh',
    'stale',
    'subdomains',
    'path',
    'route',
    'originalUrl',
    'baseUrl'
  ]
  const members = [
    'body',
    'user',
    'session',
    'sessionID',
    'file',
    'files',
    'authInfo',
    'cspNonce',
    'validatedData',
    'apiVersion',
    'signedCookies',
    'secret',
    'whatever'
  ]
  const names = [...getters, ...members]
  const middleware = createMiddleware({
    '/api/a': [
      (request: any, _, next) => {
        if (request.headers['x-assign']) for (const name of names) request[name] = { assigned: name }
        next()
      }
    ]
  })
  const handler = (request: any): object =>
    Object.fromEntries(names.map((name) => [name, request[name]?.assigned ?? null]))
  onEveryHost(t, { routes: { a: { GET: handler } }, options: { middleware } }, async (t, call) => {
    const { json } = await call('GET /api/a', { headers: { 'x-assign': '1' } })
    for (const name of names.filter((name) => name !== 'baseUrl')) t.equal(json[name], name, name)
    const { json: other } = await call('GET /api/a')
    for (const name of names) t.equal(other[name], null, `${name} of another request`)
  })
})

t.test('cookies', async (t) => {
  const cookie = (text: string): { cookie: string } => ({ cookie: text })
  const COOKIES: Row[] = [
    {
      rule: 'get: an item with its value',
      line: GET,
      headers: cookie('sid=abc; theme=dark'),
      read: (r) => r.cookies.get('sid').value,
      expected: 'abc'
    },
    {
      rule: 'get: its name too',
      line: GET,
      headers: cookie('sid=abc'),
      read: (r) => r.cookies.get('sid'),
      expected: { name: 'sid', value: 'abc' }
    },
    {
      rule: 'get: undefined for none',
      line: GET,
      headers: cookie('sid=abc'),
      read: (r) => r.cookies.get('other'),
      expected: undefined
    },
    {
      rule: 'has',
      line: GET,
      headers: cookie('sid=abc'),
      read: (r) => [r.cookies.has('sid'), r.cookies.has('other')],
      expected: [true, false]
    },
    {
      rule: 'all: a map of texts',
      line: GET,
      headers: cookie('a=1; b=2'),
      read: (r) => r.cookies.all(),
      expected: { a: '1', b: '2' }
    },
    {
      rule: 'all: without a prototype',
      line: GET,
      headers: cookie('a=1'),
      read: (r) => Object.getPrototypeOf(r.cookies.all()) === null,
      expected: true
    },
    {
      rule: 'all: a copy',
      line: GET,
      headers: cookie('a=1'),
      read: (r) => ((r.cookies.all().a = '2'), r.cookies.get('a').value),
      expected: '1'
    },
    {
      rule: 'no header',
      line: GET,
      headers: {},
      read: (r) => [r.cookies.all(), r.cookies.has('a'), r.cookies.get('a') ?? null],
      expected: [{}, false, null]
    },
    {
      rule: 'values are decoded',
      line: GET,
      headers: cookie('a=%C3%BC%20x'),
      read: (r) => r.cookies.get('a').value,
      expected: 'ü x'
    },
    {
      rule: 'a broken escape keeps its text',
      line: GET,
      headers: cookie('a=%zz'),
      read: (r) => r.cookies.get('a').value,
      expected: '%zz'
    },
    {
      rule: 'the first of two counts',
      line: GET,
      headers: cookie('a=1; a=2'),
      read: (r) => r.cookies.get('a').value,
      expected: '1'
    },
    {
      rule: 'an empty value',
      line: GET,
      headers: cookie('a='),
      read: (r) => [r.cookies.has('a'), r.cookies.get('a').value],
      expected: [true, '']
    },
    {
      rule: 'values are members, too',
      line: GET,
      headers: cookie('sid=abc'),
      read: (r) => [r.cookies.sid, Object.keys(r.cookies)],
      expected: ['abc', ['sid']]
    },
    {
      rule: 'spread gives the values',
      line: GET,
      headers: cookie('a=1; b=2'),
      read: (r) => ({ ...r.cookies }),
      expected: { a: '1', b: '2' }
    },
    {
      rule: 'cookies named like the methods break nothing',
      line: GET,
      headers: cookie('get=1; has=2; all=3'),
      read: (r) => [r.cookies.get('get').value, r.cookies.has('has'), r.cookies.all()],
      expected: ['1', true, { get: '1', has: '2', all: '3' }]
    },
    {
      rule: 'names of Object members are no cookies',
      line: GET,
      headers: cookie('a=1'),
      read: (r) =>
        ['constructor', 'toString', '__proto__', 'hasOwnProperty'].map((name) => [
          r.cookies.has(name),
          r.cookies.get(name) ?? null
        ]),
      expected: [1, 2, 3, 4].map(() => [false, null])
    },
    {
      rule: 'a cookie named __proto__ is dropped',
      line: GET,
      headers: cookie('__proto__=x; a=1'),
      read: (r) => [r.cookies.all(), r.cookies.has('__proto__')],
      expected: [{ a: '1' }, false]
    },
    {
      rule: 'a cookie named constructor is one',
      line: GET,
      headers: cookie('constructor=x'),
      read: (r) => r.cookies.get('constructor').value,
      expected: 'x'
    },
    {
      rule: 'the cookies are the same object each time',
      line: GET,
      headers: cookie('a=1'),
      read: (r) => r.cookies === r.cookies,
      expected: true
    }
  ]
  checkRows(t, COOKIES)
})

t.test('requestId is made for each request and never read from the wire', async (t) => {
  const routes = { a: { GET: (request: any) => ({ id: request.requestId }) } }
  const asked = { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } }
  onEveryHost(t, { routes }, async (t, call, place) => {
    const first = await call('GET /api/a', asked)
    const second = await call('GET /api/a', asked)
    t.type(first.json.id, 'string')
    t.not(first.json.id, second.json.id, 'another for each request')
    t.not(first.json.id, 'mine', 'never read from the wire')
    if (place === 'host') return
    t.match(first.json.id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/, 'a UUID')
    t.equal(first.headers['x-request-id'], first.json.id, 'told to the client')
    for (const line of ['GET /api/none', 'POST /api/a', 'GET /api/%zz', 'OPTIONS /api/a']) {
      t.match((await call(line)).headers['x-request-id'], /^[\da-f-]{36}$/, `with ${line}`)
    }
  })
  t.test('a thousand ids in a row are each another random UUID', async (t) => {
    const app = await appOf(t, { routes })
    const ids: string[] = []
    for (let sent = 0; sent < 1000; sent++) ids.push((await app.inject('/api/a')).headers['x-request-id'] as string)
    const isUuid = (id: string): boolean => /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id)
    t.strictSame(
      ids.filter((id) => !isUuid(id)),
      []
    )
    t.equal(new Set(ids).size, ids.length)
    // 30 digits are random: 15 of them are the same by chance once in some hundred thousand million ids
    const same = ids
      .slice(1)
      .map((id, i) => [...id].filter((digit, at) => /[\da-f]/.test(digit) && digit === ids[i]?.[at]).length)
    t.ok(Math.max(...same) < 17, `the ids tell nothing of each other: at most ${Math.max(...same)} digits are the same`)
  })
  t.test('an x-request-id of the client is ignored unless requestIdHeader says so', async (t) => {
    const options = { fastifyOptions: { requestIdHeader: 'x-request-id' } }
    onEveryHost(t, { routes, options }, async (t, call) => {
      t.equal((await call('GET /api/a', asked)).json.id, 'mine')
    })
  })
})

t.test('trustProxy says whom to believe, to Fastify and to Express alike', async (t) => {
  const forwarded = {
    'x-forwarded-for': '1.1.1.1, 2.2.2.2',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example.com:8443',
    'x-requested-with': 'x'
  }
  const direct = { protocol: 'http', secure: false, hostname: 'example.com', host: 'example.com', subdomains: [] }
  const proxied = {
    protocol: 'https',
    secure: true,
    hostname: 'shop.example.com',
    host: 'shop.example.com:8443',
    subdomains: ['shop']
  }
  const settings: readonly (readonly [AppOptions['trustProxy'], object])[] = [
    [false, { ...direct, ips: [], ip: '127.0.0.1' }],
    [true, { ...proxied, ips: ['1.1.1.1', '2.2.2.2'], ip: '1.1.1.1' }],
    ['loopback', { ...proxied, ips: ['2.2.2.2'], ip: '2.2.2.2' }],
    ['127.0.0.1, 2.2.2.2', { ...proxied, ips: ['1.1.1.1', '2.2.2.2'], ip: '1.1.1.1' }],
    [['10.0.0.0/8'], { ...direct, ips: [], ip: '127.0.0.1' }],
    [(_address: string, hop: number) => hop < 1, { ...proxied, ips: ['2.2.2.2'], ip: '2.2.2.2' }],
    [(address: string) => address === '127.0.0.1', { ...proxied, ips: ['2.2.2.2'], ip: '2.2.2.2' }]
  ]
  const read = ({ protocol, secure, hostname, host, subdomains, ips, ip }: any): object => ({
    protocol,
    secure,
    hostname,
    host,
    subdomains,
    ips,
    ip
  })
  for (const [trustProxy, expected] of settings) {
    t.test(`trustProxy: ${String(trustProxy)}`, async (t) => {
      const options = { trustProxy: trustProxy as never }
      onEveryHost(t, { routes: { a: { GET: read } }, options }, async (t, call) => {
        t.strictSame((await call('GET /api/a', { headers: forwarded })).json, expected)
      })
      const app = await appOf(t, { routes: { a: { GET: read } }, options })
      app.get('/native', (request) => ({ ip: request.ip, protocol: request.protocol, hostname: request.hostname }))
      t.match(expected, (await callByInject(app)('GET /native', { headers: forwarded })).json, 'as Fastify says')
    })
  }
})

/** Headers in which several proxies have left a value each, and what both sides say of them. */
const LISTS: readonly {
  name: string
  headers: Record<string, string>
  want: object
  trustProxy?: AppOptions['trustProxy']
}[] = [
  {
    name: 'a list of protocols',
    headers: { 'x-forwarded-proto': 'https, http' },
    want: { protocol: 'http', secure: false, host: 'example.com', hostname: 'example.com' }
  },
  {
    name: 'a list of protocols, the nearest proxy speaking https',
    headers: { 'x-forwarded-proto': 'http,https' },
    want: { protocol: 'https', secure: true, host: 'example.com', hostname: 'example.com' }
  },
  {
    name: 'a list of hosts',
    headers: { 'x-forwarded-host': 'first.example:81, last.example:82' },
    want: { protocol: 'http', secure: false, host: 'last.example:82', hostname: 'last.example' }
  },
  {
    name: 'lists from a proxy that is not trusted',
    headers: { 'x-forwarded-proto': 'https, https', 'x-forwarded-host': 'first.example, last.example' },
    want: { protocol: 'http', secure: false, host: 'example.com', hostname: 'example.com' },
    trustProxy: '10.0.0.0/8'
  }
]

for (const { name, headers, want, trustProxy = true } of LISTS) {
  t.test(`both sides read forwarded headers alike: ${name}`, async (t) => {
    const read = ({ protocol, secure, host, hostname }: any): object => ({ protocol, secure, host, hostname })
    const scenario = { routes: { a: { GET: read } }, options: { trustProxy } }
    onEveryHost(t, scenario, async (t, call) => {
      t.strictSame((await call('GET /api/a', { headers })).json, want)
    })
    const app = await appOf(t, scenario)
    app.get('/native', ({ protocol, host, hostname }) => ({ protocol, secure: protocol === 'https', host, hostname }))
    t.strictSame((await callByInject(app)('GET /native', { headers })).json, want, 'as Fastify says')
  })
}

/** Where a query is read, before and after the url has changed. */
t.test('a query that was read before its url changed is read anew', async (t) => {
  const GET = (request: any): unknown => [request.query.page, request.query.page]
  const routes = { a: { GET } }
  const rewrite = (request: any, _response: unknown, next: () => void): void => {
    if (request.query.page === '1') request.url = request.url.replace('page=1', 'page=2')
    next()
  }
  const ways: Record<string, Parameters<typeof onEveryHost>[1]> = {
    'by use()': { routes, use: (app) => void app.use(rewrite) },
    'by the map': { routes, options: { middleware: createMiddleware({ '/api': [rewrite] }) } },
    "by the route's own middleware": { routes: { a: { GET, middleware: [rewrite] } } },
    'by a hook, on the raw request': {
      routes,
      use: (app) =>
        void app.addHook('onRequest', async ({ raw }) => {
          if ((raw as any).query.page === '1') raw.url = '/api/a?page=2'
        })
    },
    'by the handler': {
      routes: {
        a: {
          GET: (request: any) => {
            const before = request.query.page
            request.url = '/api/a?page=2'
            return before === '1' && [request.query.page, request.query.page]
          }
        }
      }
    }
  }
  for (const [way, scenario] of Object.entries(ways)) {
    t.test(way, async (t) => {
      onEveryHost(t, scenario, async (t, call) => {
        t.strictSame((await call('GET /api/a?page=1')).json, ['2', '2'])
      })
    })
  }
})

t.test('a query is one object for as long as its url has the same one, and an assigned one stays', async (t) => {
  const GET = (request: any): unknown => {
    const same = request.query === request.query
    request.query.added = '1'
    request.url = '/elsewhere?a=1'
    const kept = request.query.added
    request.query = { mine: '1' }
    request.url = '/elsewhere?a=2'
    return { same, kept, query: request.query }
  }
  onEveryHost(t, { routes: { a: { GET } } }, async (t, call) => {
    t.strictSame((await call('GET /api/a?a=1')).json, { same: true, kept: '1', query: { mine: '1' } })
  })
})

t.test('the body is a plain member', async (t) => {
  const seen: object[] = []
  const note = (request: any): void =>
    void seen.push({ in: 'body' in request, own: Object.hasOwn(request, 'body'), value: request.body })
  const middleware = createMiddleware({
    '/api': [
      (request, _, next) => {
        note(request)
        next()
      }
    ]
  })
  const POST = async (request: any): Promise<object> => {
    note(request)
    const awaited = await request.body
    return { same: awaited === request.body, promise: request.body instanceof Promise }
  }
  onEveryHost(t, { routes: { a: { POST } }, options: { middleware } }, async (t, call) => {
    seen.length = 0
    const { json } = await call('POST /api/a', { headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
    t.strictSame(json, { same: true, promise: false }, 'await works')
    t.strictSame(
      seen,
      [
        { in: false, own: false, value: undefined },
        { in: true, own: true, value: { a: 1 } }
      ],
      'not there before it is parsed'
    )
  })
})

const files = mkdtempSync(join(tmpdir(), 'twinroute-files-'))
t.teardown(() => rmSync(files, { recursive: true, force: true }))
writeFileSync(join(files, 'a.txt'), '0123456789')
writeFileSync(join(files, 'b ü.html'), '<p>ü</p>')
writeFileSync(join(files, 'page.tpl'), 'Hello NAME')

type Answering = (request: any, response: any) => unknown
/** What a handler does with the response, and the requests it gets beside a plain GET and HEAD. */
interface Same {
  rule: string
  handler: Answering
  requests?: NonNullable<Sent['headers']>[]
}

const html = {
  html: (_: any, s: any) => s.send('<p>'),
  json: (_: any, s: any) => s.json({ a: 1 }),
  text: (_: any, s: any) => s.send('text')
}
const root = { root: files }

const RESPONSES: Same[] = [
  { rule: 'send: text', handler: (_, s) => s.send('ü') },
  { rule: 'send: empty text', handler: (_, s) => s.send('') },
  { rule: 'send: object', handler: (_, s) => s.send({ a: 'ü' }) },
  { rule: 'send: null', handler: (_, s) => s.send(null) },
  { rule: 'send: undefined', handler: (_, s) => s.send() },
  { rule: 'send: number', handler: (_, s) => s.send(201) },
  { rule: 'send: boolean', handler: (_, s) => s.send(false) },
  { rule: 'send: Buffer', handler: (_, s) => s.send(Buffer.from('x')) },
  { rule: 'send: Uint8Array', handler: (_, s) => s.send(new Uint8Array([1, 2])) },
  { rule: 'send: Buffer with a type', handler: (_, s) => s.type('png').send(Buffer.from('x')) },
  { rule: 'send: empty Buffer', handler: (_, s) => s.send(Buffer.alloc(0)) },
  { rule: 'send: text with a type', handler: (_, s) => s.type('text/plain').send('ü') },
  {
    rule: 'send: text with a type and another charset',
    handler: (_, s) => s.set('Content-Type', 'text/plain; charset=latin1').send('ü')
  },
  { rule: 'send: text with an unknown type', handler: (_, s) => s.set('Content-Type', 'x/y').send('ü') },
  { rule: 'send: 204', handler: (_, s) => s.status(204).send('gone') },
  { rule: 'send: 205', handler: (_, s) => s.status(205).send('gone') },
  { rule: 'send: 304', handler: (_, s) => s.status(304).send('gone') },
  { rule: 'send: 404 with an ETag', handler: (_, s) => s.status(404).send('x'), requests: [{ 'if-none-match': '*' }] },
  {
    rule: 'send: its own ETag',
    handler: (_, s) => s.set('ETag', '"own"').send('x'),
    requests: [{ 'if-none-match': '"own"' }, { 'if-none-match': '"other"' }]
  },
  {
    rule: 'send: Last-Modified',
    handler: (_, s) => s.set('Last-Modified', 'Tue, 01 Jan 2030 00:00:00 GMT').send('x'),
    requests: [{ 'if-modified-since': 'Wed, 02 Jan 2030 00:00:00 GMT' }, { 'if-modified-since': 'x' }]
  },
  {
    rule: 'send: no-cache',
    handler: (_, s) => s.set('ETag', '"own"').send('x'),
    requests: [{ 'if-none-match': '"own"', 'cache-control': 'no-cache' }]
  },
  { rule: 'send: a length of its own', handler: (_, s) => s.set('Content-Length', '100').send('x') },
  { rule: 'send: chunked by wish', handler: (_, s) => s.set('Transfer-Encoding', 'chunked').send('x') },
  { rule: 'json', handler: (_, s) => s.json({ a: '</ü>' }) },
  { rule: 'json: null', handler: (_, s) => s.json(null) },
  { rule: 'json: text', handler: (_, s) => s.json('x') },
  { rule: 'json: number', handler: (_, s) => s.json(5) },
  { rule: 'json: undefined', handler: (_, s) => s.json() },
  { rule: 'json: array', handler: (_, s) => s.json([1]) },
  { rule: 'json: a type that is set', handler: (_, s) => s.type('application/vnd.api+json').json({}) },
  { rule: 'json: status', handler: (_, s) => s.status(201).json({}) },
  { rule: 'jsonp: without a callback', handler: (_, s) => s.jsonp({ a: 1 }) },
  { rule: 'sendStatus', handler: (_, s) => s.sendStatus(201) },
  { rule: 'sendStatus: unknown', handler: (_, s) => s.sendStatus(599) },
  { rule: 'status: 700', handler: (_, s) => s.status(700).end() },
  { rule: 'set: an object', handler: (_, s) => s.set({ 'X-A': 'b', 'X-B': 5 }).end() },
  { rule: 'set: an array', handler: (_, s) => s.set('X-A', ['b', 'c']).end() },
  { rule: 'set: a type gets its charset', handler: (_, s) => s.set('Content-Type', 'text/html').end() },
  { rule: 'header and get', handler: (_, s) => s.header('X-A', 'b').send(s.get('x-a')) },
  {
    rule: 'append',
    handler: (_, s) =>
      s.append('X-A', 'b').append('x-a', ['c', 'd']).append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2').end()
  },
  { rule: 'type: short', handler: (_, s) => s.type('json').send('{}') },
  { rule: 'type: file name', handler: (_, s) => s.contentType('.html').send('x') },
  { rule: 'type: unknown', handler: (_, s) => s.type('rawr').send('x') },
  { rule: 'vary', handler: (_, s) => s.vary('Accept').vary(['Origin', 'accept']).end() },
  { rule: 'vary: star', handler: (_, s) => s.vary('Accept').vary('*').send('x') },
  { rule: 'links', handler: (_, s) => s.links({ next: '/2', last: ['/5', '/6'] }).send('x') },
  { rule: 'location', handler: (_, s) => s.location('/a b?ü').send('x') },
  { rule: 'redirect', handler: (_, s) => s.redirect('/x') },
  { rule: 'redirect: status', handler: (_, s) => s.redirect(301, 'http://example.org/ü"<>') },
  {
    rule: 'redirect: JSON asked for',
    handler: (_, s) => s.redirect('/x'),
    requests: [{ accept: 'application/json' }, { accept: 'text/html' }, { accept: 'image/webp' }]
  },
  {
    rule: 'cookie',
    handler: (_, s) =>
      s
        .cookie('a', 'ü b')
        .cookie('j', { a: 1 })
        .cookie('o', '1', { httpOnly: true, secure: true, sameSite: 'lax', maxAge: 0, path: '/x' })
        .end()
  },
  {
    rule: 'cookie: three values in one answer',
    handler: (_, s) => s.cookie('a', '1').cookie('a', '2').clearCookie('b', { path: '/x' }).json({})
  },
  { rule: 'attachment', handler: (_, s) => s.attachment('ü €.html').send('x') },
  { rule: 'attachment: no name', handler: (_, s) => s.attachment().send('x') },
  {
    rule: 'format',
    handler: (_, s) => s.format(html),
    requests: [{ accept: 'application/json' }, { accept: 'text/plain' }, { accept: '*/*' }]
  },
  {
    rule: 'format: default',
    handler: (_, s) => s.format({ json: html.json, default: (_: any, s: any) => s.send('other') }),
    requests: [{ accept: 'image/png' }]
  },
  { rule: 'locals', handler: (_, s) => ((s.locals.a = 1), s.json(s.locals)) },
  { rule: 'app', handler: (q, s) => s.json([q.app === s.app, typeof s.app.enabled]) },
  { rule: 'end', handler: (_, s) => s.end() },
  { rule: 'end: text', handler: (_, s) => s.end('x') },
  { rule: 'end: text with a type', handler: (_, s) => s.set('Content-Type', 'text/csv').end('x') },
  { rule: 'end: hex', handler: (_, s) => s.end('6869', 'hex') },
  { rule: 'end: Buffer', handler: (_, s) => s.end(Buffer.from('x')) },
  { rule: 'end: 204 with a type', handler: (_, s) => s.status(204).type('txt').end() },
  { rule: 'end: a length', handler: (_, s) => s.set('Content-Length', '1').end('x') },
  { rule: 'end: callback', handler: (_, s) => s.end('x', () => {}) },
  { rule: 'write', handler: (_, s) => s.write('a') && s.end('b') },
  { rule: 'write: a type', handler: (_, s) => s.type('txt').write('a') && s.end() },
  { rule: 'writeHead', handler: (_, s) => s.set('X-A', '1').writeHead(201, { 'X-B': '2' }).end('x') },
  { rule: 'writeHead: message and array', handler: (_, s) => s.writeHead(201, 'Made', ['X-B', '2']).end('x') },
  { rule: 'writeHead: replaces', handler: (_, s) => s.set('X-A', '1').writeHead(200, { 'x-a': '2' }).end() },
  {
    rule: 'statusCode',
    handler: (_, s) => {
      s.statusCode = 202
      s.end('x')
    }
  },
  {
    rule: 'setHeader',
    handler: (_, s) => {
      s.setHeader('X-A', ['1', '2'])
      s.removeHeader('X-B')
      s.end(String(s.hasHeader('x-a')))
    }
  },
  {
    rule: 'flushHeaders',
    handler: (_, s) => {
      s.set('X-A', '1').flushHeaders()
      s.end('x')
    }
  },
  { rule: 'pipe', handler: (_, s) => void Readable.from(['a', 'b']).pipe(s.type('txt')) },
  {
    rule: 'sendFile',
    handler: (_, s) => s.sendFile('a.txt', root),
    requests: [
      { range: 'bytes=2-4' },
      { range: 'bytes=-2' },
      { range: 'bytes=1-2,4-5' },
      { 'if-none-match': '*' },
      { 'if-modified-since': 'Tue, 01 Jan 2090 00:00:00 GMT' }
    ]
  },
  { rule: 'sendFile: encoded', handler: (_, s) => s.sendFile('b ü.html', root) },
  {
    rule: 'sendFile: options',
    handler: (_, s) =>
      s.sendFile('a.txt', { ...root, maxAge: 5000, immutable: true, headers: { 'X-A': 'b' }, acceptRanges: false })
  },
  {
    rule: 'sendFile: headers and status before',
    handler: (_, s) => s.status(201).set('X-A', 'b').cookie('a', '1').sendFile('a.txt', root)
  },
  {
    rule: 'sendFile: callback with an error',
    handler: (_, s) => s.sendFile('none', root, (error: any) => s.status(error.status).send('none'))
  },
  { rule: 'download', handler: (_, s) => s.download('a.txt', 'ü.txt', root) },
  {
    rule: 'render',
    handler: (_, s) => {
      s.app.engine('tpl', (_: string, options: any, done: any) => done(null, `Hello ${options.name}`))
      s.app.set('views', files)
      s.render('page.tpl', { name: 'ü' })
    }
  },
  { rule: 'render: callback', handler: (_, s) => s.render('none.tpl', (error: any) => s.send(String(error !== null))) }
]

/** Headers that say when and on which connection, not what. */
const UNLIKE = ['date', 'connection', 'keep-alive', 'x-powered-by', 'x-request-id']

function comparable({ status, headers, text }: Answer, place: string): object {
  const kept = Object.entries(headers).filter(([name]) => !UNLIKE.includes(name))
  // an injected answer is not framed, and multipart boundaries are random
  const framed =
    place === 'inject' ? kept.filter(([name]) => !['transfer-encoding', 'content-length'].includes(name)) : kept
  const boundary = /boundary=(.*)/.exec(String(headers['content-type']))?.[1]
  const plain = (value: string): string => (boundary === undefined ? value : value.replaceAll(boundary, 'BOUNDARY'))
  const values = framed.map(([name, value]) => [name, plain([value].flat().join(', '))])
  return { status, text: plain(text), headers: Object.fromEntries(values) }
}

t.test('every method of the response answers as real Express does', async (t) => {
  const reference = express().disable('x-powered-by')
  const routes: Routes = Object.fromEntries(
    RESPONSES.map(({ handler }, index) => [`r${index}`, { GET: (q: any, s: any) => void handler(q, s) }])
  )
  for (const [index, { handler }] of RESPONSES.entries())
    reference.get(
      `/api/r${index}`,
      asExpress((q, s) => void handler(q, s))
    )
  const express5 = callOver(await listen(t, reference))
  onEveryHost(t, { routes }, async (t, call, place) => {
    for (const [index, { rule, requests = [] }] of RESPONSES.entries()) {
      for (const headers of [{}, ...requests]) {
        for (const method of ['GET', 'HEAD']) {
          const line = `${method} /api/r${index}`
          const wanted = comparable(await express5(line, { headers }), place)
          t.strictSame(
            comparable(await call(line, { headers }), place),
            wanted,
            `${method} ${rule} ${JSON.stringify(headers)}`
          )
        }
      }
      const { status, headers } = await express5(`GET /api/r${index}`)
      const { etag } = headers
      if (status < 300 && typeof etag === 'string')
        t.equal(
          (await call(`GET /api/r${index}`, { headers: { 'if-none-match': etag } })).status,
          304,
          `${rule}: not modified`
        )
    }
  })
})

t.test('query is what Express 5 reads from the same url', async (t) => {
  const queries = [
    '',
    'a=1',
    'a=1&a=2&b=3',
    'a',
    'a=',
    '=b',
    'a==b',
    '&&a=1&',
    'a=1;b=2',
    'a+b=c+d',
    'a%20b=%C3%BC',
    'a=%zz&%zz=1',
    'a=%00',
    'a[b]=1&a[]=2&a.b=3',
    'hasOwnProperty=1&toString=2',
    'a=1?b=2',
    'a=%26%3D',
    '?a=1',
    'a=%u0041',
    'a=1&A=2',
    `a=${'x'.repeat(1500)}`
  ]
  const read = (request: any): object => ({ keys: Object.keys(request.query), query: { ...request.query } })
  const reference = express()
  reference.get('/api/a', (request, response) => void response.json(read(request)))
  const express5 = callOver(await listen(t, reference))
  onEveryHost(t, { routes: { a: { GET: read } } }, async (t, call) => {
    for (const query of queries) {
      const line = `GET /api/a?${query}`
      t.strictSame((await call(line)).json, (await express5(line)).json, `?${query.slice(0, 40)}`)
    }
  })
})

t.test('settings of the Express side hold', async (t) => {
  const routes = {
    a: {
      GET: (request: any, response: any) =>
        void response.json({ query: request.query, subdomains: request.subdomains, html: '<' })
    }
  }
  const rows: readonly {
    name: string
    value: unknown
    read: (answer: Answer) => unknown
    expected: unknown
  }[] = [
    { name: 'etag', value: false, read: ({ headers }) => headers.etag, expected: undefined },
    { name: 'etag', value: 'strong', read: ({ headers }) => String(headers.etag).startsWith('"'), expected: true },
    { name: 'etag', value: () => '"own"', read: ({ headers }) => headers.etag, expected: '"own"' },
    { name: 'json spaces', value: 1, read: ({ text }) => text.startsWith('{\n "query"'), expected: true },
    { name: 'json escape', value: true, read: ({ text }) => text.includes('\\u003c'), expected: true },
    { name: 'json replacer', value: ['html'], read: ({ text }) => text, expected: '{"html":"<"}' },
    { name: 'query parser', value: 'extended', read: ({ json }) => json.query, expected: { a: { b: '1' } } },
    { name: 'query parser', value: false, read: ({ json }) => json.query, expected: {} },
    {
      name: 'query parser',
      value: (text: string) => ({ text }),
      read: ({ json }) => json.query,
      expected: { text: 'a[b]=1' }
    },
    { name: 'subdomain offset', value: 1, read: ({ json }) => json.subdomains, expected: ['example'] }
  ]
  for (const { name, value, read, expected } of rows) {
    const app = await appOf(t, { routes })
    app.express.set(name, value)
    t.strictSame(read(await callByInject(app)('GET /api/a?a[b]=1')), expected, `${name}: ${String(value)}`)
  }
})

t.test('a trustProxy that would be read in two ways, or is no network, is refused', async (t) => {
  for (const trustProxy of [
    1,
    {},
    null,
    [1],
    '',
    'x',
    'loopback, x',
    ['10.0.0.0/8', 'proxy.local'],
    '10.0.0.0/33',
    '::1/x'
  ]) {
    const options = { apiDir: tmpdir(), mode: 'test', trustProxy: trustProxy as never }
    await t.rejects(
      createApp(options),
      { name: 'TypeError', message: /option trustProxy of createApp must be .*hop < 1/ },
      JSON.stringify(trustProxy)
    )
  }
})

/** A handler that reads nothing, and what was seen of the end of the request that it had last. */
class Unread {
  last: Promise<unknown> | undefined
  readonly #answer: (response: any) => unknown

  constructor(answer: (response: any) => unknown) {
    this.#answer = answer
  }

  readonly handle = (request: any, response: any): void => {
    if (request.url === '/api/next') return void response.end('next')
    const events: string[] = []
    for (const name of ['end', 'close', 'aborted', 'error']) request.on(name, () => events.push(name))
    this.last = new Promise((resolve) => finished(request, resolve)).then(async (error) => {
      await turn() // `close` comes behind `end`
      const { readableEnded, destroyed, closed, complete, readableLength, aborted } = request
      return { events, state: { error, readableEnded, destroyed, closed, complete, readableLength, aborted } }
    })
    this.#answer(response)
  }

  /** Sends a request, and another one behind it on the same connection. */
  async seen(address: string, sent: string): Promise<unknown> {
    const connection = await connectTo(address)
    await connection.send(sent)
    await connection.receives(/fi(?:rst|\r\n3\r\nrst)/)
    await connection.send(get('/api/next'))
    await connection.receives(/next/)
    connection.socket.destroy()
    return this.last
  }
}

t.test('a request that nobody has read ends with its answer, as on node itself', async (t) => {
  const post = (body: string): string =>
    `POST /api/first HTTP/1.1\r\nHost: test\r\nContent-Type: x/y\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const requests: Record<string, string> = {
    'without a body': get('/api/first'),
    'with a body': post('abc'),
    'with an empty body': post(''),
    'with a body in parts': `${get('/api/first').replace('GET', 'POST').trimEnd()}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n`,
    'with a body beyond the buffer of a stream': post('x'.repeat(300_000))
  }
  const answers: Record<string, (response: any) => unknown> = {
    'at once': (response) => response.end('first'),
    'in a later turn': (response) => setImmediate(() => response.end('first')),
    'in two writes': (response) => {
      response.write('fi')
      setImmediate(() => response.end('rst'))
    }
  }
  const wanted = {
    events: ['end', 'close'],
    state: {
      error: undefined,
      readableEnded: true,
      destroyed: true,
      closed: true,
      complete: true,
      readableLength: 0,
      aborted: false
    }
  }
  for (const [when, answer] of Object.entries(answers)) {
    const onNode = new Unread(answer)
    const ofOurs = new Unread(answer)
    const route = { GET: ofOurs.handle, POST: ofOurs.handle, config: { bodyParser: false } }
    const addresses: [Unread, string][] = [
      [onNode, await listen(t, onNode.handle)],
      [ofOurs, await addressOf(await appOf(t, { routes: { first: route, next: route } }))]
    ]
    for (const [what, sent] of Object.entries(requests)) {
      for (const [handler, address] of addresses) {
        const server = handler === onNode ? 'node' : 'twinroute'
        t.strictSame(await handler.seen(address, sent), wanted, `${what}, answered ${when}, on ${server}`)
      }
    }
  }
})

t.test('a request can still be read when its answer has been sent', async (t) => {
  const read: Promise<string>[] = []
  const collect = async (request: any): Promise<string> => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    return text
  }
  const handler = (request: any, response: any): void => {
    response.once('finish', () => read.push(collect(request)))
    request.once('readable', () => undefined) // else what is left is dumped, as on node
    response.end('answered')
  }
  const app = await appOf(t, { routes: { a: { POST: handler, GET: handler, config: { bodyParser: false } } } })
  const call = callOver(await addressOf(app))
  t.equal((await call('POST /api/a', { headers: { 'content-type': 'x/y' }, body: 'abc' })).text, 'answered')
  t.equal((await call('GET /api/a')).text, 'answered')
  t.strictSame(await Promise.all(read), ['abc', ''])
})

t.test('a listener of finish can still read a body that nobody has read', async (t) => {
  const read: Promise<string>[] = []
  const handler = (request: any, response: any): void => {
    response.once('finish', () => read.push(textOf(request)))
    setImmediate(() => response.end('answered'))
  }
  const textOf = (request: any): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += String(chunk))).on('end', () => resolve(text))
    })
  const app = await appOf(t, { routes: { a: { POST: handler, config: { bodyParser: false } } } })
  const call = callOver(await addressOf(app))
  for (const body of ['abc', 'x'.repeat(10_000)])
    t.equal((await call('POST /api/a', { headers: { 'content-type': 'x/y' }, body })).text, 'answered')
  t.strictSame(await Promise.all(read), ['abc', 'x'.repeat(10_000)])
})

t.test('a request that is destroyed with an error behind its end reports it', async (t) => {
  const errors: Promise<unknown>[] = []
  const handler = (request: any, response: any): void => {
    request.once('end', () => {
      request.destroy(new Error('late'))
      errors.push(once(request, 'error'))
    })
    response.end('answered')
  }
  const app = await appOf(t, { routes: { a: { GET: handler } } })
  t.equal((await callOver(await addressOf(app))('GET /api/a')).text, 'answered')
  t.match(await Promise.all(errors), [[{ message: 'late' }]])
})
