// ci: once (rules of this package over what the other files try on every Node version)
import { Readable } from 'node:stream'
import t from 'tap'
import { createApp, describeRoutes, errorHandler, type AppOptions, type CorsOptions, type Middleware } from 'twinroute'
import { graphqlRoutes } from 'twinroute/graphql'
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

const FRIEND = 'https://friend.example'
const STRANGER = 'https://stranger.example'

/** What an answer grants: the two headers of P9, undefined where they are missing. */
interface Grant {
  origin?: string | undefined
  credentials?: string | undefined
}

/** The parts of an answer that are compared here. */
function seen(answer: Answer) {
  const { status, headers, text } = answer
  return { status, headers, text, grant: grantOf(answer) }
}

function grantOf({ headers }: Answer): Grant {
  return {
    origin: headers['access-control-allow-origin'] as string | undefined,
    credentials: headers['access-control-allow-credentials'] as string | undefined
  }
}

const NOTHING: Grant = { origin: undefined, credentials: undefined }
const ANYONE: Grant = { origin: '*', credentials: undefined }
const ECHO: Grant = { origin: FRIEND, credentials: undefined }
const ECHO_WITH_CREDENTIALS: Grant = { origin: FRIEND, credentials: 'true' }

const refuse: Middleware = (_request, response) => response.status(401).json({ error: 'NO_TOKEN' })

const varyByEncoding: Middleware = (_request, response, next) => {
  response.vary('Accept-Encoding')
  next()
}

const sendOldToOpen: Middleware = (request, _response, next) => {
  request.url = request.url.replace('/old', '/api/open')
  next()
}

/** Counts what ran behind CORS. */
function routesWithCounts() {
  const ran: string[] = []
  const routes: Routes = {
    open: { GET: () => ({ open: true }), PUT: () => ({ open: true }), POST: () => ({ open: true }) },
    own: { OPTIONS: () => (ran.push('own OPTIONS'), { own: true }) },
    secret: { GET: () => (ran.push('secret'), { secret: true }) },
    fails: {
      GET: () => {
        throw new Error('boom')
      }
    },
    raw: { GET: (_request: unknown, response: any) => void (response.write('a'), response.end('b')) },
    end: { GET: (_request: unknown, response: any) => void response.end('ab') },
    stream: { GET: () => Readable.from(['a', 'b']) },
    page: { GET: () => '<p>page</p>' },
    status: { GET: () => ({ status: 202, headers: { Vary: 'Accept' }, body: {} }) },
    vary: { GET: (_request: unknown, response: any) => response.vary('Accept-Language').json({}) },
    'items/[id]': { GET: () => ({}) }
  }
  const guard: Middleware = (request, response, next) => {
    ran.push('guard')
    return refuse(request, response, next)
  }
  return { ran, routes, middleware: { '/api/secret': [guard] } }
}

function withCors(enableCors: CorsOptions, more: Partial<AppOptions> = {}): Partial<AppOptions> {
  return { ...more, expressOptions: { enableCors } }
}

/** The same app over a socket and by inject. */
function onBoth(t: any, enableCors: CorsOptions, check: (t: any, call: Call, ran: string[]) => Promise<void>): void {
  for (const place of ['socket', 'inject']) {
    t.test(`on ${place}`, async (t: any) => {
      const { ran, routes, middleware } = routesWithCounts()
      const app = await appOf(t, { routes, options: withCors(enableCors, { middleware, errorHandler }) })
      await check(t, place === 'inject' ? callByInject(app) : callOver(await addressOf(app)), ran)
    })
  }
}

const preflight = (origin: string, method = 'GET') => ({ origin, 'access-control-request-method': method })

