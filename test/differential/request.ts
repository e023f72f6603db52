import { app, get, handler, INJECTED_HEADERS, post, type Ask, type Difference, type Handle } from './scenario.js'

/** A row that answers with what an expression over the request gives. */
function reads(rule: string, read: (req: any) => unknown, asks: readonly Ask[] = ['GET'], differs?: Difference) {
  return handler(rule, answerWith(read), { asks, ...(differs === undefined ? {} : { differs }) })
}

function answerWith(read: (req: any) => unknown): Handle {
  return (req, res) => {
    let value: unknown
    try {
      value = read(req)
    } catch (error) {
      value = `throws ${String(error)}`
    }
    res.json({ value: value === undefined ? 'undefined' : value })
  }
}

/** The same with settings of the application. */
function readsWith(settings: Record<string, unknown>, rule: string, read: (req: any) => unknown, asks: readonly Ask[]) {
  return app(
    rule,
    (app) => {
      for (const [name, value] of Object.entries(settings)) app.set(name, value)
      app.get('/', answerWith(read))
    },
    asks.map((ask) => (typeof ask === 'string' ? `${ask}/` : { ...ask, line: `${ask.line}/` }))
  )
}

const forwarded = {
  'x-forwarded-for': '203.0.113.1, 198.51.100.2, 192.0.2.3',
  'x-forwarded-proto': 'https, http',
  'x-forwarded-host': 'shop.example:8443, inner.example'
}

