import { AsyncLocalStorage } from 'node:async_hooks'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { Busboy } from '@fastify/busboy'
import express from 'express'
import t from 'tap'
import { createMiddleware, errorHandler, type App, type AppOptions, type Middleware } from 'twinroute'
import { addressOf, appOf, callOver, hostOf, onEveryHost, type Routes, type Sent } from './support/hosts.js'
import { answerOf, onEveryWay } from './support/pieces.js'
import { bodiesOf, head, Wire } from './support/wire.js'

type Body = string | Buffer
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const TEXT_TYPE = { 'content-type': 'text/plain' }

/** What the handler found, undefined told from null. */
const echo = (request: any): object => ({ type: typeof request.body, body: request.body })
const echoRoutes: Routes = { echo: { POST: echo, PUT: echo, PATCH: echo, DELETE: echo, GET: echo } }

/** Express middleware, as our types see it. */
function asOurs(middleware: unknown): Middleware {
  return middleware as Middleware
}

async function gather(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

t.test('JSON, urlencoded and text bodies are parsed for the handler', async (t) => {
  const rows: readonly { rule: string; headers: Record<string, string>; body: Body; expected: unknown }[] = [
    { rule: 'an object', headers: JSON_TYPE, body: '{"a":"ü"}', expected: { a: 'ü' } },
    { rule: 'an array', headers: JSON_TYPE, body: '[1]', expected: [1] },
    { rule: 'a text', headers: JSON_TYPE, body: '"x"', expected: 'x' },
    { rule: 'a number', headers: JSON_TYPE, body: '0', expected: 0 },
    { rule: 'null', headers: JSON_TYPE, body: 'null', expected: null },
    { rule: 'white space around', headers: JSON_TYPE, body: ' \n{"a":1}\r\n', expected: { a: 1 } },
    { rule: 'a byte order mark', headers: JSON_TYPE, body: '\ufeff{"a":1}', expected: { a: 1 } },
    { rule: 'an empty body is undefined', headers: JSON_TYPE, body: '', expected: undefined },
    {
      rule: 'a type with suffix',
      headers: { 'content-type': 'application/vnd.api+json' },
      body: '{"a":1}',
      expected: { a: 1 }
    },
    {
      rule: 'a type in upper case, a charset in quotes',
      headers: { 'content-type': 'APPLICATION/JSON; Charset="UTF-8"' },
      body: '{"a":"ü"}',
      expected: { a: 'ü' }
    },
    {
      rule: 'a charset spelled utf8',
      headers: { 'content-type': 'application/json;charset=utf8' },
      body: '{"a":"ü"}',
      expected: { a: 'ü' }
    },
    {
      rule: 'parameters without a sense',
      headers: { 'content-type': 'application/json; =; ;x' },
      body: '{"a":1}',
      expected: { a: 1 }
    },
    {
      rule: 'JSON in UTF-16',
      headers: { 'content-type': 'application/json; charset=utf-16le' },
      body: Buffer.from('{"a":"ü"}', 'utf16le'),
      expected: { a: 'ü' }
    },
    {
      rule: 'JSON in Latin-1',
      headers: { 'content-type': 'application/json; charset=iso-8859-1' },
      body: Buffer.from('{"a":"ü"}', 'latin1'),
      expected: { a: 'ü' }
    },
    {
      rule: 'a key named constructor',
      headers: JSON_TYPE,
      body: '{"constructor":"x","prototype":1}',
      expected: { constructor: 'x', prototype: 1 }
    },
    { rule: 'a hundred levels', headers: JSON_TYPE, body: nested(100), expected: JSON.parse(nested(100)) },
    {
      rule: 'a JSON body in gzip',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      body: gzipSync('{"a":"ü"}'),
      expected: { a: 'ü' }
    },
    {
      rule: 'a JSON body in gzip, written in upper case',
      headers: { ...JSON_TYPE, 'content-encoding': 'GZIP' },
      body: gzipSync('{"a":1}'),
      expected: { a: 1 }
    },
    {
      rule: 'a JSON body in deflate',
      headers: { ...JSON_TYPE, 'content-encoding': 'deflate' },
      body: deflateSync('{"a":1}'),
      expected: { a: 1 }
    },
    {
      rule: 'a JSON body in br',
      headers: { ...JSON_TYPE, 'content-encoding': 'br' },
      body: brotliCompressSync('{"a":1}'),
      expected: { a: 1 }
    },
    {
      rule: 'a JSON body with the encoding identity',
      headers: { ...JSON_TYPE, 'content-encoding': 'Identity' },
      body: '{"a":1}',
      expected: { a: 1 }
    },
    {
      rule: 'an empty Content-Encoding',
      headers: { ...JSON_TYPE, 'content-encoding': '' },
      body: '{"a":1}',
      expected: { a: 1 }
    },
    { rule: 'a form', headers: FORM_TYPE, body: 'a=1&b=%C3%BC+x&c=', expected: { a: '1', b: 'ü x', c: '' } },
    { rule: 'a repeated field', headers: FORM_TYPE, body: 'a=1&a=2', expected: { a: ['1', '2'] } },
    {
      rule: 'fields with brackets stay flat',
      headers: FORM_TYPE,
      body: 'a[b]=1&constructor[prototype][x]=1',
      expected: { 'a[b]': '1', 'constructor[prototype][x]': '1' }
    },
    { rule: 'a form with a broken escape', headers: FORM_TYPE, body: 'a=%zz', expected: { a: '%zz' } },
    { rule: '__proto__ is dropped from a form', headers: FORM_TYPE, body: '__proto__=1&a=2', expected: { a: '2' } },
    { rule: 'an empty form is undefined', headers: FORM_TYPE, body: '', expected: undefined },
    {
      rule: 'a form in Latin-1',
      headers: { 'content-type': `${FORM_TYPE['content-type']}; charset=latin1` },
      body: Buffer.from('a=ü', 'latin1'),
      expected: { a: 'ü' }
    },
    {
      rule: 'a thousand fields',
      headers: FORM_TYPE,
      body: Array.from({ length: 1000 }, () => 'a=1').join('&'),
      expected: { a: Array.from({ length: 1000 }, () => '1') }
    },
    { rule: 'a text body', headers: TEXT_TYPE, body: 'ü', expected: 'ü' },
    {
      rule: 'a text body in gzip',
      headers: { ...TEXT_TYPE, 'content-encoding': 'gzip' },
      body: gzipSync('ü'),
      expected: 'ü'
    },
    {
      rule: 'a body of a type that is not parsed stays unread',
      headers: { 'content-type': 'application/xml' },
      body: '<a/>',
      expected: undefined
    },
    {
      rule: 'a body of bytes stays unread',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'x',
      expected: undefined
    },
    {
      rule: 'a multipart body stays unread',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x--',
      expected: undefined
    },
    { rule: 'a body without a type stays unread', headers: {}, body: 'x', expected: undefined }
  ]
  onEveryHost(t, { routes: echoRoutes }, async (t, call) => {
    for (const { rule, headers, body, expected } of rows) {
      const { status, json } = await call('POST /api/echo', { headers, body })
      t.equal(status, 200, rule)
      t.strictSame(json, JSON.parse(JSON.stringify({ type: typeof expected, body: expected })), rule)
    }
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      t.strictSame(
        (await call(`${method} /api/echo`, { headers: JSON_TYPE, body: '{"a":1}' })).json.body,
        { a: 1 },
        method
      )
    }
    t.strictSame(
      (await call('GET /api/echo', { headers: JSON_TYPE, body: '{"a":1}' })).json,
      { type: 'undefined' },
      'a body of GET means nothing'
    )
  })
})

