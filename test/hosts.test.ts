import { createRequire } from 'node:module'
import { join } from 'node:path'
import fastifyPlugin from 'fastify-plugin'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'
import { createApp, fileRoutes, type App, type Request, type Response } from 'twinroute'
import {
  addressOf,
  appOf,
  callByInject,
  callOver,
  writeRoutes,
  type Answer,
  type Call,
  type Routes
} from './support/hosts.js'
import { writeTree } from './support/route-tree.js'
import { root } from './support/source-tree.js'

// Plugins the project does not depend on are taken from the middleware matrix, where that is installed.
const matrix = createRequire(join(root, 'test/matrix/package.json'))
const project = createRequire(join(root, 'package.json'))

type When = 'before' | 'after'
type Check = { rule: string; got: unknown; want: unknown }

interface Neighbour {
  plugin: string
  options?: object
  needs?: string
  /** By inject the plugin's own answers are empty, with or without twinroute. */
  socketOnly?: true
  /** Something of the plugin's on the host, set up with it. */
  setUp?: (host: FastifyInstance) => unknown
  /** What the plugin does for the host, and for file routes that were there later than it. */
  does?: (call: Call, when: When, host: FastifyInstance) => Promise<Check[]>
}

const FORM = '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--XX--\r\n'
const ORIGIN = { origin: 'http://friend.example' }
const header = async (call: Call, line: string, name: string, headers = {}): Promise<unknown> =>
  (await call(line, { headers })).headers[name]
const mounted = (host: FastifyInstance): unknown =>
  Reflect.apply(Reflect.get(host, 'use') as () => void, host, [
    '/mounted',
    (_request: Request, response: Response) => response.end('mounted')
  ])
const seesMounted = async (call: Call): Promise<Check[]> => [
  { rule: 'its middleware answers', got: (await call('GET /mounted')).text, want: 'mounted' }
]

