import { setImmediate as turn } from 'node:timers/promises'
import { parseCookie } from 'cookie'
import express from 'express'
import t from 'tap'
import { createMiddleware, errorHandler, type App, type AppOptions, type Middleware } from 'twinroute'
import { addressOf, appOf, callByInject, callOver, hostOf, logBook, onEveryHost, type Routes } from './support/hosts.js'
import { head, Wire } from './support/wire.js'

/** What ran for the last request, and what it saw. */
let trace: unknown[] = []

/** Middleware that notes its name. */
function mark(name: string): Middleware {
  return (_request, _response, next) => {
    trace.push(name)
    next()
  }
}

/** Middleware that answers with its name. */
function stop(name: string): Middleware {
  return (_request, response) => void response.status(401).json({ stopped: name })
}

const handled = (): object => {
  trace.push('handler')
  return { trace }
}

type Line = { rule: string; line: string; ran: readonly string[]; status?: number }

/** What runs for each request line, and the status. */
async function checkLines(t: any, call: any, lines: readonly Line[]): Promise<void> {
  for (const { rule, line, ran, status = 200 } of lines) {
    trace = []
    const answer = await call(line)
    t.strictSame({ status: answer.status, ran: trace }, { status, ran }, `${rule}: ${line}`)
  }
}

t.test("use(), the prefixes from short to long, the route's own, then the handler", async (t) => {
  const routes: Routes = {
    'users/[id]': {
      GET: handled,
      POST: handled,
      middleware: { GET: [mark('own GET 1'), mark('own GET 2')], POST: [mark('own POST')] }
    },
    users: { GET: handled, middleware: [mark('own')] }
  }
  const middleware = createMiddleware({
    '/api/users/': [mark('users 1'), mark('users 2')],
    '/api/users/[id]': [mark('id')],
    '/api': [mark('api')],
    '/api/other': [mark('other')]
  })
  const common = ['api', 'users 1', 'users 2']
  const lines: Line[] = [
    {
      rule: 'a prefix with a parameter covers by pattern',
      line: 'GET /api/users/1',
      ran: [...common, 'id', 'own GET 1', 'own GET 2', 'handler']
    },
    {
      rule: "a route's middleware runs by method",
      line: 'POST /api/users/1',
      ran: [...common, 'id', 'own POST', 'handler']
    },
    {
      rule: 'HEAD follows GET',
      line: 'HEAD /api/users/1',
      ran: [...common, 'id', 'own GET 1', 'own GET 2', 'handler']
    },
    { rule: 'the prefix itself', line: 'GET /api/users', ran: [...common, 'own', 'handler'] },
    { rule: 'the prefix with a slash', line: 'GET /api/users/?q=1', ran: [...common, 'own', 'handler'] }
  ]
  onEveryHost(
    t,
    { routes, options: { middleware, fastifyOptions: { routerOptions: { ignoreTrailingSlash: true } } } },
    async (t, call) => {
      await checkLines(t, call, lines)
    }
  )
  t.test('with use() before all', async (t) => {
    const use = (app: App): void => {
      app.use(mark('use 1'), [mark('use 2')])
      app.use('/api/users/:any', mark('use at a path'))
      app.use(['/api/none', '/api/users'], mark('use at two'))
    }
    onEveryHost(t, { routes, options: { middleware }, use }, async (t, call) => {
      await checkLines(t, call, [
        {
          rule: 'all',
          line: 'GET /api/users/1',
          ran: ['use 1', 'use 2', 'use at a path', 'use at two', ...lines[0]!.ran]
        },
        {
          rule: 'middleware of use() runs by path',
          line: 'GET /api/users',
          ran: ['use 1', 'use 2', 'use at two', ...common, 'own', 'handler']
        }
      ])
    })
  })
  t.test('what is registered after boot counts from then on', async (t) => {
    const app = await appOf(t, { routes: { a: { GET: handled } } })
    const call = callOver(await addressOf(app))
    await checkLines(t, call, [{ rule: 'before', line: 'GET /api/a', ran: ['handler'] }])
    app.use(mark('late'))
    await checkLines(t, call, [{ rule: 'after', line: 'GET /api/a', ran: ['late', 'handler'] }])
  })
})

t.test('middleware of a prefix sees its part of the url', async (t) => {
  const see = (place: string) => (request: any, _response: any, next: any) => {
    const { baseUrl, url, originalUrl, path, params, query } = request
    trace.push({ place, baseUrl, url, originalUrl, path, params: { ...params }, query: { ...query } })
    next()
  }
  const original = '/api/users/a%20b?q=1'
  const whole = { baseUrl: '', url: original, originalUrl: original, path: '/api/users/a%20b', query: { q: '1' } }
  const routes = {
    'users/[id]': {
      GET: (request: any) => {
        see('handler')(request, null, () => {})
        return trace
      },
      middleware: [see('own')]
    }
  }
  const middleware = createMiddleware({
    '/': [see('/')],
    '/api': [see('api')],
    '/api/users': [see('users')],
    '/api/users/[id]': [see('id')]
  })
  const params = { id: 'a b' }
  const expected = [
    { ...whole, place: '/', params },
    { ...whole, place: 'api', params, baseUrl: '/api', url: '/users/a%20b?q=1', path: '/users/a%20b' },
    { ...whole, place: 'users', params, baseUrl: '/api/users', url: '/a%20b?q=1', path: '/a%20b' },
    { ...whole, place: 'id', params, baseUrl: '/api/users/a%20b', url: '/?q=1', path: '/' },
    { ...whole, place: 'own', params },
    { ...whole, place: 'handler', params }
  ]
  onEveryHost(t, { routes, options: { middleware } }, async (t, call) => {
    trace = []
    t.same((await call(`GET ${original}`)).json, expected)
  })
  t.test('middleware of use() sees its part of the url', async (t) => {
    const use = (app: App): void => void app.use('/api/users/:name', see('use'))
    onEveryHost(t, { routes, use }, async (t, call) => {
      trace = []
      t.same((await call(`GET ${original}`)).json, [
        { ...whole, place: 'use', params: { name: 'a b' }, baseUrl: '/api/users/a%20b', url: '/?q=1', path: '/' },
        ...expected.slice(4)
      ])
    })
  })
  t.test('an error handler sees the whole again', async (t) => {
    const failing = createMiddleware({ '/api/users': [(_request, _response, next) => next(new Error('failed'))] })
    const showing = (_error: unknown, request: any, reply: any): unknown =>
      reply.code(500).send({ url: request.raw.url, baseUrl: request.raw.baseUrl })
    onEveryHost(t, { routes, options: { middleware: failing, errorHandler: showing } }, async (t, call) => {
      t.same((await call(`GET ${original}`)).json, { url: original, baseUrl: '' })
    })
  })
})