t.test('a Content-Type that is no media type is like one that is not parsed', async (t) => {
  const every = { POST: echo, PUT: echo, PATCH: echo, DELETE: echo }
  const bytes: Middleware = asOurs(express.raw({ type: () => true }))
  const raw = (request: any): object => ({
    body: Buffer.isBuffer(request.body) ? request.body.toString() : request.body
  })
  const stream = async (request: any): Promise<object> => ({ body: (await gather(request)).toString() })
  const guard: Middleware = (request, response, next) => {
    if (request.get('authorization')) next()
    else response.status(401).end()
  }
  const routes = {
    echo: every,
    'with/[id]': every,
    never: { ...every, config: { bodyParser: false } },
    early: { ...every, config: { bodyParser: 'early' } },
    raw: { POST: raw, DELETE: raw, middleware: [bytes] },
    stream: { POST: stream, PUT: stream },
    type: { POST: (request: any) => ({ type: request.get('content-type') ?? null }) },
    guarded: { POST: echo, middleware: [guard] },
    read: { GET: echo, PUT: echo }
  }
  const types = [
    'none',
    '',
    ' ',
    ';',
    'json',
    'text/',
    '/plain',
    'a b/c',
    'text/plain/x',
    'undefined',
    'ä/b; charset=x'
  ]
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const type of types) {
      const headers = { 'content-type': Buffer.from(type).toString('latin1') }
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const path of ['echo', 'with/1', 'never', 'early']) {
          const { status, json } = await call(`${method} /api/${path}`, {
            headers: { ...headers, 'content-length': 0 }
          })
          t.strictSame(
            { status, json },
            { status: 200, json: { type: 'undefined' } },
            `${method} ${path} of type "${type}"`
          )
        }
      }
      const sent = { headers, body: '{"a":1}' }
      t.strictSame((await call('POST /api/echo', sent)).json, { type: 'undefined' }, `a body of type "${type}"`)
      t.strictSame((await call('PUT /api/stream', sent)).json, { body: '{"a":1}' }, `the stream of "${type}"`)
      t.equal((await call('POST /api/none', sent)).status, 404, `no route, type "${type}"`)
      t.equal((await call('POST /api/read', sent)).status, 405, `no method, type "${type}"`)
      t.equal((await call('POST /api/guarded', sent)).status, 401, `behind a guard, type "${type}"`)
    }
    for (const method of ['POST', 'DELETE']) {
      const sent = { headers: { 'content-type': 'none' }, body: 'bytes' }
      t.strictSame((await call(`${method} /api/raw`, sent)).json, { body: 'bytes' }, `express.raw(), ${method}`)
    }
    const { json } = await call('POST /api/type', { headers: { 'content-type': 'none' }, body: 'x' })
    t.strictSame(json, { type: 'none' }, 'a handler reads the type that was sent')
  })
  t.test("a plugin's own route keeps Fastify's answer", async (t) => {
    const app = await appOf(t, { routes })
    app.post('/own', () => 'own')
    const { statusCode } = await app.inject({ method: 'POST', url: '/own', headers: { 'content-type': 'none' } })
    t.equal(statusCode, 415)
  })
})

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

const VALIDATION = [400, 'VALIDATION_ERROR'] as const
const TOO_LARGE = [413, 'PAYLOAD_TOO_LARGE'] as const
const UNSUPPORTED = [415, 'UNSUPPORTED_MEDIA_TYPE'] as const

t.test("bodies that cannot be parsed are refused in the app's error shape", async (t) => {
  const rows: readonly {
    rule: string
    headers: Record<string, string>
    body: Body
    refusal: readonly [number, string]
  }[] = [
    { rule: 'malformed JSON', headers: JSON_TYPE, body: '{"a":', refusal: VALIDATION },
    { rule: 'JSON and more', headers: JSON_TYPE, body: '{"a":1}x', refusal: VALIDATION },
    { rule: 'only white space', headers: JSON_TYPE, body: ' ', refusal: VALIDATION },
    { rule: 'a NUL', headers: JSON_TYPE, body: '\0', refusal: VALIDATION },
    {
      rule: 'JSON in another charset than it says',
      headers: { 'content-type': 'application/json; charset=utf-16le' },
      body: '{"a":1}',
      refusal: VALIDATION
    },
    { rule: '__proto__ as a key', headers: JSON_TYPE, body: '{"a":[{"__proto__":{"x":1}}]}', refusal: VALIDATION },
    { rule: '__proto__ with an escape', headers: JSON_TYPE, body: '{"\\u005f_proto__":{"x":1}}', refusal: VALIDATION },
    {
      rule: 'constructor.prototype',
      headers: JSON_TYPE,
      body: '{"constructor":{"prototype":{"x":1}}}',
      refusal: VALIDATION
    },
    { rule: 'a hundred and one levels', headers: JSON_TYPE, body: nested(101), refusal: VALIDATION },
    { rule: 'levels without end', headers: JSON_TYPE, body: nested(100_000), refusal: VALIDATION },
    {
      rule: 'levels of objects',
      headers: JSON_TYPE,
      body: '{"a":'.repeat(101) + '1' + '}'.repeat(101),
      refusal: VALIDATION
    },
    {
      rule: 'a form of more than a thousand fields',
      headers: FORM_TYPE,
      body: 'a=1&'.repeat(1001),
      refusal: VALIDATION
    },
    {
      rule: 'an unknown charset',
      headers: { 'content-type': 'application/json; charset=x-none' },
      body: '{}',
      refusal: UNSUPPORTED
    },
    {
      rule: 'an unknown charset of a text',
      headers: { 'content-type': 'text/plain; charset=x-none' },
      body: 'x',
      refusal: UNSUPPORTED
    },
    {
      rule: 'an unknown encoding',
      headers: { ...JSON_TYPE, 'content-encoding': 'rot13' },
      body: '{}',
      refusal: UNSUPPORTED
    },
    {
      rule: 'two encodings',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip, gzip' },
      body: '{}',
      refusal: UNSUPPORTED
    },
    { rule: 'no gzip at all', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: '{}', refusal: VALIDATION },
    {
      rule: 'half a gzip',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      body: gzipSync('{"a":1}').subarray(0, 15),
      refusal: VALIDATION
    },
    { rule: 'a byte over the limit', headers: JSON_TYPE, body: `"${'x'.repeat(998)}"x`, refusal: TOO_LARGE },
    { rule: 'a text over the limit', headers: TEXT_TYPE, body: 'x'.repeat(1001), refusal: TOO_LARGE },
    {
      rule: 'a small gzip of a large text',
      headers: { ...TEXT_TYPE, 'content-encoding': 'gzip' },
      body: gzipSync('x'.repeat(1001)),
      refusal: TOO_LARGE
    },
    {
      rule: 'a small br of a large text',
      headers: { ...TEXT_TYPE, 'content-encoding': 'br' },
      body: brotliCompressSync('x'.repeat(100_000)),
      refusal: TOO_LARGE
    }
  ]
  let ran = false
  const options = { errorHandler }
  const routes = {
    small: { POST: () => (ran = true), config: { bodyLimit: 1000 } },
    large: { POST: () => (ran = true) }
  }
  onEveryHost(t, { routes, options }, async (t, call) => {
    for (const {
      rule,
      headers,
      body,
      refusal: [status, code]
    } of rows) {
      ran = false
      const place = status === 413 ? 'small' : 'large'
      const answer = await call(`POST /api/${place}`, { headers, body })
      t.match({ status: answer.status, code: answer.json.error?.code }, { status, code }, rule)
      t.notOk(ran, `${rule}: the handler does not run`)
    }
    t.equal(
      (await call('POST /api/small', { headers: TEXT_TYPE, body: 'x'.repeat(1000) })).status,
      200,
      'the limit itself is allowed'
    )
  })
  t.test("bodies that cannot be parsed are refused in Fastify's shape without an error handler", async (t) => {
    onEveryHost(t, { routes: echoRoutes }, async (t, call) => {
      const { status, json } = await call('POST /api/echo', { headers: JSON_TYPE, body: '{' })
      t.equal(status, 400)
      t.match(json, { statusCode: 400, error: 'Bad Request', message: /JSON/ })
    })
  })
})