export const requestScenarios = [
  reads('get() reads a header in any case', (req) => [req.get('x-a'), req.get('X-A')], [get({ 'x-a': 'one' })]),
  reads('header() is get()', (req) => [req.header('X-A'), req.header === req.get], [get({ 'x-a': 'one' })]),
  reads('get() takes Referer and Referrer for each other', (req) => [req.get('referrer'), req.get('Referer')], [
    get({ referer: 'http://a.example/' })
  ]),
  reads('get() of a header that is not there is undefined', (req) => String(req.get('x-none'))),
  reads('get() without a name throws', (req) => req.get()),
  reads('get() of a number throws', (req) => req.get(42)),
  reads('repeated headers are joined', (req) => req.get('x-a'), [get({ 'x-a': ['one', 'two'] })]),
  reads('accepts() picks the best type', (req) => req.accepts(['json', 'html']), [
    get({ accept: 'text/html;q=.5, application/json' }),
    get({ accept: 'text/html' }),
    get({ accept: 'image/png' }),
    get({ accept: '*/*' }),
    'GET'
  ]),
  reads('accepts() takes several arguments', (req) => req.accepts('text', 'json'), [
    get({ accept: 'application/json' })
  ]),
  reads('accepts() knows extensions and types', (req) => [req.accepts('html'), req.accepts('text/html')], [
    get({ accept: 'text/*' })
  ]),
  reads('accepts() without arguments lists all', (req) => req.accepts(), [get({ accept: 'a/b;q=.1, c/d' })]),
  reads('acceptsCharsets() picks a charset', (req) => req.acceptsCharsets('utf-8', 'iso-8859-1'), [
    get({ 'accept-charset': 'iso-8859-1, utf-8;q=.5' }),
    get({ 'accept-charset': 'koi8-r' }),
    'GET'
  ]),
  reads('acceptsEncodings() picks an encoding', (req) => req.acceptsEncodings('gzip', 'br'), [
    get({ 'accept-encoding': 'br, gzip;q=.2' }),
    get({ 'accept-encoding': 'identity' })
  ]),
  reads('acceptsLanguages() picks a language', (req) => req.acceptsLanguages('de', 'en'), [
    get({ 'accept-language': 'en;q=.8, de' }),
    get({ 'accept-language': 'fr' })
  ]),
  reads('is() compares the type of the body', (req) => [req.is('json'), req.is('text/*'), req.is('*/*')], [
    post('application/json', '{}'),
    post('text/plain; charset=utf-8', 'a'),
    post(undefined, 'a'),
    'GET'
  ]),
  reads('is() takes a list', (req) => req.is(['urlencoded', 'multipart/*']), [
    post('application/x-www-form-urlencoded', 'a=1'),
    post('image/png', 'a')
  ]),
  reads('is() knows suffixes', (req) => req.is('+json'), [post('application/vnd.api+json', '{}')]),
  reads('range() parses the header', (req) => req.range(1000), [
    get({ range: 'bytes=0-99' }),
    get({ range: 'bytes=0-9,20-29' }),
    get({ range: 'bytes=-100' }),
    get({ range: 'bytes=2000-' }),
    get({ range: 'nonsense' }),
    get({ range: 'lines=1-2' }),
    'GET'
  ]),
  reads('range() combines', (req) => req.range(1000, { combine: true }), [get({ range: 'bytes=0-50,40-60,90-95' })]),
  reads('query is parsed, one value a string, several an array', (req) => req.query, [
    'GET ?a=1&b=2&b=3',
    'GET ?a=%20x+y&b=%C3%BC',
    'GET ?a&b=',
    'GET ?',
    'GET ?a[b]=1&c[]=2',
    'GET ?=1&&a==2',
    'GET ?a=%zz'
  ]),
  reads('query inherits nothing', (req) => ['toString' in req.query, 'constructor' in req.query], ['GET ?a=1', 'GET ']),
  reads('query can be replaced', (req) => {
    Object.defineProperty(req, 'query', { value: { replaced: true } })
    return req.query
  }),
  reads('url, originalUrl, path and baseUrl', (req) => [req.url, req.originalUrl, req.path, req.baseUrl], [
    'GET',
    'GET ?a=1',
    'GET ?a=/b/c?d'
  ]),
  handler('params are decoded once', (req, res) => res.json({ ...req.params }), {
    path: '/[id]',
    asks: ['GET /42', 'GET /a%20b', 'GET /a%2Fb', 'GET /%C3%BC', 'GET /a.b-c_d~e', 'GET /%2525', 'GET /:x', 'GET /a+b']
  }),
  handler('two params', (req, res) => res.json([req.params.a, req.params.b]), {
    path: '/[a]/of/[b]',
    asks: ['GET /1/of/2', 'GET /1/of/2?b=3']
  }),
  handler('params can be replaced', (req, res) => ((req.params = { other: 1 }), res.json(req.params)), {
    path: '/[id]',
    asks: ['GET /1']
  }),
  handler('route.path is the pattern', (req, res) => res.json({ isString: typeof req.route.path }), {}),
  reads('method is as sent', (req) => req.method, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
  reads('protocol and secure', (req) => [req.protocol, req.secure]),
  reads('hostname drops the port, host keeps it', (req) => [req.hostname, req.host], [
    get({ host: 'a.example:8080' }),
    get({ host: 'a.example' }),
    get({ host: '[::1]:3000' }),
    get({ host: '[::1]' })
  ]),
  reads('subdomains, nearest the domain first', (req) => req.subdomains, [
    get({ host: 'x.y.example.com' }),
    get({ host: 'example.com' }),
    get({ host: '127.0.0.1' }),
    get({ host: '[::1]' })
  ]),
  reads('ip is the socket’s, ips empty', (req) => [req.ip, req.ips], [get(forwarded), 'GET']),
  reads('proxies are not believed by default', (req) => [req.protocol, req.hostname], [get(forwarded)]),
  reads('xhr', (req) => req.xhr, [
    get({ 'x-requested-with': 'xmlhttprequest' }),
    get({ 'x-requested-with': 'a' }),
    'GET'
  ]),
  handler('fresh compares validators', (req, res) => res.set('ETag', '"a"').json([req.fresh, req.stale]), {
    asks: [get({ 'if-none-match': '"b"' }), 'GET', { line: 'POST ', headers: { 'if-none-match': '"a"' }, body: '' }]
  }),
  reads('fresh without validators', (req) => [req.fresh, req.stale], [get({ 'if-none-match': '*' })]),
  reads('request, response and application know each other', (req) => [
    req.res.req === req,
    req.res.app === req.app,
    typeof req.app.get('env'),
    typeof req.next
  ]),
  reads('body is undefined until a parser has run', (req) => String(req.body), ['GET', post('text/x', 'a')]),
  reads('own members stay', (req) => {
    req.user = { id: 1 }
    return [req.user, 'user' in req, Object.keys(req).includes('user')]
  }),
  reads('getters can be assigned by a definition', (req) => {
    Object.defineProperty(req, 'ip', { value: 'mine' })
    return req.ip
  }),
  reads(
    'headers are node’s',
    (req) => [req.headers['x-a'], req.rawHeaders.includes('X-A'), req.httpVersion],
    [get({ 'X-A': '1' })],
    INJECTED_HEADERS
  ),
  reads(
    'headersDistinct is node’s',
    (req) => req.headersDistinct?.['x-a'] ?? null,
    [get({ 'x-a': ['1', '2'] })],
    INJECTED_HEADERS
  ),

  readsWith({ 'trust proxy': true }, 'trust proxy: all', (req) => [req.ip, req.ips, req.protocol, req.host], [
    get(forwarded),
    'GET '
  ]),
  readsWith({ 'trust proxy': 2 }, 'trust proxy: two hops', (req) => [req.ip, req.ips, req.secure, req.hostname], [
    get(forwarded)
  ]),
  readsWith({ 'trust proxy': 'loopback' }, 'trust proxy: loopback', (req) => [req.ip, req.ips], [get(forwarded)]),
  readsWith({ 'trust proxy': ['10.0.0.0/8'] }, 'trust proxy: a network that is not ours', (req) => [req.ip, req.ips], [
    get(forwarded)
  ]),
  readsWith({ 'trust proxy': (ip: string) => ip !== '203.0.113.1' }, 'trust proxy: a function', (req) => req.ip, [
    get(forwarded)
  ]),
  readsWith({ 'subdomain offset': 3 }, 'subdomain offset', (req) => req.subdomains, [get({ host: 'a.b.example.com' })]),
  app(
    'query parser: extended',
    (app) => {
      app.set('query parser', 'extended')
      app.get(
        '/',
        answerWith((req) => req.query)
      )
    },
    ['GET /?a[b]=1&c[]=2&a[d][e]=3&x=', 'GET /?a=1&a=2', 'GET /?a[__proto__][x]=1']
  ),
  app(
    'query parser: off',
    (app) => {
      app.disable('query parser')
      app.get(
        '/',
        answerWith((req) => req.query)
      )
    },
    ['GET /?a=1']
  ),
  app(
    'query parser: a function',
    (app) => {
      app.set('query parser', (text: string) => ({ length: text.length }))
      app.get(
        '/',
        answerWith((req) => req.query)
      )
    },
    ['GET /?a=1&b=2']
  ),
  app(
    'app.request can be extended',
    (app) => {
      app.request.shout = function (this: { url: string }) {
        return this.url.toUpperCase()
      }
      app.get(
        '/{*any}',
        answerWith((req) => req.shout())
      )
    },
    ['GET /abc']
  )
]
