// What leaves the process when code of node's own ends an answer.
import { execFile } from 'node:child_process'
import { get, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import express from 'express'
import fc from 'fast-check'
import t from 'tap'
import twinrouteExpress from 'twinroute/express'
import { answerBy, HEADS, requestFor } from './generators/heads.js'
import { addressOf, appOf, callByInject, callOver } from './support/hosts.js'
import { listen } from './support/express-server.js'
import { root } from './support/source-tree.js'
import { head, Wire } from './support/wire.js'

const run = promisify(execFile)

type Handler = (request: any, response: any, next: any) => unknown

const SEED = 26

/** How code that knows node only ends an answer. */
const nodeAnswers: Record<string, (response: any) => unknown> = {
  'a text': (response) => response.end('text'),
  'a text, its encoding named': (response) => response.end('text', 'utf8'),
  'a text beyond ASCII': (response) => response.end('träume ✓'),
  'a text in another encoding': (response) => response.end('träume', 'latin1'),
  'an empty text': (response) => response.end(''),
  nothing: (response) => response.end(),
  bytes: (response) => response.end(Buffer.from([0, 127, 128, 255, 13, 10])),
  'bytes of a larger memory': (response) => response.end(new Uint8Array([1, 2, 200, 4]).subarray(1, 3)),
  'no bytes': (response) => response.end(Buffer.alloc(0)),
  'many bytes': (response) => response.end(Buffer.alloc(100_000, 'ü')),
  'a text and a callback': (response) => response.end('text', () => undefined),
  'a long text': (response) => response.end('x'.repeat(500_000)),
  'headers and their length': (response) => {
    response.writeHead(201, { 'X-A': 'b', 'Content-Length': 4 })
    response.end('text')
  },
  'headers and no length': (response) => {
    response.writeHead(201, { 'X-A': 'b' })
    response.end('text')
  },
  'a length that was set': (response) => {
    response.setHeader('Content-Length', '4')
    response.end('text')
  },
  'a length that would fit, were characters bytes': (response) => {
    response.setHeader('Content-Length', '6')
    response.end('träume')
  },
  'a head that has left': (response) => {
    response.setHeader('Content-Length', '4')
    response.flushHeaders()
    response.end('text')
  },
  'a part and an end': (response) => {
    response.write('te')
    response.end('xt')
  },
  'a Transfer-Encoding': (response) => {
    response.setHeader('Transfer-Encoding', 'chunked')
    response.end('text')
  },
  'a connection that is to close': (response) => {
    response.setHeader('Connection', 'close')
    response.end('text')
  },
  'trailers behind a length': (response) => {
    response.setHeader('Content-Length', '4')
    response.addTrailers({ 'x-late': '1' })
    response.end('text')
  },
  'a status without a body': (response) => {
    response.statusCode = 304
    response.end('text')
  },
  'a corked response': (response) => {
    response.cork()
    response.end('text')
    response.uncork()
  },
  'in a later turn': (response) => setImmediate(() => response.end('text')),
  'a header beyond ASCII and a text': (response) => response.writeHead(200, { 'X-Name': 'José' }).end('text'),
  'the same, and the text is, too': (response) => response.setHeader('X-Name', 'José').end('träume'),
  'a header beyond ASCII and bytes': (response) => response.setHeader('X-Name', 'José').end(Buffer.from('bytes')),
  'an empty array of bytes behind a head': (response) => response.writeHead(200, { 'X-A': 'b' }).end(new Uint8Array(0)),
  'a text of many bytes': (response) => response.end('ü'.repeat(10_000)),
  'half a character': (response) => response.end('\ud83d and more')
}

/** What comes back for three requests in one packet, without the lines that differ from answer to answer. */
function threeAnswers(t: any, address: string, line: string): Promise<string> {
  return answers(t, address, head(line) + head(line))
}

async function answers(t: any, address: string, requests: string): Promise<string> {
  const wire = new Wire(t, address)
  await wire.write(requests + head('GET /last', { connection: 'close' }))
  return (await wire.closed()).replaceAll(/^(?:date|keep-alive|x-request-id): .*\r\n/gim, '')
}

/** The same handler on a server of node's, and on ours. */
async function serve(t: any, handle: (request: any, response: any) => void) {
  const app = twinrouteExpress()
  app.disable('x-powered-by').use(handle)
  const started = await appOf(t, { routes: { a: { GET: () => 'a' } } })
  started.use(handle)
  const addresses = { 'twinroute/express': await listen(t, app as never), createApp: await addressOf(started) }
  return { node: await listen(t, handle), addresses }
}

t.test('an answer that is ended by node code is byte for byte that of node', async (t) => {
  for (const [what, answer] of Object.entries(nodeAnswers)) {
    t.test(what, async (t) => {
      const handle = (request: any, response: any): void =>
        void (request.url === '/last' ? response.end('last') : answer(response))
      const { node, addresses } = await serve(t, handle)
      for (const line of ['GET /a', 'HEAD /a']) {
        const bytes = await threeAnswers(t, node, line)
        for (const [name, address] of Object.entries(addresses))
          t.equal(await threeAnswers(t, address, line), bytes, `${name}: ${line}`)
      }
    })
  }
})

t.test('a head is byte for byte that of node, whichever headers are in it', async (t) => {
  const heads = fc.sample(HEADS, { seed: SEED, numRuns: 400 })
  const handle = (request: any, response: any): void => {
    if (request.url === '/last') response.end('last')
    else refused = answerBy(heads[Number(request.url.slice(1))]!, response)
  }
  let refused: string | undefined
  const seen = async (address: string, at: number) => {
    refused = undefined
    return [await answers(t, address, requestFor(heads[at]!, at)), refused]
  }
  const { node, addresses } = await serve(t, handle)
  for (const [at, one] of heads.entries()) {
    const bytes = await seen(node, at)
    for (const [name, address] of Object.entries(addresses))
      t.strictSame(await seen(address, at), bytes, `${name}, seed ${SEED}: ${JSON.stringify(one)}`)
  }
})

const FILE = 'attachment; filename="José.txt"'

t.test('the name of a file may have letters of Latin-1, whatever stands beside it', async (t) => {
  const beside: Record<string, [string, string | string[]]> = {
    nothing: ['X-One', 'a'],
    cookies: ['Set-Cookie', ['a=1', 'b=2']],
    closing: ['Connection', 'close'],
    long: ['X-Long', 'x'.repeat(600)]
  }
  const GET = (request: any, s: any): void => {
    s.setHeader('Content-Disposition', FILE).setHeader(...beside[request.query.beside]!)
    if (request.query.by === 'json') s.json(1)
    else s.end(request.query.by === 'end' ? 'text' : Buffer.from('bytes'))
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  const call = callOver(await addressOf(app))
  for (const by of ['json', 'end', 'bytes'])
    for (const name of Object.keys(beside)) {
      const { status, headers } = await call(`GET /api/a?by=${by}&beside=${name}`)
      const given = String(headers['content-disposition'])
      const bytes = [FILE, Buffer.from(FILE).toString('latin1')] // node writes a head in front of a text as UTF-8
      t.strictSame([status, bytes.includes(given)], [200, true], `${by}, beside ${name}: ${given}`)
    }
})

t.test(
  'another package that has replaced writeHead sees the names as they were set, and may add its own',
  async (t) => {
    const { writeHead } = ServerResponse.prototype
    t.teardown(() => void (ServerResponse.prototype.writeHead = writeHead))
    const seen: string[] = []
    ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: any[]) {
      seen.push(...Object.keys(given.at(-1)))
      this.setHeader('X-Added', '1')
      return writeHead.apply(this, given as never)
    } as never
    const app = await appOf(t, { routes: { a: { GET: (_q: any, s: any) => s.set('X-One', 'a').json(1) } } })
    const { rawHeaders } = await new Promise<IncomingMessage>((resolve, reject) => {
      void addressOf(app).then((address) => get(`${address}/api/a`, resolve).on('error', reject))
    })
    t.ok(rawHeaders.includes('X-One') && rawHeaders.includes('X-Added') && seen.includes('X-One'), String(rawHeaders))
  }
)

t.test('a package that is loaded before, and replaces methods of node, is given what node gives them', async (t) => {
  const program = `
    import http from 'node:http'
    const seen = {}
    for (const [prototype, name] of [[http.OutgoingMessage, '_storeHeader'], [http.OutgoingMessage, 'end'], [http.ServerResponse, 'writeHead']]) {
      const method = prototype.prototype[name]
      prototype.prototype[name] = function (...given) {
        seen[name] = given
        return method.apply(this, given)
      }
    }
    const { default: express } = await import('twinroute/express')
    const app = express()
    app.disable('x-powered-by')
    app.get('/', (request, response) => response.set('X-One', 'a').send('text'))
    const server = app.listen(0, '127.0.0.1', async () => {
      await (await fetch('http://127.0.0.1:' + server.address().port)).text()
      server.close()
      process.stdout.write(JSON.stringify(seen))
    })`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root })
  const { _storeHeader, end, writeHead } = JSON.parse(stdout)
  t.equal(_storeHeader[0], 'HTTP/1.1 200 OK\r\n')
  t.match(_storeHeader[1], { 'X-One': 'a' })
  t.match(writeHead, [200, { 'X-One': 'a' }])
  t.equal(end[0], 'text')
})