t.test('the body limit of a route, or of the app, refuses larger bodies with 413', async (t) => {
  const routes = {
    apps: { POST: echo },
    more: { POST: echo, config: { bodyLimit: 2000 } },
    less: { POST: echo, config: { bodyLimit: 10 } },
    stream: { POST: async (request: any) => ({ bytes: (await gather(request)).length }) }
  }
  const text = (length: number): Sent => ({ headers: TEXT_TYPE, body: 'x'.repeat(length) })
  const options = { bodyLimit: 1000 }
  onEveryHost(t, { routes, options }, async (t, call) => {
    t.equal((await call('POST /api/apps', text(1000))).status, 200, 'of the app')
    t.equal((await call('POST /api/apps', text(1001))).status, 413)
    t.equal((await call('POST /api/more', text(2000))).status, 200, 'of a route, larger')
    t.equal((await call('POST /api/more', text(2001))).status, 413)
    t.equal((await call('POST /api/less', text(10))).status, 200, 'of a route, smaller')
    t.equal((await call('POST /api/less', text(11))).status, 413)
    const bytes = { headers: { 'content-type': 'application/octet-stream' }, body: Buffer.alloc(200_000) }
    t.strictSame((await call('POST /api/stream', bytes)).json, { bytes: 200_000 }, 'is not for bodies nobody parses')
  })
  t.test('the body limit is one mebibyte by default', async (t) => {
    onEveryHost(t, { routes: { a: { POST: (request: any) => request.body.length } } }, async (t, call) => {
      t.equal((await call('POST /api/a', text(1024 * 1024))).text, '1048576')
      t.equal((await call('POST /api/a', text(1024 * 1024 + 1))).status, 413)
    })
  })
  t.test('the body limit counts bodies whose length is not told', async (t) => {
    const options = { bodyLimit: 1000, errorHandler }
    for (const build of [appOf, hostOf]) {
      const address = await addressOf(await build(t, { routes, options }))
      const chunked = head('POST /api/apps', { ...TEXT_TYPE, 'transfer-encoding': 'chunked' })
      const wire = await new Wire(t, address).write(chunked + '1f4\r\n' + 'x'.repeat(500) + '\r\n')
      await wire.write('1f4\r\n' + 'x'.repeat(500) + '\r\n')
      await wire.write('1\r\nx\r\n')
      const received = await wire.closed()
      t.match(received, /^HTTP\/1.1 413 .*connection: close.*PAYLOAD_TOO_LARGE/is, 'and closes the connection')
      const exact = await new Wire(t, address).write(`${chunked}3e8\r\n${'x'.repeat(1000)}\r\n0\r\n\r\n`)
      t.match(await exact.until(/\r\n\r\n.*\}/s), /^HTTP\/1.1 200 /)
    }
  })
  t.test('a body that is too large by its length is refused before it comes', async (t) => {
    for (const build of [appOf, hostOf]) {
      const address = await addressOf(await build(t, { routes, options: { bodyLimit: 1000, errorHandler } }))
      const wire = await new Wire(t, address).write(head('POST /api/apps', { ...TEXT_TYPE, 'content-length': 1001 }))
      const received = await wire.write(head('GET /api/apps')).then(() => wire.closed())
      t.match(received, /^HTTP\/1.1 413 .*connection: close/is)
      t.equal(received.match(/HTTP\/1.1/g)?.length, 1, 'what follows on the connection is not answered')
    }
  })
  t.test(
    'a body that has grown too large before it is waited for is refused, though its end does not come',
    async (t) => {
      const late: Middleware = (request: any, _response, next) => {
        const look = (): void => void (request.readableLength > 1000 ? next() : setImmediate(look))
        look()
      }
      for (const build of [appOf, hostOf]) {
        const options = { bodyLimit: 1000, errorHandler, middleware: { '/api/apps': [late] } }
        const address = await addressOf(await build(t, { routes, options }))
        const chunked = head('POST /api/apps', { ...TEXT_TYPE, 'transfer-encoding': 'chunked' })
        const wire = await new Wire(t, address).write(`${chunked}5dc\r\n${'x'.repeat(1500)}\r\n`)
        t.match(await wire.closed(), /^HTTP\/1.1 413 .*connection: close/is)
      }
    }
  )
})

t.test('bodies arrive as the network brings them', async (t) => {
  for (const [name, build] of [
    ['an app', appOf],
    ['a host', hostOf]
  ] as const) {
    t.test(`on ${name}`, async (t) => {
      const begun: (() => void)[] = []
      const waiting = createMiddleware({
        '/api/echo': [
          (_request, _response, next) => {
            begun.shift()?.()
            next()
          }
        ]
      })
      const begin = (): Promise<void> => new Promise((resolve) => begun.push(resolve))
      const address = await addressOf(
        await build(t, { routes: echoRoutes, options: { errorHandler, middleware: waiting } })
      )
      const post = (body: string, headers: object = {}): string =>
        head('POST /api/echo', { ...JSON_TYPE, 'content-length': Buffer.byteLength(body), ...headers })

      const split = new Wire(t, address)
      for (const byte of Buffer.from(`${post('{"a":"ü"}')}{"a":"ü"}`)) await split.write(Buffer.from([byte]))
      t.strictSame(bodiesOf(await split.until(/\}\}$/)), ['{"type":"object","body":{"a":"Ã¼"}}'], 'byte by byte')

      const slow = new Wire(t, address)
      const started = begin()
      await slow.write(post('{"a":1}'))
      await started
      await slow.write('{"a"')
      await turn()
      t.equal(slow.received, '', 'slow: no answer before the end')
      await slow.write(':1}')
      t.match(await slow.until(/\}\}$/), /"body":\{"a":1\}/, 'slow')

      const pipelined = new Wire(t, address)
      const bodies = ['{"a":1}', '{"a":2}', '{"a":3}']
      await pipelined.write(bodies.map((body) => post(body) + body).join(''))
      await pipelined.until(/"a":3\}\}$/)
      t.strictSame(
        bodiesOf(pipelined.received).map((body) => JSON.parse(body).body.a),
        [1, 2, 3],
        'three in one packet'
      )

      const chunked = new Wire(t, address)
      const head2 = head('POST /api/echo', { ...JSON_TYPE, 'transfer-encoding': 'chunked' })
      await chunked.write(`${head2}3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\nTrailer: x\r\n\r\n`)
      t.match(await chunked.until(/\}\}$/), /"body":\{"a":1\}/, 'in chunks')
      await chunked.write(`${head2}0\r\n\r\n`)
      t.match(await chunked.until(/undefined"\}$/), /"type":"undefined"/, 'no chunk at all')

      const long = await new Wire(t, address).write(post('{}', { 'content-length': 3 }))
      await long.write('{}')
      long.socket.end()
      t.match(await long.closed(), /^(HTTP\/1.1 400 .*)?$/s, 'shorter than it says: never taken for whole')

      const short = await new Wire(t, address).write(`${post('{}')}{}garbage\r\n\r\n`)
      t.match(await short.closed(), /^HTTP\/1.1 200 .*HTTP\/1.1 400 /s, 'longer than it says: the rest is no request')

      const both = await new Wire(t, address).write(post('{}', { 'transfer-encoding': 'chunked' }) + '0\r\n\r\n')
      t.match(await both.closed(), /^HTTP\/1.1 400 /, 'two kinds of length')

      const wrong = await new Wire(t, address).write(post('{}', { 'content-length': 'x' }))
      t.match(await wrong.closed(), /^HTTP\/1.1 400 /, 'a length that is no number')

      const broken = await new Wire(t, address).write(`${head2}2\r\n{}\r\nzz\r\n`)
      t.match(await broken.closed(), /^HTTP\/1.1 400 /, 'a broken chunk')

      t.match(
        await callOver(address)('POST /api/echo', { headers: JSON_TYPE, body: '{"a":1}' }),
        { status: 200 },
        'and the server goes on'
      )
    })
  }
})

t.test('a client that leaves before its body is whole', async (t) => {
  for (const build of [appOf, hostOf]) {
    let ran = false
    let failed: (error: any) => void = () => {}
    const options: Partial<AppOptions> = {
      errorHandler: (error: any, request: any, reply: any) => {
        failed(error)
        return errorHandler(error, request, reply)
      }
    }
    let begun: (request: any) => void = () => {}
    const middleware = createMiddleware({
      '/api': [
        (request, _, next) => {
          begun(request)
          next()
        }
      ]
    })
    const routes = { a: { POST: () => (ran = true) } }
    const address = await addressOf(await build(t, { routes, options: { ...options, middleware } }))
    for (const [rule, start] of [
      ['a client leaves before the first byte of its body', ''],
      ['a client leaves in the middle of its body', '{"a"']
    ] as const) {
      const error = new Promise<any>((resolve) => (failed = resolve))
      const request = new Promise<any>((resolve) => (begun = resolve))
      const wire = await new Wire(t, address).write(head('POST /api/a', { ...JSON_TYPE, 'content-length': 7 }) + start)
      const { signal } = await request
      wire.socket.destroy()
      t.match(await error, { statusCode: 400, code: 'REQUEST_ABORTED' }, rule)
      t.ok(signal.aborted, `${rule}: request.signal is aborted`)
      t.notOk(ran, `${rule}: the handler does not run`)
    }
    t.equal(
      (await callOver(address)('POST /api/a', { headers: JSON_TYPE, body: '{}' })).status,
      200,
      'the server goes on'
    )
  }
})

