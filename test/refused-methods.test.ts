import http2 from 'node:http2'
import { once } from 'node:events'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import t from 'tap'
import { createMiddleware, errorHandler, fileRoutes, type App, type Middleware } from 'twinroute'
import { routeLabel } from 'twinroute/observe'
import { addressOf, appOf, callByInject, callOver, onEveryHost, writeRoutes, type Routes } from './support/hosts.js'

/*
 * A route file is registered with the methods it serves. All others of its path get 405 from it all the same, and OPTIONS
 * gets 204, whatever else the application has registered.
 */

const place = (name: string) => (request: any) => ({ name, params: request.params })
const ROUTER = { ignoreTrailingSlash: true, maxParamLength: 1024 }
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'] as const

/** `CASES=2000 node .test/refused-methods.test.js` tries more. */
const CASES = Number(process.env['CASES'] ?? 40)

/** Numbers between 0 and 1, the same for each seed. */
function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

interface Case {
  routes: Routes
  others: readonly { method: string; url: string; host?: string }[]
  requests: readonly string[]
}

const NAMES = ['a', 'b', 'me', 'a.json', '[id]', '[id]', '[id].json', 'a-[id]', '[x]-[y]']
const LAST = [...NAMES, '[...rest]', '[[...rest]]']
const OTHER_URLS = ['*', '/api/*', '/api/:x', '/api/a/:x', '/api/:x/me', '/api/:x/:y/b', '/:all/a/b', '/api/a*']
const MORE_URLS = [
  '/api/:n(^\\d+$)',
  '/api/:x/:n(^\\d+$)',
  '/api/b/:x?',
  '/api/:x-:y',
  '/api/a-:x',
  '/api/:x.json/a',
  '/x/*'
]
const TEXTS = [
  'a',
  'b',
  'me',
  'a.json',
  'x.json',
  'a-b',
  'x-y',
  '7',
  'x',
  '%61',
  'a%2Fb',
  'x'.repeat(1100),
  `${'x'.repeat(1100)}-y`
]

function caseOf(seed: number): Case {
  const random = randomFrom(seed)
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
  const some = (most: number, make: () => string[]): string[][] =>
    Array.from({ length: 1 + Math.floor(random() * most) }, make)
  const folders = some(7, () => [...some(2, () => [pick(NAMES)]).flat(), ...(random() < 0.5 ? [pick(LAST)] : [])])
  const routes: Record<string, Record<string, unknown>> = {}
  for (const names of folders) {
    const folder = named(names).join('/')
    const methods = METHODS.filter((method) => method !== 'TRACE' && random() < 0.3)
    routes[folder] = Object.fromEntries([...methods, pick(['GET', 'POST'])].map((method) => [method, place(folder)]))
  }
  const others = some(2, () => [pick(METHODS), pick([...OTHER_URLS, ...MORE_URLS])]).map(([method, url]) => ({
    method: method as string,
    url: url as string,
    ...(random() < 0.2 ? { host: 'other.example' } : {})
  }))
  const fill = (folder: string): string[] =>
    folder
      .split('/')
      .flatMap((name) =>
        name.startsWith('[[') || name.startsWith('[...')
          ? some(2, () => [pick(TEXTS)]).flat()
          : random() < 0.2
            ? [pick(TEXTS)]
            : [name.replaceAll(/\[\w+\]/g, () => pick(TEXTS))]
      )
  const paths = [...Object.keys(routes).map(fill), ...some(2, () => some(3, () => [pick(TEXTS)]).flat())]
  const requests = paths.flatMap((texts) => METHODS.map((method) => `${method} /api/${texts.join('/')}`))
  return { routes, others: random() < 0.6 ? others : [], requests }
}

/** Every parameter of a path with a name of its own. */
function named(names: readonly string[]): string[] {
  return names.map((name, index) => name.replaceAll(/\[(\w+)\]/g, (_all, param: string) => `[${param}${index}]`))
}

