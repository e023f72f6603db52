// Express tries every layer of a router; `twinroute/express` skips those that cannot match. Which handlers run, in which
// order and with what, must be Express's own: the same registrations, in the same order, answer the same requests.
import fc from 'fast-check'
import express from 'express'
import t from 'tap'
import twinroute from 'twinroute/express'
import { type AddressInfo } from 'node:net'
import http from 'node:http'

type Factory = typeof express
type App = ReturnType<typeof express>

interface Registration {
  how: 'use' | 'get' | 'post' | 'all'
  path: string | RegExp | (string | RegExp)[] | undefined
  then: 'next' | 'rewrite' | 'route' | 'fail' | 'answer'
  error: boolean
  to: string
  nested: boolean
}

const SEGMENTS = ['a', 'B', 'api', 'users', 'é', 'x.y', 'a b', '%61']
const names = fc.constantFrom(...SEGMENTS, ':id', ':id.json', '*rest', '{:id}', 'a{b}', '')
const textPath = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((part, index) => part.replace(/id|rest/, (name) => `${name}${index}`)))
  .map((parts) => `/${parts.join('/')}`)
  .filter((path) => isPath(path))
const path = fc.oneof(
  { weight: 8, arbitrary: textPath },
  { weight: 1, arbitrary: fc.constantFrom(/^\/a/, /users/i, /\/(.*)b$/) },
  { weight: 1, arbitrary: fc.array(textPath, { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.constant(undefined) }
)
const url = fc
  .array(fc.constantFrom(...SEGMENTS, 'A', 'USERS', '7', '%zz', '%2F', '', '..', '%C3%A9'), { maxLength: 4 })
  .map((parts) => `/${parts.map((part) => (part === 'é' ? '%C3%A9' : part.replace(' ', '%20'))).join('/')}`)
const registration: fc.Arbitrary<Registration> = fc.record({
  how: fc.constantFrom('use', 'use', 'get', 'get', 'get', 'post', 'all'),
  path,
  then: fc.constantFrom('next', 'next', 'next', 'next', 'next', 'rewrite', 'route', 'fail', 'answer'),
  error: fc.boolean(),
  to: url,
  nested: fc.boolean()
})

function isPath(text: string): boolean {
  try {
    express.Router().get(text, () => undefined)
    return true
  } catch {
    return false
  }
}

interface Tracked {
  trail?: string[]
  rewrites?: number
}

function handlerOf(index: number, { then, to }: Registration): express.RequestHandler {
  return (request, response, next) => {
    const tracked = request as express.Request & Tracked
    tracked.trail = [
      ...(tracked.trail ?? []),
      `${index} ${request.url} ${request.baseUrl} ${JSON.stringify(request.params)}`
    ]
    if (then === 'answer') return void response.json(tracked.trail)
    if (then === 'fail') return next(new Error(`error ${index}`))
    if (then === 'route') return next('route')
    if (then === 'rewrite' && (tracked.rewrites ?? 0) < 3) {
      tracked.rewrites = (tracked.rewrites ?? 0) + 1
      request.url = to
    }
    next()
  }
}

function register(target: App | express.Router, index: number, given: Registration, factory: Factory): void {
  const { how, path, error, nested } = given
  const handler = handlerOf(index, given)
  const caught: express.ErrorRequestHandler = (thrown: Error, request, _response, next) => {
    const tracked = request as express.Request & Tracked
    tracked.trail = [...(tracked.trail ?? []), `${index} caught ${thrown.message}`]
    next(index % 2 === 0 ? undefined : thrown)
  }
  const place = path === undefined ? [] : [path]
  if (how === 'use') {
    const mounted = nested ? factory.Router().get('/7', handler).use(handler) : handler
    Reflect.apply(target.use, target, [...place, error ? caught : mounted])
  } else Reflect.apply(target[how], target, [path ?? '/', handler])
}

function build(factory: Factory, registrations: readonly Registration[]): App {
  const app = factory()
  app.set('env', 'test')
  for (const [index, given] of registrations.entries()) register(app, index, given, factory)
  const last: express.ErrorRequestHandler = (
    thrown: { message: string; status?: number },
    request,
    response,
    _next
  ) => {
    const { trail = [] } = request as express.Request & Tracked
    response.status(thrown.status ?? 500).json([...trail, thrown.message])
  }
  app.use((request, response) => {
    const { trail = [] } = request as express.Request & Tracked
    response.status(404).json(trail)
  })
  app.use(last)
  return app
}

interface Running {
  ask: (method: string, url: string) => Promise<string>
  close: () => Promise<void>
}

async function start(app: App): Promise<Running> {
  const server = app.listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new http.Agent({ keepAlive: true })
  const ask = (method: string, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const request = http.request({ port, path, method, agent }, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (body += chunk))
        response.on('end', () => resolve(`${response.statusCode} ${response.headers.allow ?? ''} ${body}`))
      })
      request.on('error', reject).end()
    })
  const close = async (): Promise<void> => {
    agent.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return { ask, close }
}