t.test('Expect: 100-continue is answered once, and only where the body is wanted', async (t) => {
  const guard: Middleware = (request, response, next) => {
    if (request.get('authorization')) next()
    else response.status(401).json({ error: 'NO_TOKEN' })
  }
  const middleware = createMiddleware({ '/api': [guard] })
  const routes = {
    echo: { POST: echo },
    raw: { POST: async (request: any) => ({ bytes: (await gather(request)).length }), config: { bodyParser: false } },
    blind: { POST: () => ({ blind: true }), config: { bodyParser: false } },
    express: { POST: echo, middleware: [asOurs(express.json())] }
  }
  const address = await addressOf(await appOf(t, { routes, options: { middleware, errorHandler } }))
  const expecting = (path: string, more: object = {}): string =>
    head(`POST /api/${path}`, {
      ...JSON_TYPE,
      'content-length': 7,
      expect: '100-continue',
      authorization: 'x',
      ...more
    })

  for (const path of ['echo', 'raw', 'express']) {
    const wire = await new Wire(t, address).write(expecting(path))
    t.equal(await wire.until(/\r\n\r\n$/), 'HTTP/1.1 100 Continue\r\n\r\n', `${path}: the body is asked for`)
    await wire.write('{"a":1}')
    t.match(await wire.until(/\}$/), /100 Continue\r\n\r\nHTTP\/1.1 200 /, `${path}: once`)
  }
  for (const { rule, path, headers: more, status } of [
    { rule: 'a guard that answers', path: 'echo', headers: { authorization: '' }, status: 401 },
    { rule: 'a body that is too large', path: 'echo', headers: { 'content-length': 2_000_000 }, status: 413 },
    { rule: 'a body sent to no route', path: 'none', headers: {}, status: 404 },
    { rule: 'a body that no handler reads', path: 'blind', headers: {}, status: 200 }
  ] as const) {
    const wire = await new Wire(t, address).write(expecting(path, more))
    const received = await wire.closed()
    t.match(
      received,
      new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'),
      `${rule}: without asking for the body`
    )
  }
})

/** What multer does: hands the stream to busboy, sets `body` and `files`. */
const uploading: Middleware = (request, _response, next) => {
  if (!request.is('multipart')) return next()
  const busboy = new Busboy({ headers: request.headers as { 'content-type': string } })
  const fields: Record<string, string> = Object.create(null)
  const files: { name: string; bytes: number }[] = []
  busboy.on('field', (name, value) => (fields[name] = value))
  busboy.on('file', (_name, stream, name) => {
    let bytes = 0
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => files.push({ name, bytes }))
  })
  busboy.on('finish', () => {
    request.body = fields
    request.files = files
    next()
  })
  busboy.on('error', next)
  request.pipe(busboy)
}

t.test('body middleware of Express finds the stream untouched', async (t) => {
  const multipart = [
    '--x',
    'Content-Disposition: form-data; name="a"',
    '',
    '1',
    '--x',
    'Content-Disposition: form-data; name="f"; filename="f.bin"',
    'Content-Type: application/octet-stream',
    '',
    'x'.repeat(90_000),
    '--x--',
    ''
  ].join('\r\n')
  const verified: string[] = []
  const verify = (_request: unknown, _response: unknown, bytes: Buffer): void => void verified.push(bytes.toString())
  const async: Middleware = (_request, _response, next) => void setImmediate(next)
  const long = JSON.stringify({ a: 'x'.repeat(90_000) })
  const show = (request: any): unknown => {
    const body: unknown = Buffer.isBuffer(request.body) ? `bytes ${request.body.toString()}` : request.body
    return { body: JSON.stringify(body)?.slice(0, 60), files: request.files }
  }
  const rows: readonly { rule: string; parsers: readonly unknown[]; sent: Sent; expected: object }[] = [
    {
      rule: 'express.json()',
      parsers: [express.json()],
      sent: { headers: JSON_TYPE, body: '{"a":1}' },
      expected: { body: '{"a":1}' }
    },
    {
      rule: 'express.json() of a long body',
      parsers: [express.json()],
      sent: { headers: JSON_TYPE, body: long },
      expected: { body: long.slice(0, 60) }
    },
    {
      rule: 'express.json() behind an asynchronous middleware',
      parsers: [async, express.json()],
      sent: { headers: JSON_TYPE, body: '{"a":1}' },
      expected: { body: '{"a":1}' }
    },
    {
      rule: 'express.json() with verify',
      parsers: [express.json({ verify })],
      sent: { headers: JSON_TYPE, body: '{"a":2}' },
      expected: { body: '{"a":2}' }
    },
    {
      rule: 'express.json() twice',
      parsers: [express.json(), express.json()],
      sent: { headers: JSON_TYPE, body: '{"a":1}' },
      expected: { body: '{"a":1}' }
    },
    {
      rule: 'express.json() for another type leaves the body to twinroute',
      parsers: [express.json({ type: 'x/y' })],
      sent: { headers: JSON_TYPE, body: '{"a":1}' },
      expected: { body: '{"a":1}' }
    },
    {
      rule: 'express.json() in gzip',
      parsers: [express.json()],
      sent: { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync('{"a":1}') },
      expected: { body: '{"a":1}' }
    },
    {
      rule: 'express.raw()',
      parsers: [express.raw({ type: '*/*' })],
      sent: { headers: JSON_TYPE, body: '{"a":1}' },
      expected: { body: '"bytes {\\"a\\":1}"' }
    },
    {
      rule: 'express.raw() of a body that twinroute would refuse',
      parsers: [express.raw({ type: '*/*' })],
      sent: { headers: JSON_TYPE, body: '{"__proto__":' },
      expected: { body: '"bytes {\\"__proto__\\":"' }
    },
    {
      rule: 'express.raw() of a body above the limit of twinroute',
      parsers: [express.raw({ type: '*/*', limit: '5mb' })],
      sent: { headers: JSON_TYPE, body: Buffer.alloc(300_000, 'x') },
      expected: { body: `"bytes ${'x'.repeat(53)}` }
    },
    {
      rule: 'express.text()',
      parsers: [express.text()],
      sent: { headers: TEXT_TYPE, body: 'x' },
      expected: { body: '"x"' }
    },
    {
      rule: 'express.urlencoded() extended',
      parsers: [express.urlencoded({ extended: true })],
      sent: { headers: FORM_TYPE, body: 'a[b]=1' },
      expected: { body: '{"a":{"b":"1"}}' }
    },
    {
      rule: 'express.json(), urlencoded(), text() and raw() together',
      parsers: [express.json(), express.urlencoded(), express.text(), express.raw()],
      sent: { headers: FORM_TYPE, body: 'a=1' },
      expected: { body: '{"a":"1"}' }
    },
    {
      rule: 'an upload',
      parsers: [uploading],
      sent: { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: multipart },
      expected: { body: '{"a":"1"}', files: [{ name: 'f.bin', bytes: 90_000 }] }
    },
    {
      rule: 'an upload behind an asynchronous middleware',
      parsers: [async, uploading],
      sent: { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: multipart },
      expected: { body: '{"a":"1"}', files: [{ name: 'f.bin', bytes: 90_000 }] }
    },
    {
      rule: 'a body that middleware sets itself',
      parsers: [
        (q: any, _: any, next: any) => {
          q.body = { own: 1 }
          next()
        }
      ],
      sent: { headers: JSON_TYPE, body: '{' },
      expected: { body: '{"own":1}' }
    }
  ]
  const options = { bodyLimit: 200_000 }
  const inChain = Object.fromEntries(
    rows.map(({ parsers: middleware }, index) => [`r${index}`, { POST: show, middleware }])
  )
  t.test("body middleware of Express works in a route's own chain", async (t) => {
    onEveryHost(t, { routes: inChain, options }, async (t, call) => {
      for (const [index, { rule, sent, expected }] of rows.entries()) {
        const { status, json } = await call(`POST /api/r${index}`, sent)
        t.strictSame({ status, json }, { status: 200, json: expected }, rule)
      }
    })
  })
  const plain = Object.fromEntries(rows.map((_, index) => [`r${index}`, { POST: show }]))
  t.test('body middleware of Express works in the middleware map', async (t) => {
    const middleware = createMiddleware(
      Object.fromEntries(rows.map(({ parsers: own }, index) => [`/api/r${index}`, own.map(asOurs)]))
    )
    onEveryHost(t, { routes: plain, options: { ...options, middleware } }, async (t, call) => {
      for (const [index, { rule, sent, expected }] of rows.entries()) {
        t.strictSame((await call(`POST /api/r${index}`, sent)).json, expected, rule)
      }
    })
  })
  t.test('body middleware of Express works in use()', async (t) => {
    const use = (app: App): void => {
      for (const [index, { parsers: own }] of rows.entries()) app.use(`/api/r${index}`, ...own.map(asOurs))
    }
    onEveryHost(t, { routes: plain, options, use }, async (t, call) => {
      for (const [index, { rule, sent, expected }] of rows.entries()) {
        t.strictSame((await call(`POST /api/r${index}`, sent)).json, expected, rule)
      }
    })
  })
  t.test('the verify callback of express.json() gets the bytes', async (t) =>
    t.strictSame([...new Set(verified)], ['{"a":2}'])
  )
  t.test('the errors of a parser of Express keep their messages', async (t) => {
    const middleware = [express.json({ limit: 5 })]
    onEveryHost(t, { routes: { a: { POST: show, middleware } }, options: { errorHandler } }, async (t, call) => {
      t.match((await call('POST /api/a', { headers: JSON_TYPE, body: '{"a":1}' })).json, {
        error: { code: 'PAYLOAD_TOO_LARGE', message: 'request entity too large' }
      })
      t.match((await call('POST /api/a', { headers: JSON_TYPE, body: '{"' })).json, {
        error: { code: 'VALIDATION_ERROR' }
      })
    })
  })
})