const NEIGHBOURS: Neighbour[] = [
  { plugin: '@fastify/express', socketOnly: true, setUp: mounted, does: seesMounted },
  { plugin: '@fastify/middie', setUp: mounted, does: seesMounted },
  {
    plugin: '@fastify/cookie',
    setUp: (host) => host.get('/cookies', (request) => Reflect.get(request, 'cookies')),
    does: async (call) => [
      { rule: 'cookies', got: (await call('GET /cookies', { headers: { cookie: 'a=b' } })).json, want: { a: 'b' } }
    ]
  },
  {
    plugin: '@fastify/session',
    needs: '@fastify/cookie',
    options: { secret: 'a secret of more than thirty-two characters', cookie: { secure: false } },
    does: async (call) => {
      const first = await call('GET /api/visits')
      const cookie = String(first.headers['set-cookie']).split(';')[0] as string
      return [
        {
          rule: 'file routes have the session',
          got: [first.json, (await call('GET /api/visits', { headers: { cookie } })).json],
          want: [1, 2]
        }
      ]
    }
  },
  {
    plugin: '@fastify/multipart',
    setUp: (host) => host.post('/form', async (request) => Object.keys(Reflect.get(request, 'body') ?? {})),
    options: { attachFieldsToBody: true },
    does: async (call) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=XX' }
      return [
        { rule: 'its own forms', got: (await call('POST /form', { headers, body: FORM })).json, want: ['a'] },
        {
          rule: 'forms of file routes',
          got: (await call('POST /api/form', { headers, body: FORM })).json,
          want: { a: '1' }
        }
      ]
    }
  },
  {
    plugin: '@fastify/cors',
    options: { origin: ['http://friend.example'] },
    does: async (call) => [
      {
        rule: 'returned answers',
        got: await header(call, 'GET /api/hello', 'access-control-allow-origin', ORIGIN),
        want: ORIGIN.origin
      },
      {
        rule: 'raw answers',
        got: await header(call, 'GET /api/stream', 'access-control-allow-origin', ORIGIN),
        want: ORIGIN.origin
      },
      {
        rule: 'refusals',
        got: await header(call, 'GET /api/users/1', 'access-control-allow-origin', { ...ORIGIN, 'x-deny': '1' }),
        want: ORIGIN.origin
      }
    ]
  },
  {
    plugin: '@fastify/helmet',
    does: async (call) => [
      {
        rule: 'returned answers',
        got: await header(call, 'GET /api/hello', 'x-content-type-options'),
        want: 'nosniff'
      },
      { rule: 'raw answers', got: await header(call, 'GET /api/stream', 'x-content-type-options'), want: 'nosniff' }
    ]
  },
  {
    plugin: '@fastify/compress',
    options: { threshold: 10 },
    // it looks at routes as they are registered: as on plain Fastify, those that were there before stay as they are
    does: async (call, when) => [
      {
        rule: 'returned answers',
        got: await header(call, 'GET /api/hello', 'content-encoding', { 'accept-encoding': 'gzip' }),
        want: when === 'before' ? 'gzip' : undefined
      }
    ]
  },
  {
    plugin: '@fastify/rate-limit',
    options: { max: 1000 },
    does: async (call, when) => [
      {
        rule: 'counts',
        got: await header(call, 'GET /api/hello', 'x-ratelimit-limit'),
        want: when === 'before' ? '1000' : undefined
      }
    ]
  },
  {
    plugin: '@fastify/swagger',
    does: async (_call, when, host) => {
      const { paths } = Reflect.apply(Reflect.get(host, 'swagger') as () => { paths: object }, host, [])
      return [{ rule: 'documents file routes', got: '/api/users/{id}' in paths, want: when === 'before' }]
    }
  },
  {
    plugin: '@fastify/caching',
    options: { privacy: 'private', expiresIn: 300 },
    does: async (call) => [
      {
        rule: 'returned answers',
        got: await header(call, 'GET /api/hello', 'cache-control'),
        want: 'private, max-age=300'
      }
    ]
  },
  {
    plugin: '@fastify/etag',
    does: async (call) => [
      { rule: 'returned answers', got: typeof (await header(call, 'GET /api/hello', 'etag')), want: 'string' }
    ]
  },
  {
    plugin: '@fastify/under-pressure',
    options: {
      healthCheck: async () => false,
      healthCheckInterval: 60_000,
      pressureHandler: (_request: FastifyRequest, reply: FastifyReply) => void reply.header('x-pressure', 'high')
    },
    does: async (call) => [
      { rule: 'file routes', got: await header(call, 'GET /api/hello', 'x-pressure'), want: 'high' }
    ]
  },
  {
    plugin: '@fastify/jwt',
    options: { secret: 'a secret of more than thirty-two characters' },
    setUp: (host) =>
      host.addHook('onRequest', async (request: FastifyRequest) => {
        if (request.headers['x-user'] !== undefined) Reflect.set(request, 'user', { name: request.headers['x-user'] })
      }),
    does: async (call) => [
      {
        rule: 'file routes have the user',
        got: (await call('GET /api/user', { headers: { 'x-user': 'ada' } })).json,
        want: { name: 'ada' }
      }
    ]
  },
  {
    plugin: '@fastify/static',
    options: { root: join(root, 'docs'), prefix: '/static/' },
    does: async (call) => [{ rule: 'files', got: (await call('GET /static/errors.md')).status, want: 200 }]
  },
  { plugin: '@fastify/websocket' }
]

const ROUTES: Routes = {
  hello: { GET: (request: Request) => ({ hello: 'world', url: request.url, base: request.baseUrl }) },
  echo: { POST: async (request: Request) => ({ body: await request.body }) },
  form: { POST: async (request: Request) => Object.fromEntries(await request.formData()) },
  'users/[id]': {
    GET: (request: Request, response: Response) =>
      response.status(201).json({ id: request.params.id, query: request.query }),
    middleware: [
      (request: Request, response: Response, next: () => void) =>
        request.get('x-deny') === undefined ? next() : response.status(401).json({ denied: request.originalUrl })
    ]
  },
  stream: {
    GET: (_request: Request, response: Response) => {
      response.type('txt').write('a'.repeat(3000))
      response.end('b')
    }
  },
  visits: {
    GET: (request: Request) =>
      request.session === undefined ? null : (request.session.visits = (request.session.visits ?? 0) + 1)
  },
  user: { GET: (request: Request) => request.user ?? null }
}

/** A Fastify instance with a life of its own: a route, a parser, a hook, an error handler. */
function hostWithALife(): FastifyInstance {
  const host = fastify()
  host.addHook('onRequest', async (_request, reply) => void reply.header('x-host', 'here'))
  host.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, text, done) =>
    done(null, String(text).split(','))
  )
  host.setErrorHandler((error: Error & { statusCode?: number }, _request, reply: FastifyReply) =>
    reply.code(error.statusCode ?? 500).send({ host: error.message })
  )
  return host
}