/** Both engines with the same registrations; the answers that differ. */
async function differences(
  registrations: readonly Registration[],
  requests: readonly (readonly [string, string])[]
): Promise<string[]> {
  const reference = await start(build(express, registrations))
  const tested = await start(build(twinroute, registrations))
  try {
    const found: string[] = []
    for (const [method, target] of requests) {
      const expected = await reference.ask(method, target)
      const actual = await tested.ask(method, target)
      if (actual !== expected) found.push(`${method} ${target}: ${actual} instead of ${expected}`)
    }
    return found
  } finally {
    await Promise.all([reference.close(), tested.close()])
  }
}

const requests = fc.array(fc.tuple(fc.constantFrom('GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS'), url), {
  minLength: 8,
  maxLength: 8
})

t.test('random registrations run the handlers that Express runs, in its order', async (t) => {
  const registrations = fc.array(registration, { minLength: 10, maxLength: 40 })
  const alike = fc.asyncProperty(
    registrations,
    requests,
    async (list, asked) => (await differences(list, asked)).length === 0
  )
  await t.resolves(fc.assert(alike, { numRuns: 60, seed: 7 }), '60 applications, 480 requests')
})

t.test('2 000 random layers of one application keep their order', async (t) => {
  const [list = []] = fc.sample(fc.array(registration, { minLength: 2000, maxLength: 2000 }), { numRuns: 1, seed: 11 })
  const calm = list.map((given) => ({ ...given, then: given.then === 'next' ? given.then : ('route' as const) }))
  const asked = fc.sample(fc.tuple(fc.constant('GET'), url), { numRuns: 100, seed: 12 })
  t.strictSame(await differences(calm, asked), [])
})

interface Editable {
  stack: { route?: { path: string } }[]
}

const EDITS: { name: string; edit: (router: Editable) => void; asked: string; expected: number }[] = [
  {
    name: 'a route that a package removes from router.stack no longer answers',
    edit: (router) =>
      void router.stack.splice(
        router.stack.findIndex((layer) => layer.route?.path === '/n/7/:id'),
        1
      ),
    asked: '/n/7/x',
    expected: 404
  },
  {
    name: 'a route that is filtered out by assigning router.stack no longer answers',
    edit: (router) => (router.stack = router.stack.filter((layer) => layer.route?.path !== '/n/7/:id')),
    asked: '/n/7/x',
    expected: 404
  },
  {
    name: 'a layer that is replaced in place answers in place of the old one',
    edit: (router) => {
      const donor = express.Router().get('/new', (_request, response) => void response.sendStatus(202))
      router.stack[3] = (donor as unknown as Editable).stack[0] as Editable['stack'][0]
    },
    asked: '/new',
    expected: 202
  },
  {
    name: 'shortening router.stack removes its last routes',
    edit: (router) => (router.stack.length = 5),
    asked: '/n/7/x',
    expected: 404
  }
]

for (const { name, edit, asked, expected } of EDITS) {
  t.test(name, async (t) => {
    const app = twinroute()
    for (let index = 0; index < 20; index++)
      app.get(`/n/${index}/:id`, (_request, response) => void response.sendStatus(200))
    const { ask, close } = await start(app)
    t.match(await ask('GET', '/n/7/x'), /^200/)
    edit(app.router as unknown as Editable)
    t.equal(Number((await ask('GET', asked)).slice(0, 3)), expected)
    t.match(await ask('GET', '/n/1/x'), /^200/)
    await close()
  })
}

t.test('a route that is registered after the first request answers', async (t) => {
  const app = twinroute()
  const inner = twinroute.Router()
  app.use('/inner', inner)
  for (let index = 0; index < 20; index++)
    inner.get(`/n/${index}`, (_request, response) => void response.sendStatus(200))
  const { ask, close } = await start(app)
  t.match(await ask('GET', '/inner/n/7'), /^200/)
  t.match(await ask('GET', '/inner/late'), /^404/)
  inner.get('/late', (_request, response) => void response.sendStatus(200))
  t.match(await ask('GET', '/inner/late'), /^200/)
  await close()
})