t.test('values of headers are not kept in memory, nor what they are a part of', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const GET = (request: any, s: any): unknown => {
    const whole = 'a'.repeat(20) + Buffer.alloc(4_000_000, 97).toString('latin1')
    return s.set(`X-Part-${request.query.at}`, whole.slice(5, 200)).set('Vary', whole.slice(6, 200)).json(1)
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  const call = callOver(await addressOf(app))
  await call('GET /api/a?at=0')
  collect()
  const before = memory()
  for (let at = 1; at <= 40; at++) await call(`GET /api/a?at=${at}`)
  collect()
  t.ok(memory() - before < 80_000_000, `${memory() - before} bytes more behind 40 requests of 4 MB`)
})

/** Bytes of JavaScript, texts outside its heap included. */
function memory(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

t.test('an answer leaves in one write with its head, and the head can still be read', async (t) => {
  const writes: unknown[][] = []
  const seen: unknown[] = []
  const counted: Handler = (request, response, next) => {
    const { socket } = request
    for (const name of ['_write', '_writev']) {
      const method = socket[name]
      socket[name] = function (...given: unknown[]) {
        writes.push([name, given[0]])
        return method.apply(this, given)
      }
      response.once('finish', () => {
        delete socket[name]
        seen.push(response.headersSent, response.writableEnded, String(response._header).endsWith('\r\n\r\n'))
      })
    }
    next()
  }
  const routes = {
    value: { GET: () => ({ a: 1 }) },
    json: { GET: (_q: any, s: any) => s.json({ a: 1 }) },
    beyond: { GET: () => 'träume ✓' },
    bytes: { GET: () => Buffer.from([0, 127, 128, 255]) }
  }
  const app = await appOf(t, { routes })
  app.use(counted)
  app.use('/raw', (_q, s) => void s.end('{"a":1}'))
  const call = callOver(await addressOf(app))
  const wanted = {
    '/api/value': '{"a":1}',
    '/api/json': '{"a":1}',
    '/raw': '{"a":1}',
    '/api/none': '{"statusCode":404,"code":"NOT_FOUND","error":"Not Found","message":"Route not found"}',
    '/api/beyond': 'träume ✓',
    '/api/bytes': Buffer.from([0, 127, 128, 255]).toString()
  }
  for (const [path, body] of Object.entries(wanted)) {
    writes.length = 0
    seen.length = 0
    const { text } = await call(`GET ${path}`)
    t.strictSame([text, writes.map(([name]) => name)], [body, ['_write']], path)
    t.ok(seen.length > 0 && seen.every(Boolean), path)
  }
})

t.test('a length that node is asked to check is checked', async (t) => {
  let refused: unknown
  const GET = (_q: any, response: any): void => {
    response.strictContentLength = true
    response.setHeader('content-length', '5')
    try {
      response.end('text')
    } catch (error: any) {
      refused = error.code
      response.socket.destroy()
    }
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  await t.rejects(callOver(await addressOf(app))('GET /api/a'))
  t.equal(refused, 'ERR_HTTP_CONTENT_LENGTH_MISMATCH')
})

t.test('the callback of `end` is called, wherever it stands', async (t) => {
  const ends: Record<string, (response: any, done: () => void) => unknown> = {
    'behind a text': (response, done) => response.end('text', done),
    'behind an encoding': (response, done) => response.end('text', 'utf8', done),
    'behind bytes': (response, done) => response.end(Buffer.from('text'), done),
    'behind no encoding': (response, done) => response.end('text', null, done),
    alone: (response, done) => response.end(done)
  }
  const called: Promise<void>[] = []
  const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
  app.use((request, response, next) => {
    const end = ends[decodeURIComponent(request.url).slice(1)]
    if (end === undefined) return next()
    called.push(new Promise((resolve) => void end(response, resolve)))
  })
  const call = callOver(await addressOf(app))
  for (const place of Object.keys(ends)) t.equal((await call(`GET /${encodeURIComponent(place)}`)).status, 200, place)
  await Promise.all(called)
  t.equal(called.length, Object.keys(ends).length)
})

t.test('an answer whose error handler sets a wrong length leaves as the bytes of its text', async (t) => {
  const text = '\u013cscript\u013e' // the lower bytes of the first and last character are those of < and >
  const app = await appOf(t, {
    routes: { a: { GET: () => Promise.reject(new Error('fails')) } },
    options: {
      errorHandler: (_error: unknown, _request: unknown, reply: any) => {
        reply.hijack()
        reply.raw.writeHead(500, { 'content-length': text.length })
        reply.raw.end(text)
      }
    }
  })
  const wire = new Wire(t, await addressOf(app))
  await wire.write(head('GET /api/a', { connection: 'close' }))
  t.match(await wire.closed(), `\r\n\r\n${Buffer.from(text).toString('latin1')}`)
})

/** As adapters of serverless platforms have it: a head that is empty until it is written, and no connection. */
class AdaptedResponse extends ServerResponse {
  _header: unknown
  readonly written: string[] = []

  constructor(request: IncomingMessage, header: '' | null) {
    super(request)
    this._header = header
    const write = (data: string | Uint8Array): void => void this.written.push(Buffer.from(data as string).toString())
    const nothing = (): undefined => undefined
    const connection = { write, writable: true, on: nothing, removeListener: nothing, cork: nothing, uncork: nothing }
    this.assignSocket({ ...connection, destroy: nothing, _writableState: {} } as unknown as Socket)
  }
}

for (const header of ['', null] as const) {
  t.test(`an adapter with a connection of its own is given what Express gives it, its head ${header}`, async (t) => {
    for (const [what, answer] of Object.entries(nodeAnswers)) {
      const given: string[] = []
      for (const create of [express, twinrouteExpress as unknown as typeof express]) {
        const app = create()
        app.disable('x-powered-by').use((_request, response) => void answer(response))
        const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/' })
        const response = new AdaptedResponse(request, header)
        const finished = new Promise((resolve) => response.once('prefinish', resolve))
        app(request as never, response as never)
        await finished
        given.push(JSON.stringify(response.written).replaceAll(/Date: [^\\]*|X-Request-Id: [^\\]*\\r\\n/gi, ''))
      }
      t.equal(given[1], given[0], what)
    }
  })
}

t.test('the head can be read when `end` has thrown', async (t) => {
  const seen: string[] = []
  const GET = (_q: any, response: any): void => {
    const send = response._send
    response._send = () => {
      response._send = send
      throw new Error('not now')
    }
    try {
      response.end('first')
    } catch {
      seen.push(String(response._header))
      response.destroy()
    }
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  await t.rejects(callOver(await addressOf(app))('GET /api/a'))
  t.match(seen, [/Content-Length: 5\r\n\r\n$/])
})

t.test('a replaced setHeader is called once for each header that is set, over a socket and injected', async (t) => {
  const set: string[] = []
  const GET = (_q: any, response: any): void => {
    response.setHeader('X-A', '1')
    response.removeHeader('x-b')
    response.end('text')
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  app.use((_request, response, next) => {
    const { setHeader } = response
    response.setHeader = function (this: unknown, name: string, value: string) {
      set.push(name)
      return setHeader.call(this as never, name, `${value}!`)
    } as never
    next()
  })
  for (const call of [callByInject(app), callOver(await addressOf(app))]) {
    set.length = 0
    t.equal((await call('GET /api/a')).headers['x-a'], '1!')
    t.strictSame(set, ['X-A'])
  }
})

t.test(
  "the final page of twinroute/express is that of the error, also where a plugin's header cannot be sent",
  async (t) => {
    const app = twinrouteExpress()
    app.set('env', 'test')
    t.teardown(() => app.fastify.close())
    app.fastify.addHook('onRequest', async (_request, reply) => void reply.header('x-bad', 'a\nb'))
    app.get('/fails', () => {
      throw Object.assign(new Error('of the route'), { status: 418 })
    })
    for (const call of [callByInject(app.fastify), callOver(await addressOf(app.fastify))]) {
      t.match(await call('GET /none'), { status: 404, text: /Cannot GET \/none/, headers: { 'x-bad': undefined } })
      t.match(await call('GET /fails'), { status: 418, text: /of the route/, headers: { 'x-bad': undefined } })
    }
  }
)