function addOwnRoutes(host: FastifyInstance): void {
  host.get('/own', (_request, reply) => void reply.send({ own: true }))
  host.post('/own', async (request) => ({ got: request.body }))
}

const JSON_BODY = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
const seen = ({ status, text }: Answer): string => `${status} ${text}`

async function sharedRules(call: Call): Promise<Check[]> {
  return [
    { rule: 'own route', got: seen(await call('GET /own')), want: '200 {"own":true}' },
    { rule: 'own JSON', got: seen(await call('POST /own', JSON_BODY)), want: '200 {"got":{"a":1}}' },
    {
      rule: 'own parser',
      got: seen(await call('POST /own', { headers: { 'content-type': 'text/csv' }, body: 'a,b' })),
      want: '200 {"got":["a","b"]}'
    },
    { rule: 'own hook on file routes', got: await header(call, 'GET /api/hello', 'x-host'), want: 'here' },
    { rule: 'own hook on raw answers', got: await header(call, 'GET /api/stream', 'x-host'), want: 'here' },
    { rule: 'own 404', got: (await call('GET /none')).json.message, want: 'Route GET:/none not found' },
    {
      rule: 'returned object',
      got: seen(await call('GET /api/hello?a=1')),
      want: '200 {"hello":"world","url":"/api/hello?a=1","base":""}'
    },
    { rule: 'response.json', got: seen(await call('GET /api/users/7?x=1')), want: '201 {"id":"7","query":{"x":"1"}}' },
    {
      rule: 'guard',
      got: seen(await call('GET /api/users/7', { headers: { 'x-deny': '1' } })),
      want: '401 {"denied":"/api/users/7"}'
    },
    { rule: 'JSON body', got: seen(await call('POST /api/echo', JSON_BODY)), want: '200 {"body":{"a":1}}' },
    {
      rule: 'error of ours, handler of the host',
      got: (await call('POST /api/echo', { ...JSON_BODY, body: '{' })).json,
      want: { host: 'Request body is not valid JSON' }
    },
    { rule: 'stream', got: (await call('GET /api/stream')).text.length, want: 3001 },
    { rule: '405', got: (await call('PUT /api/hello')).headers.allow, want: 'GET, HEAD, OPTIONS' },
    { rule: '404 below the base route', got: (await call('GET /api/none')).json, want: { host: 'Route not found' } }
  ]
}

async function hostBeside(
  t: any,
  neighbour: Neighbour,
  when: When,
  load: (name: string) => Plugin
): Promise<FastifyInstance> {
  const host = hostWithALife()
  t.teardown(() => host.close())
  const register = async (): Promise<void> => {
    if (neighbour.needs !== undefined) await host.register(load(neighbour.needs) as never)
    await host.register(load(neighbour.plugin) as never, neighbour.options ?? {})
    await neighbour.setUp?.(host)
  }
  if (when === 'before') await register()
  if (when === 'before') addOwnRoutes(host)
  await host.register(fileRoutes, { apiDir: writeRoutes(t, ROUTES), mode: 'test' })
  if (when === 'after') await register()
  if (when === 'after') addOwnRoutes(host)
  return host
}

type Plugin = Parameters<FastifyInstance['register']>[0]

function loader(): (name: string) => Plugin {
  return (name) => {
    const from = [project, matrix].find((place) => isInstalled(place, name))
    return from?.(name) as Plugin
  }
}

function isInstalled(place: NodeJS.Require, name: string): boolean {
  try {
    place.resolve(name)
    return true
  } catch {
    return false
  }
}

t.test('a host keeps its own ways beside the plugins of the field, registered before or after', async (t) => {
  const table: string[] = []
  const load = loader()
  for (const neighbour of NEIGHBOURS) {
    const { plugin, socketOnly, does } = neighbour
    if (![project, matrix].some((place) => isInstalled(place, plugin))) {
      table.push(`${plugin.padEnd(22)} left out: not installed (npm run test:matrix installs it)`)
      continue
    }
    for (const when of ['before', 'after'] as const) {
      await t.test(`${plugin} registered ${when} the file routes`, async (t) => {
        const host = await hostBeside(t, neighbour, when, load)
        const socket = callOver(await addressOf(host))
        const places: [string, Call][] = [
          ['socket', socket],
          ...(socketOnly ? [] : [['inject', callByInject(host)] as [string, Call]])
        ]
        for (const [place, call] of places) {
          for (const { rule, got, want } of await sharedRules(call)) t.same(got, want, `${place}: ${rule}`)
          for (const { rule, got, want } of (await does?.(call, when, host)) ?? [])
            t.same(got, want, `${place}: ${plugin}: ${rule}`)
        }
        table.push(`${plugin.padEnd(22)} ${when.padEnd(7)} ${places.map(([place]) => place).join(', ')}`)
      })
    }
  }
  for (const line of table) t.comment(line)
})