/** Asks again and again, without a listener. */
async function readByTurns(request: any): Promise<Buffer> {
  const chunks: Buffer[] = []
  while (
    !request.readableEnded &&
    chunks.reduce((sum, chunk) => sum + chunk.length, 0) < Number(request.get('content-length'))
  ) {
    const chunk = request.read() as Buffer | null
    if (chunk === null) await turn()
    else chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

t.test('the stream can be read after the body was parsed', async (t) => {
  const readers: readonly (readonly [string, (request: any) => Promise<Buffer>])[] = [
    ['for await', gather],
    [
      'data events',
      (request) =>
        new Promise((resolve) => {
          const chunks: Buffer[] = []
          request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
        })
    ],
    ['pipe', (request) => gather(request.pipe(new PassThrough()))],
    [
      'later',
      async (request) => {
        await turn()
        return gather(request)
      }
    ],
    ['read() without an event', readByTurns],
    [
      'readable events',
      (request) =>
        new Promise((resolve) => {
          const chunks: Buffer[] = []
          request
            .on('readable', () => {
              for (let chunk = request.read(); chunk !== null; chunk = request.read()) chunks.push(chunk as Buffer)
            })
            .on('end', () => resolve(Buffer.concat(chunks)))
        })
    ],
    [
      'another Express application, called as a function',
      (request) =>
        new Promise((resolve, reject) => {
          const legacy = express()
          legacy.use(express.raw({ type: () => true }), (inner, _response, _next) => resolve(inner.body as Buffer))
          legacy(request, request.res, reject)
        })
    ]
  ]
  const routes = Object.fromEntries(
    readers.map(([, read], index) => [
      `r${index}`,
      {
        POST: async (request: any) => ({
          parsed: request.body.a.length,
          unread: !request.readableDidRead,
          bytes: (await read(request)).length
        })
      }
    ])
  )
  onEveryHost(t, { routes }, async (t, call) => {
    for (const [index, [rule]] of readers.entries()) {
      for (const length of [1, 90_000]) {
        const body = JSON.stringify({ a: 'x'.repeat(length) })
        const { json } = await call(`POST /api/r${index}`, { headers: JSON_TYPE, body })
        t.match(json, { parsed: length, bytes: body.length }, `${rule}, ${length} bytes`)
      }
    }
  })
})

t.test('middleware may begin to wait for the stream before the body arrives in one piece', async (t) => {
  const waits: readonly (readonly [string, (request: any) => unknown])[] = [
    ['read()', (request) => request.read()],
    ['a readable listener', (request) => request.on('readable', () => {})],
    ['pause()', (request) => request.pause()]
  ]
  const POST = async (request: any): Promise<object> => ({
    parsed: request.body.a,
    bytes: (await readByTurns(request)).toString()
  })
  const routes = Object.fromEntries(waits.map((_wait, index) => [`r${index}`, { POST }]))
  const asked: (() => void)[] = []
  const begin =
    (wait: (request: any) => unknown): Middleware =>
    (request, _response, next) => {
      wait(request)
      next()
      asked.pop()?.()
    }
  const middleware = Object.fromEntries(waits.map(([, wait], index) => [`/api/r${index}`, [begin(wait)]]))
  for (const build of [appOf, hostOf]) {
    const address = await addressOf(await build(t, { routes, options: { middleware } }))
    for (const [index, [rule]] of waits.entries()) {
      const isAsked = new Promise<void>((resolve) => asked.push(resolve))
      const wire = await new Wire(t, address).write(head(`POST /api/r${index}`, { ...JSON_TYPE, 'content-length': 7 }))
      await isAsked
      await wire.write('{"a":1}')
      const received = await wire.until(/bytes.*\}$/)
      t.strictSame(JSON.parse(bodiesOf(received)[0] as string), { parsed: 1, bytes: '{"a":1}' }, rule)
    }
  }
})

t.test(
  'a POST that is refused, or read by another parser, costs its client no other request of the connection',
  async (t) => {
    const late: Middleware = async (_request, _response, next) => {
      await null
      next()
    }
    const refuse: Middleware = (_request, response) => void response.status(401).json({ error: 'who are you?' })
    const lateRefuse: Middleware = async (request, response, next) => {
      await null
      refuse(request, response, next)
    }
    const parser = asOurs(express.json())
    const gatherFirst: Middleware = async (request: any, response) => {
      await null
      response.json({ bytes: (await gather(request)).length })
    }
    const POST = (request: any): object => ({ a: request.body.a })
    const rows: readonly (readonly [string, readonly Middleware[], number])[] = [
      ['guarded', [refuse], 401],
      ['late', [lateRefuse], 401],
      ['parsed', [late, parser], 200],
      ['gathered', [gatherFirst], 200],
      ['plain', [late], 200]
    ]
    const middleware = Object.fromEntries(rows.map(([name, chain]) => [`/api/${name}`, chain]))
    const routes = Object.fromEntries(rows.map(([name]) => [name, { POST }]))
    const paths = [...rows.map(([name, , status]) => [`/api/${name}`, status] as const), ['/api/none', 404] as const]
    for (const build of [appOf, hostOf]) {
      const aborted: string[] = []
      const app = await build(t, { routes, options: { middleware } })
      const address = await addressOf(app)
      app.server.on('request', (request) => request.on('aborted', () => aborted.push(String(request.url))))
      for (const [path, status] of paths) {
        const one = `${head(`POST ${path}`, { ...JSON_TYPE, 'content-length': 7 })}{"a":1}`
        const wire = await new Wire(t, address).write(one + one) // head and body in one packet, and the next request
        const received = await wire.until(/(HTTP\/1\.1 \d+ [^]*){2}\}$/)
        const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => Number(found))
        t.strictSame(statuses, [status, status], `${path} on ${build.name}`)
        t.notMatch(received, /connection: close/i)
      }
      t.strictSame(aborted, [], 'and none counts as aborted')
    }
  }
)

t.test(
  'a body reaches the handler behind an Express application that was called as a function and never mounted',
  async (t) => {
    const POST = (request: any): object => ({ a: request.body.a })
    const address = await addressOf(
      await appOf(t, {
        routes: { a: { POST } },
        use: (app) => {
          const legacy = express()
          app.use((request: any, response: any, next: any) => legacy(request, response, next))
        }
      })
    )
    for (const pieces of [['{"a":1}'], ['', '{"a":1}'], ['{"a"', ':1}']]) {
      const wire = await new Wire(t, address).write(
        head('POST /api/a', { ...JSON_TYPE, 'content-length': 7 }) + pieces.shift()
      )
      for (const piece of pieces) await wire.write(piece)
      t.strictSame(bodiesOf(await wire.until(/\}$/)), ['{"a":1}'], `in ${pieces.length + 1} packets`)
    }
  }
)