t.test('a middleware that rewrites request.url reaches routes behind it, whatever they begin with', async (t) => {
  const build = (factory: Factory): App => {
    const app = factory()
    for (let index = 0; index < 20; index++)
      app.get(`/n/${index}`, (_request, response) => void response.send(`n ${index}`))
    app.get('/old/:name', (request, _response, next) => {
      request.url = `/new/${request.params.name}`
      next()
    })
    for (let index = 0; index < 20; index++)
      app.get(`/new/${index}`, (_request, response) => void response.send(`new ${index}`))
    return app
  }
  const reference = await start(build(express))
  const tested = await start(build(twinroute))
  for (const asked of ['/old/7', '/old/19', '/old/20', '/new/3']) {
    const expected = await reference.ask('GET', asked)
    t.equal(await tested.ask('GET', asked), expected, `${asked}: ${expected.slice(0, 12)}`)
  }
  await Promise.all([reference.close(), tested.close()])
})

t.test(
  'a request.url with characters that the URL parser reads otherwise reaches the routes that it reaches in Express',
  async (t) => {
    const urls = [
      '/n/7#x',
      '/n#x/7',
      '/n/7\t',
      '/n\t/7',
      '/n/7 ',
      '/n /7',
      '/n/7\u00a0',
      '/\ufeffn/7',
      '/n/7\n?a',
      '//n/7',
      '/n/7?#x',
      '#'
    ]
    const build = (factory: Factory): App => {
      const app = factory()
      app.get('/asked/:index', (request, _response, next) => {
        request.url = urls[Number(request.params.index)] as string
        next()
      })
      for (let index = 0; index < 20; index++)
        app.get(`/n/${index}`, (request, response) => void response.send(`${index} ${request.url} ${request.path}`))
      app.use('/n', (request, response) => void response.send(`below n ${request.url}`))
      return app
    }
    const reference = await start(build(express))
    const tested = await start(build(twinroute))
    for (const [index, url] of urls.entries()) {
      const asked = `/asked/${index}`
      t.equal(await tested.ask('GET', asked), await reference.ask('GET', asked), JSON.stringify(url))
    }
    for (const asked of urls.filter((url) => /^[\x21-\x7e]+$/.test(url)))
      t.equal(await tested.ask('GET', asked), await reference.ask('GET', asked), `asked for ${asked}`)
    await Promise.all([reference.close(), tested.close()])
  }
)

/** What code does with the routes of an application that has more than eight. */
const REGISTERED: Record<string, (app: App) => void> = {
  'a handler registers the route that the request asks for': (app) => {
    app.use('/late', (_request, _response, next) => {
      app.get('/late/x', (_request, response) => void response.send('late'))
      next()
    })
  },
  'a route cannot be changed any more': (app) => {
    const route = app.route('/late/x')
    route.get((_request, response) => void response.send('frozen'))
    Object.freeze(route)
    app.get('/n/behind', (_request, response) => void response.send('behind'))
  },
  'methods are asked for in a route that has some of them': (app) => {
    app.route('/late/x').post((_request, response) => void response.send('post'))
    app.patch('/late/x', (_request, response) => void response.send('patch'))
    app.all('/n/behind', (request, response) => void response.send(request.method))
  }
}

for (const [what, add] of Object.entries(REGISTERED)) {
  t.test(`${what}: the answers are those of Express`, async (t) => {
    const answers = async (factory: Factory): Promise<string[]> => {
      const app = factory()
      for (let index = 0; index < 20; index++)
        app.get(`/n/${index}`, (_request, response) => void response.send(`${index}`))
      add(app)
      const { ask, close } = await start(app)
      const given: string[] = []
      for (const path of ['/late/x', '/n/behind', '/n/7', '/late/x'])
        for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH'])
          given.push(`${method} ${path}: ${await ask(method, path)}`)
      await close()
      return given
    }
    t.strictSame(await answers(twinroute), await answers(express))
  })
}

t.test(
  'a package that replaces how a route is asked for its methods decides, before the first request and behind it',
  async (t) => {
    const app = twinroute()
    for (let index = 0; index < 20; index++)
      app.get(`/n/${index}`, (_request, response) => void response.sendStatus(200))
    const routes = (express as unknown as { Route: { prototype: { _handlesMethod: (method: string) => boolean } } })
      .Route.prototype
    const { _handlesMethod } = routes
    t.teardown(() => void (routes._handlesMethod = _handlesMethod))
    const { ask, close } = await start(app)
    const refuse = (): boolean => false
    routes._handlesMethod = refuse
    t.match(await ask('GET', '/n/7'), /^404/)
    routes._handlesMethod = _handlesMethod
    t.match(await ask('GET', '/n/7'), /^200/)
    routes._handlesMethod = refuse
    t.match(await ask('GET', '/n/7'), /^404/)
    await close()
  }
)