/** Plugins with a `use` of their own are refused on an app. */
const ON_APPS = NEIGHBOURS.filter(({ plugin }) => !['@fastify/express', '@fastify/middie'].includes(plugin))

t.test('a plugin registered on the result of createApp acts as one registered before the file routes', async (t) => {
  const load = loader()
  for (const { plugin, needs, options = {}, setUp, does } of ON_APPS) {
    if (![project, matrix].some((place) => isInstalled(place, plugin))) {
      t.comment(`${plugin} left out: not installed (npm run test:matrix installs it)`)
      continue
    }
    await t.test(plugin, async (t) => {
      const app = await appOf(t, { routes: ROUTES })
      if (needs !== undefined) await app.register(load(needs) as never)
      await app.register(load(plugin) as never, options)
      await setUp?.(app)
      const socket = callOver(await addressOf(app))
      for (const [place, call] of [['socket', socket] as const, ['inject', callByInject(app)] as const]) {
        const hello = seen(await call('GET /api/hello?a=1'))
        t.equal(hello, '200 {"hello":"world","url":"/api/hello?a=1","base":""}', place)
        for (const { rule, got, want } of (await does?.(call, 'before', app)) ?? [])
          t.same(got, want, `${place}: ${rule}`)
      }
    })
  }
})

/** What is done to an app before it is ready, and what comes of it. */
const BEFORE_READY: readonly { name: string; run: (app: App, t: any) => Promise<unknown>; want: unknown }[] = [
  {
    name: 'an onRoute hook is shown every file route, on a pattern of several paths, too',
    run: async (app) => {
      const urls: string[] = []
      app.addHook('onRoute', ({ url }) => void urls.push(url))
      await app.ready()
      return urls.toSorted()
    },
    want: ['/api/docs', '/api/docs/*', '/api/hello', '/api/users/:id']
  },
  {
    name: 'hooks and decorators hold for file routes and for what no route matches',
    run: async (app) => {
      const seen: unknown[] = []
      app.decorateRequest('tenant', 'none')
      app.decorateReply('tone', 'calm')
      app.addHook('onRequest', async (request, reply) => {
        seen.push(Reflect.get(request, 'tenant'), Reflect.get(reply, 'tone'))
      })
      for (const url of ['/api/hello', '/none', '/api/users/1']) await app.inject(url)
      return seen
    },
    want: ['none', 'calm', 'none', 'calm', 'none', 'calm']
  },
  {
    name: 'hooks of an encapsulated plugin stay in it',
    run: async (app) => {
      await app.register(async (scope) => {
        scope.addHook('onRequest', async (_request, reply) => reply.code(401).send())
        scope.get('/inside', () => 'inside')
      })
      return [await statusOf(app, '/inside'), await statusOf(app, '/api/hello')]
    },
    want: [401, 200]
  },
  {
    name: 'after() in an onRoute hook runs for file routes, and the boot waits for it',
    run: async (app) => {
      const seen: string[] = []
      app.addHook('onRoute', function ({ url }) {
        if (url !== '/api/hello') return
        const waits = (_error: Error | null, done: () => void): void =>
          void setImmediate(() => {
            seen.push('callback')
            done()
          })
        this.after(waits as () => void)
        this.after(() => void seen.push('plain'))
      })
      await app.ready()
      return seen.toSorted()
    },
    want: ['callback', 'plain']
  },
  {
    name: 'a method added to the server is refused with 405 by file routes',
    run: async (app) => {
      app.addHttpMethod('MKCOL', { hasBody: true })
      const { statusCode, headers } = await app.inject({ method: 'MKCOL' as 'GET', url: '/api/hello' })
      return [statusCode, headers['allow']]
    },
    want: [405, 'GET, HEAD, OPTIONS']
  },
  {
    name: 'hasRoute knows file routes before and after, all methods of them and nothing else',
    run: async (app) => {
      const ask = (): boolean[] => [
        app.hasRoute({ method: 'GET', url: '/api/hello' }),
        app.hasRoute({ method: 'delete' as 'DELETE', url: '/api/users/:userId' }),
        app.hasRoute({ method: 'GET', url: '/api/none' }),
        app.hasRoute({ method: 'GET' } as never),
        app.hasRoute({ method: 'GET', url: '/api/hello', constraints: { host: 'a.example' } })
      ]
      const before = ask()
      await app.ready()
      return [before, ask()]
    },
    want: [
      [true, true, false, false, false],
      [true, true, false, false, false]
    ]
  },
  {
    name: 'a plugin that calls ready() while it loads keeps its hooks to itself and hides no file route from the next',
    run: async (app) => {
      const seen: string[] = []
      void app.register(async (scope) => {
        scope.addHook('onRequest', async () => void seen.push('hook of another scope'))
        scope.ready(() => void seen.push('ready'))
      })
      await app.register(
        fastifyPlugin(async (instance: FastifyInstance) => {
          instance.ready(() => void seen.push('ready, too'))
          instance.addHook('onRoute', ({ url }) => void seen.push(url))
        })
      )
      await app.inject('/api/hello')
      return seen.toSorted()
    },
    want: ['/api/docs', '/api/docs/*', '/api/hello', '/api/users/:id', 'ready', 'ready, too']
  },
  {
    name: 'what is registered in the turn of ready() and listen() counts',
    run: async (app) => {
      const urls: string[] = []
      const ready = app.ready()
      void app.register(
        fastifyPlugin(async (instance: FastifyInstance) => {
          instance.addHook('onRoute', ({ url }) => void urls.push(url))
        })
      )
      await ready
      return urls.includes('/api/hello')
    },
    want: true
  },
  {
    name: 'ready() while a plugin is loading waits for it, and file routes do not become a part of it',
    run: async (app) => {
      const seen: string[] = []
      let load: (() => void) | undefined
      void app.register(async (scope) => {
        scope.addHook('onRequest', async () => void seen.push('hook of another scope'))
        await new Promise<void>((resolve) => (load = resolve))
      })
      const loaded = app.after()
      while (load === undefined) await new Promise(setImmediate)
      const answer = app.inject('/api/hello')
      load()
      await loaded
      return [(await answer).statusCode, seen]
    },
    want: [200, []]
  },
  {
    name: 'ready() with a callback and without one, twice, boots once',
    run: async (app) => {
      let routes = 0
      app.addHook('onRoute', () => void routes++)
      const error = await new Promise((resolve) => void app.ready(resolve))
      await app.ready()
      return [error, routes]
    },
    want: [null, 4]
  },
  {
    name: 'a plugin that fails to load rejects ready(), also when it was loading then',
    run: async (app, t) => {
      let fail: ((error: Error) => void) | undefined
      void app.register(async () => new Promise((_resolve, reject) => (fail = reject)))
      const loaded = t.rejects(Promise.resolve(app.after()))
      while (fail === undefined) await new Promise(setImmediate)
      const ready = app.ready()
      fail(new Error('the database is away'))
      await loaded
      return Promise.resolve(ready).then(
        () => 'ready',
        (error: Error) => error.message
      )
    },
    want: 'the database is away'
  },
  {
    name: 'a constraint lets a route share the path of a file',
    run: async (app) => {
      app.get('/api/hello', { constraints: { host: 'other.example' } }, () => 'other')
      const other = await app.inject({ url: '/api/hello', headers: { host: 'other.example' } })
      return [other.body, await statusOf(app, '/api/hello')]
    },
    want: ['other', 200]
  },
  {
    name: 'a not-found handler in a scope without a prefix is refused, as Fastify refuses a second one',
    run: async (app, t) => {
      await t.rejects(
        Promise.resolve(app.register(async (scope) => void scope.setNotFoundHandler(() => undefined))),
        /set on the app/
      )
    },
    want: undefined
  }
]