t.test('which origin is granted what follows from the fields of enableCors', async (t) => {
  const friends = { cookieOrigins: [FRIEND, 'capacitor://localhost'] }
  const rows: { rule: string; options: CorsOptions; origin: string | undefined; granted: Grant }[] = [
    { rule: 'a listed origin is echoed', options: friends, origin: FRIEND, granted: ECHO },
    {
      rule: 'a listed origin is granted credentials when those are on',
      options: { ...friends, credentials: true },
      origin: FRIEND,
      granted: ECHO_WITH_CREDENTIALS
    },
    {
      rule: 'a listed origin is granted no credentials when those are off',
      options: { ...friends, credentials: false },
      origin: FRIEND,
      granted: ECHO
    },
    {
      rule: "a listed origin of an app's own scheme is echoed",
      options: friends,
      origin: 'capacitor://localhost',
      granted: { ...NOTHING, origin: 'capacitor://localhost' }
    },
    {
      rule: 'an origin that is not listed is granted nothing',
      options: { ...friends, credentials: true },
      origin: STRANGER,
      granted: NOTHING
    },
    {
      rule: 'an origin that is not listed is granted * where any is allowed',
      options: { ...friends, allowAnyOrigin: true },
      origin: STRANGER,
      granted: ANYONE
    },
    {
      rule: 'an origin that is not listed is never granted credentials',
      options: { ...friends, allowAnyOrigin: true, credentials: true },
      origin: STRANGER,
      granted: ANYONE
    },
    {
      rule: 'a listed origin keeps its credentials where any is allowed',
      options: { ...friends, allowAnyOrigin: true, credentials: true },
      origin: FRIEND,
      granted: ECHO_WITH_CREDENTIALS
    },
    {
      rule: 'where any origin is allowed and none is listed, no origin is granted credentials',
      options: { allowAnyOrigin: true, credentials: true },
      origin: FRIEND,
      granted: ANYONE
    },
    {
      rule: 'a request without an origin is granted * where any is allowed',
      options: { allowAnyOrigin: true, credentials: true },
      origin: undefined,
      granted: ANYONE
    },
    {
      rule: 'a request without an origin is granted nothing',
      options: { ...friends, credentials: true },
      origin: undefined,
      granted: NOTHING
    },
    { rule: 'no field set grants nothing', options: {}, origin: FRIEND, granted: NOTHING },
    {
      rule: 'an empty list grants nothing',
      options: { cookieOrigins: [], credentials: true },
      origin: FRIEND,
      granted: NOTHING
    }
  ]
  const strangers = [
    'null',
    'https://friend.example.evil.example',
    'https://evilfriend.example',
    'https://FRIEND.example'
  ]
  const spellings = ['http://friend.example', `${FRIEND}:443`, `${FRIEND}:8443`, `${FRIEND}/`, `${FRIEND}, ${FRIEND}`]
  for (const origin of [...strangers, ...spellings, '']) {
    rows.push({
      rule: `"${origin}" is not ${FRIEND}`,
      options: { ...friends, credentials: true },
      origin,
      granted: NOTHING
    })
  }
  rows.push({
    rule: 'null is never echoed',
    options: { allowAnyOrigin: true, credentials: true },
    origin: 'null',
    granted: ANYONE
  })
  for (const { rule: says, options, origin, granted } of rows) {
    const app = await appOf(t, { routes: { open: { GET: () => ({}) } }, options: withCors(options) })
    const answer = await callByInject(app)('GET /api/open', { headers: origin === undefined ? {} : { origin } })
    t.same(grantOf(answer), granted, says)
    t.match(answer, { status: 200, headers: { vary: 'Origin' } }, `${says}: Vary`)
  }
})