/** The same routes, all methods of each registered, as `fileRoutes` does on a host. @returns undefined for a case that cannot boot */
async function bootBoth(t: any, { routes, others }: Case): Promise<FastifyInstance[] | undefined> {
  const add = (app: FastifyInstance): void => {
    for (const { method, url, host } of others) {
      const constraints = host === undefined ? {} : { constraints: { host } }
      const handler = (request: FastifyRequest): unknown => ({ url, params: request.params })
      app.route({ method: method as 'GET', url, handler, exposeHeadRoute: false, ...constraints })
    }
  }
  try {
    const app = await appOf(t, { routes, options: { errorHandler, fastifyOptions: { routerOptions: ROUTER } } })
    add(app)
    await app.ready()
    const host = fastify({ routerOptions: ROUTER })
    t.teardown(() => host.close())
    host.setErrorHandler(errorHandler as never)
    add(host)
    await host.register(fileRoutes, { mode: 'test', apiDir: writeRoutes(t, routes) })
    return [app, host]
  } catch (error) {
    const isExpected = /ROUTE_|FST_ERR_DUPLICATED_ROUTE/.test(
      `${(error as Error).message} ${(error as { code?: string }).code}`
    )
    if (!isExpected) throw error
    return undefined
  }
}

const asked = async (app: FastifyInstance, line: string): Promise<unknown[]> => {
  const host = line.length % 2 === 0 ? 'some.example' : 'other.example'
  const { status, headers, text } = await callByInject(app)(line, { headers: { host } })
  if (status === 405) return [status, headers['allow'], text === '' ? '' : JSON.parse(text).error.code]
  return status < 300 ? [status, headers['allow'], text] : [status] // a host has its own 404
}

t.test('any routes answer as if each file were registered with all methods', async (t) => {
  let refused = 0
  let booted = 0
  for (let seed = 1; seed <= CASES; seed++) {
    const given = caseOf(seed)
    const both = await bootBoth(t, given)
    if (both === undefined) continue
    booted++
    for (const line of given.requests) {
      const [got, wanted] = await Promise.all(both.map((app) => asked(app, line)))
      if (wanted?.[0] === 405) refused++
      const told = {
        seed,
        line: line.slice(0, 80),
        folders: Object.entries(given.routes).map(([at, to]) => [at, Object.keys(to)])
      }
      if (JSON.stringify(got) !== JSON.stringify(wanted))
        t.strictSame(got, wanted, JSON.stringify({ ...told, others: given.others }))
    }
    await Promise.all(both.map((app) => app.close()))
  }
  t.ok(booted > CASES / 2 && refused > 5 * CASES, `${booted} applications, ${refused} refusals`)
})

const USERS: Routes = {
  'users/me': { GET: place('me') },
  'users/[id]': { GET: place('id'), DELETE: place('id') },
  things: { GET: place('things'), POST: place('things') },
  'files/[...path]': { POST: place('files') }
}

/** The methods each url was shown with to onRoute hooks. */
async function shown(t: any, routes: Routes, setUp: (app: App) => unknown): Promise<Record<string, string>> {
  const app = await appOf(t, { routes, options: { errorHandler } })
  const methods: Record<string, string[]> = {}
  app.addHook('onRoute', ({ url, method }) => void (methods[url] = [...(methods[url] ?? []), ...[method].flat()]))
  await setUp(app)
  await app.ready()
  return Object.fromEntries(Object.entries(methods).map(([url, list]) => [url, list.toSorted().join(' ')]))
}