t.test('how a middleware may end', async (t) => {
  type Ending = { rule: string; middleware: Middleware; status: number; body: object | string | undefined }
  const handler = { handler: true }
  const failed = { error: { code: 'INTERNAL_SERVER_ERROR', message: 'failed' } }
  const answered = { answered: true }
  const answer = (response: any): void => void response.status(202).json(answered)
  const endings: Ending[] = [
    { rule: 'next()', middleware: (_q, _s, next) => next(), status: 200, body: handler },
    { rule: 'next() later', middleware: (_q, _s, next) => void setImmediate(next), status: 200, body: handler },
    { rule: 'next() in an async function', middleware: async (_q, _s, next) => next(), status: 200, body: handler },
    {
      rule: 'await, then next()',
      middleware: async (_q, _s, next) => {
        await turn()
        next()
      },
      status: 200,
      body: handler
    },
    {
      rule: 'what it returns does not matter',
      middleware: (_q, _s, next) => {
        next()
        return { returned: true }
      },
      status: 200,
      body: handler
    },
    ...[null, undefined, 0, '', false].map((word): Ending => ({
      rule: `next(${JSON.stringify(word)}) is no error`,
      middleware: (_q, _s, next) => next(word as never),
      status: 200,
      body: handler
    })),
    {
      rule: 'next() twice',
      middleware: (_q, _s, next) => {
        next()
        next()
      },
      status: 200,
      body: handler
    },
    {
      rule: 'next(), and later again',
      middleware: (_q, _s, next) => {
        next()
        setImmediate(next)
      },
      status: 200,
      body: handler
    },
    {
      rule: 'next() and then an answer',
      middleware: (_q, s, next) => {
        next()
        answer(s)
      },
      status: 200,
      body: handler
    },
    {
      rule: 'next() and then an error',
      middleware: (_q, _s, next) => {
        next()
        throw new Error('failed')
      },
      status: 200,
      body: handler
    },
    {
      rule: 'next() and then a rejection',
      middleware: async (_q, _s, next) => {
        next()
        throw new Error('failed')
      },
      status: 200,
      body: handler
    },
    {
      rule: 'next() and then next(error)',
      middleware: (_q, _s, next) => {
        next()
        next(new Error('failed'))
      },
      status: 200,
      body: handler
    },
    { rule: 'an answer', middleware: (_q, s) => answer(s), status: 202, body: answered },
    { rule: 'an answer later', middleware: (_q, s) => void setImmediate(() => answer(s)), status: 202, body: answered },
    {
      rule: 'an answer and next()',
      middleware: (_q, s, next) => {
        answer(s)
        next()
      },
      status: 202,
      body: answered
    },
    {
      rule: 'an answer and later next()',
      middleware: (_q, s, next) => {
        answer(s)
        setImmediate(next)
      },
      status: 202,
      body: answered
    },
    {
      rule: 'an answer and next(error)',
      middleware: (_q, s, next) => {
        answer(s)
        next(new Error('failed'))
      },
      status: 202,
      body: answered
    },
    {
      rule: 'an answer and an error',
      middleware: (_q, s) => {
        answer(s)
        throw new Error('failed')
      },
      status: 202,
      body: answered
    },
    {
      rule: 'end()',
      middleware: (_q, s) => void s.writeHead(202).end('{"answered":true}'),
      status: 202,
      body: answered
    },
    {
      rule: 'a thrown error',
      middleware: () => {
        throw new Error('failed')
      },
      status: 500,
      body: failed
    },
    {
      rule: 'a rejection',
      middleware: async () => {
        throw new Error('failed')
      },
      status: 500,
      body: failed
    },
    {
      rule: 'a thrown text',
      middleware: () => {
        throw 'failed'
      },
      status: 500,
      body: failed
    },
    {
      rule: 'a rejection without a reason',
      middleware: () => Promise.reject(),
      status: 500,
      body: { error: { code: 'INTERNAL_SERVER_ERROR' } }
    },
    {
      rule: 'null thrown',
      middleware: () => {
        throw null
      },
      status: 500,
      body: { error: { code: 'INTERNAL_SERVER_ERROR' } }
    },
    { rule: 'next(error)', middleware: (_q, _s, next) => next(new Error('failed')), status: 500, body: failed },
    {
      rule: 'next(error) later',
      middleware: (_q, _s, next) => void setImmediate(() => next(new Error('failed'))),
      status: 500,
      body: failed
    },
    { rule: 'next(text)', middleware: (_q, _s, next) => next('failed'), status: 500, body: failed },
    {
      rule: 'next(error) twice',
      middleware: (_q, _s, next) => {
        next(new Error('failed'))
        next(new Error('second'))
      },
      status: 500,
      body: failed
    },
    {
      rule: 'next(error) and next()',
      middleware: (_q, _s, next) => {
        next(new Error('failed'))
        next()
      },
      status: 500,
      body: failed
    },
    {
      rule: 'next(error with a status)',
      middleware: (_q, _s, next) => next(Object.assign(new Error('no'), { status: 403 })),
      status: 403,
      body: { error: { code: 'HTTP_403', message: 'no' } }
    },
    {
      rule: "next('route')",
      middleware: (_q, _s, next) => next('route'),
      status: 404,
      body: { error: { code: 'NOT_FOUND' } }
    },
    {
      rule: "next('router')",
      middleware: (_q, _s, next) => next('router'),
      status: 404,
      body: { error: { code: 'NOT_FOUND' } }
    },
    { rule: 'nothing', middleware: () => {}, status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } },
    {
      rule: 'a promise that stays open',
      middleware: () => new Promise(() => {}),
      status: 503,
      body: { error: { code: 'SERVICE_UNAVAILABLE' } }
    }
  ]
  const options: Partial<AppOptions> = { errorHandler, handlerTimeout: 20 }
  let handlers = 0
  let errors = 0
  options.errorHandler = ((error: any, request: any, reply: any) => {
    errors++
    return errorHandler(error, request, reply)
  }) as never
  const GET = (): object => {
    handlers++
    return handler
  }
  const checkEndings =
    (others: Record<string, number> = {}) =>
    async (t: any, call: any): Promise<void> => {
      for (const [index, { rule, status: usual, body: usualBody }] of endings.entries()) {
        handlers = errors = 0
        const status = others[rule] ?? usual
        const body = status === usual ? usualBody : handler
        const answer = await call(`GET /api/r${index}`)
        t.match({ status: answer.status, json: answer.json }, { status, json: body }, rule)
        await turn()
        const ran = [status === 200 ? 1 : 0, status >= 400 ? 1 : 0]
        t.strictSame([handlers, errors], ran, `${rule}: handler and error handler run at most once`)
      }
    }
  const routes = Object.fromEntries(
    endings.map(({ middleware: own }, index) => [`r${index}`, { GET, middleware: [own] }])
  )
  t.test("in a route's own chain", async (t) => onEveryHost(t, { routes, options }, checkEndings()))
  const plain = Object.fromEntries(endings.map((_, index) => [`r${index}`, { GET }]))
  t.test("in the map, where next('route') means the next middleware, as in Express", async (t) => {
    const map = createMiddleware(
      Object.fromEntries(endings.map(({ middleware: own }, index) => [`/api/r${index}`, [own]]))
    )
    const check = checkEndings({ "next('route')": 200 })
    onEveryHost(t, { routes: plain, options: { ...options, middleware: map } }, check)
  })
  t.test('in use(), where these words leave use(), and null thrown is no error, as in Express', async (t) => {
    const use = (app: App): void => {
      for (const [index, { middleware }] of endings.entries()) app.use(`/api/r${index}`, middleware)
    }
    const check = checkEndings({ "next('route')": 200, "next('router')": 200, 'null thrown': 200 })
    onEveryHost(t, { routes: plain, options, use }, check)
  })
  t.test("next('router') in use() leaves use()", async (t) => {
    const use = (app: App): void => void app.use((_q: any, _s: any, next: any) => next('router'), mark('never'))
    onEveryHost(t, { routes: { a: { GET: handled } }, use }, async (t, call) => {
      await checkLines(t, call, [{ rule: "the route's chain and handler run", line: 'GET /api/a', ran: ['handler'] }])
    })
  })
  t.test('a middleware that never ends aborts request.signal', async (t) => {
    let signal: AbortSignal | undefined
    const middleware: Middleware[] = [(request) => void (signal = request.signal)]
    onEveryHost(
      t,
      { routes: { a: { GET, middleware, config: { timeout: 10 } } }, options: { errorHandler } },
      async (t, call) => {
        t.equal((await call('GET /api/a')).status, 503)
        t.ok(signal?.aborted)
      }
    )
  })
  t.test('a lost error is logged, and a second next in development', async (t) => {
    const rows: readonly { rule: string; middleware: Middleware; message: RegExp }[] = [
      {
        rule: 'an error after next()',
        middleware: (_q, _s, next) => {
          next()
          throw new Error('lost')
        },
        message: /failed after it had called next/
      },
      {
        rule: 'a second next()',
        middleware: (_q, _s, next) => {
          next()
          next()
        },
        message: /next\(\) twice/
      }
    ]
    for (const { rule, middleware: own, message } of rows) {
      const { logger, entries } = logBook()
      const options = { mode: 'development', fastifyOptions: { logger } as never }
      const app = await appOf(t, { routes: { a: { GET, middleware: [own] } }, options })
      await callByInject(app)('GET /api/a')
      t.ok(
        entries.some(({ msg }) => message.test(msg)),
        rule
      )
    }
  })
})

