import { Readable } from 'node:stream'
import { app, get, handler, type Ask } from './scenario.js'

const EPOCH = new Date(0)
const anyMethod: readonly Ask[] = ['GET', 'HEAD', 'POST']

/** What a call throws, as an answer. */
function caught(res: any, call: () => unknown): void {
  try {
    call()
    res.json('nothing thrown')
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string }
    res.json({ name, code, message })
  }
}

export const responseScenarios = [
  handler('json() sends an object', (_req, res) => res.json({ a: 1, ü: 'ü' }), { asks: anyMethod }),
  handler('json() sends an array', (_req, res) => res.json([1, 'a', null])),
  handler('json() sends null', (_req, res) => res.json(null)),
  handler('json() sends true', (_req, res) => res.json(true)),
  handler('json() sends a number', (_req, res) => res.json(123)),
  handler('json() sends a string', (_req, res) => res.json('x')),
  handler('json() of undefined has no body', (_req, res) => res.json(undefined)),
  handler('json() asks toJSON', (_req, res) => res.json({ at: EPOCH, of: { toJSON: () => 'mine' } })),
  handler('json() leaves out undefined and functions', (_req, res) => res.json({ a: undefined, b() {}, c: 1 })),
  handler('json() of a circle throws', (_req, res) => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    caught(res, () => res.json(circle))
  }),
  handler('json() of a BigInt throws', (_req, res) => caught(res, () => res.json({ a: 1n }))),
  handler('json() keeps a Content-Type', (_req, res) => res.type('application/vnd.api+json').json({ a: 1 }), {
    asks: anyMethod
  }),
  handler('json() keeps a Content-Type with a charset', (_req, res) =>
    res.set('Content-Type', 'application/x; charset=iso-8859-1').json({ a: 'ü' })
  ),
  handler('json() with a status', (_req, res) => res.status(201).json({ id: 1 })),
  handler('json() with 204 has no body', (_req, res) => res.status(204).json({ id: 1 })),
  handler('jsonp() is JSON without a callback', (_req, res) => res.jsonp({ a: 1 })),
  handler('jsonp() calls the callback', (_req, res) => res.jsonp({ a: '</script>\u2028' }), {
    asks: [
      'GET ?callback=go',
      'GET ?callback[]=go',
      'GET ?callback=a.b[0]',
      'GET ?callback=alert(1);',
      'GET ?callback=a&callback=b'
    ]
  }),
  handler('jsonp() of null and of a string', (_req, res) => res.jsonp(null), { asks: ['GET ?callback=go', 'GET'] }),

  handler('send() of a string is a page', (_req, res) => res.send('<p>ü</p>'), { asks: anyMethod }),
  handler('send() of an empty string', (_req, res) => res.send(''), { asks: anyMethod }),
  handler('send() of an object is JSON', (_req, res) => res.send({ a: 1 })),
  handler('send() of an array is JSON', (_req, res) => res.send([1])),
  handler('send() of a Buffer is octets', (_req, res) => res.send(Buffer.from('hällo')), { asks: anyMethod }),
  handler('send() of an empty Buffer', (_req, res) => res.send(Buffer.alloc(0)), { asks: anyMethod }),
  handler('send() of a typed array', (_req, res) => res.send(new Uint8Array([104, 105]))),
  handler('send() of a DataView', (_req, res) => res.send(new DataView(new Uint8Array([104, 105, 33]).buffer, 1)), {
    differs: { on: 'all', reason: 'Express sends nothing; the bytes it covers are what is meant' }
  }),
  handler('send() of null leaves the type as it was set', (_req, res) => {
    res.setHeader('content-type', 'application/json')
    res.send(null)
  }),
  handler('send() of null has no body', (_req, res) => res.send(null), { asks: anyMethod }),
  handler('send() of nothing has no body', (_req, res) => res.send(), { asks: anyMethod }),
  handler('send() of undefined has no body', (_req, res) => res.send(undefined)),
  handler('send() of true is JSON', (_req, res) => res.send(true)),
  handler('send() of a number is JSON', (_req, res) => res.send(200)),
  handler('send() keeps the type and adds the charset', (_req, res) => res.type('text/plain').send('ü')),
  handler('send() replaces another charset', (_req, res) =>
    res.set('Content-Type', 'text/plain; charset=iso-8859-1').send('ü')
  ),
  handler('send() of a Buffer keeps type and charset', (_req, res) =>
    res.set('Content-Type', 'text/plain; charset=iso-8859-1').send(Buffer.from('ü', 'latin1'))
  ),
  handler('send() of a Buffer adds no charset', (_req, res) =>
    res.set('Content-Type', 'text/css').send(Buffer.from('a'))
  ),
  handler('send() with 204 strips the body and its headers', (_req, res) => res.status(204).type('txt').send('a')),
  handler('send() with 205 sends no body', (_req, res) => res.status(205).send('a'), { asks: anyMethod }),
  handler('send() with 304 strips the body and its headers', (_req, res) =>
    res.status(304).set('Content-Length', '3').send('abc')
  ),
  handler('send() with 404 keeps the body', (_req, res) => res.status(404).send('no')),
  handler('send() ignores a wrong Content-Length', (_req, res) => res.set('Content-Length', '999').send('abc')),
  handler('send() returns the response', (_req, res) => {
    const same = res.send('a') === res
    if (!same) res.destroy()
  }),
  handler('status() chains', (_req, res) => res.status(418).set('X-A', '1').send('teapot')),
  handler('status() refuses what is no status', (_req, res) => caught(res, () => res.status(99))),
  handler('status() refuses 1000', (_req, res) => caught(res, () => res.status(1000))),
  handler('status() refuses a text', (_req, res) => caught(res, () => res.status('200'))),
  handler('status() refuses a fraction', (_req, res) => caught(res, () => res.status(200.1))),
  handler('statusMessage is sent', (_req, res) => ((res.statusMessage = 'Fine'), res.send('a'))),
  handler('sendStatus() sends the phrase', (_req, res) => res.sendStatus(403), { asks: anyMethod }),
  handler('sendStatus() of an unknown status', (_req, res) => res.sendStatus(599)),
  handler('sendStatus(204)', (_req, res) => res.sendStatus(204)),

  handler('ETag is weak by default', (_req, res) => res.send('abcdef'), {
    asks: [
      'GET',
      'HEAD',
      'POST',
      get({ 'if-none-match': 'W/"6-HxpD2QvpTGOIxfUiYaLzEtOl4JM"' }),
      get({ 'if-none-match': '"other", W/"6-H4rBDyPFtbwRZ72oS4M+XAV6d9I"' }),
      get({ 'if-none-match': '*' }),
      get({ 'if-none-match': '*', 'cache-control': 'no-cache' })
    ]
  }),
  handler('an own ETag stays', (_req, res) => res.set('ETag', '"mine"').send('a'), {
    asks: [
      'GET',
      get({ 'if-none-match': '"mine"' }),
      get({ 'if-none-match': 'W/"mine"' }),
      get({ 'if-none-match': '"a"' })
    ]
  }),
  handler(
    'no 304 for an error or a POST',
    (req, res) =>
      res
        .status(req.method === 'GET' ? 500 : 200)
        .set('ETag', '"a"')
        .send('x'),
    {
      asks: [get({ 'if-none-match': '"a"' }), { line: 'POST ', headers: { 'if-none-match': '"a"' }, body: '' }]
    }
  ),
  handler(
    'Last-Modified answers If-Modified-Since',
    (_req, res) => res.set('Last-Modified', 'Thu, 01 Jan 2026 00:00:00 GMT').send('a'),
    {
      asks: [
        get({ 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' }),
        get({ 'if-modified-since': 'Wed, 31 Dec 2025 00:00:00 GMT' }),
        get({ 'if-modified-since': 'nonsense' }),
        get({ 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT', 'if-none-match': '"x"' })
      ]
    }
  ),
  handler('json() answers conditional requests', (_req, res) => res.json({ a: 1 }), {
    asks: [get({ 'if-none-match': 'W/"7-yF2lRcjdZMCGr4OTjpGLrdoeNUM"' }), get({ 'if-none-match': '*' })]
  }),

  handler('set() takes a map', (_req, res) => res.set({ 'X-A': '1', 'X-B': ['2', '3'] }).send('a')),
  handler('set() makes texts of values', (_req, res) => res.set('X-A', 42).send(String(res.get('X-A') === '42'))),
  handler('set() adds a charset to the type', (_req, res) => res.set('Content-Type', 'text/x').end('a')),
  handler('set() refuses a list of types', (_req, res) => caught(res, () => res.set('Content-Type', ['a', 'b']))),
  handler('header() is set()', (_req, res) => res.header('X-A', 'b').send(String(res.header === res.set))),
  handler('get() reads what is set', (_req, res) => res.set('X-A', 'b').send(String(res.get('x-a')))),
  handler('append() adds values', (_req, res) => {
    res.append('X-A', '1').append('X-A', ['2', '3']).append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2')
    res.set('Set-Cookie', res.get('Set-Cookie')).send('a')
  }),
  handler('type() looks extensions up', (_req, res) => res.type('png').send(Buffer.from('a'))),
  handler('type() knows names without a dot', (_req, res) => res.type('json').send('{}')),
  handler('type() takes a whole type', (_req, res) => res.type('application/x-own').send('a')),
  handler('contentType() is type()', (_req, res) => res.contentType('.txt').send('a')),
  handler('an unknown type is octets', (_req, res) => res.type('rawr').send('a')),
  handler('vary() adds up', (_req, res) => res.vary('Accept').vary(['Accept', 'Origin']).vary('accept').send('a')),
  handler('vary(*) wins', (_req, res) => res.vary('Accept').vary('*').send('a')),
  handler('links()', (_req, res) => res.links({ next: '/?p=2', last: '/?p=5' }).links({ first: '/' }).send('a')),
  handler('location() encodes', (_req, res) => res.location('/ä b?c=ü&d=%20').send('a')),
  handler('redirect() is 302', (_req, res) => res.redirect('/login'), {
    asks: [
      'GET',
      'HEAD',
      'POST',
      get({ accept: 'text/html' }),
      get({ accept: 'text/plain, */*' }),
      get({ accept: 'image/webp' }),
      get({ accept: 'application/json' })
    ]
  }),
  handler('redirect() with a status', (_req, res) => res.redirect(301, 'http://a.example/?<b>')),
  handler('redirect() escapes in HTML', (_req, res) => res.redirect('/<script>"'), {
    asks: [get({ accept: 'text/html' })]
  }),
  handler('redirect() of an absolute URL', (_req, res) => res.redirect(303, 'https://user@a.example/ü?q=ü#h')),
  handler('redirect("back") is literal', (_req, res) => res.redirect('back')),
  handler('redirect() relative', (_req, res) => res.redirect('../up')),

  handler('cookie() of a text', (_req, res) => res.cookie('a', 'b c;ü').send('a')),
  handler('cookie() of an object', (_req, res) => res.cookie('a', { b: 1 }).send('a')),
  handler('cookie() several times', (_req, res) => res.cookie('a', '1').cookie('b', '2').cookie('a', '3').json({})),
  handler('cookie() with options', (_req, res) =>
    res
      .cookie('a', '1', { httpOnly: true, secure: true, path: '/x', domain: 'a.example', sameSite: 'strict' })
      .cookie('b', '2', { expires: EPOCH, sameSite: true, priority: 'high', partitioned: true })
      .send('a')
  ),
  handler('cookie() with an encoder', (_req, res) =>
    res.cookie('a', 'b c', { encode: (text: string) => `[${text.length}]` }).send('a')
  ),
  handler('cookie() signed without a secret throws', (_req, res) =>
    caught(res, () => res.cookie('a', 'b', { signed: true }))
  ),
  handler('cookie() signed', (req, res) => ((req.secret = 'tobi'), res.cookie('a', 'b', { signed: true }).send('a'))),
  handler('cookie() refuses a wrong maxAge', (_req, res) => caught(res, () => res.cookie('a', 'b', { maxAge: 'x' }))),
  handler('cookie() refuses a wrong name', (_req, res) => caught(res, () => res.cookie('a=b', 'c'))),
  handler('clearCookie()', (_req, res) => res.clearCookie('a').clearCookie('b', { path: '/x', maxAge: 5 }).send('a')),

  handler('attachment()', (_req, res) => res.attachment().send('a')),
  handler('attachment() with a name', (_req, res) => res.attachment('/x/report.pdf').send(Buffer.from('a'))),
  handler('attachment() with an umlaut', (_req, res) => res.attachment('Bücher "1".txt').send('a')),
  handler(
    'format() picks by Accept',
    (_req, res) =>
      res.format({
        text: () => res.send('text'),
        html: () => res.send('<b>html</b>'),
        'application/json': () => res.json({ json: true })
      }),
    {
      asks: [
        'GET',
        get({ accept: 'text/html;q=.5, application/json' }),
        get({ accept: 'text/*' }),
        get({ accept: 'text/plain' })
      ]
    }
  ),
  handler(
    'format() has a default',
    (_req, res) => res.format({ json: () => res.json(1), default: () => res.send('default') }),
    {
      asks: [get({ accept: 'image/png' })]
    }
  ),

  handler('end() of a text', (_req, res) => res.end('a'), { asks: anyMethod }),
  handler('end() of nothing', (_req, res) => res.end(), { asks: anyMethod }),
  handler('end() with an encoding', (_req, res) => res.end('aGk=', 'base64')),
  handler('end() with a callback', (_req, res) => res.end('a', () => {})),
  handler('end() after status and headers', (_req, res) => {
    res.statusCode = 202
    res.setHeader('Content-Type', 'text/x')
    res.end('a')
  }),
  handler(
    'write() then end()',
    (_req, res) => {
      res.write('a')
      res.write(Buffer.from('b'))
      res.end('c')
    },
    { asks: anyMethod }
  ),
  handler('writeHead() then end()', (_req, res) =>
    res.writeHead(202, { 'X-A': 'b', 'Content-Type': 'text/x' }).end('abc')
  ),
  handler('writeHead() with a phrase', (_req, res) => res.writeHead(202, 'Taken', { 'X-A': 'b' }).end()),
  handler('writeHead() with a flat list', (_req, res) => res.writeHead(200, ['X-A', 'b', 'X-C', 'd']).end('a')),
  handler('writeHead() over headers set before', (_req, res) => {
    res.set('X-A', 'old').set('X-B', 'kept')
    res.writeHead(200, { 'X-A': 'new' }).end()
  }),
  handler('a pipe', (_req, res) => void Readable.from(['one', 'two']).pipe(res.type('txt')), { asks: anyMethod }),
  handler('a pipe of a known length', (_req, res) => void Readable.from(['one']).pipe(res.set('Content-Length', '3'))),
  handler('an answer later', (_req, res) => void setImmediate(() => res.json({ late: true }))),
  handler('an asynchronous handler', async (_req, res) => {
    await null
    res.status(201).send('later')
  }),
  handler('removeHeader() and hasHeader()', (_req, res) => {
    res.set('X-A', '1').removeHeader('X-A')
    res.send(String(res.hasHeader('x-a')))
  }),
  handler('getHeaders() has no prototype', (_req, res) =>
    res.set('X-A', '1').json(Object.getPrototypeOf(res.getHeaders()) === null)
  ),
  handler('headersSent', (_req, res) => {
    const before = res.headersSent
    res.write(String(before))
    res.end(String(res.headersSent))
  }),
  handler('Transfer-Encoding of one’s own', (_req, res) => res.set('Transfer-Encoding', 'chunked').send('abc')),
  handler('Content-Encoding of one’s own', (_req, res) => res.set('Content-Encoding', 'x').send('abc')),
  handler('locals are empty and without a prototype', (_req, res) =>
    res.json([Object.keys(res.locals).length, Object.getPrototypeOf(res.locals) === null])
  ),
  handler('locals keep what is set', (_req, res) => ((res.locals.a = 1), res.json(res.locals)), {
    before: () => [(_req, res, next) => ((res.locals.b = 2), next())]
  }),
  handler('a replaced send sees the body', (_req, res) => res.json({ a: 1 }), {
    before: () => [
      (_req, res, next) => {
        const send = res.send
        res.send = function (body: unknown) {
          return send.call(this, `${String(body)}!`)
        }
        next()
      }
    ]
  }),
  handler('a replaced json sees the value', (_req, res) => res.json({ a: 1 }), {
    before: () => [
      (_req, res, next) => {
        const json = res.json
        res.json = (body: object) => json.call(res, { ...body, b: 2 })
        next()
      }
    ]
  }),
  handler('a replaced end sees the bytes', (_req, res) => res.json({ a: 1 }), {
    before: () => [
      (_req, res, next) => {
        const end = res.end
        res.end = function (...given: unknown[]) {
          res.setHeader('X-End', String(given[0]).length)
          return Reflect.apply(end, this, given)
        }
        next()
      }
    ]
  }),
  handler(
    'a replaced write',
    (_req, res) => {
      res.write('a')
      res.end()
    },
    {
      before: () => [
        (_req, res, next) => {
          const write = res.write
          res.write = (chunk: string) => write.call(res, chunk.toUpperCase())
          next()
        }
      ]
    }
  ),

  app('json spaces', (app) => app.set('json spaces', 2).get('/', (_req: any, res: any) => res.json({ a: [1] }))),
  app('json replacer', (app) =>
    app
      .set('json replacer', (key: string, value: unknown) => (key === 'a' ? undefined : value))
      .get('/', (_req: any, res: any) => res.json({ a: 1, b: 2 }))
  ),
  app('json escape', (app) => app.set('json escape', true).get('/', (_req: any, res: any) => res.json({ a: '<&>' }))),
  app('etag: strong', (app) => app.set('etag', 'strong').get('/', (_req: any, res: any) => res.send('a'))),
  app(
    'etag: strong, of text beyond ASCII and of bytes',
    (app) =>
      app
        .set('etag', 'strong')
        .get('/text', (_req: any, res: any) => res.send('ü€𝄞'))
        .get('/bytes', (_req: any, res: any) => res.send(Buffer.from([0, 255, 128])))
        .get('/empty', (_req: any, res: any) => res.send('')),
    ['GET /text', 'GET /bytes', 'GET /empty', 'HEAD /text']
  ),
  app(
    'etag: weak, of text beyond ASCII and of bytes',
    (app) =>
      app
        .get('/text', (_req: any, res: any) => res.send('ü€𝄞'.repeat(5000)))
        .get('/bytes', (_req: any, res: any) => res.send(new Uint8Array([0, 255, 128])))
        .get('/empty', (_req: any, res: any) => res.send('')),
    ['GET /text', 'GET /bytes', 'GET /empty', 'HEAD /bytes']
  ),
  app('etag: off', (app) => app.set('etag', false).get('/', (_req: any, res: any) => res.send('a')), [
    'GET /',
    get({ 'if-none-match': '*' }, '/')
  ]),
  app('etag: a function', (app) =>
    app
      .set('etag', (body: Buffer, encoding: string) => `"${body.length}-${encoding}"`)
      .get('/', (_req: any, res: any) => res.send('abc'))
  ),
  app(
    'jsonp callback name',
    (app) => app.set('jsonp callback name', 'cb').get('/', (_req: any, res: any) => res.jsonp(1)),
    ['GET /?cb=go', 'GET /?callback=go']
  ),
  app('x-powered-by: off', (app) => app.disable('x-powered-by').get('/', (_req: any, res: any) => res.send('a'))),
  app('app.response can be extended', (app) => {
    app.response.shout = function (this: any, text: string) {
      return this.send(text.toUpperCase())
    }
    app.get('/', (_req: any, res: any) => res.shout('abc'))
  }),
  app('app.response.send can be replaced', (app) => {
    const { send } = app.response
    app.response.send = function (this: any, body: unknown) {
      return send.call(this.set('X-Own', '1'), body)
    }
    app.get('/', (_req: any, res: any) => res.json({ a: 1 }))
  }),
  app(
    'render() with an engine',
    (app) => {
      app.engine('tpl', (path: string, options: any, done: any) =>
        done(null, `${path.split('/').at(-1)}:${options.name}:${options.a}:${options.b}`)
      )
      app.set('view engine', 'tpl').set('view', StubView)
      app.locals.a = 'app'
      app.get('/', (_req: any, res: any) => ((res.locals.b = 'res'), res.render('page', { name: 'n' })))
      app.get('/callback', (_req: any, res: any) =>
        res.render('page', (_error: unknown, text: string) => res.send(`[${text}]`))
      )
    },
    ['GET /', 'HEAD /', 'GET /callback']
  ),
  app('render() of a view that is not there', (app) => {
    app
      .set('views', '/nowhere')
      .set('view engine', 'tpl')
      .engine('tpl', (_path: string, _options: unknown, done: any) => done(null, ''))
    app.get('/', (_req: any, res: any) => res.render('page', (error: Error) => res.send(error.message.split('"')[1])))
  })
]

/** A view that is a name and no file. */
class StubView {
  path: string
  readonly #engine: (path: string, options: object, done: unknown) => void

  constructor(name: string, { engines, defaultEngine }: { engines: Record<string, any>; defaultEngine: string }) {
    this.path = name
    this.#engine = engines[`.${defaultEngine}`]
  }

  render(options: object, done: unknown): void {
    this.#engine(this.path, options, done)
  }
}