const ALL = 'DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'
const REGISTERED: { rule: string; setUp: (app: App) => unknown; routes?: Routes; wanted: Record<string, string> }[] = [
  {
    rule: 'a file is registered with the methods it serves, and with those that a weaker route would take from it',
    setUp: () => undefined,
    wanted: {
      '/api/users/me': 'DELETE GET HEAD',
      '/api/users/:id': 'DELETE GET HEAD',
      '/api/things': 'GET HEAD POST',
      '/api/files/*': 'POST'
    }
  },
  {
    rule: 'a wildcard of a plugin counts with its methods alone',
    setUp: (app) => app.put('/api/*', () => 'any'),
    wanted: { '/api/things': 'GET HEAD POST PUT', '/api/users/me': 'DELETE GET HEAD PUT' }
  },
  {
    rule: 'a wildcard that another guards does not count where the path is its own',
    setUp: (app) => app.put('/other/*', () => 'any'),
    wanted: { '/api/things': 'GET HEAD POST' }
  },
  {
    rule: 'a refusal is in the way of weaker routes, too',
    setUp: () => undefined,
    routes: { '[id].json': { DELETE: place('json') }, '[id]': { GET: place('id') }, me: { GET: place('me') } },
    wanted: { '/api/me': 'DELETE GET HEAD' }
  },
  {
    rule: 'a catch-all file that serves GET takes nothing from others',
    setUp: () => undefined,
    routes: { '[[...all]]': { GET: place('all') }, things: { GET: place('things'), PUT: place('things') } },
    wanted: { '/api/things': 'GET HEAD PUT', '/api/*': 'GET HEAD' }
  },
  {
    rule: 'a file is registered with OPTIONS where a weaker one exports it',
    setUp: () => undefined,
    routes: { '[id]': { OPTIONS: place('id') }, me: { GET: place('me') }, 'me/too': { GET: place('too') } },
    wanted: { '/api/:id': 'OPTIONS', '/api/me': 'GET HEAD OPTIONS', '/api/me/too': 'GET HEAD' }
  },
  {
    rule: 'below the prefix of a not-found handler all methods are registered',
    setUp: (app) =>
      app.register(async (scope) => void scope.setNotFoundHandler((_request, reply) => reply.send('mine')), {
        prefix: '/api/users'
      }),
    wanted: { '/api/users/me': ALL, '/api/users/:id': ALL, '/api/things': 'GET HEAD POST' }
  },
  {
    rule: 'a route that a plugin registers when it is shown a file route counts',
    setUp: (app) =>
      app.addHook('onRoute', function ({ url }) {
        if (url === '/api/files/*' && !app.hasRoute({ method: 'PATCH', url: '/api/*' }))
          app.patch('/api/*', () => 'late')
      }),
    wanted: { '/api/things': 'GET HEAD PATCH POST', '/api/users/me': 'DELETE GET HEAD PATCH' }
  }
]

for (const { rule, setUp, routes = USERS, wanted } of REGISTERED)
  t.test(rule, async (t) => {
    const all = await shown(t, routes, setUp)
    t.strictSame(Object.fromEntries(Object.keys(wanted).map((url) => [url, all[url]])), wanted)
  })

t.test('printRoutes shows methods that exist', async (t) => {
  const app = await appOf(t, { routes: { things: { GET: place('things') } } })
  await app.ready()
  t.match(app.printRoutes({ commonPrefix: false }), /things \(GET, HEAD\)/)
})

const header =
  (name: string): Middleware =>
  (_request, response, next) => {
    response.append('x-ran', name)
    next()
  }
const guard: Middleware = (request, response, next) => {
  if (request.get('authorization')) next()
  else response.status(401).json({ error: 'NO_TOKEN' })
}