t.test('an answer that middleware has begun is continued by what is behind it, as under Express', async (t) => {
  const beginnings: { rule: string; begin: (response: any) => void; wanted: object }[] = [
    { rule: 'flushHeaders', begin: (response) => response.flushHeaders(), wanted: { status: 200, text: 'handler' } },
    {
      rule: 'writeHead',
      begin: (response) => response.writeHead(203, { 'x-a': '1' }),
      wanted: { status: 203, text: 'handler', headers: { 'x-a': '1' } }
    },
    { rule: 'write', begin: (response) => response.write('begun, '), wanted: { status: 200, text: 'begun, handler' } },
    {
      rule: 'write, with cookies and Vary set before',
      begin: (response) => response.cookie('a', '1').vary('Origin').write('begun, '),
      wanted: { status: 200, text: 'begun, handler', headers: { vary: 'Origin' } }
    }
  ]
  const GET = (_request: any, response: any): void => void response.end('handler')
  for (const { rule, begin, wanted } of beginnings) {
    const middleware: Middleware = (_request, response, next) => {
      begin(response)
      next()
    }
    t.test(`${rule}, in a route's chain`, async (t) =>
      onEveryHost(t, { routes: { a: { GET, middleware: [middleware] } } }, async (t, call) =>
        t.match(await call('GET /api/a'), wanted)
      )
    )
    t.test(`${rule}, in use()`, async (t) =>
      onEveryHost(t, { routes: { a: { GET } }, use: (app) => void app.use(middleware) }, async (t, call) =>
        t.match(await call('GET /api/a'), wanted)
      )
    )
    t.test(`${rule}, in use(), and the url is rewritten`, async (t) => {
      const use = (app: App): void =>
        void app.use((request: any, response: any, next: any) => {
          begin(response)
          request.url = '/api/a'
          next()
        })
      onEveryHost(t, { routes: { a: { GET }, b: { GET: () => 'never' } }, use }, async (t, call) =>
        t.match(await call('GET /api/b'), wanted)
      )
    })
  }
  t.test('an answer that has ended is not', async (t) => {
    trace = []
    const ending: Middleware = (_request, response, next) => {
      response.end('ended')
      next()
    }
    onEveryHost(t, { routes: { a: { GET: handled, middleware: [ending] } } }, async (t, call) => {
      t.match(await call('GET /api/a'), { text: 'ended' })
      t.strictSame(trace, [])
    })
  })
})

