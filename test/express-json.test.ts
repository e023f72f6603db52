// express.json() of twinroute/express beside Express's own: what comes back, and what handlers and error middleware see.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import express from 'express'
import t from 'tap'
import { createApp } from 'twinroute'
import twinrouteExpress from 'twinroute/express'
import { listen } from './support/express-server.js'
import { addressOf, writeRoutes } from './support/hosts.js'
import { head, Wire } from './support/wire.js'

type Middleware = (request: any, response: any, next: (error?: unknown) => void) => unknown

/** What has been seen on the server, in order. */
class Seen {
  readonly all: unknown[] = []
  readonly #changed = new EventEmitter()

  add(...what: unknown[]): void {
    this.all.push(what)
    this.#changed.emit('add')
  }

  /** Waits until something of this name has been added so many times. */
  async until(name: string, times = 1): Promise<void> {
    while (this.all.filter((what) => Array.isArray(what) && what[0] === name).length < times)
      await new Promise((resolve) => this.#changed.once('add', resolve))
  }
}

interface Stage {
  app: any
  engine: any
  /** The parser with the options of the row. */
  json: Middleware
  seen: Seen
}

interface Talk {
  wire: Wire
  seen: Seen
}

interface Row {
  options?: unknown
  line?: string
  /** Instead of, or besides, the type and the length. */
  headers?: Readonly<Record<string, string | number | undefined>>
  body?: string | Buffer
  /** Puts middleware on the application; default: the parser. */
  use?: (stage: Stage) => void
  /** Default: one request with the body, which closes the connection. */
  talk?: (talk: Talk) => Promise<unknown>
  /** Part of what Express does, where it is not obvious that the row tests what it says. */
  like?: RegExp
}

function stateOf(request: any): object {
  const { readableEnded, destroyed, readable, aborted, readableFlowing, readableDidRead } = request
  const state = { readableEnded, destroyed, readable, aborted, readableFlowing, readableDidRead }
  // middleware of twinroute may begin a moment later, when a body that nobody reads has arrived
  return readableDidRead ? { ...state, complete: request.complete } : state
}

function errorOf(error: any): unknown {
  if (!(error instanceof Error)) return error
  const fields = Object.fromEntries(Object.entries(error).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const { name, message } = error
  const own = Object.getOwnPropertyNames(error).toSorted()
  return { fields, own, name, message, kind: Object.prototype.toString.call(error), stack: error.stack?.split('\n')[0] }
}

const handler =
  ({ seen }: Stage): Middleware =>
  (request, response) => {
    seen.add('handler', { has: 'body' in request, body: valueOf(request.body), ...stateOf(request) })
    response.json({ body: request.body ?? 'none', url: request.url, base: request.baseUrl })
  }

/** As text: tap would call what bodies name. */
function valueOf(value: unknown): string {
  const isPlain =
    typeof value !== 'object' ||
    value === null ||
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))
  return `${isPlain ? '' : 'of a class of its own '}${value === undefined ? 'undefined' : JSON.stringify(value)}`
}

const errorHandler =
  ({ seen }: Stage) =>
  (error: any, request: any, response: any, _next: unknown): void => {
    seen.add('error', errorOf(error), { has: 'body' in request, body: request.body, ...stateOf(request) })
    response.status(error.status ?? 500).json({ message: error.message, type: error.type })
  }

/** The request of a row, whole. */
function requestOf({ line = 'POST /', headers = {}, body = '' }: Row): Buffer {
  const given = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers }
  const sent = Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  return Buffer.concat([Buffer.from(head(line, Object.fromEntries(sent))), Buffer.from(body)])
}

/** What came back, but for what differs from answer to answer, and the order and the case of header names. */
function plain(received: string): string {
  return received.replaceAll(/(HTTP\/1\.1 \d.*\r\n)([^]*?\r\n)\r\n/g, (_, status: string, headers: string) => {
    const lines = headers.replaceAll(/^[\w-]+:/gm, (name) => name.toLowerCase()).split('\r\n')
    const kept = lines.filter((line) => !/^(?:date|keep-alive|x-request-id|connection: keep-alive)\b/.test(line))
    return `${status}${kept.toSorted().join('\r\n')}\r\n\r\n`
  })
}

async function outcomeOf(t: any, engine: any, row: Row): Promise<unknown> {
  const seen = new Seen()
  const app = engine()
  const stage = { app, engine, seen, json: engine.json(row.options) }
  if (row.use) row.use(stage)
  else app.use(stage.json)
  app.use(handler(stage))
  app.use(errorHandler(stage))
  const wire = new Wire(t, await listen(t, app))
  if (row.talk) await row.talk({ wire, seen })
  else {
    const headers = { connection: 'close', ...row.headers }
    await wire.write(requestOf({ ...row, headers }))
    await wire.closed()
  }
  return { received: plain(wire.received), seen: seen.all }
}

function run(rule: string, rows: Readonly<Record<string, Row>>): void {
  t.test(rule, async (t) => {
    for (const [name, row] of Object.entries(rows)) {
      t.test(name, async (t) => {
        const expected = await outcomeOf(t, express, row)
        const got = await outcomeOf(t, twinrouteExpress, row)
        t.strictSame(got, expected)
        if (row.like) t.match(JSON.stringify(expected), row.like)
      })
    }
  })
}