const statusOf = async (app: App, url: string): Promise<number> => (await app.inject(url)).statusCode

for (const { name, run, want } of BEFORE_READY) {
  t.test(`before an app is ready: ${name}`, async (t) => {
    const GET = (): object => ({ hello: 'world' })
    const app = await appOf(t, { routes: { hello: { GET }, 'users/[id]': { GET }, 'docs/[[...path]]': { GET } } })
    t.same(await run(app, t), want)
  })
}

/** Routes registered beside the file routes `hello`, `users/[id]`, for one of their paths. */
const TAKEN: readonly { name: string; add: (app: App, apiDir: string) => unknown }[] = [
  { name: 'app.get()', add: (app) => app.get('/api/hello', () => 1) },
  { name: 'app.post() on the path of a GET', add: (app) => app.post('/api/hello', () => 1) },
  { name: 'a slash at the end', add: (app) => app.get('/api/hello/', () => 1) },
  { name: 'the parameter by another name', add: (app) => app.get('/api/users/:name', () => 1) },
  { name: 'an optional parameter', add: (app) => app.get('/api/hello/:more?', () => 1) },
  {
    name: 'a plugin',
    add: (app) => app.register(async (scope) => void scope.get('/hello', () => 1), { prefix: '/api' })
  },
  { name: 'a second fileRoutes', add: (app, apiDir) => app.register(fileRoutes, { apiDir, mode: 'test' }) }
]