t.test('a body that nobody reads from the stream is gone before the next request of its connection', async (t) => {
  const ends: string[] = []
  const POST = (request: any): object => {
    request.on('end', () => ends.push(`end ${request.body.a}`)).on('close', () => ends.push(`close ${request.body.a}`))
    return { a: request.body.a }
  }
  for (const build of [appOf, hostOf]) {
    const address = await addressOf(await build(t, { routes: { a: { POST } } }))
    ends.length = 0
    const wire = new Wire(t, address)
    for (const a of [1, 2]) {
      await wire.write(head('POST /api/a', { ...JSON_TYPE, 'content-length': 7 }) + `{"a":${a}}`)
      await wire.until(new RegExp(`"a":${a}\\}$`))
    }
    const both = ['1', '2'].map((a) => head('POST /api/a', { ...JSON_TYPE, 'content-length': 10 }) + `{"a":"p${a}"}`)
    await wire.write(both.join(''))
    const received = await wire.until(/p2"\}$/)
    t.strictSame(bodiesOf(received), ['{"a":1}', '{"a":2}', '{"a":"p1"}', '{"a":"p2"}'], 'also where two come at once')
    while (!ends.includes('close p2')) await turn()
    t.strictSame(
      ends,
      ['1', '2', 'p1', 'p2'].flatMap((a) => [`end ${a}`, `close ${a}`]),
      'and its stream has ended'
    )
  }
})

t.test('the async context of the middleware reaches the handler through the body', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const inContext: Middleware = (request, _response, next) => context.run(String(request.get('x-name')), next)
  const later: Middleware = (request, _response, next) =>
    void setImmediate(() => context.run(String(request.get('x-name')), next))
  const POST = async (request: any): Promise<object> => {
    const before = context.getStore()
    await turn()
    return { before, after: context.getStore(), length: request.body.length }
  }
  const own = { own: { POST, middleware: [inContext] }, later: { POST, middleware: [later] }, map: { POST } }
  const middleware = createMiddleware({ '/api/map': [inContext] })
  const texts: Sent[] = [
    { headers: TEXT_TYPE, body: 'x' },
    { headers: TEXT_TYPE, body: 'x'.repeat(300_000) },
    { headers: { ...TEXT_TYPE, 'content-encoding': 'gzip' }, body: gzipSync('x') }
  ]
  const check = (paths: string[]) => async (t: any, call: any) => {
    for (const path of paths) {
      const answers = await Promise.all(
        texts.map((sent, index) =>
          call(`POST /api/${path}`, { ...sent, headers: { ...sent.headers, 'x-name': `n${index}` } })
        )
      )
      t.match(
        answers.map(({ json }) => [json.before, json.after]),
        [
          ['n0', 'n0'],
          ['n1', 'n1'],
          ['n2', 'n2']
        ],
        path
      )
    }
  }
  onEveryHost(t, { routes: own, options: { middleware } }, check(['own', 'later', 'map']))
  t.test('the async context set in use() reaches the handler', async (t) => {
    const use = (app: App): void => void app.use(inContext)
    onEveryHost(t, { routes: { a: { POST } }, use }, check(['a']))
  })
  t.test('the async context set in a hook of Fastify reaches the handler', async (t) => {
    for (const build of [appOf, hostOf]) {
      const app = await build(t, { routes: { a: { POST } } })
      if (build === hostOf) continue // the plugin's routes are made; hooks of the host come before it
      app.addHook('onRequest', (request, _reply, done) => context.run(String(request.headers['x-name']), done))
      await check(['a'])(t, callOver(await addressOf(app)))
    }
  })
  t.test("the async context of a slow client's request reaches the handler", async (t) => {
    let begun = (): void => {}
    const noting: Middleware = (_request, _response, next) => {
      begun()
      next()
    }
    const address = await addressOf(await appOf(t, { routes: { a: { POST, middleware: [inContext, noting] } } }))
    const started = new Promise<void>((resolve) => (begun = resolve))
    const wire = await new Wire(t, address).write(
      head('POST /api/a', { ...TEXT_TYPE, 'content-length': 2, 'x-name': 'slow' })
    )
    await started
    await wire.write('x')
    await wire.write('y')
    t.match(await wire.until(/\}$/), /"before":"slow","after":"slow"/)
  })
})

t.test('bodyParser says when bodies are parsed', async (t) => {
  const seen: unknown[] = []
  const note: Middleware = (request, _response, next) => {
    seen.push(request.body)
    next()
  }
  const POST = (request: any): object => ({ seen: [...seen], body: request.body ?? 'nothing' })
  const middleware = createMiddleware({ '/api': [note] })
  const routes = {
    apps: { POST },
    late: { POST, config: { bodyParser: 'late' } },
    early: { POST, config: { bodyParser: 'early' } },
    never: { POST, config: { bodyParser: false } },
    more: { POST: (request: any) => request.body.length, config: { bodyLimit: 2000 } },
    less: { POST: (request: any) => request.body.length, config: { bodyLimit: 10 } }
  }
  const sent = { headers: JSON_TYPE, body: '{"a":1}' }
  const body = { a: 1 }
  const nothing = 'nothing'
  const expected: Record<string, Record<string, object>> = {
    late: {
      apps: { seen: [null], body },
      late: { seen: [null], body },
      early: { seen: [body], body },
      never: { seen: [null], body: nothing }
    },
    early: { apps: { seen: [body], body }, early: { seen: [body], body }, never: { seen: [null], body: nothing } },
    false: {
      apps: { seen: [null], body: nothing },
      late: { seen: [null], body },
      early: { seen: [body], body },
      never: { seen: [null], body: nothing }
    }
  }
  for (const bodyParser of ['late', 'early', false] as const) {
    t.test(`the app's bodyParser ${String(bodyParser)} holds for its routes`, async (t) => {
      onEveryHost(
        t,
        { routes, options: { middleware, bodyParser, bodyLimit: 1000, errorHandler } },
        async (t, call) => {
          for (const [path, wanted] of Object.entries(expected[String(bodyParser)] ?? {})) {
            seen.length = 0
            t.strictSame((await call(`POST /api/${path}`, sent)).json, wanted, `of the route: ${path}`)
          }
          if (bodyParser === false) return
          const text = (length: number): Sent => ({ headers: TEXT_TYPE, body: 'x'.repeat(length) })
          t.equal((await call('POST /api/more', text(2000))).text, '2000', 'the larger limit of a route')
          t.equal((await call('POST /api/more', text(2001))).status, 413)
          t.equal((await call('POST /api/less', text(10))).text, '10', 'the smaller limit of a route')
          t.equal((await call('POST /api/less', text(11))).status, 413)
          t.equal((await call('POST /api/apps', { headers: JSON_TYPE, body: '{' })).status, 400)
        }
      )
    })
  }
  t.test('with bodyParser early the body is parsed before use()', async (t) => {
    const use = (app: App): void => void app.use(note)
    onEveryHost(
      t,
      {
        routes: { a: { POST }, never: { POST, config: { bodyParser: false } } },
        options: { bodyParser: 'early' },
        use
      },
      async (t, call) => {
        seen.length = 0
        t.strictSame((await call('POST /api/a', sent)).json, { seen: [body], body })
        seen.length = 0
        t.strictSame(
          (await call('POST /api/never', sent)).json,
          { seen: [null], body: nothing },
          'but not where the route says never'
        )
        seen.length = 0
        t.equal((await call('POST /api/none', sent)).status, 404)
        t.strictSame(seen, [body], 'also where no route is')
      }
    )
  })
  t.test('with bodyParser early a guard answers before an error of the body', async (t) => {
    const guard: Middleware = (_request, response) => response.sendStatus(401)
    onEveryHost(
      t,
      { routes: { a: { POST, middleware: [guard] } }, options: { bodyParser: 'early' } },
      async (t, call) => {
        t.equal((await call('POST /api/a', { headers: JSON_TYPE, body: '{' })).status, 401)
      }
    )
  })
  t.test('with bodyParser early the stream is still unread', async (t) => {
    const raw = { POST: async (request: any) => ({ body: request.body, bytes: (await gather(request)).length }) }
    onEveryHost(t, { routes: { raw }, options: { bodyParser: 'early' } }, async (t, call) => {
      t.strictSame((await call('POST /api/raw', sent)).json, { body, bytes: 7 })
    })
  })
})

t.test('with bodyParser late a guard answers before the body has come', async (t) => {
  const guard: Middleware = (_request, response) => response.status(401).send('refused')
  for (const build of [appOf, hostOf]) {
    const address = await addressOf(await build(t, { routes: { a: { POST: echo, middleware: [guard] } } }))
    const wire = await new Wire(t, address).write(head('POST /api/a', { ...JSON_TYPE, 'content-length': 7 }))
    t.match(await wire.until(/refused$/), /^HTTP\/1.1 401 /)
    await wire.write('{"a":1}')
    await wire.write(head('POST /api/a', { 'content-length': 0 }))
    t.match(await wire.until(/refused.*refused$/s), /401.*401/s, 'and the connection goes on')
  }
})

/** UTF-8 characters of two to four bytes, cut into pieces that end within them. */
function bytewise(text: string): Buffer[] {
  return Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))
}

