// What leaves the process when code of node's own ends an answer.
import t from 'tap'
import twinrouteExpress from 'twinroute/express'
import { addressOf, appOf, callByInject, callOver } from './support/hosts.js'
import { listen } from './support/express-server.js'
import { head, Wire } from './support/wire.js'

type Handler = (request: any, response: any, next: any) => unknown

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
  'in a later turn': (response) => setImmediate(() => response.end('text'))
}

/** What comes back for three requests in one packet, without the lines that differ from answer to answer. */
async function threeAnswers(t: any, address: string, line: string): Promise<string> {
  const wire = new Wire(t, address)
  await wire.write(head(line) + head(line) + head('GET /last', { connection: 'close' }))
  return (await wire.closed()).replaceAll(/^(?:date|keep-alive|x-request-id): .*\r\n/gim, '')
}

t.test('an answer that is ended by node code is byte for byte that of node', async (t) => {
  for (const [what, answer] of Object.entries(nodeAnswers)) {
    t.test(what, async (t) => {
      const handle = (request: any, response: any): void =>
        void (request.url === '/last' ? response.end('last') : answer(response))
      const node = await listen(t, handle)
      const app = twinrouteExpress()
      app.disable('x-powered-by').use(handle)
      const started = await appOf(t, { routes: { a: { GET: () => 'a' } } })
      started.use(handle)
      const addresses = { 'twinroute/express': await listen(t, app as never), createApp: await addressOf(started) }
      for (const line of ['GET /a', 'HEAD /a']) {
        const bytes = await threeAnswers(t, node, line)
        for (const [name, address] of Object.entries(addresses))
          t.equal(await threeAnswers(t, address, line), bytes, `${name}: ${line}`)
      }
    })
  }
})

t.test('a text in ASCII leaves in one write with its head, and the head can still be read', async (t) => {
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
  const routes = { value: { GET: () => ({ a: 1 }) }, json: { GET: (_q: any, s: any) => s.json({ a: 1 }) } }
  const app = await appOf(t, { routes })
  app.use(counted)
  app.use('/raw', (_q, s) => void s.end('{"a":1}'))
  const call = callOver(await addressOf(app))
  for (const path of ['/api/value', '/api/json', '/raw', '/api/none']) {
    writes.length = 0
    seen.length = 0
    const { text } = await call(`GET ${path}`)
    t.equal(writes.length, 1, path)
    t.match(String(writes[0]?.[0]), '_write', path)
    if (path !== '/api/none') t.equal(text, '{"a":1}', path)
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

t.test(
  "a header value beyond ASCII leaves as Latin-1 with every answer, as with Express's response.send",
  async (t) => {
    const app = await appOf(t, {
      routes: {
        value: { GET: (_q: any, s: any) => (s.setHeader('x-name', 'José'), { a: 1 }) },
        json: { GET: (_q: any, s: any) => s.set('x-name', 'José').json({ a: 1 }) },
        raw: { GET: (_q: any, s: any) => void s.set('x-name', 'José').end('text') }
      }
    })
    const call = callOver(await addressOf(app)) // node's client reads Latin-1
    for (const path of ['value', 'json', 'raw'])
      t.equal((await call(`GET /api/${path}`)).headers['x-name'], 'José', path)
  }
)

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