for (const { name, add } of TAKEN) {
  t.test(`a route for the path of a route file is a boot problem that names the file: ${name}`, async (t) => {
    const GET = (): object => ({})
    const apiDir = writeRoutes(t, { hello: { GET }, 'users/[id]': { GET } })
    const app = await createApp({ apiDir, mode: 'test' })
    t.teardown(() => app.close())
    const problems = await Promise.resolve()
      .then(() => add(app, apiDir))
      .then(
        () => [],
        (error: { problems?: readonly { code: string; files: readonly string[] }[] }) => error.problems
      )
    t.match(problems, [{ code: 'ROUTE_PATH_TAKEN', files: [/(hello|\[id\]).route\.js$/] }])
  })
}

t.test('files that are one path to the router of the app reject createApp', async (t) => {
  const GET = (): object => ({})
  const apiDir = writeRoutes(t, { Users: { GET }, users: { GET } })
  const made = createApp({ apiDir, mode: 'test', fastifyOptions: { routerOptions: { caseSensitive: false } } })
  await t.rejects(made, /\/api\/Users and \/api\/users match .*ROUTE_SLOT_CONFLICT/s)
})

t.test('a rate limit registered on the result of createApp limits file routes', async (t) => {
  if (!isInstalled(matrix, '@fastify/rate-limit')) return t.comment('left out: npm run test:matrix installs it')
  const app = await appOf(t, { routes: { hello: { GET: () => ({}) } } })
  await app.register(loader()('@fastify/rate-limit') as never, { max: 1 })
  t.same([await statusOf(app, '/api/hello'), await statusOf(app, '/api/hello')], [200, 429])
})

t.test('two registrations on one instance have their own base route, map and tree', async (t) => {
  const host = fastify()
  t.teardown(() => host.close())
  const deny = (_request: Request, response: Response): unknown => response.status(403).json({ denied: true })
  await host.register(fileRoutes, { apiDir: writeRoutes(t, ROUTES), mode: 'test' })
  await host.register(fileRoutes, {
    apiDir: writeRoutes(t, { hello: { GET: () => 'page' }, secret: { GET: () => 'never' } }),
    baseRoute: '/pages',
    middleware: { '/pages/secret': [deny] },
    mode: 'test'
  })
  const call = callByInject(host)
  t.equal((await call('GET /api/hello')).json.hello, 'world')
  t.equal((await call('GET /pages/hello')).text, 'page')
  t.equal((await call('GET /pages/secret')).status, 403)
  t.equal((await call('GET /pages/secret/deeper')).status, 403)
})

t.test(
  'a prefix of the registration stands in front of the base route, and keys of the map leave it out',
  async (t) => {
    const host = fastify()
    t.teardown(() => host.close())
    const tell = (request: Request, response: Response, next: () => void): void => {
      response.set('x-seen', `${request.baseUrl} ${request.url} ${request.originalUrl}`)
      next()
    }
    const apiDir = writeRoutes(t, {
      'files/[...path]': { GET: (request: Request) => request.params.path },
      hello: ROUTES.hello as object as Routes['hello']
    } as Routes)
    await host.register(fileRoutes, { apiDir, prefix: '/v9', middleware: { '/api/files/': [tell] }, mode: 'test' })
    const call = callByInject(host)
    const answer = await call('GET /v9/api/files/a/b%2Fc')
    t.same(answer.json, ['a', 'b/c'])
    t.equal(answer.headers['x-seen'], '/v9/api/files /a/b%2Fc /v9/api/files/a/b%2Fc')
    t.equal((await call('GET /api/hello')).status, 404)
    t.equal((await call('GET /v9/api/hello')).json.url, '/v9/api/hello')
  }
)