t.test('a refused method runs the chain of its route, with its parameters, and every hook once', async (t) => {
  const seen: unknown[] = []
  const own: Middleware = (request, _response, next) => {
    seen.push({ ...request.params }, request.route?.path)
    next()
  }
  const routes = { 'teams/[team]/[...path]': { GET: place('path'), middleware: [own] } }
  const middleware = createMiddleware({ '/api/teams': [header('teams')], '/api/teams/[team]': [header('team'), guard] })
  const app = await appOf(t, { routes, options: { middleware, errorHandler } })
  for (const name of ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onSend', 'onResponse'] as const)
    app.addHook(name, async () => void seen.push(name))
  app.use((_request, _response, next) => {
    seen.push('use')
    next()
  })
  const call = callOver(await addressOf(app))
  t.equal((await call('PUT /api/teams/7/a/b%20c')).status, 401, 'the guard comes first')
  seen.length = 0
  const answer = await call('PUT /api/teams/7/a/b%20c', { headers: { authorization: 'x' }, body: 'not json' })
  t.match(answer, { status: 405, headers: { allow: 'GET, HEAD, OPTIONS', 'x-ran': 'teams, team' } })
  t.match(answer.json, { error: { code: 'METHOD_NOT_ALLOWED' } })
  t.strictSame(seen, [
    'use',
    'onRequest',
    { team: '7', path: ['a', 'b c'] },
    '/api/teams/:team/*',
    'preParsing',
    'preValidation',
    'preHandler',
    'onSend',
    'onResponse'
  ])
})

t.test('middleware of use() and hooks know which route refuses a request', async (t) => {
  const seen: unknown[] = []
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  app.addHook('onRequest', async (request) => void seen.push(routeLabel(request), request.routeOptions.url))
  app.addHook('onResponse', async (request) => void seen.push(routeLabel(request)))
  app.use('/api', (request, _response, next) => {
    seen.push(request.route?.path)
    next()
  })
  const call = callByInject(app)
  await call('PUT /api/users/7')
  await call('PUT /api/none')
  await call('GET /api/users/7')
  const file = ['/api/users/:id', '/api/users/[id]']
  const refused = [...file, undefined, '/api/users/[id]']
  const unknown = [undefined, 'unmatched', undefined, 'unmatched']
  t.strictSame(seen, [...refused, ...unknown, ...file, ...file])
})

t.test(
  'what the route of a refused request is does not change with its url: rewriteUrl, hooks, use(path)',
  async (t) => {
    const seen: unknown[] = []
    const rewriteUrl = ({ url = '' }: { url?: string | undefined }) =>
      url.replace('/old/', '/api/').replace('/users/old', '/none')
    const routes = { ...USERS, 'guarded/[id]': { GET: place('guarded'), middleware: [guard] } }
    const app = await appOf(t, { routes, options: { errorHandler, fastifyOptions: { rewriteUrl } } })
    app.addHook('onRequest', async (request) => {
      seen.push(routeLabel(request))
      if (request.headers['x-url'] !== undefined) request.raw.url = String(request.headers['x-url'])
    })
    app.use('/api', (request, _response, next) => {
      seen.push(request.route?.path)
      next()
    })
    const call = callByInject(app)
    t.match(await call('PUT /old/users/7'), { status: 405, headers: { allow: 'DELETE, GET, HEAD, OPTIONS' } })
    t.match(await call('PUT /api/users/old'), { status: 404 })
    t.match(await call('PUT /api/guarded/7', { headers: { 'x-url': '/api/things' } }), { status: 401 })
    t.match(await call('PUT /api/none', { headers: { 'x-url': '/api/things' } }), { status: 404 })
    const unknown = [undefined, 'unmatched']
    const users = ['/api/users/:id', '/api/users/[id]']
    t.strictSame(seen, [...users, ...unknown, '/api/guarded/:id', '/api/guarded/[id]', ...unknown])
  }
)

t.test(
  'a hook that asks for the not-found handler gets that of the application for refused methods, too',
  async (t) => {
    const app = await appOf(t, { routes: USERS, options: { errorHandler } })
    app.addHook('onRequest', async (request, reply) =>
      request.headers['x-hidden'] === undefined ? undefined : reply.callNotFound()
    )
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('own'))
    const call = callByInject(app)
    for (const line of ['GET /api/things', 'PUT /api/things'])
      t.match(await call(line, { headers: { 'x-hidden': '1' } }), { status: 404, text: 'own' }, line)
    t.match(await call('PUT /api/things'), { status: 405 }, 'others are refused')
  }
)

t.test('an error handler that asks for the not-found handler gets an answer where there is none', async (t) => {
  const app = await appOf(t, { routes: USERS })
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  for (const line of ['PUT /api/things', `PUT /api/users/${'x'.repeat(1025)}`, `GET /api/users/${'x'.repeat(1025)}`])
    t.match(await callByInject(app)(line), { status: 404 }, line.slice(0, 20))
})