t.test('the grant is on every answer', (t) => {
  onBoth(t, { cookieOrigins: [FRIEND], credentials: true }, async (t, call) => {
    const rows: [line: string, status: number][] = [
      ['GET /api/open', 200],
      ['HEAD /api/open', 200],
      ['OPTIONS /api/open', 204],
      ['GET /api/secret', 401],
      ['OPTIONS /api/secret', 401],
      ['GET /api/secret/unknown', 401],
      ['GET /api/fails', 500],
      ['GET /api/unknown', 404],
      ['DELETE /api/open', 405],
      ['POST /api/own', 405],
      ['GET /api/items/%zz', 400],
      ['GET /api/items/%00', 400],
      [`GET /api/items/${'x'.repeat(2000)}`, 414],
      ['GET /api/raw', 200],
      ['GET /api/end', 200],
      ['GET /api/stream', 200],
      ['GET /api/page', 200]
    ]
    for (const [line, status] of rows) {
      const answer = await call(line, { headers: { origin: FRIEND } })
      t.match(seen(answer), { status, grant: ECHO_WITH_CREDENTIALS, headers: { vary: 'Origin' } }, line)
      const refused = await call(line, { headers: { origin: STRANGER } })
      t.match(seen(refused), { status, grant: NOTHING, headers: { vary: 'Origin' } }, `${line}, stranger`)
    }
  })
  t.end()
})

t.test('a preflight is answered before any middleware or handler', (t) => {
  const options = { cookieOrigins: [FRIEND], credentials: true, methods: 'GET,PUT', headers: 'Content-Type,X-Mine' }
  onBoth(t, options, async (t, call, ran) => {
    const paths = ['/api/open', '/api/own', '/api/secret', '/api/secret/unknown', '/api/unknown', '/api/items/%zz', '/']
    for (const path of paths) {
      const headers = { ...preflight(FRIEND, 'PUT'), 'access-control-request-headers': 'x-mine, x-other' }
      const answer = await call(`OPTIONS ${path}`, { headers })
      t.match(seen(answer), { status: 204, text: '', grant: ECHO_WITH_CREDENTIALS }, path)
      t.equal(answer.headers['access-control-allow-methods'], 'GET,PUT', `${path}: methods as given`)
      t.equal(answer.headers['access-control-allow-headers'], 'Content-Type,X-Mine', `${path}: headers as given`)
      t.equal(answer.headers.vary, 'Origin', `${path}: Vary`)
      t.notOk('allow' in answer.headers, `${path}: no Allow`)

      const refused = await call(`OPTIONS ${path}`, { headers: preflight(STRANGER) })
      t.match(seen(refused), { status: 204, text: '', headers: { vary: 'Origin' } }, `${path}, stranger`)
      const granted = Object.keys(refused.headers).filter((name) => /^access-control-|^allow$/.test(name))
      t.same(granted, [], `${path}, stranger: no grant`)
    }
    t.same(ran, [])
  })
  t.end()
})

