import { app, handler, router, type Handle } from './scenario.js'

type ErrorHandle = (error: any, req: any, res: any, next: any) => unknown

/** Throws an error with these members. */
function failing(members: object = {}, message = 'broken'): Handle {
  return () => {
    throw Object.assign(new Error(message), members)
  }
}

const report: ErrorHandle = (error, _req, res, _next) =>
  res.status(error?.status ?? 500).json({ seen: error instanceof Error ? error.message : error })

/** The final answer in production, where no stack is shown. */
function inProduction(rule: string, handle: Handle) {
  return app(rule, (app) => app.set('env', 'production').get('/', handle), ['GET /', 'HEAD /'])
}

export const errorScenarios = [
  router('error middleware gets what is thrown', (app) => app.get('/', failing()).use(report), ['GET /']),
  router(
    'error middleware gets what next is given',
    (app) => app.get('/', (_q: any, _s: any, next: any) => next(new Error('given'))).use(report),
    ['GET /']
  ),
  router(
    'error middleware gets rejections',
    (app) => app.get('/', async () => Promise.reject(new Error('rejected'))).use(report),
    ['GET /']
  ),
  router(
    'error middleware gets later rejections',
    (app) =>
      app
        .get('/', async () => {
          await null
          throw new Error('later')
        })
        .use(report),
    ['GET /']
  ),
  router(
    'error middleware gets texts',
    (app) => app.get('/', (_q: any, _s: any, next: any) => next('a text')).use(report),
    ['GET /']
  ),
  router(
    'error middleware gets plain objects',
    (app) => app.get('/', (_q: any, _s: any, next: any) => next({ status: 422, a: 1 })).use(report),
    ['GET /']
  ),
  router('a rejection without a reason is an error', (app) => app.get('/', () => Promise.reject()).use(report), [
    'GET /'
  ]),
  router(
    'next(undefined), next(null), next(0), next("") are no errors',
    (app) => {
      for (const nothing of [undefined, null, 0, '']) app.use((_q: any, _s: any, next: any) => next(nothing))
      app.use((_q: any, res: any) => res.send('passed'))
    },
    ['GET /']
  ),
  router(
    'ordinary middleware is passed over',
    (app) => {
      app
        .use(failing())
        .use((_q: any, res: any) => res.send('never'))
        .use(report)
    },
    ['GET /']
  ),
  router(
    'error middleware is passed over without an error',
    (app) => app.use(report).use((_q: any, res: any) => res.send('fine')),
    ['GET /']
  ),
  router(
    'error middleware may recover',
    (app) => {
      app
        .use(failing())
        .use(((_e, _q, _s, next) => next()) as ErrorHandle)
        .use((_q: any, res: any) => res.send('recovered'))
    },
    ['GET /']
  ),
  router(
    'error middleware may pass on another error',
    (app) => {
      app
        .use(failing())
        .use(((error, _q, _s, next) => next(new Error(`${error.message} twice`))) as ErrorHandle)
        .use(report)
    },
    ['GET /']
  ),
  router(
    'error middleware may throw',
    (app) => {
      app.use(failing()).use(((error) => {
        throw new Error(`${error.message} again`)
      }) as ErrorHandle)
      // four parameters make it error middleware
      app
        .use(((error: any, _q: any, _s: any, _n: any) => {
          throw new Error(`${error.message} and again`)
        }) as ErrorHandle)
        .use(report)
    },
    ['GET /']
  ),
  router(
    'error middleware may reject',
    (app) => {
      app
        .use(failing())
        .use((async (error: any, _q: any, _s: any, _n: any) =>
          Promise.reject(new Error(`${error.message} later`))) as ErrorHandle)
        .use(report)
    },
    ['GET /']
  ),
  router(
    'error middleware has a path',
    (app) => {
      app.use('/a', ((error, _q, res, _n) => res.send(`a: ${error.message}`)) as ErrorHandle)
      app
        .use(failing())
        .use('/a', ((error, req, res, _n) => res.send(`a: ${error.message} ${req.url}`)) as ErrorHandle)
        .use(report)
    },
    ['GET /a/x', 'GET /b']
  ),
  router(
    'error middleware in a router',
    (app, e) => {
      app.use(
        '/r',
        e
          .Router()
          .get('/', failing() as never)
          .use(((error, _q, res, _n) => res.send(`router: ${error.message}`)) as ErrorHandle)
      )
      app.use(failing({}, 'outside')).use(report)
    },
    ['GET /r', 'GET /x']
  ),
  router(
    'an error leaves a router without error middleware',
    (app, e) => app.use('/r', e.Router().get('/', failing() as never)).use(report),
    ['GET /r']
  ),
  router(
    'error middleware in a route',
    (app) => {
      app.get('/', failing(), ((error, _q, res, _n) => res.send(`route: ${error.message}`)) as ErrorHandle)
    },
    ['GET /']
  ),
  router(
    'param() may fail',
    (app) => {
      app.param('id', failing({ status: 400 }, 'bad id'))
      app.get('/:id', (_q: any, res: any) => res.send('never')).use(report)
    },
    ['GET /1']
  ),
  router(
    'headers set before an error stay',
    (app) => {
      app
        .use((_q: any, res: any, next: any) => next(res.set('X-A', '1').cookie('a', '1') && new Error('e')))
        .use(report)
    },
    ['GET /']
  ),
  router(
    'middleware that throws after next()',
    (app) => {
      app.use((_q: any, _s: any, next: any) => {
        next()
      })
      app.use(report).use((_q: any, res: any) => res.send('answered'))
    },
    ['GET /']
  ),

  inProduction('an error page shows no stack in production', failing()),
  inProduction('a text of its own by status', failing({ status: 400 })),
  inProduction('err.statusCode', failing({ statusCode: 503 })),
  inProduction('err.status wins over err.statusCode', failing({ status: 404, statusCode: 503 })),
  inProduction('a status that is no error is 500', failing({ status: 200 })),
  inProduction('a status that is no number is 500', failing({ status: 'x' })),
  inProduction('an unknown status', failing({ status: 499 })),
  inProduction('err.headers are sent', failing({ status: 429, headers: { 'Retry-After': '5' } })),
  inProduction('err.headers without a status are not', failing({ headers: { 'X-A': '5' } })),
  inProduction('res.statusCode is kept', (_req, res) => {
    res.status(409)
    throw new Error('conflict')
  }),
  inProduction('headers set before are removed', (_req, res) => {
    res.set('X-A', '1').type('png')
    throw new Error('e')
  }),
  inProduction('a text', () => {
    throw 'a text'
  }),
  inProduction('null as a reason', () => Promise.reject(null)),
  app('an error page shows the stack in development', (app) =>
    app.set('env', 'development').get('/', failing({ status: 418 }))
  ),
  app('an error page escapes', (app) => app.set('env', 'development').get('/', failing({}, '<script>'))),
  app('an error of a mounted application', (app, e) => app.use('/sub', e().get('/', failing() as never)).use(report), [
    'GET /sub'
  ]),
  app(
    'a mounted application answers its own errors',
    (app, e) => {
      const sub = e().get('/', failing() as never)
      sub.use(((error, _q, res, _n) => res.send(`sub: ${error.message}`)) as ErrorHandle)
      app.use('/sub', sub).use(report)
    },
    ['GET /sub']
  ),
  app('POST of a path nobody has', (app) => app.get('/a', failing()), [{ line: 'POST /a', body: 'x' }]),

  handler('middleware that throws before an answer of error middleware', (_req, res) => res.send('never reached'), {
    before: () => [(_req, res) => res.status(400).send('refused')]
  })
]