t.test('a request for a version finds no file where another route has versions', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  app.route({ method: 'GET', url: '/other', constraints: { version: '1.0.0' }, handler: () => 'other' })
  const call = callByInject(app)
  for (const line of ['GET /api/things', 'PUT /api/things'])
    t.match(await call(line, { headers: { 'accept-version': '1.0.0' } }), { status: 404 }, line)
  t.match(await call('PUT /api/things'), { status: 405 })
})

t.test('a plugin that restricts a file to a host restricts what it refuses', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  app.addHook('onRoute', (route) => {
    if (route.url === '/api/things') route.constraints = { host: 'other.example' }
  })
  const call = callByInject(app)
  for (const line of ['GET /api/things', 'PUT /api/things']) t.match(await call(line), { status: 404 }, line)
  t.match(await call('PUT /api/things', { headers: { host: 'other.example' } }), { status: 405 })
})

t.test('hooks of the application come before 405, as before any handler', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  app.addHook('preHandler', async (_request, reply) => reply.code(403).send({ own: true }))
  t.match(await callByInject(app)('PUT /api/things'), { status: 403, json: { own: true } })
})

t.test('spellings and refusals of a path are those of its route', async (t) => {
  const options = {
    errorHandler,
    middleware: createMiddleware({ '/api/files/secret': [guard] }),
    fastifyOptions: { routerOptions: ROUTER }
  }
  onEveryHost(t, { routes: USERS, options }, async (t, call, place) => {
    const rows: [line: string, status: number][] = [
      ['PUT /api/things/', 405],
      ['PUT /api/things?a=1', 405],
      ['PUT /api//things', 404],
      ['PUT /api/Things', 404],
      ['PUT /api/users/%6De', 405],
      ['PUT /api/users/a%00b', 400],
      ['PUT /api/users/a%5Cb', 400],
      ['PUT /api/users/%2E%2E', 404],
      ['PUT /api/users/%zz', 400],
      [`PURGE /api/users/${'x'.repeat(1025)}`, 404],
      [`PUT /api/users/${'x'.repeat(1025)}`, 414],
      ['GET /api/files/a%2Fsecret', 404],
      ['GET /api/files/secret/a', 401],
      ['GET /api/files/a', 405],
      ['HEAD /api/files/a', 405]
    ]
    for (const [line, status] of rows) {
      const answer = await call(line)
      t.equal(answer.status, status, line)
      if (line.startsWith('HEAD')) t.equal(answer.text, '', 'HEAD has no body')
      else if (place !== 'host') t.equal(typeof answer.json, 'object')
      if (status === 405) t.ok(answer.headers.allow, `${line}: Allow`)
    }
  })
})

t.test('the options of the router hold for refused methods', async (t) => {
  const routerOptions = {
    caseSensitive: false,
    ignoreDuplicateSlashes: true,
    ignoreTrailingSlash: false,
    maxParamLength: 5
  }
  const options = { errorHandler, fastifyOptions: { routerOptions } }
  onEveryHost(t, { routes: USERS, options }, async (t, call) => {
    t.equal((await call('PUT /API//Things')).status, 405)
    t.equal((await call('DELETE /api/Users/ME')).status, 405)
    t.equal((await call('PUT /api/things/')).status, 404)
    t.equal((await call('PUT /api/users/123456')).status, 414)
  })
  const semicolon = { errorHandler, fastifyOptions: { routerOptions: { ...ROUTER, useSemicolonDelimiter: true } } }
  onEveryHost(t, { routes: USERS, options: semicolon }, async (t, call) => {
    t.equal((await call('PUT /api/things;x=%zz')).status, 405)
  })
})