t.test("requests of the host's own routes are not tapped, and its closing is its own", async (t) => {
  const host = fastify()
  const closed: string[] = []
  host.addHook('onClose', async () => void closed.push('host'))
  host.post('/big', { bodyLimit: 10_000_000 }, async (request) => ({
    length: (request.body as { a: string }).a.length
  }))
  await host.register(fileRoutes, { apiDir: writeRoutes(t, ROUTES), mode: 'test' })
  const call = callOver(await addressOf(host))
  const body = JSON.stringify({ a: 'x'.repeat(3_000_000) })
  t.same((await call('POST /big', { headers: { 'content-type': 'application/json' }, body })).json, {
    length: 3_000_000
  })
  t.equal(host.server.listenerCount('checkContinue'), 0)
  await host.close()
  t.same(closed, ['host'])
})

t.test('a host with a loose router is guarded on every spelling it lets through', async (t) => {
  const host = fastify({
    routerOptions: { caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true }
  })
  t.teardown(() => host.close())
  const deny = (_request: Request, response: Response): unknown => response.status(401).json({ denied: true })
  const apiDir = writeRoutes(t, { 'admin/stats': { GET: () => 'ADMIN' }, '[section]/stats': { GET: () => 'ADMIN' } })
  await host.register(fileRoutes, { apiDir, middleware: { '/api/admin': [deny] }, mode: 'test' })
  const call = callByInject(host)
  for (const path of [
    '/api/admin/stats',
    '/api/ADMIN/stats',
    '/API/Admin/Stats/',
    '/api//admin//stats',
    '/api/%61dmin/stats',
    '/api/aDmin/none'
  ]) {
    t.equal((await call(`GET ${path}`)).status, 401, path)
  }
  t.equal((await call('GET /api/other/stats')).text, 'ADMIN')
})

t.test('a plugin that brings its own use() is refused on an app with a hint', async (t) => {
  const app = await createApp({
    apiDir: join(writeTree(t, { 'api/a/route.js': 'export const GET = () => 1\n' }), 'api'),
    mode: 'test'
  })
  t.teardown(() => app.close())
  t.throws(() => app.decorate('use', () => undefined), /app\.register\(fileRoutes/)
})

/** What Express's `listen` takes, and what to write for it. */
const EXPRESS_LISTEN: { given: unknown[]; instead: string }[] = [
  { given: [3000], instead: 'app.listen({ port: 3000 })' },
  { given: ['3000'], instead: 'app.listen({ port: 3000 })' },
  { given: [0, () => undefined], instead: 'app.listen({ port: 0 })' },
  { given: [3000, '0.0.0.0'], instead: 'app.listen({ port: 3000, host: "0.0.0.0" })' },
  { given: ['/run/app.sock', () => undefined], instead: 'app.listen({ path: "/run/app.sock" })' }
]
t.test('a port given to listen as in Express is refused with what to write', async (t) => {
  const app = await appOf(t, { routes: { a: { GET: () => 1 } } })
  for (const { given, instead } of EXPRESS_LISTEN) {
    t.throws(
      () => Reflect.apply(app.listen, app, given) as unknown,
      {
        name: 'TypeError',
        message: `app.listen takes an object here: ${instead}, or pass port and host to createApp and call app.start()`
      },
      instead
    )
  }
  t.equal((await callOver(await addressOf(app))('GET /api/a')).status, 200, 'it can still listen')
})

t.test("a logger of the user's own needs no other option", async (t) => {
  const lines: unknown[] = []
  const ignore = (): void => {}
  const own = {
    level: 'info',
    fatal: ignore,
    error: ignore,
    warn: (line: unknown): void => void lines.push(line),
    info: ignore,
    debug: ignore,
    trace: ignore,
    silent: ignore,
    child: () => own
  }
  for (const mode of ['production', 'test']) {
    const app = await appOf(t, {
      routes: { a: { GET: () => 1 } },
      options: { mode, fastifyOptions: { loggerInstance: own } }
    })
    app.log.warn(mode)
  }
  t.strictSame(lines, ['production', 'test'])
})