t.test('an OPTIONS request that is no preflight is the application’s', (t) => {
  onBoth(t, { allowAnyOrigin: true }, async (t, call, ran) => {
    const rows: [headers: Record<string, string>, says: string][] = [
      [{}, 'neither header'],
      [{ origin: FRIEND }, 'only Origin'],
      [{ 'access-control-request-method': 'GET' }, 'only Access-Control-Request-Method']
    ]
    for (const [headers, says] of rows) {
      const open = await call('OPTIONS /api/open', { headers })
      t.match(open, { status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST, PUT' } }, says)
      t.match(await call('OPTIONS /api/own', { headers }), { status: 200, json: { own: true } }, `${says}: exported`)
      t.match(await call('OPTIONS /api/secret', { headers }), { status: 401 }, `${says}: guarded`)
      t.match(
        await call('OPTIONS /api/secret/unknown', { headers }),
        { status: 401 },
        `${says}: unknown path below a guard`
      )
      t.match(await call('OPTIONS /api/unknown', { headers }), { status: 404 }, `${says}: unknown path`)
    }
    const chain = ['own OPTIONS', 'guard', 'guard']
    t.same(ran, [...chain, ...chain, ...chain])
    t.match(
      await call('GET /api/secret', { headers: preflight(FRIEND) }),
      { status: 401 },
      'a GET is never a preflight'
    )
  })
  t.end()
})

t.test('without methods or headers, a preflight allows what route files serve and what is asked for', (t) => {
  onBoth(t, { allowAnyOrigin: true }, async (t, call) => {
    const headers = { ...preflight(STRANGER, 'PATCH'), 'access-control-request-headers': 'x-one, x-two' }
    const { headers: got } = await call('OPTIONS /api/open', { headers })
    t.equal(got['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE')
    t.equal(got['access-control-allow-headers'], 'x-one, x-two')
    t.equal(got.vary, 'Origin, Access-Control-Request-Headers')
  })
  t.end()
})

t.test('Vary adds up with what others vary by', async (t) => {
  const { routes, middleware } = routesWithCounts()
  const app = await appOf(t, {
    routes,
    options: withCors({ cookieOrigins: [FRIEND] }, { middleware, errorHandler }),
    use: (app) => app.use(varyByEncoding)
  })
  const rows: [path: string, varies: string[]][] = [
    ['/api/open', ['accept-encoding', 'origin']],
    ['/api/vary', ['accept-encoding', 'accept-language', 'origin']],
    ['/api/status', ['accept', 'accept-encoding', 'origin']],
    ['/api/raw', ['accept-encoding', 'origin']],
    ['/api/stream', ['accept-encoding', 'origin']],
    ['/api/secret', ['accept-encoding', 'origin']],
    ['/api/fails', ['accept-encoding', 'origin']],
    ['/api/unknown', ['accept-encoding', 'origin']],
    ['/api/items/%zz', ['accept-encoding', 'origin']]
  ]
  const call = callOver(await addressOf(app))
  for (const [path, varies] of rows) {
    const { headers } = await call(`GET ${path}`, { headers: { origin: FRIEND } })
    t.same(String(headers.vary).toLowerCase().split(', ').toSorted(), varies, path)
  }
})

t.test('a request that a middleware sends to another route keeps its grant', async (t) => {
  const { routes } = routesWithCounts()
  const app = await appOf(t, {
    routes,
    options: withCors({ cookieOrigins: [FRIEND] }),
    use: (app) => app.use(sendOldToOpen)
  })
  const answer = await callOver(await addressOf(app))('GET /old', { headers: { origin: FRIEND } })
  t.same(grantOf(answer), ECHO)
  t.equal(answer.headers.vary, 'Origin')
})

t.test('/graphql: POST is for everybody without credentials, and for a granted origin as granted', async (t) => {
  const { routes } = routesWithCounts()
  const middleware = { '/graphql': [refuse] }
  const resolvers = { Query: { hello: () => 'hello' } }
  for (const isGuarded of [false, true]) {
    const options = withCors({ cookieOrigins: [FRIEND], credentials: true }, isGuarded ? { middleware } : {})
    const app = await appOf(t, { routes, options })
    await app.register(graphqlRoutes, { typeDefs: 'type Query { hello: String }', resolvers })
    const call = callOver(await addressOf(app))
    for (const { origin, post, guarded } of [
      { origin: FRIEND, post: ECHO_WITH_CREDENTIALS, guarded: ECHO_WITH_CREDENTIALS },
      { origin: STRANGER, post: ANYONE, guarded: NOTHING }
    ] as const) {
      const sent = { headers: { origin, 'content-type': 'application/json' }, body: '{"query":"{ hello }"}' }
      const answer = await call('POST /graphql', sent)
      t.match(seen(answer), { status: isGuarded ? 401 : 200, grant: isGuarded ? guarded : post }, `POST, ${origin}`)

      const options = await call('OPTIONS /graphql', { headers: preflight(origin, 'POST') })
      t.match(seen(options), { status: 204, grant: post }, `OPTIONS, ${origin}`)
      t.equal(
        options.headers['access-control-allow-methods'],
        'POST, GET, OPTIONS',
        'the methods of a GraphQL endpoint'
      )
      t.match(options.headers['access-control-allow-headers'], /^Content-Type, Authorization/)

      const health = await call('GET /graphql/health', { headers: { origin } })
      t.match(seen(health), { status: isGuarded ? 401 : 200, grant: guarded }, `health, ${origin}`)
    }
  }
})

t.test('CORS adds no route', async (t) => {
  const { routes } = routesWithCounts()
  const app = await appOf(t, { routes, options: withCors({ allowAnyOrigin: true }) })
  await app.ready()
  const patterns = describeRoutes(app).routes.map(({ pattern }) => pattern)
  t.same(
    patterns.toSorted(),
    Object.keys(routes)
      .map((folder) => `/api/${folder}`)
      .toSorted()
  )
})

t.test('without enableCors there is no grant and no Vary', async (t) => {
  const { routes } = routesWithCounts()
  for (const expressOptions of [undefined, {}]) {
    const app = await appOf(t, { routes, options: expressOptions === undefined ? {} : { expressOptions } })
    const answer = await callByInject(app)('GET /api/open', { headers: { origin: FRIEND } })
    t.same(grantOf(answer), NOTHING)
    t.notOk('vary' in answer.headers)
    const asked = await callByInject(app)('OPTIONS /api/open', { headers: preflight(FRIEND) })
    t.match(asked, { status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST, PUT' } })
  }
})

t.test('a wrong field is named', async (t) => {
  const apiDir = writeRoutes(t, { open: { GET: () => ({}) } })
  const rows: [enableCors: unknown, message: RegExp][] = [
    [true, /option expressOptions\.enableCors of createApp must be an object; it is true/],
    [{ allowAnyOrigin: 'yes' }, /enableCors\.allowAnyOrigin of createApp must be true or false; it is "yes"/],
    [{ credentials: 1 }, /enableCors\.credentials of createApp must be true or false; it is 1/],
    [{ methods: ['GET'] }, /enableCors\.methods of createApp must be a list such as .*; it is \["GET"\]/],
    [{ methods: '' }, /enableCors\.methods/],
    [{ methods: 'GET,' }, /enableCors\.methods/],
    [{ methods: 'GET;POST' }, /enableCors\.methods/],
    [{ headers: 'X-A\r\nX-B: c' }, /enableCors\.headers/],
    [{ headers: 'X A' }, /enableCors\.headers/],
    [
      { cookieOrigins: FRIEND },
      /enableCors\.cookieOrigins of createApp must be an array of origins; it is "https:\/\/friend\.example"/
    ],
    [{ cookieOrigins: [FRIEND, 5] }, /enableCors\.cookieOrigins\[1\] of createApp must be an origin/],
    [{ cookieOrigins: ['*'] }, /enableCors\.cookieOrigins\[0\]/],
    [{ cookieOrigins: ['null'] }, /enableCors\.cookieOrigins\[0\]/],
    [{ cookieOrigins: ['friend.example'] }, /enableCors\.cookieOrigins\[0\]/],
    [{ cookieOrigins: [`${FRIEND}/`] }, /such as "https:\/\/friend\.example"; it is "https:\/\/friend\.example\/"/],
    [{ cookieOrigins: [`${FRIEND}/path`] }, /such as "https:\/\/friend\.example"/],
    [{ cookieOrigins: ['https://Friend.example:443'] }, /such as "https:\/\/friend\.example"/],
    [{ cookieOrigins: ['https://*.friend.example'] }, /enableCors\.cookieOrigins\[0\]/],
    [{ origin: FRIEND }, /enableCors of createApp has no field origin; its fields are allowAnyOrigin, cookieOrigins/]
  ]
  for (const [enableCors, message] of rows) {
    const options = { apiDir, mode: 'test', expressOptions: { enableCors } } as AppOptions
    await t.rejects(createApp(options), { name: 'TypeError', message }, JSON.stringify(enableCors))
  }
})