t.test('P3: all prefixes that match run; an empty array opens its prefix', async (t) => {
  const routes = Object.fromEntries(
    ['profile', 'public/info', 'public/guarded', 'health', 'own'].map((path) => [
      path,
      { GET: handled, ...(path === 'own' ? { middleware: [mark('own')] } : {}) }
    ])
  )
  const middleware = createMiddleware({
    '/api': [mark('api')],
    '/api/public/': [],
    '/api/health': [],
    '/api/public/guarded': [mark('guarded')],
    '/api/own': []
  })
  onEveryHost(t, { routes, options: { middleware } }, async (t, call) => {
    await checkLines(t, call, [
      { rule: 'guarded', line: 'GET /api/profile', ran: ['api', 'handler'] },
      { rule: 'public', line: 'GET /api/public/info', ran: ['handler'] },
      { rule: 'public itself', line: 'GET /api/health', ran: ['handler'] },
      {
        rule: 'a prefix below a public one is guarded again',
        line: 'GET /api/public/guarded',
        ran: ['guarded', 'handler']
      },
      { rule: 'a public route keeps its own', line: 'GET /api/own', ran: ['own', 'handler'] },
      { rule: 'unmatched below the guard', line: 'GET /api/none', ran: ['api'], status: 404 },
      { rule: 'unmatched below the hole', line: 'GET /api/public/none', ran: [], status: 404 }
    ])
  })
})

t.test('P4: a prefix ends where a segment ends', async (t) => {
  const places = [
    'admin',
    'admin/stats',
    'administrator',
    'admin-x',
    '[section]',
    '[section]/stats',
    'x/[...rest]',
    'teams/[team]/members'
  ]
  const routes = Object.fromEntries(places.map((path) => [path, { GET: handled }]))
  const middleware = createMiddleware({
    '/api/admin/': [mark('admin')],
    '/api/x/admin': [mark('rest')],
    '/api/teams/[id]': [mark('team')]
  })
  onEveryHost(t, { routes, options: { middleware } }, async (t, call) => {
    await checkLines(t, call, [
      { rule: 'the prefix itself is covered', line: 'GET /api/admin', ran: ['admin', 'handler'] },
      { rule: 'what is below the prefix is covered', line: 'GET /api/admin/stats', ran: ['admin', 'handler'] },
      {
        rule: 'a longer name that begins with the guarded one is not covered',
        line: 'GET /api/administrator',
        ran: ['handler']
      },
      { rule: 'a longer name behind a hyphen is not covered', line: 'GET /api/admin-x', ran: ['handler'] },
      { rule: 'a parameter with another value', line: 'GET /api/other/stats', ran: ['handler'] },
      { rule: 'a parameter of another name', line: 'GET /api/teams/7/members', ran: ['team', 'handler'] },
      { rule: 'an encoded spelling of the name', line: 'GET /api/%61dmin/stats', ran: ['admin', 'handler'] },
      { rule: 'a rest whose first segment is the name', line: 'GET /api/x/admin/y', ran: ['rest', 'handler'] },
      {
        rule: 'an encoded spelling of the name in a rest is covered',
        line: 'GET /api/x/%61dmin/y',
        ran: ['rest', 'handler']
      },
      {
        rule: 'a rest whose first segment is another name is not covered',
        line: 'GET /api/x/other/admin',
        ran: ['handler']
      },
      {
        rule: 'a rest in which a slash is encoded, where a guarded name could follow',
        line: 'GET /api/x/admin%2Fy',
        ran: [],
        status: 404
      }
    ])
  })
})

t.test('P5 and P2: the chain comes before 404, 405 and OPTIONS', async (t) => {
  const routes = {
    'a/b': { GET: handled, POST: handled },
    open: { GET: handled },
    preflight: { OPTIONS: () => ({ own: true }) }
  }
  const guard: Middleware = (request, response, next) => {
    if (request.get('authorization')) next()
    else response.status(401).json({ error: 'NO_TOKEN' })
  }
  const middleware = createMiddleware({ '/api/a': [guard] })
  onEveryHost(t, { routes, options: { middleware, errorHandler } }, async (t, call) => {
    const rows: { line: string; status: number; code?: string }[] = [
      { line: 'GET /api/a/b', status: 200 },
      { line: 'GET /api/a/none', status: 404, code: 'NOT_FOUND' },
      { line: 'GET /api/a', status: 404, code: 'NOT_FOUND' },
      { line: 'DELETE /api/a/b', status: 405, code: 'METHOD_NOT_ALLOWED' },
      { line: 'TRACE /api/a/b', status: 405, code: 'METHOD_NOT_ALLOWED' },
      { line: 'OPTIONS /api/a/b', status: 204 }
    ]
    for (const { line, status, code } of rows) {
      t.equal((await call(line)).status, 401, `${line}: 401 first`)
      const answer = await call(line, { headers: { authorization: 'x' } })
      t.equal(answer.status, status, line)
      if (code !== undefined) t.equal(answer.json.error.code, code, line)
      if (status === 405 || status === 204) t.equal(answer.headers.allow, 'GET, HEAD, OPTIONS, POST', `${line}: Allow`)
      if (status === 204) t.equal(answer.text, '', `${line}: no body`)
    }
    t.match(await call('OPTIONS /api/preflight'), { status: 200, text: '{"own":true}' }, 'an exported OPTIONS is used')
    t.match(await call('PUT /api/open'), { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
  })
})

t.test('P1: the path decides before the method', async (t) => {
  const place = (name: string) => (request: any) => ({ name, params: request.params })
  const routes = {
    'users/me': { GET: place('me') },
    'users/[id]': { GET: place('id'), DELETE: place('id') },
    'files/[...path]': { GET: place('rest') },
    'files/list': { GET: place('list') },
    'docs/[[...path]]': { GET: place('optional') }
  }
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    const rows = [
      ['GET /api/users/me', { name: 'me', params: {} }],
      ['GET /api/users/7', { name: 'id', params: { id: '7' } }],
      ['DELETE /api/users/7', { name: 'id', params: { id: '7' } }],
      ['DELETE /api/users/me', 405],
      ['GET /api/files/list', { name: 'list', params: {} }],
      ['GET /api/files/list/x', { name: 'rest', params: { path: ['list', 'x'] } }],
      ['GET /api/files/a%2Fb/c%20d', { name: 'rest', params: { path: ['a/b', 'c d'] } }],
      ['GET /api/files/a?q=/x', { name: 'rest', params: { path: ['a'] } }],
      ['GET /api/files', 404],
      ['GET /api/docs/a/b', { name: 'optional', params: { path: ['a', 'b'] } }],
      ['GET /api/docs', { name: 'optional', params: { path: [] } }],
      ['GET /api/users/', 404]
    ] as const
    for (const [line, expected] of rows) {
      const { status, json } = await call(line)
      t.same(typeof expected === 'number' ? status : json, expected, line)
    }
  })
})