const UTF8_CUT = Buffer.from('{"a":"€😀"}')
const INVALID = Buffer.concat([
  Buffer.from('{"a":"'),
  Buffer.from([0xff, 0xe2, 0x82, 0x41, 0xed, 0xa0, 0x80]),
  Buffer.from('"}')
])
const LONG = JSON.stringify({ text: 'é'.repeat(45_000) })
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Bodies that a parser may take for something else than they are. */
const BODIES: Readonly<Record<string, string | Buffer>> = {
  'an object': '{"a":1,"b":[true,null,"x"]}',
  'an array': '[1,{"a":2}]',
  'an empty object': '{}',
  'an empty array': '[]',
  'white space in front': ' \r\n\t{"a":1}',
  'white space behind': '{"a":1}\n\n',
  'white space that JSON does not know': '\u00a0{"a":1}',
  'white space only': '  \n',
  'a number': '1',
  'a text': '"text"',
  'a text behind white space': '  "te#xt"',
  null: 'null',
  nothing: '',
  'a zero byte': '\0',
  'a BOM and an object': Buffer.concat([BOM, Buffer.from('{"a":1}')]),
  'a BOM only': BOM,
  'a BOM within': Buffer.concat([Buffer.from('{"a":"'), BOM, Buffer.from('"}')]),
  'two BOMs': Buffer.concat([BOM, BOM, Buffer.from('{}')]),
  'invalid UTF-8 in a text': INVALID,
  'invalid UTF-8 in front': Buffer.concat([Buffer.from([0xff]), Buffer.from('{}')]),
  'UTF-8 that ends within a character': UTF8_CUT.subarray(0, -4),
  'JSON that is cut': '{"a":1',
  'a bracket': '[',
  'two objects': '{}{}',
  'a hash': '{"a":#}',
  'single quotes': "{'a':1}",
  'a key __proto__': '{"__proto__":{"polluted":true},"a":1}',
  'a key constructor': '{"constructor":{"prototype":{"polluted":true}}}',
  'keys that come twice': '{"a":1,"a":2,"b":3,"a":4}',
  'numbers beyond what is exact': '{"a":12345678901234567890,"b":1e999,"c":-0}',
  'half a character, escaped': String.raw`{"a":"\ud83d"}`,
  'a control character': '{"a":"\u0001"}',
  'deep arrays': `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
  '90 KB': LONG,
  'UTF-16 under the name of UTF-8': Buffer.from('{"a":1}', 'utf16le')
}

run(
  'bodies',
  rowsOf(BODIES, (body) => ({ body }))
)
run(
  'bodies, not strict',
  rowsOf(BODIES, (body) => ({ body, options: { strict: false } }))
)

function rowsOf<Value>(values: Readonly<Record<string, Value>>, make: (value: Value) => Row): Record<string, Row> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]))
}

/** Tells when parts of the body have come, behind the parser's own listener. */
const telling =
  ({ json, seen }: Stage): Middleware =>
  (request, response, next) => {
    json(request, response, next)
    request.on('data', (chunk: Buffer) => seen.add('data', chunk.length))
  }

/** Sends each part when the application has got the one before. */
function inParts(parts: readonly (string | Buffer)[], end?: (talk: Talk) => unknown): NonNullable<Row['talk']> {
  return async ({ wire, seen }) => {
    const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), end ? 1 : 0)
    await wire.write(requestOf({ headers: { 'content-length': length, connection: 'close' } }))
    for (const [index, part] of parts.entries()) {
      await wire.write(part)
      if (index < parts.length - 1 || end) await seen.until('data', index + 1)
    }
    if (end) await end({ wire, seen })
    else await wire.closed()
  }
}

const everyByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]))

run(
  'bodies in parts',
  rowsOf<(string | Buffer)[]>(
    {
      'UTF-8, each byte for itself': everyByte(UTF8_CUT),
      'invalid UTF-8, each byte for itself': everyByte(INVALID),
      'a BOM, each byte for itself': everyByte(Buffer.concat([BOM, Buffer.from('{"a":1}')])),
      'many parts': Array.from({ length: 101 }, (_, index) => (index === 0 ? '[1' : index === 100 ? ']' : ',1')),
      'a part and the rest': [LONG.slice(0, 1), LONG.slice(1)],
      'JSON that is cut': ['{"a"', ':'],
      'a text in strict mode': ['"a', '"'],
      'white space and then an object': [' ', '{}']
    },
    (parts) => ({ use: (stage) => stage.app.use(telling(stage)), talk: inParts(parts) })
  )
)

const A = '{"a":1}'

run('limits', {
  'by the length that is told': { body: JSON.stringify('x'.repeat(102_400)), like: /entity.too.large/ },
  'as it is, by default': { body: `${A}${' '.repeat(102_400 - A.length)}` },
  'one more than by default': { body: `${A}${' '.repeat(102_401 - A.length)}`, like: /entity.too.large/ },
  'as a text': { options: { limit: '1kb' }, body: `${A}${' '.repeat(1024 - A.length)}` },
  'as a text, one more': { options: { limit: '1kb' }, body: `${A}${' '.repeat(1025 - A.length)}` },
  'as a text without a unit': { options: { limit: '7' }, body: A },
  'as a text without a unit, one more': { options: { limit: '6' }, body: A },
  'as a number': { options: { limit: 7 }, body: A },
  'as a number, one more': { options: { limit: 6 }, body: A },
  'as a number with a fraction': { options: { limit: 7.5 }, body: A },
  'zero and an object': { options: { limit: 0 }, body: '{}' },
  'zero and nothing': { options: { limit: 0 }, body: '' },
  negative: { options: { limit: -1 }, body: '' },
  none: { options: { limit: Infinity }, body: LONG },
  null: { options: { limit: null }, body: A },
  undefined: { options: { limit: undefined }, body: A },
  'larger than by default': { options: { limit: '1mb' }, body: JSON.stringify(['x'.repeat(200_000)]) },
  'by what has come, chunked': {
    options: { limit: 4 },
    headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' },
    body: '3\r\n[1,\r\n3\r\n2,3\r\n1\r\n]\r\n0\r\n\r\n'
  }
})

run(
  'types',
  rowsOf<string | undefined>(
    {
      plain: 'application/json',
      'charset=utf-8': 'application/json;charset=utf-8',
      'charset=utf-8 behind a space': 'application/json; charset=utf-8',
      'charset=UTF-8': 'application/json;charset=UTF-8',
      'charset=UTF-8 behind a space': 'application/json; charset=UTF-8',
      'charset=Utf-8': 'application/json; charset=Utf-8',
      'charset=utf8': 'application/json; charset=utf8',
      'charset="utf-8"': 'application/json; charset="utf-8"',
      'CHARSET=utf-8': 'application/json; CHARSET=utf-8',
      'an empty charset': 'application/json; charset=',
      'upper case': 'Application/JSON',
      'other parameters': 'application/json; version=1; charset=utf-8',
      'a semicolon': 'application/json;',
      'white space around': '  application/json  ',
      'utf-16': 'application/json; charset=utf-16',
      'utf-7': 'application/json; charset=utf-7',
      'utf-32be': 'application/json; charset=utf-32be',
      'utf-x': 'application/json; charset=utf-x',
      latin1: 'application/json; charset=latin1',
      'iso-8859-1': 'application/json; charset=ISO-8859-1',
      '+json': 'application/vnd.api+json',
      'text/json': 'text/json',
      'text/plain': 'text/plain',
      urlencoded: 'application/x-www-form-urlencoded',
      invalid: 'application/json/x',
      empty: '',
      none: undefined
    },
    (type) => ({ headers: { 'content-type': type }, body: '{"a":"ü"}' })
  )
)

run('UTF-16 in the charset of its name', {
  'little endian': {
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: Buffer.from('\ufeff{"a":"ü"}', 'utf16le'),
    like: /"a\\":\\"ü/
  }
})

const encoded = (name: string | undefined, body: Buffer | string, options?: unknown): Row => ({
  headers: { 'content-encoding': name },
  body,
  options
})

run('encodings', {
  gzip: encoded('gzip', gzipSync(A)),
  'gzip in upper case': encoded('GZIP', gzipSync(A)),
  'gzip that is none': encoded('gzip', A),
  'gzip of what is no JSON': encoded('gzip', gzipSync('{')),
  'gzip beyond the limit': encoded('gzip', gzipSync(LONG), { limit: 100 }),
  br: encoded('br', brotliCompressSync(A)),
  identity: encoded('identity', A),
  'IDENTITY, not inflated': encoded('IDENTITY', A, { inflate: false }),
  'an empty name': encoded('', A),
  'an unknown one': encoded('rot13', A),
  'gzip, not inflated': encoded('gzip', gzipSync(A), { inflate: false }),
  'none, not inflated': encoded(undefined, A, { inflate: false })
})

const CHUNKED = { 'content-length': undefined, 'transfer-encoding': 'chunked' }

run('how the body is announced', {
  chunked: { headers: CHUNKED, body: '7\r\n{"a":1}\r\n0\r\n\r\n' },
  'chunked, in pieces': { headers: CHUNKED, body: '3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n' },
  'chunked and empty': { headers: CHUNKED, body: '0\r\n\r\n' },
  'chunked and no JSON': { headers: CHUNKED, body: '1\r\n{\r\n0\r\n\r\n' },
  'a length with zeros in front': { headers: { 'content-length': '0007' }, body: A },
  'GET without a body': { line: 'GET /', headers: { 'content-type': undefined, 'content-length': undefined } },
  'GET without a body, of the type': { line: 'GET /', headers: { 'content-length': undefined } },
  'GET with a body': { line: 'GET /', body: A },
  'POST without a body': { headers: { 'content-length': undefined } },
  'DELETE with a body': { line: 'DELETE /', body: A },
  'HEAD with a body': { line: 'HEAD /', body: A },
  'HTTP/1.0': {
    talk: async ({ wire }) => {
      await wire.write(requestOf({ body: A }).toString().replace('HTTP/1.1', 'HTTP/1.0'))
      await wire.closed()
    }
  },
  'Expect: 100-continue': {
    talk: async ({ wire }) => {
      const headers = { expect: '100-continue', 'content-length': A.length, connection: 'close' }
      await wire.write(requestOf({ headers }))
      await wire.until(/HTTP\/1\.1 100 Continue\r\n\r\n/)
      await wire.write(A)
      await wire.closed()
    },
    like: /100 Continue.*200 OK/
  },
  'two POSTs at once': {
    talk: async ({ wire }) => {
      const last = requestOf({ body: '{"b":2}', headers: { connection: 'close' } })
      await wire.write(Buffer.concat([requestOf({ body: A }), last]))
      await wire.closed()
    },
    like: /a\\":1.*b\\":2/
  },
  'a refused POST and another at once': {
    talk: async ({ wire }) => {
      const last = requestOf({ body: '{"b":2}', headers: { connection: 'close' } })
      await wire.write(Buffer.concat([requestOf({ body: '{' }), last]))
      await wire.closed()
    }
  },
  'three POSTs, one behind the other': {
    talk: async ({ wire }) => {
      for (const [index, body] of [A, '"b"', '[3]'].entries()) {
        await wire.write(requestOf({ body }))
        await wire.until(new RegExp(`(?:HTTP/1.1 [^]*?\\r\\n\\r\\n.*\\}[^]*?){${index + 1}}`))
      }
      wire.socket.end()
      await wire.closed()
    }
  }
})

const throwing = (message: string, more: object = {}) => {
  throw Object.assign(new Error(message), more)
}

run('options', {
  null: { options: null, body: A },
  none: { options: undefined, body: A },
  'no object': { options: 'text', body: A },
  false: { options: false, body: A },
  'strict: true': { options: { strict: true }, body: '1' },
  'strict: null': { options: { strict: null }, body: '1' },
  'strict: 0': { options: { strict: 0 }, body: '1' },
  reviver: { options: { reviver: (key: string, value: unknown) => (key === 'a' ? 'revived' : value) }, body: A },
  'a reviver that throws': { options: { reviver: () => throwing('no') }, body: A },
  'reviver: null': { options: { reviver: null }, body: A },
  'a type': { options: { type: 'text/x' }, headers: { 'content-type': 'text/x' }, body: A },
  'a type, and another comes': { options: { type: 'text/x' }, body: A },
  types: { options: { type: ['text/x', '+json'] }, headers: { 'content-type': 'application/a+json' }, body: A },
  'type as a function': { options: { type: (request: any) => request.method === 'POST' }, body: A },
  'type: */*': { options: { type: '*/*' }, headers: { 'content-type': 'image/png' }, body: A },
  'type: empty': { options: { type: '' }, body: A },
  'verify: false': { options: { verify: false }, body: A },
  'verify that throws': { options: { verify: () => throwing('no') }, body: A, like: /entity.verify.failed/ },
  'verify that throws a type and a status': {
    options: { verify: () => throwing('no', { type: 'own', status: 418 }) },
    body: A
  },
  'defaultCharset: utf-16': { options: { defaultCharset: 'utf-16' }, body: A },
  'defaultCharset: empty': { options: { defaultCharset: '' }, body: A }
})

t.test('verify gets what Express gives it', async (t) => {
  const seenBy = async (engine: any): Promise<unknown> => {
    const calls: unknown[] = []
    const verify = (request: any, response: any, bytes: Buffer, encoding: string): unknown =>
      calls.push([request.method, typeof response.json, bytes.toString(), encoding, stateOf(request)])
    return [await outcomeOf(t, engine, { options: { verify }, body: A }), calls]
  }
  t.strictSame(await seenBy(twinrouteExpress), await seenBy(express))
})

t.test('options that are refused', async (t) => {
  const refused = { limit: ['x', '', 'kb', Number.NaN, {}, true, []], verify: ['x', 1, {}], type: [5] }
  const made = (engine: any, options: unknown): unknown => {
    try {
      return typeof engine.json(options)
    } catch (error) {
      return errorOf(error)
    }
  }
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values)
      t.strictSame(made(twinrouteExpress, { [name]: value }), made(express, { [name]: value }), `${name}: ${value}`)
  }
  t.match(made(twinrouteExpress, { limit: 'x' }), { name: 'TypeError', message: 'option limit "x" is invalid' })
})

t.test('the functions are named as in Express', async (t) => {
  const namesOf = (engine: any): unknown => {
    const parser = engine.json()
    return [engine.json.name, engine.json.length, parser.name, parser.length]
  }
  t.strictSame(namesOf(twinrouteExpress), namesOf(express))
})

const hasCome =
  (bytes: number): Middleware =>
  async (request, _response, next) => {
    while (request.readableLength < bytes) await turn()
    next()
  }

const isComplete: Middleware = async (request, _response, next) => {
  while (!request.complete) await turn()
  next()
}

run('where the parser stands', {
  twice: { use: ({ app, json }) => app.use(json, json), body: A },
  'twice, and no JSON comes': { use: ({ app, json }) => app.use(json, json), body: '{' },
  'twice, without waiting': {
    use: ({ app, json, seen }) =>
      app.use((request: any, response: any, next: any) => {
        let left = 2
        const done = (error: unknown): void => {
          seen.add('done', errorOf(error), request.body)
          left -= 1
          if (left === 0) next()
        }
        json(request, response, done)
        json(request, response, done)
      }),
    body: A
  },
  'before urlencoded()': { use: ({ app, json, engine }) => app.use(json, engine.urlencoded()), body: A },
  'before urlencoded(), for which the body is': {
    use: ({ app, json, engine }) => app.use(json, engine.urlencoded()),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'a=1'
  },
  'behind text()': { use: ({ app, json, engine }) => app.use(engine.text({ type: '*/*' }), json), body: A },
  'before raw()': { use: ({ app, json, engine }) => app.use(json, engine.raw({ type: '*/*' })), body: A },
  'behind the whole body': { use: ({ app, json }) => app.use(isComplete, json), body: A },
  'behind the whole body, which is no JSON': { use: ({ app, json }) => app.use(isComplete, json), body: '{' },
  'behind the end of a request without a body': {
    use: ({ app, json }) => app.use(isComplete, json),
    headers: { 'content-length': undefined }
  },
  'behind a part of the body': {
    use: (stage) =>
      stage.app.use(hasCome(2), (_: any, __: any, next: any) => (stage.seen.add('data', 2), next()), stage.json),
    talk: inParts(['{"', 'a":1}'])
  },
  'in a route': { use: ({ app, json, ...stage }) => app.post('/', json, handler({ app, json, ...stage })), body: A },
  'in a route of another path': { use: ({ app, json }) => app.post('/other', json), body: A },
  'in a Router': {
    use: ({ app, json, engine }) => app.use('/sub', engine.Router().use(json)),
    line: 'POST /sub/x',
    body: A
  },
  'in a Router of a handler': {
    use: (stage) => stage.app.use('/sub', stage.engine.Router().use(stage.json).post('/x', handler(stage))),
    line: 'POST /sub/x',
    body: A
  },
  'in a mounted application': {
    use: (stage) => stage.app.use('/sub', stage.engine().use(stage.json, handler(stage))),
    line: 'POST /sub/x',
    body: A
  },
  'in a mounted application, and no JSON comes': {
    use: (stage) => stage.app.use('/sub', stage.engine().use(stage.json)),
    line: 'POST /sub/x',
    body: '{'
  },
  'in a mounted application of Express': {
    use: (stage) => stage.app.use('/sub', express().use(stage.json as any, handler(stage) as any)),
    line: 'POST /sub/x',
    body: A
  },
  'below a path': { use: ({ app, json }) => app.use('/sub', json), line: 'POST /sub/x', body: A },
  'below another path': { use: ({ app, json }) => app.use('/sub', json), line: 'POST /x', body: A },
  'in app.param': {
    use: (stage) => stage.app.param('id', stage.json).post('/:id', handler(stage)),
    line: 'POST /7',
    body: A
  }
})

const first = (change: (request: any, response: any, seen: Seen) => unknown): Row => ({
  use: ({ app, json, seen }) =>
    app.use((request: any, response: any, next: any) => {
      const changed = change(request, response, seen)
      if (changed instanceof Promise) void changed.then(() => next())
      else next()
    }, json),
  body: A
})

/** What others do to the request while it is read, and behind. */
const meanwhile = (change: (request: any, seen: Seen) => unknown, body: string | Buffer = A): Row => ({
  use: ({ app, json, seen }) =>
    app.use((request: any, response: any, next: any) => {
      json(request, response, next)
      change(request, seen)
    }),
  body
})

const told =
  (seen: Seen, name: string) =>
  (value: unknown): void =>
    seen.add(name, Buffer.isBuffer(value) ? value.toString() : value)

/** Tells of the ends of request and response, in order. */
const tellingEnds =
  ({ seen }: Stage): Middleware =>
  (request, response, next) => {
    for (const name of ['end', 'close', 'aborted']) request.on(name, () => seen.add(`request ${name}`))
    for (const name of ['finish', 'close']) response.on(name, () => seen.add(`response ${name}`))
    next()
  }

run('what others do to the request before', {
  'listen to data': first((request, _, seen) => request.on('data', told(seen, 'data'))),
  'listen to readable': first((request) => request.on('readable', () => request.read())),
  'listen to end': first((request, _, seen) => request.on('end', told(seen, 'end'))),
  'read it': first(async (request, _, seen) => {
    for await (const chunk of request) told(seen, 'chunk')(chunk)
  }),
  'read a part': first(async (request) => {
    while (!request.complete) await turn()
    request.read(2)
  }),
  'read a part and put it back': first(async (request) => {
    while (!request.complete) await turn()
    request.unshift(request.read(2))
  }),
  'put more in front': first((request) => void request.unshift(Buffer.from('{"b":'))),
  'setEncoding()': first((request) => request.setEncoding('utf8')),
  'resume()': first((request) => request.resume()),
  'listen to data, and stop': first((request) => {
    const listener = (): void => {}
    request.on('data', listener).off('data', listener)
  }),
  'pause(), and the parser resumes nothing': {
    ...first((request) => void request.pause()),
    use: ({ app, json, seen }) =>
      app.use((request: any, response: any, next: any) => {
        request.pause()
        json(request, response, next)
        seen.add('state', stateOf(request))
        request.resume()
      })
  },
  'remove the length': first((request) => delete request.headers['content-length']),
  'tell another length': first((request) => (request.headers['content-length'] = '8')),
  'tell a length that is a number': first((request) => (request.headers['content-length'] = 7)),
  'remove the type': first((request) => delete request.headers['content-type']),
  'set the type': {
    ...first((request) => (request.headers['content-type'] = 'application/json')),
    headers: { 'content-type': 'a/b' }
  },
  'set a body': first((request) => (request.body = 'set')),
  'set a body, and none comes': {
    ...first((request) => (request.body = 'set')),
    headers: { 'content-length': undefined },
    body: ''
  },
  'set a body, and no JSON comes': { ...first((request) => (request.body = 'set')), body: '{' },
  'a body that cannot be set to this': first((request) => {
    const set = (value: any): void => void (value && throwing('not this'))
    Object.defineProperty(request, 'body', { get: () => 'fixed', set, configurable: true })
  }),
  'answer at once': {
    use: ({ app, json }) =>
      app.use(
        (_request: any, response: any, next: any) => (response.json('early'), next()),
        json,
        () => {}
      ),
    body: A
  },
  'hand on an object in its place': {
    use: ({ app, json }) =>
      app.use((request: any, response: any, next: any) => {
        const other = Object.create(request)
        json(other, response, (error: unknown) => {
          request.body = ['of the other', other.body]
          next(error)
        })
      }),
    body: A
  },
  'hand on a proxy in its place': {
    use: ({ app, json }) =>
      app.use((request: any, response: any, next: any) => json(new Proxy(request, {}), response, next)),
    body: A
  }
})

run('what others do to the request meanwhile', {
  'listen to data': meanwhile((request, seen) => request.on('data', told(seen, 'data'))),
  'listen to readable': {
    use: ({ app, json, seen }) =>
      app.use(isComplete, (request: any, response: any, next: any) => {
        json(request, response, next)
        request.on('readable', () => seen.add('readable', request.read()?.toString()))
      }),
    body: A
  },
  'listen to end': meanwhile((request, seen) => request.on('end', () => seen.add('end', stateOf(request)))),
  'setEncoding()': meanwhile((request) => request.setEncoding('utf8')),
  'setEncoding(), and what comes is beyond ASCII': meanwhile((request) => request.setEncoding('utf8'), '{"a":"ü"}'),
  'setEncoding(hex)': meanwhile((request) => request.setEncoding('hex')),
  'pause() and resume()': meanwhile((request) => request.pause().resume()),
  'pipe it': meanwhile((request) =>
    request.pipe(
      new (class extends EventEmitter {
        writable = true
        write = (): boolean => true
        end(): void {}
      })() as any
    )
  ),
  'emit aborted': meanwhile((request) => request.emit('aborted')),
  'emit an error when it has been read': {
    use: ({ app, json }) => app.use(json, (request: any) => request.emit('error', new Error('late'))),
    body: A,
    like: /late/
  },
  'destroy it with an error when it has been read': {
    use: (stage) =>
      stage.app.use(tellingEnds(stage), stage.json, (request: any, _response: any, next: any) => {
        request.destroy(new Error('late'))
        next()
      }),
    talk: async ({ wire, seen }) => {
      await wire.write(requestOf({ body: A }))
      await Promise.all([seen.until('handler'), seen.until('request close')])
    }
  },
  'listen through a method of its own': {
    use: ({ app, json, seen }) =>
      app.use((request: any, _response: any, next: any) => {
        const { on } = request
        request.on = function (this: unknown, name: string, listener: (value: unknown) => void) {
          if (name !== 'data') return on.call(this, name, listener)
          return on.call(this, name, (chunk: Buffer) => {
            seen.add('data', chunk.toString())
            listener(Buffer.from('{"b":2}'))
          })
        }
        next()
      }, json),
    body: A,
    like: /b/
  },
  'remove the type': meanwhile((request) => delete request.headers['content-type'], '{'),
  'emit an error': meanwhile((request) => request.emit('error', new Error('emitted'))),
  'emit an error at the first data': meanwhile((request) =>
    request.once('data', () => request.emit('error', Object.assign(new Error('emitted'), { status: 418, code: 'X' })))
  ),
  'listen to errors, and emit one': meanwhile((request, seen) => {
    request.on('error', (error: Error) => seen.add('own', error.message))
    request.emit('error', new Error('emitted'))
  }),
  'emit an error, and what comes is no JSON': meanwhile((request) => request.emit('error', new Error('emitted')), '{'),
  'count its listeners': {
    use: ({ app, json, seen }) =>
      app.use(json, (request: any, _response: any, next: any) => {
        seen.add('listeners', request.listenerCount('error'), request.listenerCount('readable'))
        next()
      }),
    body: A
  },
  'destroy it at its end': {
    use: ({ app, json }) =>
      app.use((request: any, _response: any, next: any) => {
        request.on('end', () => request.destroy())
        next()
      }, json),
    body: A
  }
})

const cut = (parts: readonly string[], how: (request: any) => unknown, more: Partial<Row> = {}): Row => ({
  use: (stage) =>
    stage.app.use(
      tellingEnds(stage),
      (request: any, _response: any, next: any) => {
        void stage.seen.until('cut').then(() => how(request))
        next()
      },
      telling(stage)
    ),
  talk: inParts(parts, async ({ wire, seen }) => {
    seen.add('cut')
    if (more.line === 'client') wire.socket.destroy()
    await Promise.all([seen.until('request close'), seen.until('response close'), seen.until('error')])
    await wire.closed()
  }),
  ...more
})

run('a request that is cut', {
  'by the client': cut(['{"a"'], () => {}, {
    line: 'client',
    like: /ECONNABORTED","expected":5,"length":5,"message":"request aborted","received":4/
  }),
  'by the client, in parts': cut(['{', '"a"'], () => {}, { line: 'client' }),
  'by the client, no JSON': cut(['x'], () => {}, { line: 'client' }),
  'by request.destroy()': cut(['{"a"'], (request) => request.destroy(), { like: /request.aborted/ }),
  'by request.destroy(error)': cut(['{"a"'], (request) => request.destroy(new Error('mine'))),
  'by request.destroy(error), with a listener': cut(['{"a"'], (request) => {
    request.on('error', () => {})
    request.destroy(new Error('mine'))
  }),
  'by the socket': cut(['{"a"'], (request) => request.socket.destroy()),
  'by the response': cut(['{"a"'], (request) => request.res.destroy())
})

run('a request that is cut before the parser', {
  'by chunks that are broken': {
    use: (stage) =>
      stage.app.use((request: any, response: any, next: any) => {
        stage.json(request, response, next)
        stage.seen.add('called')
      }),
    talk: async ({ wire, seen }) => {
      await wire.write(requestOf({ headers: CHUNKED }))
      await seen.until('called')
      await wire.write('x')
      await Promise.all([seen.until('error'), wire.closed()])
    }
  },
  'by request.destroy()': {
    use: ({ app, json, seen }) =>
      app.use(
        (request: any, _response: any, next: any) => {
          request.destroy()
          next()
        },
        json,
        (request: any, _response: any, next: any) => {
          seen.add('next', 'body' in request)
          next()
        }
      ),
    body: A
  },
  'by request.destroy() right behind it': {
    use: ({ app, json }) =>
      app.use(hasCome(A.length), (request: any, response: any, next: any) => {
        json(request, response, next)
        request.destroy()
      }),
    headers: { 'content-length': A.length + 1 },
    body: A
  },
  'by request.destroy() at the first data': {
    ...meanwhile((request) => request.on('data', () => request.destroy())),
    headers: { 'content-length': A.length + 1 }
  },
  'by a listener of data that was there before': {
    use: ({ app, json }) =>
      app.use((request: any, response: any, next: any) => {
        json(request, response, next)
        request.prependListener('data', () => request.destroy())
      }),
    headers: { 'content-length': A.length + 1 },
    body: A
  }
})

t.test('a client that has ended its side, where the server lets it', async (t) => {
  const received = async (engine: any): Promise<unknown> => {
    const seen = new Seen()
    const app = engine()
    const stage = { app, engine, seen, json: engine.json() }
    app.use(async (request: any, _response: any, next: any) => {
      while (request.socket.readable) await turn()
      next()
    })
    app.use(stage.json, handler(stage), errorHandler(stage))
    const server = createServer(app.serverOptions ?? {}, app)
    Object.assign(server, { httpAllowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const all: unknown[] = []
    for (const row of [{ body: A }, { line: 'GET /', headers: { 'content-length': undefined } }]) {
      const wire = new Wire(t, address)
      wire.socket.allowHalfOpen = true
      await wire.write(requestOf({ ...row, headers: { ...row.headers, connection: 'close' } }))
      wire.socket.end()
      await wire.closed()
      all.push(plain(wire.received))
    }
    return [all, seen.all]
  }
  const expected = await received(express)
  t.match(JSON.stringify(expected), /"has":false/)
  t.strictSame(await received(twinrouteExpress), expected)
})

t.test('an upgrade that is given to the application', async (t) => {
  const seenBy = async (engine: any): Promise<unknown> => {
    const seen = new Seen()
    const app = engine()
    app.use(engine.json(), (request: any, response: any) => {
      seen.add('handler', 'body' in request, request.upgrade)
      response.end('upgraded')
    })
    const server = createServer(app.serverOptions ?? {}, app)
    server.on('upgrade', (request, socket) => {
      const response = new (
        app.serverOptions?.ServerResponse ??
        (Object.getPrototypeOf(Object.getPrototypeOf(app.response)) as any).constructor
      )(request)
      response.assignSocket(socket)
      response.on('finish', () => socket.end())
      app(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const wire = new Wire(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await wire.write(head('GET /', { connection: 'upgrade', upgrade: 'x' }))
    await wire.until(/upgraded/)
    return seen.all
  }
  t.strictSame(await seenBy(express), [['handler', false, true]])
  t.strictSame(await seenBy(twinrouteExpress), [['handler', false, true]])
})

t.test('end and close are emitted once', async (t) => {
  for (const body of [A, LONG, '{', '1', '']) {
    const events = async (engine: any): Promise<unknown> => {
      const row: Row = {
        use: (stage) => stage.app.use(tellingEnds(stage), stage.json),
        talk: async ({ wire, seen }) => {
          await wire.write(requestOf({ body }))
          await Promise.all([seen.until('request close'), seen.until('response close')])
          await wire.write(requestOf({ body: A, headers: { connection: 'close' } }))
          await wire.closed()
          await Promise.all([seen.until('request close', 2), seen.until('response close', 2)])
        }
      }
      const { seen } = (await outcomeOf(t, engine, row)) as { seen: unknown[][] }
      return seen.map(([name]) => name).toSorted()
    }
    const got = await events(twinrouteExpress)
    t.strictSame(got, await events(express), body.slice(0, 10))
    t.equal((got as string[]).filter((name) => name === 'request close').length, 2)
    t.equal((got as string[]).filter((name) => name === 'request end').length, 2)
  }
})

t.test('the async context of middleware before is that of the handler', async (t) => {
  const storage = new AsyncLocalStorage<string>()
  const rows: Row[] = [
    { body: A },
    { body: '{' },
    { body: ' {}' },
    { body: '' },
    { body: LONG },
    { headers: { 'content-length': undefined } },
    { headers: CHUNKED, body: '2\r\n{}\r\n0\r\n\r\n' }
  ]
  for (const row of rows) {
    const stores = async (engine: any): Promise<unknown> => {
      const all: unknown[] = []
      const use = ({ app, json }: Stage): void => {
        app.use((_request: any, _response: any, next: any) => storage.run('mine', next), json)
        app.use((_request: any, _response: any, next: any) => (all.push(storage.getStore()), next()))
        app.use((error: any, _request: any, _response: any, next: any) => (all.push(storage.getStore()), next(error)))
      }
      await outcomeOf(t, engine, { ...row, use })
      return all
    }
    t.strictSame(await stores(express), ['mine'])
    t.strictSame(await stores(twinrouteExpress), ['mine'])
  }
  const ofCut = async (engine: any): Promise<unknown> => {
    const row = cut(['{"a"'], () => {}, { line: 'client' })
    const use = (stage: Stage): void => {
      stage.app.use((_request: any, _response: any, next: any) => storage.run('mine', next))
      row.use?.(stage)
      stage.app.use((error: any, _request: any, _response: any, next: any) => {
        stage.seen.add('store', storage.getStore())
        next(error)
      })
    }
    return outcomeOf(t, engine, { ...row, use })
  }
  t.match(JSON.stringify(await ofCut(express)), /\["store","mine"\]/)
  t.match(JSON.stringify(await ofCut(twinrouteExpress)), /\["store","mine"\]/)
})

t.test('the final page of Express, where no middleware takes the error', async (t) => {
  for (const env of ['production', 'development']) {
    for (const row of [
      { body: '{' },
      { body: '1' },
      { body: LONG.repeat(2) },
      { body: A, headers: { 'content-encoding': 'x' } }
    ]) {
      const page = async (engine: any): Promise<string> => {
        const app = engine()
        app.set('env', env).use(engine.json())
        t.capture(console, 'error', () => {}) // Express prints such errors
        const wire = new Wire(t, await listen(t, app))
        await wire.write(requestOf({ ...row, headers: { ...row.headers, connection: 'close' } }))
        const received = plain(await wire.closed())
        // below the first line is where in the code it was thrown
        return received.replaceAll(/<br> &nbsp; &nbsp;at .*/g, '</pre>').replace(/content-length: \d+/i, 'length')
      }
      const expected = await page(express)
      t.match(expected, /^HTTP\/1\.1 4\d\d [^]*<pre>/)
      t.equal(await page(twinrouteExpress), expected, `${env}: ${row.body.slice(0, 10)}`)
    }
  }
})

t.test('a server of another making', async (t) => {
  for (const body of [A, '{', '1', '']) {
    const answers = async (engine: any): Promise<unknown> => {
      const seen = new Seen()
      const app = engine()
      app.use(engine.json()).use(handler({ app, engine, seen, json: app }))
      app.use(errorHandler({ app, engine, seen, json: app }))
      const address = await listen(t, (request, response) => app(request, response))
      for (let round = 0; round < 2; round++) {
        const wire = new Wire(t, address)
        await wire.write(requestOf({ body, headers: { connection: 'close' } }))
        seen.add(plain(await wire.closed()))
      }
      return seen.all
    }
    t.strictSame(await answers(twinrouteExpress), await answers(express), body)
  }
})

t.test('an injected request', async (t) => {
  const app: any = twinrouteExpress()
  t.teardown(() => app.fastify.close())
  app.use(twinrouteExpress.json())
  app.post('/', (request: any, response: any) => response.json({ got: request.body ?? 'none' }))
  app.use((error: any, _request: any, response: any, _next: any) => response.status(error.status).json(error.type))
  const inject = async (payload: string | undefined): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await app.fastify.inject({ method: 'POST', url: '/', headers, payload })
    return [statusCode, body]
  }
  t.strictSame(await inject(A), [200, '{"got":{"a":1}}'])
  t.strictSame(await inject('1'), [400, '"entity.parse.failed"'])
  t.strictSame(await inject(undefined), [200, '{"got":"none"}'])
})

/** A request of node's that no server has made. */
function ofNode(kind: new (socket: Socket) => IncomingMessage, body: string): IncomingMessage {
  const request = new kind(Object.assign(new Socket(), { readable: true }))
  request.headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  request.push(body)
  request.push(null)
  return request
}

const MOCKS: Readonly<Record<string, (body: string, kind: any) => any>> = {
  'a stream': (body) => Object.assign(Readable.from([Buffer.from(body)]), headersOf(body)),
  'a stream that has ended': (body) => Object.assign(Readable.from([]).resume().destroy(), headersOf(body)),
  'an emitter': (body) => {
    const emitter = Object.assign(new EventEmitter(), headersOf(body), { resume() {}, pause() {} })
    void turn().then(() => emitter.emit('data', Buffer.from(body)) && emitter.emit('end'))
    return emitter
  },
  'headers alone': () => ({ headers: {}, method: 'GET' }),
  'a body that is there': () => ({ headers: {}, method: 'GET', body: { there: 1 } }),
  'a request of node': (body) => ofNode(IncomingMessage, body),
  'a request of a server': (body, kind) => ofNode(kind, body),
  'a request of a server without a socket': (body, kind) => {
    const request = ofNode(kind, body)
    Object.assign(request, { socket: undefined })
    return request
  },
  'a request that tells another length': (body, kind) => {
    const request = ofNode(kind, body)
    request.headers['content-length'] = '3'
    return request
  }
}

function headersOf(body: string): object {
  return { headers: { 'content-type': 'application/json', 'content-length': String(body.length) }, method: 'POST' }
}

t.test('mocks', async (t) => {
  for (const [name, mock] of Object.entries(MOCKS)) {
    for (const body of [A, '{', '1']) {
      const called = (engine: any, through: any): Promise<unknown> => {
        const request = mock(body, engine === express ? IncomingMessage : engine().serverOptions.IncomingMessage)
        return new Promise((resolve) => {
          const next = (...given: unknown[]): void =>
            resolve([given.map(errorOf), 'body' in request, request.body, Object.keys(request).includes('body')])
          const response = { setHeader() {}, getHeader() {}, on() {} }
          if (through === undefined) return engine.json()(request, response, next)
          Object.assign(request, { url: '/', method: 'POST' })
          through.handle(request, response, next)
        })
      }
      t.strictSame(await called(twinrouteExpress, undefined), await called(express, undefined), `${name}: ${body}`)
      if (name === 'an emitter' || name === 'headers alone' || name === 'a body that is there') continue // Express takes the request for one of node's
      const apps = [express, twinrouteExpress].map((engine: any) => engine().use(engine.json()))
      t.strictSame(
        await called(twinrouteExpress, apps[1]),
        await called(express, apps[0]),
        `${name}: ${body}, app.handle`
      )
    }
  }
})

t.test('in an application of createApp', async (t) => {
  const ANSWER = { POST: (request: any) => ({ got: request.body ?? 'none' }) }
  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { a: ANSWER }) })
  t.teardown(() => app.close())
  app.use(twinrouteExpress.json() as any)
  const address = await addressOf(app)
  const answers: string[] = []
  for (const parts of [[A], everyByte(UTF8_CUT), ['{'], ['1']]) {
    const wire = new Wire(t, address)
    const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
    await wire.write(requestOf({ line: 'POST /api/a', headers: { 'content-length': length, connection: 'close' } }))
    for (const part of parts) {
      await wire.write(part)
      await turn()
    }
    answers.push((await wire.closed()).replace(/^HTTP\/1.1 (\d+)[^]*\r\n\r\n/, '$1 '))
  }
  t.strictSame(answers.slice(0, 2), [
    '200 {"got":{"a":1}}',
    `200 ${Buffer.from(`{"got":${UTF8_CUT}}`).toString('latin1')}`
  ])
  t.match(answers.slice(2), [/^400 /, /^400 /])
})
