import { app, handler, INJECTED_URL, router, type Difference, type Handle } from './scenario.js'

/** Answers with where it stands and what it sees. */
function place(name: string): Handle {
  return (req, res) => res.json({ name, url: req.url, baseUrl: req.baseUrl, path: req.path, params: { ...req.params } })
}

/** The router of createApp decodes, and so must what guards it. */
const DECODED: Difference = {
  on: 'createApp',
  reason: 'in use(), paths are matched as the router of the route files reads them; Express compares the text'
}

/** Middleware that leaves its name in a header. */
function mark(name: string): Handle {
  return (_req, res, next) => {
    res.append('X-Mark', name)
    next()
  }
}

export const routingScenarios = [
  router('methods', (app) => app.get('/a', place('get')).post('/a', place('post')).delete('/a', place('delete')), [
    'GET /a',
    'POST /a',
    'DELETE /a',
    'PUT /a',
    'HEAD /a'
  ]),
  router('OPTIONS lists the methods', (app) => app.get('/a', place('get')).put('/a', place('put')), [
    'OPTIONS /a',
    'OPTIONS /b'
  ]),
  router(
    'a route may answer OPTIONS and HEAD',
    (app) => app.options('/a', place('options')).head('/a', place('head')).get('/a', place('get')),
    ['OPTIONS /a', 'HEAD /a', 'GET /a']
  ),
  router(
    'unusual methods',
    (app) => app.search('/a', place('search')).purge('/a', place('purge')).all('/b', place('all')),
    ['SEARCH /a', 'PURGE /a', 'PROPFIND /b', 'LINK /a']
  ),
  router('all()', (app) => app.all('/a', place('all')), ['GET /a', 'PATCH /a', 'OPTIONS /a']),
  router('route()', (app) => app.route('/a').all(mark('all')).get(place('get')).post(place('post')), [
    'GET /a',
    'POST /a',
    'PUT /a'
  ]),
  router('parameters', (app) => app.get('/users/:id', place('user')).get('/:a/:b', place('two')), [
    'GET /users/42',
    'GET /users/a%2Fb',
    'GET /x/y?z=1',
    'GET /users/'
  ]),
  router(
    'parameters inside a segment',
    (app) => app.get('/:name.:type', place('file')).get('/:from-:to', place('range')),
    ['GET /report.pdf', 'GET /1-9', 'GET /a.b.c']
  ),
  router('optional parts', (app) => app.get('/a{/:b}{/:c}', place('optional')), [
    'GET /a',
    'GET /a/1',
    'GET /a/1/2',
    'GET /a/1/2/3'
  ]),
  router('wildcards', (app) => app.get('/files/*path', place('files')).get('/x{/*rest}', place('rest')), [
    'GET /files/a/b%20c/d',
    'GET /files/',
    'GET /x',
    'GET /x/y/z'
  ]),
  router('regular expressions', (app) => app.get(/^\/v(\d+)\/(?<name>[a-z]+)$/, place('regexp')), [
    'GET /v1/abc',
    'GET /va/abc'
  ]),
  router('lists of paths', (app) => app.get(['/a', '/b/:id', /^\/c+$/], place('list')), [
    'GET /a',
    'GET /b/1',
    'GET /ccc',
    'GET /d'
  ]),
  router('the first route wins', (app) => app.get('/:id', place('first')).get('/me', place('second')), ['GET /me']),
  router('several handlers', (app) => app.get('/', mark('1'), [mark('2'), [mark('3')]], place('end')), ['GET /']),
  router(
    'next("route") passes over the rest of a route',
    (app) => {
      app.get('/', mark('1'), (_req: any, _res: any, next: any) => next('route'), place('never'))
      app.get('/', place('second'))
    },
    ['GET /']
  ),
  router(
    'next("router") leaves the router',
    (app, e) => {
      app.use(
        '/a',
        e
          .Router()
          .use((_req, _res, next) => next('router'))
          .use(place('never'))
      )
      app.use('/a', place('after'))
    },
    ['GET /a']
  ),
  router(
    'param() runs once per parameter',
    (app) => {
      app.param('id', (req: any, res: any, next: any, id: string) => {
        res.append('X-Param', id)
        req.user = `user ${id}`
        next()
      })
      app.get('/:id', mark('1'), (_req: any, _res: any, next: any) => next())
      app.get('/:id', (req: any, res: any) => res.send(req.user))
    },
    ['GET /7']
  ),
  router(
    'param() may refuse',
    (app) => {
      app.param('id', (_req: any, _res: any, next: any) => next('route'))
      app.get('/:id', place('never'))
      app.get('/a', place('static'))
    },
    ['GET /a', 'GET /b']
  ),
  router(
    'paths match case-insensitively',
    (app) => app.get('/About', place('about')).use('/Mounted', place('mounted')),
    ['GET /about', 'GET /ABOUT', 'GET /mounted/X', 'GET /MOUNTED']
  ),
  router('a slash at the end does not matter', (app) => app.get('/a', place('a')).get('/b/', place('b')), [
    'GET /a/',
    'GET /b',
    'GET /a//'
  ]),
  router('slashes in a row do', (app) => app.get('/a/b', place('ab')), ['GET //a/b', 'GET /a//b']),
  router(
    'escapes are decoded for matching',
    (app) => app.use('/admin', mark('guard')).get('/admin', place('admin')),
    ['GET /%61dmin', 'GET /admin', 'GET /a%64min/'],
    DECODED
  ),
  router(
    'dot segments are not resolved',
    (app) => app.use('/a', place('a')),
    ['GET /b/../a', 'GET /a/../b', 'GET /./a'],
    INJECTED_URL
  ),
  router(
    'the query is no part of the path',
    (app) => app.get('/a', place('a')),
    ['GET /a?/b', 'GET /a?', 'GET /?/a'],
    INJECTED_URL
  ),
  router('semicolons are text', (app) => app.get('/a', place('a')).get('/a;b', place('ab')), ['GET /a;b', 'GET /a;c']),

  router('use() strips its path', (app) => app.use('/a/b', place('ab')), [
    'GET /a/b',
    'GET /a/b/',
    'GET /a/b/c?d=1',
    'GET /a/bc',
    'GET /a/b?x'
  ]),
  router('use() without a path strips nothing', (app) => app.use(place('all')), ['GET /', 'GET /a/b?c=1', 'POST /x']),
  router('use() keeps what is encoded', (app) => app.use('/a', place('a')), ['GET /a/%20b/%2Fc', 'GET /a/%C3%BC']),
  router('use() with a parameter', (app) => app.use('/:tenant', place('tenant')), ['GET /acme/x/y', 'GET /a%20b/']),
  router('use() with lists', (app) => app.use(['/a', '/b'], [mark('1'), [mark('2')]], place('both')), [
    'GET /a/x',
    'GET /b',
    'GET /c'
  ]),
  router('use() with a regular expression', (app) => app.use(/^\/v\d/, place('version')), [
    'GET /v1/x',
    'GET /v1',
    'GET /vx'
  ]),
  router('use() restores the url', (app) => app.use('/a', mark('1')).use(place('after')), ['GET /a/b?c=1']),
  router(
    'nested routers',
    (app, e) => {
      const inner = e.Router().get('/c', place('inner'))
      app.use('/a', e.Router().use('/b', inner).use(place('outer')))
    },
    ['GET /a/b/c?d', 'GET /a/b/x', 'GET /a']
  ),
  router(
    'a router sees no parameters of its parent',
    (app, e) => {
      app.use('/:a', e.Router().get('/:b', place('own')))
      app.use('/:a', e.Router({ mergeParams: true }).get('/:b/merged', place('merged')))
    },
    ['GET /1/2', 'GET /1/2/merged']
  ),
  router(
    'a strict, case-sensitive router',
    (app, e) => app.use(e.Router({ strict: true, caseSensitive: true }).get('/A', place('A'))),
    ['GET /A', 'GET /A/', 'GET /a']
  ),
  router(
    'middleware may change the url',
    (app) => {
      app.use((req: any, _res: any, next: any) => {
        req.url = req.url.replace(/^\/old/, '/new')
        next()
      })
      app.get('/new/:id', (req: any, res: any) => res.json([req.url, req.originalUrl, req.params.id, req.query]))
    },
    ['GET /old/7?a=1', 'GET /new/8']
  ),
  router(
    'middleware may change the method',
    (app) => {
      app.use((req: any, _res: any, next: any) => {
        if (req.query['method']) req.method = req.query['method']
        next()
      })
      app.put('/a', place('put')).post('/a', place('post'))
    },
    ['POST /a?method=PUT', 'POST /a']
  ),
  router(
    'a url changed below a mount',
    (app, e) => {
      app.use(
        '/a',
        e
          .Router()
          .use((req, _res, next) => ((req.url = '/x'), next()))
          .get('/x', place('x'))
      )
      app.use(place('after'))
    },
    ['GET /a/b', 'GET /c']
  ),
  router(
    'asynchronous middleware',
    (app) => {
      app.use(async (_req: any, res: any, next: any) => {
        await null
        res.set('X-Async', '1')
        next()
      })
      app.get('/', async (_req: any, res: any) => {
        await null
        res.json({ done: true })
      })
    },
    ['GET /']
  ),
  router(
    'next() twice runs the rest once answered',
    (app) => {
      app.use((_req: any, _res: any, next: any) => {
        next()
        setImmediate(() => {})
      })
      app.get('/', place('end'))
    },
    ['GET /']
  ),
  router('middleware that answers stops the rest', (app) => app.use(place('first')).use(place('never')), ['GET /']),
  router(
    'what is registered in a handler counts from then on',
    (app) => {
      app.get('/add', (_req: any, res: any) => (app.get('/late', place('late')), res.send('added')))
    },
    ['GET /late', 'GET /add', 'GET /late']
  ),
  router(
    'params are restored behind a router',
    (app, e) => {
      app.use('/:a', e.Router().use('/:b', mark('in')), (req: any, res: any) => res.json({ ...req.params }))
    },
    ['GET /1/2']
  ),
  router(
    'req.route',
    (app) => app.get(['/r/:id'], (req: any, res: any) => res.json([req.route.path, Object.keys(req.route.methods)])),
    ['GET /r/1']
  ),
  router('a path that cannot be decoded', (app) => app.use(mark('1')).get('/:id', place('id')), [
    'GET /%zz',
    'GET /%',
    'GET /%C3'
  ]),
  router('a star as request target', (app) => app.use(place('star')), ['OPTIONS *'], INJECTED_URL),

  app(
    'a mounted application',
    (app, e) => {
      const sub = e()
      sub.get(
        '/x',
        (req, res) => void res.json([req.baseUrl, req.url, req.originalUrl, sub.mountpath, sub.path(), req.app === sub])
      )
      app.use('/sub', sub)
      app.use((req: any, res: any) => res.status(404).json([req.url, req.baseUrl, req.app === app]))
    },
    ['GET /sub/x', 'GET /sub/y', 'GET /x']
  ),
  app(
    'two applications on one path',
    (app, e) => {
      app.use('/s', e().get('/a', place('first') as never))
      app.use('/s', e().get('/b', place('second') as never))
    },
    ['GET /s/a', 'GET /s/b']
  ),
  app(
    'applications in applications',
    (app, e) => {
      const inner = e().get('/x', place('inner') as never)
      app.use('/a', e().use('/b', inner))
    },
    ['GET /a/b/x', 'GET /a/b/y']
  ),
  app(
    'a mounted application inherits settings and engines',
    (app, e) => {
      const sub: any = e()
      app
        .set('own', 'parent')
        .set('trust proxy', true)
        .engine('tpl', () => {})
      app.use('/sub', sub)
      sub.get(
        '/',
        (req: any, res: any) =>
          void res.json([sub.get('own'), req.ip, Object.hasOwn(sub.engines, '.tpl'), '.tpl' in sub.engines])
      )
    },
    [{ line: 'GET /sub', headers: { 'x-forwarded-for': '203.0.113.7' } }]
  ),
  app(
    'a mounted application uses the extended prototypes',
    (app, e) => {
      const sub = e()
      app.response.hello = function (this: any) {
        return this.send('hello')
      }
      app.use('/sub', sub)
      sub.get('/', (_req, res: any) => res.hello())
      app.get('/after', (_req: any, res: any) => res.hello())
    },
    ['GET /sub', 'GET /after']
  ),
  app(
    'a mounted application keeps its locals and x-powered-by',
    (app, e) => {
      const sub = e().disable('x-powered-by')
      sub.locals.a = 1
      app.use('/sub', sub)
      sub.get('/', (req, res) => void res.json([req.app.locals.a, Object.keys(app.locals)]))
    },
    ['GET /sub']
  ),
  app(
    'the mount event',
    (app, e) => {
      const sub = e()
      let parent: unknown
      sub.on('mount', (mountedOn) => (parent = mountedOn))
      app.use(['/a', '/b'], sub)
      sub.use((req, res) => void res.json([parent === app, (sub as any).parent === app, sub.mountpath, req.baseUrl]))
    },
    ['GET /a', 'GET /b']
  ),
  app(
    'an application in a router',
    (app, e) => {
      app.use('/r', e.Router().use('/s', e().get('/x', place('app') as never)))
      app.use(place('after'))
    },
    ['GET /r/s/x', 'GET /r/s/y']
  ),
  app(
    'an application called by a handler',
    (app, e) => {
      const sub = e().get('/x', place('called') as never)
      app.use((req: any, res: any, next: any) => sub(req, res, next))
      app.use(place('after'))
    },
    ['GET /x', 'GET /y']
  ),
  app(
    'handle()',
    (app, e) => {
      const sub = e().get('/x', place('handled') as never)
      app.use('/s', (req: any, res: any, next: any) => (sub as any).handle(req, res, next))
    },
    ['GET /s/x', 'GET /s/y']
  ),
  app(
    'case sensitive routing and strict routing',
    (app) => {
      app.enable('case sensitive routing').enable('strict routing')
      app.get('/A', place('A')).get('/b/', place('b'))
    },
    ['GET /A', 'GET /a', 'GET /A/', 'GET /b/', 'GET /b']
  ),
  app('settings', (app) => {
    app.set('title', 'x').enable('on').disable('off')
    app.get('/', (req: any, res: any) =>
      res.json([
        req.app.get('title'),
        app.enabled('on'),
        app.disabled('off'),
        app.get('none') === undefined,
        app.get('env') === process.env['NODE_ENV']
      ])
    )
  }),
  app('nothing is registered', () => {}, ['GET /', 'POST /a', 'HEAD /', 'OPTIONS /', 'GET /%zz']),
  app('nothing matches', (app) => app.get('/a', place('a')), [
    'GET /b',
    'GET /<script>',
    'POST /a',
    'HEAD /b',
    'GET /a%00b'
  ]),

  handler('middleware before a handler', (_req, res) => res.send('end'), { before: () => [mark('1'), mark('2')] }),
  handler(
    'middleware that answers before a handler',
    () => {
      throw new Error('never')
    },
    { before: () => [(_req, res) => res.status(401).json({ error: 'who' })] }
  ),
  handler('asynchronous middleware before a handler', (req, res) => res.send(req.late), {
    before: () => [
      async (req, _res, next) => {
        await null
        req.late = 'yes'
        next()
      }
    ]
  })
]