t.test('a body of a refused method is not read as one, whatever its type', async (t) => {
  const seen: unknown[] = []
  const middleware = createMiddleware({
    '/api': [
      (request, _response, next) => {
        seen.push(request.body)
        next()
      }
    ]
  })
  const app = await appOf(t, { routes: USERS, options: { middleware, errorHandler } })
  const call = callByInject(app)
  for (const type of ['application/json', 'text/none', 'none', '']) {
    const sent = { headers: type === '' ? {} : { 'content-type': type }, body: '{"a":' }
    t.equal((await call('PUT /api/things', sent)).status, 405, type)
  }
  t.strictSame(seen, [undefined, undefined, undefined, undefined])
})

t.test('a refused method of a file keeps the limits of that file where bodies are parsed early', async (t) => {
  const bodies: unknown[] = []
  const note: Middleware = (request, _response, next) => {
    bodies.push(request.body)
    next()
  }
  const routes = {
    small: { GET: place('small'), config: { bodyLimit: 3 }, middleware: [note] },
    late: { GET: place('late'), config: { bodyParser: 'late' }, middleware: [note] },
    none: { GET: place('none'), middleware: [note] }
  }
  const app = await appOf(t, { routes, options: { errorHandler, bodyParser: 'early' } })
  const sent = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  for (const folder of Object.keys(routes)) t.equal((await callByInject(app)(`PUT /api/${folder}`, sent)).status, 405)
  t.strictSame(bodies, [undefined, undefined, { a: 1 }])
})

const REWRITES: { rule: string; change: (request: any, base: string) => void; line: string; wanted: object }[] = [
  {
    rule: 'a method that middleware has changed to a refused one',
    change: (request) => void (request.method = 'PATCH'),
    line: 'POST /api/things',
    wanted: { status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }
  },
  {
    rule: 'a url that middleware has changed to one which refuses',
    change: (request, base) => void (request.url = `${base}/users/me`),
    line: 'DELETE /api/users/7',
    wanted: { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } }
  },
  {
    rule: 'a refused method that middleware has changed to one that is served',
    change: (request) => void (request.method = 'GET'),
    line: 'PATCH /api/things',
    wanted: { status: 200 }
  }
]
for (const { rule, change, line, wanted } of REWRITES)
  t.test(rule, async (t) => {
    const rewrite =
      (base: string): Middleware =>
      (request, _response, next) => {
        change(request, base)
        next()
      }
    const inChain = await appOf(t, {
      routes: USERS,
      options: { errorHandler, middleware: createMiddleware({ '/api': [rewrite('')] }) }
    })
    t.match(await callByInject(inChain)(line), wanted, 'in the map')
    const inStack = await appOf(t, {
      routes: USERS,
      options: { errorHandler },
      use: (app) => void app.use(rewrite('/api'))
    })
    t.match(await callByInject(inStack)(line), wanted, 'in use()')
  })

t.test('a handler timeout holds for the chain of a refused method', async (t) => {
  const app = await appOf(t, {
    routes: { slow: { GET: place('slow'), middleware: [() => undefined], config: { timeout: 20 } } },
    options: { errorHandler }
  })
  t.match(await callByInject(app)('PUT /api/slow'), { status: 503 })
})

t.test('not-found handlers: of the application, of a plugin, and called by an error handler', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  app.setNotFoundHandler((_request, reply: FastifyReply) => void reply.code(404).send('own'))
  await app.register(
    async (scope) => {
      scope.setErrorHandler((_error, _request, reply) => reply.code(500).send('of the plugin'))
      scope.setNotFoundHandler((_request, reply) => reply.code(404).send('of the plugin'))
    },
    { prefix: '/api/users' }
  )
  const call = callByInject(app)
  t.match(await call('PUT /api/things'), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
  t.match(await call('PUT /api/none'), { status: 404, text: 'own' })
  t.match(await call('PUT /api/users/me'), { status: 405, json: { error: { code: 'METHOD_NOT_ALLOWED' } } })
  t.match(await call('PUT /api/users/me/x'), { status: 404, text: 'of the plugin' })
  t.match(await call('PURGE /api/things'), { status: 404, text: 'own' }, 'a method that Fastify does not know')
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  t.match(await call('PUT /api/things'), { status: 404, text: 'own' })
})