t.test('a body without Content-Length is parsed, limited and refused alike however it comes', async (t) => {
  const routes = {
    echo: { POST: echo },
    small: { POST: echo, config: { bodyLimit: 1000 } },
    both: { POST: async (request: any) => ({ body: request.body, bytes: (await gather(request)).length }) },
    express: { POST: echo, middleware: [asOurs(express.text({ type: 'text/x-other' }))] }
  }
  const rows = [
    { rule: 'JSON in one piece', type: JSON_TYPE, pieces: ['{"a":"ü"}'], body: { a: 'ü' } },
    { rule: 'JSON byte by byte', type: JSON_TYPE, pieces: bytewise('{"a":"ü€😀"}'), body: { a: 'ü€😀' } },
    { rule: 'a form without a length', type: FORM_TYPE, pieces: ['a=1', '&b=2'], body: { a: '1', b: '2' } },
    { rule: 'a text without a length', type: TEXT_TYPE, pieces: ['one ', 'two'], body: 'one two' },
    {
      rule: 'JSON in gzip without a length',
      type: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      pieces: [gzipSync('{"a":1}').subarray(0, 9), gzipSync('{"a":1}').subarray(9)],
      body: { a: 1 }
    },
    {
      rule: 'a body of 300 KB',
      type: TEXT_TYPE,
      pieces: Array(30).fill('x'.repeat(10_000)),
      body: 'x'.repeat(300_000)
    },
    { rule: 'a body without any piece', type: JSON_TYPE, pieces: [], body: undefined },
    {
      rule: 'a body of a type that is not parsed',
      type: { 'content-type': 'image/png' },
      pieces: ['x'],
      body: undefined
    },
    { rule: 'a body without a type', type: {}, pieces: ['x'], body: undefined },
    {
      rule: 'a body of a type that is no media type',
      type: { 'content-type': 'none' },
      pieces: ['x'],
      body: undefined
    },
    {
      rule: 'an empty body of a type that is no media type',
      type: { 'content-type': 'none' },
      pieces: [],
      body: undefined
    },
    { rule: 'malformed JSON', type: JSON_TYPE, pieces: ['{"a":', '1'], status: 400 },
    { rule: 'a __proto__ key', type: JSON_TYPE, pieces: ['{"__proto__":', '{}}'], status: 400 },
    { rule: 'an unknown charset', type: { 'content-type': 'text/plain; charset=x-none' }, pieces: ['x'], status: 415 },
    {
      rule: 'a body of one byte more than the limit',
      path: 'small',
      type: TEXT_TYPE,
      pieces: ['x'.repeat(600), 'x'.repeat(401)],
      status: 413
    },
    {
      rule: 'a body of exactly the limit',
      path: 'small',
      type: TEXT_TYPE,
      pieces: ['x'.repeat(600), 'x'.repeat(400)],
      body: 'x'.repeat(1000)
    },
    {
      rule: "a body over the app's limit of a mebibyte",
      type: TEXT_TYPE,
      pieces: Array(11).fill('x'.repeat(100_000)),
      status: 413
    }
  ] as const
  onEveryWay(t, { routes, options: { errorHandler } }, async (t, post) => {
    for (const { rule, type, pieces, path = 'echo', status = 200, body } of rows.map((row) => ({
      path: undefined,
      status: undefined,
      body: undefined,
      ...row
    }))) {
      const answer = await post(`/api/${path}`, { ...type }, pieces)
      t.equal(answer.status, status, rule)
      if (status === 200) t.strictSame(answer.json.body, body, rule)
    }
    t.strictSame(
      (await post('/api/both', JSON_TYPE, ['{"a"', ':1}'])).json,
      { body: { a: 1 }, bytes: 7 },
      'the stream can be read after the body was parsed'
    )
    t.equal((await post('/api/express', JSON_TYPE, ['{', '}'])).json.type, 'object', 'behind a parser for another type')
  })
  t.test('an injected request without a payload has no body, and its stream ends', async (t) => {
    const POST = async (request: any): Promise<object> => ({
      type: typeof request.body,
      bytes: (await gather(request)).length
    })
    const ended = (request: any): Promise<object> =>
      new Promise((resolve) => request.resume().on('end', () => resolve({ type: typeof request.body, bytes: 0 })))
    const app = await appOf(t, { routes: { a: { POST, PUT: ended } } })
    for (const method of ['POST', 'PUT'] as const) {
      const { body } = await app.inject({ method, url: '/api/a', headers: JSON_TYPE })
      t.equal(body, '{"type":"undefined","bytes":0}', method)
    }
  })
})

t.test('middleware may set an encoding on the stream before the body is parsed', async (t) => {
  const encoding: Middleware = (request, _response, next) => {
    request.setEncoding(request.get('x-encoding') as BufferEncoding)
    next()
  }
  const later: Middleware = (request, response, next) => void setImmediate(() => encoding(request, response, next))
  const show = async (request: any): Promise<object> => {
    let text = ''
    for await (const chunk of request) text += chunk
    return { body: request.body, text }
  }
  const own = { first: { POST: show, middleware: [encoding] }, later: { POST: show, middleware: [later] } }
  const text = '{"a":"ü€😀"}'
  const check = (paths: readonly string[]) => async (t: any, post: any) => {
    for (const path of paths) {
      for (const name of ['utf8', 'latin1', 'hex'] as const) {
        const wanted = { body: JSON.parse(text), text: Buffer.from(text).toString(name) }
        const whole = await post(`/api/${path}`, { ...JSON_TYPE, 'x-encoding': name }, [text])
        t.strictSame(whole.json, wanted, `${path}, ${name}`)
        const bytes = await post(`/api/${path}`, { ...JSON_TYPE, 'x-encoding': name }, bytewise(text))
        t.strictSame(bytes.json, wanted, `${path}, ${name}, byte by byte`)
      }
    }
  }
  onEveryWay(t, { routes: own }, check(['first', 'later']))
  t.test('a middleware in use() may set an encoding on the stream before the body is parsed', async (t) => {
    onEveryWay(t, { routes: { a: { POST: show } }, use: (app) => void app.use(encoding) }, check(['a']))
  })
  t.test('an encoding set on the stream holds for a form that the handler reads', async (t) => {
    const POST = async (request: any): Promise<object> => ({ body: { a: (await request.formData()).get('a') } })
    const config = { bodyParser: false }
    onEveryWay(t, { routes: { a: { POST, config, middleware: [encoding] } } }, async (t, post) => {
      const sent = await post('/api/a', { ...FORM_TYPE, 'x-encoding': 'utf8' }, bytewise('a=ü'))
      t.strictSame(sent.json, { body: { a: 'ü' } })
    })
  })
})