t.test('P6 and P7: targets are taken as they are, or refused', async (t) => {
  const routes = {
    'admin/stats': { GET: handled },
    'users/[id]': { GET: (request: any) => ({ id: request.params.id }) },
    'files/[...path]': { GET: (request: any) => ({ path: request.params.path }) }
  }
  const middleware = createMiddleware({ '/api/admin': [mark('guard')] })
  const rows: readonly { target: string; status: number; value?: unknown }[] = [
    { target: '/API/users/1', status: 404 },
    { target: '/api/Users/1', status: 404 },
    { target: '/api//users/1', status: 404 },
    { target: '//api/users/1', status: 404 },
    { target: '/api/users//1', status: 404 },
    { target: '/api/./users/1', status: 404 },
    { target: '/api/users/../users/1', status: 404 },
    { target: '/api/users/1/..', status: 404 },
    { target: '/api/users/..', status: 404 },
    { target: '/api/users/%2e%2e', status: 404 },
    { target: '/api/users/.', status: 404 },
    { target: '/api/users/...', status: 200, value: '...' },
    { target: '/api/users/.hidden', status: 200, value: '.hidden' },
    { target: '/api/users;a=b/1', status: 404 },
    { target: '/api/users/1;a=b', status: 200, value: '1;a=b' },
    { target: '/api/users/a%2Fb', status: 200, value: 'a/b' },
    { target: '/api/users/a%252Fb', status: 200, value: 'a%2Fb' },
    { target: '/api/users/a%3Fb', status: 200, value: 'a?b' },
    { target: '/api/users/%E2%82%AC', status: 200, value: '€' },
    { target: '/api/users/a+b', status: 200, value: 'a+b' },
    { target: '/api/files/a//b', status: 404 },
    { target: '/api/files//a', status: 404 },
    { target: '/api/files/../../etc/passwd', status: 404 },
    { target: '/api/files/%2e%2e/x', status: 404 },
    { target: '/api/files/a/./b', status: 404 },
    { target: '/api/files/a%2F..%2Fb', status: 200, value: ['a/../b'] },
    { target: '/api/users/%00', status: 400 },
    { target: '/api/users/a%0Ab', status: 400 },
    { target: '/api/users/%7f', status: 400 },
    { target: '/api/users/a%5Cb', status: 400 },
    { target: '/api/users/a\\b', status: 400 },
    { target: '/api/users/%zz', status: 400 },
    { target: '/api/users/%E0%A4%A', status: 400 },
    { target: '/api/users/%ff', status: 400 },
    { target: '/api/files/a/%00', status: 400 },
    { target: '/api/files/a/%5C', status: 400 },
    { target: '/api/none/%00', status: 400 },
    { target: '/api/none\\x', status: 400 },
    { target: '/api/users/1#x', status: 400 },
    { target: '/api/files/a#%00', status: 400 },
    { target: '/api/files/a#%zz', status: 400 },
    { target: 'http://example.com/api/users/1', status: 400 },
    { target: 'https://example.com/api/admin/stats', status: 400 },
    { target: `/api/users/${'x'.repeat(100)}`, status: 200, value: 'x'.repeat(100) }
  ]
  for (const [name, build] of [
    ['app', appOf],
    ['host', hostOf]
  ] as const) {
    const address = await addressOf(await build(t, { routes, options: { middleware, errorHandler } }))
    for (const { target, status, value } of rows) {
      // on a host what is not below the base route is the host's affair
      if (name === 'host' && !target.startsWith('/api/') && status !== 404 && !target.includes('users/1')) continue
      const received = await new Wire(t, address)
        .write(head(`GET ${target}`, { connection: 'close' }))
        .then((wire) => wire.closed())
      t.match(received, new RegExp(`^HTTP/1.1 ${status} `), `${name}: ${target}: ${status}`)
      const body = Buffer.from(received.slice(received.indexOf('\r\n\r\n') + 4), 'latin1').toString()
      if (value !== undefined) t.strictSame(Object.values(JSON.parse(body))[0], value, `${name}: ${target}`)
      if (status === 400 && !(name === 'host' && target.includes('%')))
        t.match(JSON.parse(body), { error: { code: 'VALIDATION_ERROR' } }, `${name}: ${target}: in the error shape`)
    }
  }
  t.test('parameters, queries and targets have limits', async (t) => {
    onEveryHost(
      t,
      { routes, options: { errorHandler, fastifyOptions: { routerOptions: { maxParamLength: 1024 } } } },
      async (t, call) => {
        t.equal((await call(`GET /api/users/${'x'.repeat(1024)}`)).status, 200, 'a parameter of 1024 characters')
        t.equal((await call(`GET /api/users/1?${'a=1&'.repeat(999)}a=1`)).status, 200, 'a thousand pairs')
        t.match(
          await call(`GET /api/users/1?${'a=1&'.repeat(1000)}a=1`),
          { status: 400, json: { error: { code: 'VALIDATION_ERROR' } } },
          'more'
        )
        t.equal((await call(`GET /api/users/1?${'x'.repeat(8192 - 16)}`)).status, 200, 'a url of 8192 characters')
        t.match(
          await call(`GET /api/users/1?${'x'.repeat(8192)}`),
          { status: 414, json: { error: { code: 'URI_TOO_LONG' } } },
          'a longer one'
        )
      }
    )
  })
  t.test('a guard on a rest parameter holds on a host with a loose router', async (t) => {
    const loose = {
      ignoreDuplicateSlashes: true,
      useSemicolonDelimiter: true,
      ignoreTrailingSlash: true,
      caseSensitive: false
    }
    const options = { middleware, errorHandler, fastifyOptions: { routerOptions: loose } }
    const places = { '[...path]': { GET: (request: any) => ({ path: request.params.path }) } }
    const address = await addressOf(await hostOf(t, { routes: places, options }))
    for (const target of [
      '/api/admin/x',
      '/api//admin/x',
      '//api/admin/x',
      '/api/admin;a=1/x',
      '/api/ADMIN//x',
      '/api/%61dmin/x'
    ]) {
      trace = []
      await new Wire(t, address).write(head(`GET ${target}`, { connection: 'close' })).then((wire) => wire.closed())
      t.strictSame(trace, ['guard'], target)
    }
    const call = callOver(address)
    t.strictSame((await call('GET /api//files//a/b/')).json, { path: ['files', 'a', 'b'] })
    t.strictSame((await call('GET /api/files/a;b=c')).json, { path: ['files', 'a'] })
  })
})