t.test('what plugins add to file routes when they are registered holds for refused methods', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler } })
  await app.register(
    fastifyPlugin(async (instance: FastifyInstance) => {
      instance.addHook('onRoute', (route) => {
        if (!route.url.startsWith('/api/users/:id')) return
        route.preHandler = [async (_request: FastifyRequest, reply: FastifyReply) => void reply.header('x-added', '1')]
      })
    })
  )
  const call = callByInject(app)
  t.match(await call('PUT /api/users/7'), { status: 405, headers: { 'x-added': '1' } })
  const me = await call('PUT /api/users/me')
  t.match(
    me,
    { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } },
    'and a weaker route does not answer for a file'
  )
  t.notOk(me.headers['x-added'])
})

const SECURED: Readonly<Record<string, (route: RouteOptions) => void>> = {
  'a mark in its config': (route) => void (route.config = { ...route.config, secured: true } as object),
  'a mark in the config that it has': (route) => void Object.assign(route.config ?? {}, { secured: true }),
  'a schema': (route) => void (route.schema = { headers: { type: 'object', required: ['x-key'], properties: {} } })
}

for (const [what, change] of Object.entries(SECURED)) {
  t.test(`${what}, by which a plugin guards a file route, guards the methods that it does not serve`, async (t) => {
    const app = await appOf(t, { routes: USERS, options: { errorHandler } })
    app.addHook('onRoute', (route) => {
      if (route.url === '/api/things') change(route)
    })
    app.addHook('onRequest', async ({ routeOptions: { config } }, reply) =>
      'secured' in (config ?? {}) ? reply.code(400).send() : undefined
    )
    const call = callByInject(app)
    for (const method of ['GET', 'PUT', 'OPTIONS'])
      t.match(await call(`${method} /api/things`), { status: 400 }, method)
    t.match(await call('OPTIONS /api/users/me'), { status: 204 }, 'others are not guarded')
  })
}

t.test('a catch-all tells its methods for a value that is too long for a better route', async (t) => {
  const routes = { '[...all]': { GET: place('all') }, 'files/[id]': { OPTIONS: place('file') } }
  const middleware = createMiddleware({ '/api': [guard] })
  const fastifyOptions = { routerOptions: { maxParamLength: 10 } }
  onEveryHost(t, { routes, options: { errorHandler, middleware, fastifyOptions } }, async (t, call) => {
    const headers = { authorization: 'x' }
    const long = `/api/files/${'x'.repeat(11)}`
    t.match(await call(`OPTIONS ${long}`), { status: 401 }, 'behind its guard')
    const told = await call(`OPTIONS ${long}`, { headers })
    t.match(told, { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' }, text: '' })
    t.match(await call(`PUT ${long}`, { headers }), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    t.match((await call('OPTIONS /api/files/1', { headers })).json, { name: 'file' })
  })
})

t.test('over HTTP/2', async (t) => {
  const app = await appOf(t, { routes: USERS, options: { errorHandler, fastifyOptions: { http2: true } } })
  const client = http2.connect(await addressOf(app))
  t.teardown(() => client.close())
  for (const method of ['PUT', 'HEAD']) {
    const stream = client.request({ ':path': '/api/files/a', ':method': method })
    const [headers] = await once(stream, 'response')
    t.match(headers, { ':status': 405, allow: 'OPTIONS, POST' })
    stream.close()
  }
})

t.test('a mounted Express application and its routes', async (t) => {
  const { default: express } = await import('express')
  const mounted = express()
  mounted.put('/things', (_request, response) => void response.send('mounted'))
  const app = await appOf(t, { routes: USERS, options: { errorHandler }, use: (app) => void app.use('/api', mounted) })
  const call = callByInject(app)
  t.match(await call('PUT /api/things'), { status: 200, text: 'mounted' })
  t.match(await call('PATCH /api/things'), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
})