t.test('Expect: 100-continue on HTTP/2 is answered only where the body is wanted', async (t) => {
  const guard: Middleware = (request, response, next) => {
    if (request.get('authorization')) next()
    else response.status(401).json({ error: 'NO_TOKEN' })
  }
  const routes = {
    echo: { POST: echo },
    raw: { POST: async (request: any) => ({ bytes: (await gather(request)).length }), config: { bodyParser: false } },
    express: { POST: echo, middleware: [asOurs(express.json())] },
    blind: { POST: () => ({ blind: true }), config: { bodyParser: false } }
  }
  const options = { middleware: { '/api': [guard] }, errorHandler, fastifyOptions: { http2: true } as never }
  const session: ClientHttp2Session = connectHttp2(await addressOf(await appOf(t, { routes, options })))
  t.teardown(() => session.destroy())
  const rows = [
    { rule: 'the body step asks for the body', path: 'echo', asks: true, status: 200 },
    { rule: 'a handler that reads the stream asks for the body', path: 'raw', asks: true, status: 200 },
    { rule: 'a parser of Express asks for the body', path: 'express', asks: true, status: 200 },
    {
      rule: 'a guard answers without asking for the body',
      path: 'echo',
      more: { authorization: '' },
      asks: false,
      status: 401
    },
    {
      rule: 'a body too large is not asked for',
      path: 'echo',
      more: { 'content-length': '2000000' },
      asks: false,
      status: 413
    },
    { rule: 'a body that no handler reads is not asked for', path: 'blind', asks: false, status: 200 },
    { rule: 'a body sent to no route is not asked for', path: 'none', asks: false, status: 404 }
  ]
  for (const { rule, path, more, asks, status } of rows) {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/api/${path}`,
      ...JSON_TYPE,
      expect: '100-continue',
      authorization: 'x',
      'content-length': '7',
      ...more
    })
    let asked = 0
    stream.on('continue', () => {
      asked++
      stream.end('{"a":1}')
    })
    const answer = await answerOf(stream)
    t.strictSame({ status: answer.status, asked }, { status, asked: asks ? 1 : 0 }, rule)
    stream.destroy()
  }
  session.destroy()
})

t.test('a 413 closes a connection of HTTP/1 and says nothing of it on HTTP/2', async (t) => {
  const warnings: string[] = []
  const note = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const form = { 'content-type': 'multipart/form-data; boundary=XX' }
  const own = (): never => {
    const headers = { connection: 'close', 'Proxy-Connection': 'close', 'x-own': 'kept' }
    throw Object.assign(new Error('too much'), { status: 413, headers })
  }
  const POST = async (request: any): Promise<object> => ({ form: [...(await request.formData()).keys()] })
  const config = { bodyLimit: 1000 }
  const routes = {
    small: { POST: echo, config },
    form: { POST, config: { uploads: { totalSize: 1000 } } },
    own: { POST: own, config: { bodyParser: false } }
  }
  const rows = [
    { rule: 'a JSON body that is too large', path: 'small', type: JSON_TYPE },
    { rule: 'a form that is too large', path: 'form', type: form },
    { rule: 'a 413 that the application throws', path: 'own', type: JSON_TYPE }
  ]
  for (const handled of [true, false]) {
    for (const http2 of [false, true]) {
      const options = { ...(handled ? { errorHandler } : {}), fastifyOptions: { http2 } as never }
      const app = await appOf(t, { routes, options })
      let seen: unknown[] = []
      app.addHook(
        'onSend',
        async (_request, reply) => void (seen = [reply.getHeader('connection'), reply.getHeader('x-own')])
      )
      const address = await addressOf(app)
      for (const { rule, path, type } of rows) {
        const name = `${rule}, HTTP/${http2 ? 2 : 1}, ${handled ? 'errorHandler' : "Fastify's handler"}`
        const status = await tooMuch(address, { path: `/api/${path}`, type, http2 })
        const wanted = [http2 ? undefined : 'close', path === 'own' ? 'kept' : undefined]
        t.strictSame({ status, seen }, { status: 413, seen: wanted }, name)
      }
    }
  }
  await new Promise(setImmediate)
  t.strictSame(
    warnings.filter((message) => message.includes('connection header')),
    [],
    'node has not warned'
  )
})

interface TooMuch {
  path: string
  type: Readonly<Record<string, string>>
  http2: boolean
}

/** Announces two million bytes, which are refused before they are sent. */
async function tooMuch(address: string, { path, type, http2 }: TooMuch): Promise<number> {
  const headers = { ...type, 'content-length': '2000000' }
  if (!http2) {
    const wire = await new Wire(t, address).write(head(`POST ${path}`, headers))
    return Number((await wire.until(/\r\n\r\n/)).slice(9, 12))
  }
  const session = connectHttp2(address)
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers })
  const { status } = await answerOf(stream)
  stream.destroy()
  session.destroy()
  return status
}

t.test('before the chain has ended at most 64 KiB of a body are held, whatever the limit of a route', async (t) => {
  const MIB = 1024 * 1024
  const piece = Buffer.alloc(64 * 1024, 'x')
  const sockets = new Set<{ bytesRead: number }>()
  let opened: (() => void)[] = []
  /** A guard that looks something up: it lets a request pass when the test says so. */
  const guard: Middleware = (request, response, next) => {
    sockets.add(request.httpVersionMajor === 2 ? (request as any).stream.session.socket : request.socket)
    const answer = (): void => void (request.get('x-refuse') ? response.status(401).send('refused') : next())
    opened.push(answer)
  }
  const open = (): void => {
    for (const answer of opened) answer()
    opened = []
  }
  /** Resolves to the bytes that the server has taken in when it takes no more; the clients go on sending. */
  async function takenIn(connections: number): Promise<number> {
    let taken = -1
    for (let quiet = 0; quiet < 200; quiet++) {
      await turn()
      const now = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
      if (now !== taken || sockets.size < connections) quiet = 0
      taken = now
    }
    return taken
  }
  const POST = (request: any): object => ({ length: request.body?.length })
  const config = { bodyLimit: 50 * MIB }
  const routes = {
    large: { POST, config, middleware: [guard] },
    other: { POST, middleware: [guard] },
    free: { POST },
    raw: {
      POST,
      middleware: [guard, asOurs(express.raw({ type: '*/*', limit: '50mb' }))]
    }
  }
  const chunked = { ...TEXT_TYPE, 'transfer-encoding': 'chunked' }
  const kinds = [
    { rule: 'a chunked body, of the route with the large limit', path: 'large', headers: chunked },
    { rule: "a chunked body, of a route with the app's limit", path: 'other', headers: chunked },
    { rule: 'a body with its length', path: 'large', headers: { ...TEXT_TYPE, 'content-length': 4 * MIB } },
    { rule: 'a chunked body of JSON', path: 'other', headers: { ...chunked, ...JSON_TYPE } }
  ]
  const framed = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])

  for (const [name, build] of [
    ['an app', appOf],
    ['a host', hostOf]
  ] as const) {
    t.test(`on ${name}`, async (t) => {
      const address = await addressOf(await build(t, { routes, options: { errorHandler } }))
      for (const { rule, path, headers } of kinds) {
        sockets.clear()
        const wires = Array.from({ length: 10 }, () => new Wire(t, address))
        for (const { socket } of wires) {
          socket.write(head(`POST /api/${path}`, headers))
          for (let sent = 0; sent < 4 * MIB; sent += piece.length)
            socket.write('content-length' in headers ? piece : framed)
        }
        const taken = await takenIn(wires.length)
        t.ok(taken < 10 * 256 * 1024, `${rule}: ${taken} bytes of ten times four mebibytes are taken in`)
        for (const { socket } of wires) socket.destroy()
        open()
      }
    })
    t.test(`on ${name}, a hundred connections together`, async (t) => {
      const address = await addressOf(await build(t, { routes, options: { errorHandler } }))
      sockets.clear()
      const wires = Array.from({ length: 100 }, () => new Wire(t, address))
      for (const { socket } of wires) {
        socket.write(head('POST /api/large', chunked))
        for (let sent = 0; sent < MIB; sent += piece.length) socket.write(framed)
      }
      const taken = await takenIn(wires.length)
      t.ok(taken < 100 * 256 * 1024, `${taken} bytes`)
      for (const { socket } of wires) socket.destroy()
      open()
    })
    t.test(`on ${name}, what was held back comes when the guard lets it pass`, async (t) => {
      const address = await addressOf(await build(t, { routes, options: { errorHandler } }))
      for (const { path, pieces: length, status } of [
        { path: 'large', pieces: 20, status: 200 },
        { path: 'other', pieces: 15, status: 200 },
        { path: 'other', pieces: 17, status: 413 },
        { path: 'raw', pieces: 20, status: 200 }
      ] as const) {
        sockets.clear()
        const wire = new Wire(t, address)
        const bytes = length * piece.length
        wire.socket.write(head(`POST /api/${path}`, { ...TEXT_TYPE, 'transfer-encoding': 'chunked' }))
        for (let sent = 0; sent < length; sent++) wire.socket.write(framed)
        wire.socket.write('0\r\n\r\n')
        await takenIn(1)
        open()
        const received = await wire.until(/\r\n\r\n.*\}/s)
        t.match(received, new RegExp(`^HTTP/1.1 ${status} `), `${path}, ${bytes} bytes`)
        if (status !== 200) continue
        t.match(received, `{"length":${bytes}}`)
        await wire.write(head('POST /api/other', { ...TEXT_TYPE, 'content-length': 1 }) + 'x')
        await takenIn(1)
        open()
        t.match(await wire.until(/"length":1\}/), /200 OK.*200 OK/s, 'and the connection goes on')
      }
    })
    t.test(`on ${name}, a guard that refuses answers, and the connection goes on`, async (t) => {
      const address = await addressOf(await build(t, { routes, options: { errorHandler } }))
      sockets.clear()
      const wire = new Wire(t, address)
      wire.socket.write(head('POST /api/large', { ...chunked, 'x-refuse': 'yes' }))
      for (let sent = 0; sent < 20; sent++) wire.socket.write(framed)
      await takenIn(1)
      open()
      await wire.until(/refused$/)
      wire.socket.write(`0\r\n\r\n${head('POST /api/other', { ...TEXT_TYPE, 'content-length': 1 })}x`)
      await takenIn(1)
      open()
      t.match(await wire.until(/"length":1\}/), /401 .*200 OK/s)
    })
    t.test(`on ${name} over HTTP/2`, async (t) => {
      const fastifyOptions = { http2: true } as never
      const address = await addressOf(await build(t, { routes, options: { errorHandler, fastifyOptions } }))
      sockets.clear()
      const session = connectHttp2(address)
      const stream = session.request({ ':method': 'POST', ':path': '/api/large', ...TEXT_TYPE })
      for (let sent = 0; sent < 20; sent++) stream.write(piece)
      stream.end()
      const taken = await takenIn(1)
      t.ok(taken < 256 * 1024, `${taken} bytes are taken in`)
      open()
      t.strictSame(
        (await answerOf(stream)).json,
        { length: 20 * piece.length },
        'and the rest when the guard lets it pass'
      )
      session.destroy()
    })
  }
  t.test('in use(), and where no route is, at most 64 KiB of a body are held', async (t) => {
    const address = await addressOf(await appOf(t, { routes, use: (app) => void app.use(guard) }))
    for (const path of ['free', 'none']) {
      sockets.clear()
      const wire = new Wire(t, address)
      wire.socket.write(head(`POST /api/${path}`, chunked))
      for (let sent = 0; sent < 4 * MIB; sent += piece.length) wire.socket.write(framed)
      const taken = await takenIn(1)
      t.ok(taken < 256 * 1024, `${path}: ${taken} bytes are taken in`)
      wire.socket.destroy()
      open()
    }
  })
})