t.test('a rewritten url or method is routed again, through the guards of where it goes', async (t) => {
  const show = (name: string) => (request: any) => ({
    name,
    url: request.url,
    originalUrl: request.originalUrl,
    method: request.method,
    params: request.params,
    query: request.query,
    body: request.body ?? null,
    id: request.requestId
  })
  const rewrite =
    (from: string, to: string): Middleware =>
    (request, _response, next) => {
      if (request.url === from) request.url = to
      next()
    }
  const override: Middleware = (request, _response, next) => {
    const method = request.get('x-http-method-override')
    if (method) request.method = method
    next()
  }
  const guard: Middleware = (request, response, next) => {
    trace.push(`guard ${request.method} ${request.originalUrl}`)
    if (request.get('authorization')) next()
    else response.status(401).json({ error: 'NO_TOKEN' })
  }
  const routes: Routes = {
    new: { GET: show('new'), POST: show('new'), DELETE: show('delete'), middleware: { DELETE: [guard] } },
    'items/[id]': { GET: show('item') },
    'admin/stats': { GET: show('admin') },
    own: { GET: show('own'), POST: show('own POST'), middleware: [rewrite('/api/own', '/api/new?x=1')] }
  }
  const map = createMiddleware({
    '/api/admin': [guard],
    '/api/moved': [
      (request, _response, next) => {
        request.url = request.url.replace(/^\//, '/new-')
        next()
      }
    ]
  })
  const use = (app: App): void => {
    app.use((_request: any, _response: any, next: any) => {
      trace.push('use')
      next()
    })
    app.use(
      rewrite('/api/old?q=1', '/api/items/7?p=2'),
      rewrite('/api/secret', '/api/admin/stats'),
      rewrite('/api/lost', '/api/none'),
      rewrite('/%zz', '/api/new'),
      override
    )
  }
  const authorized = { authorization: 'x' }
  onEveryHost(t, { routes, options: { middleware: map, errorHandler }, use }, async (t, call) => {
    trace = []
    t.match(
      (await call('GET /api/old?q=1')).json,
      { name: 'item', params: { id: '7' }, query: { p: '2' }, url: '/api/items/7?p=2', originalUrl: '/api/old?q=1' },
      'to another url'
    )
    t.strictSame(trace, ['use'], 'use() runs once')
    t.equal((await call('GET /api/secret')).status, 401, 'a guard of the new place runs')
    t.match(
      (await call('GET /api/secret', { headers: authorized })).json,
      { name: 'admin', originalUrl: '/api/secret' },
      'and lets pass'
    )
    t.match(await call('GET /api/lost'), { status: 404, json: { error: { code: 'NOT_FOUND' } } }, 'to nowhere')
    t.match((await call('GET /%zz')).json, { name: 'new' }, 'from where no route could be')
    trace = []
    const asDelete = { 'x-http-method-override': 'DELETE' }
    t.equal((await call('POST /api/new', { headers: asDelete })).status, 401, 'to another method: its guard runs')
    t.match((await call('POST /api/new', { headers: { ...asDelete, ...authorized } })).json, {
      name: 'delete',
      method: 'DELETE'
    })
    t.equal(
      (await call('POST /api/new', { headers: { 'x-http-method-override': 'PUT' } })).status,
      405,
      'to a method the route has not'
    )
    const posted = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
    t.match((await call('POST /api/new', posted)).json, { name: 'new', body: { a: 1 } })
    const { json, headers } = await call('GET /api/old?q=1')
    t.equal(json.id, headers['x-request-id'], 'under one id')
  })
  t.test('a chain may ask for another route as use() may', async (t) => {
    onEveryHost(t, { routes, options: { middleware: map, errorHandler } }, async (t, call) => {
      t.match((await call('GET /api/own')).json, { name: 'new', query: { x: '1' }, originalUrl: '/api/own' })
    })
  })
  t.test('a second rewrite cannot walk round a guard', async (t) => {
    const twice: Routes = {
      a: { GET: show('a') },
      b: { POST: show('b'), DELETE: show('b DELETE'), middleware: { POST: [override], DELETE: [guard] } }
    }
    const toB: Middleware = (request, _response, next) => {
      request.url = '/api/b'
      next()
    }
    const rewriting = (app: App): void => void app.use(toB)
    onEveryHost(t, { routes: twice, options: { errorHandler }, use: rewriting }, async (t, call) => {
      const { status, json } = await call('POST /api/a', { headers: { 'x-http-method-override': 'DELETE' } })
      t.notOk(status === 200 && json.name === 'b DELETE', `${status} ${JSON.stringify(json)}`)
      const unknown = await call('POST /api/a', { headers: { 'x-http-method-override': 'NONSENSE' } })
      t.notOk(unknown.status === 500, 'a method nobody knows is no crash')
    })
  })
  t.test('hooks behind the answer run once', async (t) => {
    const app = await appOf(t, { routes, options: { middleware: map }, use })
    let responses = 0
    app.addHook('onResponse', async () => void responses++)
    await callOver(await addressOf(app))('GET /api/old?q=1')
    await turn()
    t.equal(responses, 1)
  })
})

t.test('a middleware named cookieParser finds cookies as Express has them', async (t) => {
  // as the cookie-parser package: it passes over a request whose cookies somebody has parsed
  const parser = (secret?: string) => {
    return function cookieParser(request: any, _response: any, next: any) {
      if (request.cookies) return next()
      request.secret = secret
      const cookies = parseCookie(request.headers.cookie ?? '')
      request.cookies = Object.fromEntries(Object.entries(cookies).filter(([name]) => !name.startsWith('signed')))
      request.signedCookies = { signed: cookies.signed }
      next()
    }
  }
  const GET = (request: any): object => ({
    plain: request.cookies.a,
    helper: request.cookies.get('a')?.value,
    has: request.cookies.has('signed'),
    all: request.cookies.all(),
    signed: request.signedCookies?.signed,
    secret: request.secret
  })
  const expected = { plain: '1', helper: '1', has: false, all: { a: '1' }, signed: 's', secret: 'x' }
  const sent = { headers: { cookie: 'a=1; signed=s' } }
  const seen = (request: any, _response: any, next: any): void => {
    trace.push(typeof request.cookies.get, request.cookies.a)
    next()
  }
  const check = async (t: any, call: any): Promise<void> => {
    trace = []
    t.strictSame((await call('GET /api/a', sent)).json, expected)
  }
  t.test('in a chain, the helper works before and behind it', async (t) => {
    onEveryHost(t, { routes: { a: { GET, middleware: [seen, parser('x'), seen] } } }, async (t, call) => {
      await check(t, call)
      t.strictSame(trace, ['function', '1', 'function', '1'])
    })
  })
  t.test('in the map', async (t) =>
    onEveryHost(
      t,
      { routes: { a: { GET } }, options: { middleware: createMiddleware({ '/api': [parser('x') as never] }) } },
      check
    )
  )
  t.test('in use()', async (t) => {
    onEveryHost(t, { routes: { a: { GET } }, use: (app) => void app.use(parser('x')) }, check)
    onEveryHost(t, { routes: { a: { GET } }, use: (app) => void app.use(parser('x'), parser('other')) }, check)
  })
  t.test('in a router within use()', async (t) => {
    onEveryHost(
      t,
      { routes: { a: { GET } }, use: (app) => void app.use('/api', express.Router().use(parser('x'))) },
      check
    )
  })
  t.test('in use(), cookies are undefined before it', async (t) => {
    const before = (request: any, _response: any, next: any): void => {
      trace.push(request.cookies, request.signedCookies)
      next()
    }
    onEveryHost(t, { routes: { a: { GET } }, use: (app) => void app.use(before, parser('x')) }, async (t, call) => {
      await check(t, call)
      t.strictSame(trace, [undefined, undefined])
    })
  })
  t.test('the helper is back when it fails', async (t) => {
    const failing = function cookieParser(): never {
      throw new Error('failed')
    }
    const showing = (_error: unknown, request: any, reply: any): unknown =>
      reply.code(500).send(request.raw.cookies.all())
    onEveryHost(
      t,
      { routes: { a: { GET, middleware: [failing] } }, options: { errorHandler: showing } },
      async (t, call) => {
        t.strictSame((await call('GET /api/a', sent)).json, { a: '1', signed: 's' })
      }
    )
  })
})

t.test('what middleware replaces on the response is used for what a handler returns', async (t) => {
  const wrapping: Middleware = (_request, response, next) => {
    const json = response.json.bind(response)
    response.json = (body) => json({ data: body })
    next()
  }
  const shouting: Middleware = (_request, response, next) => {
    const send = response.send.bind(response)
    response.send = (body) => send(typeof body === 'string' ? body.toUpperCase() : body)
    next()
  }
  const handlers = {
    returned: () => ({ a: 1 }),
    promised: async () => ({ a: 1 }),
    json: (_: any, s: any) => s.json({ a: 1 }),
    status: () => ({ status: 201, body: { a: 1 } }),
    page: () => '<p>',
    send: (_: any, s: any) => s.send('<p>')
  }
  const routes = Object.fromEntries(
    Object.entries(handlers).flatMap(([name, GET]) => [
      [`json/${name}`, { GET, middleware: [wrapping] }],
      [`send/${name}`, { GET, middleware: [shouting] }]
    ])
  )
  onEveryHost(t, { routes }, async (t, call) => {
    for (const name of ['returned', 'promised', 'json', 'status']) {
      t.strictSame((await call(`GET /api/json/${name}`)).json, { data: { a: 1 } }, `json: ${name}`)
      t.equal((await call(`GET /api/send/${name}`)).text, '{"A":1}', `send: ${name}`)
    }
    t.equal((await call('GET /api/json/status')).status, 201)
    for (const name of ['page', 'send']) t.equal((await call(`GET /api/send/${name}`)).text, '<P>', `send: ${name}`)
  })
})

t.test('the map guards routes of Fastify and of plugins alike', async (t) => {
  const app = await appOf(t, {
    routes: { a: { GET: handled } },
    options: { middleware: createMiddleware({ '/native': [stop('map')] }) }
  })
  app.get('/native/x', async () => ({ reached: true }))
  await app.register(async (scope) => void scope.get('/x', async () => ({ reached: true })), {
    prefix: '/native/plugin'
  })
  app.get('/open', async () => ({ reached: true }))
  const call = callByInject(app)
  t.strictSame((await call('GET /native/x')).json, { stopped: 'map' })
  t.strictSame((await call('GET /native/plugin/x')).json, { stopped: 'map' })
  t.strictSame((await call('GET /native/none')).json, { stopped: 'map' })
  t.strictSame((await call('GET /open')).json, { reached: true })
})

/** Doors to the Express side other than `app.use()`, each as the only registration on an app; all refuse. */
const DOORS: readonly { name: string; open: (app: App, guard: any) => unknown; line?: string }[] = [
  { name: 'app.express.use(guard)', open: (app, guard) => app.express.use(guard) },
  { name: 'app.express.use(path, guard)', open: (app, guard) => app.express.use('/api', guard) },
  { name: 'app.express.get(path, guard)', open: (app, guard) => app.express.get('/api/a', guard) },
  { name: 'app.express.all(path, guard)', open: (app, guard) => app.express.all('/api/a', guard), line: 'PUT /api/a' },
  {
    name: 'app.express.route(path).post(guard)',
    open: (app, guard) => app.express.route('/api/a').post(guard),
    line: 'POST /api/a'
  },
  { name: 'app.express.router.use(guard)', open: (app, guard) => app.express.router.use(guard) },
  { name: 'app.express.use(router)', open: (app, guard) => app.express.use(express.Router().use(guard)) },
  { name: 'app.express.use(another application)', open: (app, guard) => app.express.use(express().use(guard)) },
  {
    name: 'app.express.use(guard), for what no route matches',
    open: (app, guard) => app.express.use(guard),
    line: 'GET /none'
  },
  {
    name: 'app.express.use(guard), for a malformed path',
    open: (app, guard) => app.express.use(guard),
    line: 'GET /api/%zz'
  },
  {
    name: 'app.express.param(name, guard)',
    open: (app, guard) => {
      app.express.param('name', (request, response, next) => guard(request, response, next))
      app.express.get('/api/:name', (_request, _response, next) => next())
    }
  }
]

for (const { name, open, line = 'GET /api/a' } of DOORS) {
  for (const when of ['before it listens', 'after it listens']) {
    t.test(`a guard runs by whichever door it is registered, ${when}: ${name}`, async (t) => {
      const app = await appOf(t, { routes: { a: { GET: handled, POST: handled } } })
      const guard = (_request: unknown, response: any): void => void response.status(401).json({ stopped: true })
      if (when === 'before it listens') open(app, guard)
      const overSocket = callOver(await addressOf(app))
      if (when === 'after it listens') open(app, guard)
      for (const call of [overSocket, callByInject(app)]) {
        const { status, text } = await call(line)
        t.strictSame([status, text], [401, '{"stopped":true}'])
      }
    })
  }
}

/** What handlers do to `request.app` at run time. */
const REGISTRATIONS: readonly { name: string; register: (app: any, guard: any) => void }[] = [
  { name: 'use(guard)', register: (app, guard) => app.use(guard) },
  { name: 'use(path, guard)', register: (app, guard) => app.use('/api', guard) },
  { name: 'get(path, guard)', register: (app, guard) => app.get('/api/a', guard) },
  { name: 'all(path, guard)', register: (app, guard) => app.all('/api/a', guard) },
  { name: 'route(path).get(guard)', register: (app, guard) => app.route('/api/a').get(guard) },
  { name: 'router.use(guard)', register: (app, guard) => app.router.use(guard) },
  { name: 'use(error middleware)', register: (app) => app.use((_e: any, _q: any, _s: any, next: any) => next()) }
]

for (const { name, register } of REGISTRATIONS) {
  const guard = (_request: unknown, response: any): void => void response.status(401).json({ stopped: true })
  const routes = {
    a: { GET: handled },
    register: {
      GET: (request: any) => {
        request.app.set('setting', 'kept')
        register(request.app, guard)
        return request.app.get('setting')
      }
    }
  }
  t.test(`request.app.${name} in a handler of createApp holds from the next request on`, async (t) => {
    const call = callByInject(await appOf(t, { routes }))
    t.match(await call('GET /api/register'), { status: 200, text: 'kept' })
    const { status } = await call('GET /api/a')
    t.equal(status, name === 'use(error middleware)' ? 200 : 401)
  })

  t.test(`request.app.${name} in a handler on a host is an error that names where middleware belongs`, async (t) => {
    const host = await hostOf(t, { routes })
    const { status, json } = await callByInject(host)('GET /api/register')
    t.equal(status, 500)
    t.match((json as { message: string }).message, /^request\.app of fileRoutes takes no middleware .* middleware map/)
    t.equal((await callByInject(host)('GET /api/a')).status, 200)
  })
}

t.test('error middleware of app.express is shown errors of handlers, below its path, and of nobody else', async (t) => {
  const fails = (): void => {
    throw new Error('failed')
  }
  const app = await appOf(t, { routes: { a: { GET: fails }, b: { GET: fails } } })
  app.express.use('/api/a', (error: Error, _request: unknown, response: any, _next: unknown) => {
    response.status(418).json({ seen: error.message })
  })
  for (const call of [callOver(await addressOf(app)), callByInject(app)]) {
    t.match(await call('GET /api/a'), { status: 418, text: '{"seen":"failed"}' })
    t.match(await call('GET /api/b'), { status: 500, text: /"message":"failed"/ })
  }
})

t.test('a stack that is emptied again lets everything pass', async (t) => {
  const app = await appOf(t, { routes: { a: { GET: handled } } })
  app.use(stop('all'))
  const call = callByInject(app)
  t.equal((await call('GET /api/a')).status, 401)
  app.express.router.stack.length = 0
  t.equal((await call('GET /api/a')).status, 200)
})
