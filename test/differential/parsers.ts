import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { app, handler, post, router, type Ask, type Handle } from './scenario.js'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const echo: Handle = (req, res) =>
  res.json({ body: Buffer.isBuffer(req.body) ? `bytes ${req.body.toString('hex')}` : (req.body ?? 'undefined') })

const describeError = (error: any, _req: unknown, res: any, _next: unknown): unknown =>
  res
    .status(error.status ?? 500)
    .json({ type: error.type, message: error.message, expose: error.expose, limit: error.limit })

function at(ask: Ask): Ask {
  return typeof ask === 'string' ? `${ask}/` : { ...ask, line: ask.line.replace(' ', ' /') }
}

/** A parser, then the body or the error. */
function parsing(rule: string, parser: (e: any) => unknown, asks: readonly Ask[]) {
  return router(rule, (app, e) => app.use(parser(e), echo).use(describeError), asks.map(at))
}

function chunked(type: string, body: string): Ask {
  return { line: 'POST ', headers: { 'content-type': type, 'transfer-encoding': 'chunked' }, body }
}

const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`

export const parserScenarios = [
  parsing('json() parses', (e) => e.json(), [
    post(JSON_TYPE, '{"a":1,"b":[null,"ü"]}'),
    post('application/json; charset=utf-8', '{"a":1}'),
    post('APPLICATION/JSON', '[]'),
    post(JSON_TYPE, '  {"a":1}'),
    post(JSON_TYPE, deep)
  ]),
  parsing('json() leaves other bodies', (e) => e.json(), [
    post('text/plain', '{}'),
    post(undefined, '{}'),
    post('application/vnd.api+json', '{}'),
    'GET '
  ]),
  parsing('json() of an empty body', (e) => e.json(), [post(JSON_TYPE, '')]),
  parsing('json() refuses what is no JSON', (e) => e.json(), [
    post(JSON_TYPE, '{"a":'),
    post(JSON_TYPE, 'a'),
    post(JSON_TYPE, '{} x')
  ]),
  parsing('json() is strict', (e) => e.json(), [post(JSON_TYPE, '"a"'), post(JSON_TYPE, 'true'), post(JSON_TYPE, '1')]),
  parsing('json({ strict: false })', (e) => e.json({ strict: false }), [
    post(JSON_TYPE, '"a"'),
    post(JSON_TYPE, 'true'),
    post(JSON_TYPE, 'null')
  ]),
  parsing('json({ limit })', (e) => e.json({ limit: 20 }), [
    post(JSON_TYPE, '{"a":"0123456789abcdef"}'),
    post(JSON_TYPE, '{"a":"0123456789"}'),
    chunked(JSON_TYPE, '{"a":"0123456789abcdef"}'),
    post(JSON_TYPE, gzipSync(JSON.stringify({ a: 'x'.repeat(100) })), { 'content-encoding': 'gzip' })
  ]),
  parsing('json({ type })', (e) => e.json({ type: 'application/*+json' }), [
    post('application/vnd.api+json', '{"a":1}'),
    post(JSON_TYPE, '{"a":1}')
  ]),
  parsing('json({ type }) as a function', (e) => e.json({ type: (req: any) => req.headers['x-json'] === '1' }), [
    post('a/b', '{"a":1}', { 'x-json': '1' }),
    post(JSON_TYPE, '{"a":1}')
  ]),
  parsing(
    'json({ reviver })',
    (e) => e.json({ reviver: (_key: string, value: unknown) => (value === 1 ? 'one' : value) }),
    [post(JSON_TYPE, '{"a":1}')]
  ),
  parsing(
    'json({ verify })',
    (e) =>
      e.json({
        verify(_req: unknown, _res: unknown, bytes: Buffer) {
          if (bytes[0] === 0x5b) throw new Error('no arrays')
        }
      }),
    [post(JSON_TYPE, '[1]'), post(JSON_TYPE, '{}')]
  ),
  parsing('json() inflates', (e) => e.json(), [
    post(JSON_TYPE, gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }),
    post(JSON_TYPE, deflateSync('{"a":1}'), { 'content-encoding': 'deflate' }),
    post(JSON_TYPE, brotliCompressSync('{"a":1}'), { 'content-encoding': 'br' }),
    post(JSON_TYPE, '{"a":1}', { 'content-encoding': 'identity' })
  ]),
  parsing('json() refuses encodings it does not know', (e) => e.json(), [
    post(JSON_TYPE, '{}', { 'content-encoding': 'nope' })
  ]),
  parsing('json() refuses what does not inflate', (e) => e.json(), [
    post(JSON_TYPE, 'garbage', { 'content-encoding': 'gzip' })
  ]),
  parsing('json({ inflate: false })', (e) => e.json({ inflate: false }), [
    post(JSON_TYPE, gzipSync('{}'), { 'content-encoding': 'gzip' })
  ]),
  parsing('json() reads charsets', (e) => e.json(), [
    post('application/json; charset=utf-16', Buffer.from('\ufeff{"a":"ü"}', 'utf16le')),
    post('application/json; charset=x-none', '{}')
  ]),
  parsing('json() keeps __proto__ as a name', (e) => e.json(), [post(JSON_TYPE, '{"__proto__":{"a":1},"b":2}')]),
  parsing('json() of a chunked body', (e) => e.json(), [chunked(JSON_TYPE, '{"a":1}'), chunked(JSON_TYPE, '')]),
  parsing('json() of GET', (e) => e.json(), [
    { line: 'GET ', headers: { 'content-type': JSON_TYPE }, body: '{"a":1}' }
  ]),

  parsing('urlencoded() parses', (e) => e.urlencoded(), [
    post(FORM_TYPE, 'a=1&b=%C3%BC+x&c'),
    post(FORM_TYPE, 'a=1&a=2'),
    post(FORM_TYPE, ''),
    post(FORM_TYPE, 'a[b]=1&c[]=2'),
    post('text/plain', 'a=1')
  ]),
  parsing('urlencoded({ extended })', (e) => e.urlencoded({ extended: true }), [
    post(FORM_TYPE, 'a[b][c]=1&a[d]=2'),
    post(FORM_TYPE, 'a[]=1&a[]=2&b[1]=x&b[0]=y'),
    post(FORM_TYPE, 'a[__proto__][x]=1&constructor[y]=2'),
    post(FORM_TYPE, Array.from({ length: 40 }, (_, index) => `a[${index}]=1`).join('&'))
  ]),
  parsing('urlencoded({ parameterLimit })', (e) => e.urlencoded({ parameterLimit: 2 }), [
    post(FORM_TYPE, 'a=1&b=2'),
    post(FORM_TYPE, 'a=1&b=2&c=3')
  ]),
  parsing('urlencoded({ depth })', (e) => e.urlencoded({ extended: true, depth: 1 }), [
    post(FORM_TYPE, 'a[b]=1'),
    post(FORM_TYPE, 'a[b][c]=1')
  ]),
  parsing('urlencoded({ limit })', (e) => e.urlencoded({ limit: 5 }), [post(FORM_TYPE, 'a=123456')]),
  parsing('urlencoded() in latin1', (e) => e.urlencoded(), [
    post(`${FORM_TYPE}; charset=iso-8859-1`, 'a=%FC'),
    post(`${FORM_TYPE}; charset=koi8-r`, 'a=1')
  ]),

  parsing('text() parses', (e) => e.text(), [
    post('text/plain', 'hällo'),
    post('text/plain; charset=iso-8859-1', Buffer.from('hällo', 'latin1')),
    post('text/plain', ''),
    post('text/html', 'a')
  ]),
  parsing('text({ type, defaultCharset })', (e) => e.text({ type: 'text/*', defaultCharset: 'latin1' }), [
    post('text/html', Buffer.from('ü', 'latin1'))
  ]),
  parsing('text({ limit })', (e) => e.text({ limit: '2b' }), [post('text/plain', 'abc')]),
  parsing('raw() parses', (e) => e.raw(), [
    post('application/octet-stream', Buffer.from([0, 1, 255])),
    post('application/octet-stream', ''),
    post('text/plain', 'a')
  ]),
  parsing('raw({ type: "*/*" })', (e) => e.raw({ type: '*/*' }), [
    post('a/b', 'x'),
    post(JSON_TYPE, '{}'),
    post(undefined, 'x')
  ]),
  parsing('parsers after one another', (e) => [e.json(), e.urlencoded(), e.text(), e.raw()], [
    post(JSON_TYPE, '{"a":1}'),
    post(FORM_TYPE, 'a=1'),
    post('text/plain', 'a'),
    post('application/octet-stream', 'a'),
    post('image/png', 'a')
  ]),
  parsing('the same parser twice', (e) => [e.json(), e.json({ limit: 1 })], [post(JSON_TYPE, '{"a":1}')]),
  parsing(
    'a body set before is kept',
    (e) => [(req: any, _res: any, next: any) => ((req.body = 'mine'), next()), e.json()],
    [post('text/plain', 'a')]
  ),
  router('a parser of one route', (app, e) => app.post('/a', e.json(), echo).use(echo), [
    { line: 'POST /a', headers: { 'content-type': JSON_TYPE }, body: '{"a":1}' },
    { line: 'POST /b', headers: { 'content-type': JSON_TYPE }, body: '{"a":1}' }
  ]),
  router(
    'the stream can be read where nobody parses',
    (app) =>
      app.use((req: any, res: any) => {
        let text = ''
        req
          .setEncoding('utf8')
          .on('data', (part: string) => (text += part))
          .on('end', () => res.send(`read ${text}`))
      }),
    [{ line: 'POST /', headers: { 'content-type': JSON_TYPE }, body: '{"a":1}' }, 'GET /']
  ),
  router(
    'the stream can be iterated',
    (app) =>
      app.use(async (req: any, res: any) => {
        const parts: Buffer[] = []
        for await (const part of req) parts.push(part)
        res.send(`read ${Buffer.concat(parts).length}`)
      }),
    [{ line: 'PUT /', headers: { 'content-type': 'image/png' }, body: Buffer.alloc(100_000, 1) }]
  ),
  router('the stream can be piped back', (app) => app.use((req: any, res: any) => req.pipe(res.type('txt'))), [
    { line: 'POST /', body: 'abc' }
  ]),
  router('an unread body hurts nobody', (app) => app.use((_req: any, res: any) => res.send('ignored')), [
    { line: 'POST /', headers: { 'content-type': JSON_TYPE }, body: JSON.stringify({ a: 'x'.repeat(50_000) }) }
  ]),
  app('a parser’s error without error middleware', (app, e) => app.set('env', 'production').use(e.json()), [
    { line: 'POST /', headers: { 'content-type': JSON_TYPE }, body: '{' }
  ]),

  handler('json() before a handler', echo, { before: (e) => [e.json() as Handle], asks: [post(JSON_TYPE, '{"a":1}')] }),
  handler('urlencoded() before a handler', echo, {
    before: (e) => [e.urlencoded({ extended: true }) as Handle],
    asks: [post(FORM_TYPE, 'a[b]=1')]
  }),
  handler('raw() before a handler', echo, {
    before: (e) => [e.raw({ type: '*/*' }) as Handle],
    asks: [post(JSON_TYPE, '{"a":1}'), post('a/b', 'x')]
  }),
  handler('text() before a handler', echo, {
    before: (e) => [e.text({ type: '*/*' }) as Handle],
    asks: [post('text/plain', 'a'), post(JSON_TYPE, '{}')]
  }),
  handler(
    'a handler may read the stream',
    (req, res) => {
      let size = 0
      req.on('data', (part: Buffer) => (size += part.length)).on('end', () => res.send(`read ${size}`))
    },
    { asks: [post('image/png', Buffer.alloc(70_000, 1))] }
  )
]
