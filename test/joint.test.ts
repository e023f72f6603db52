import { execFile } from 'node:child_process'
import { once } from 'node:events'
import http, { createServer, IncomingMessage, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { createApp } from 'twinroute'
import {
  furtherServers,
  hasExchange,
  hasHooks,
  hasSerializer,
  hasSourceEnded,
  headersOf,
  isAnswering,
  onPartHeaders,
  ON_RESPONSE_LISTENER,
  serverClassNames,
  takeCompilersForOwn
} from '../dist/link/private-names.js'
import {
  endInOneWrite,
  hasOwnHeaders,
  storeHeaderOfNode,
  storeWithLength,
  takesLines
} from '../dist/link/unsent-answer.js'
import { appOf, callByInject, callOver } from './support/hosts.js'
import { root } from './support/source-tree.js'
import { writeTree } from './support/route-tree.js'
import { head, Wire } from './support/wire.js'

const run = promisify(execFile)

const KEEP = `
const kept = (kind, request, response) => (globalThis.seenPairs[kind] ??= []).push([request, response])
`

t.test('V8 keeps requests and responses in fast mode, under one hidden class per kind', async (t) => {
  const read =
    'request.query, request.ip, request.cookies.get("a"), request.hostname, request.requestId, request.get("host")'
  const top = writeTree(t, {
    'api/returned/route.js': `${KEEP}export const GET = (request, response) => (kept('returned', request, response), { a: 1 })`,
    'api/later/route.js': `${KEEP}export const GET = async (request, response) => (kept('later', request, response), await null, '<p>')`,
    'api/express/route.js': `${KEEP}export const GET = (request, response) => {
      ${read}
      kept('express', request, response)
      response.status(201).set('X-A', 'b').cookie('a', '1').json(response.locals)
    }`,
    'api/body/route.js': `${KEEP}export const POST = (request, response) => (kept('body', request, response), request.body)`,
    'api/chain/route.js': `${KEEP}
      const pass = (request, response, next) => { request.user = { id: 1 }; response.locals.a = 1; next() }
      export const middleware = [pass, async (request, response, next) => next()]
      export const POST = (request, response) => (kept('chain', request, response), response.json(request.body))`
  })
  const shapes = new URL('./support/shapes.js', import.meta.url)
  const { stdout } = await run(process.execPath, ['--allow-natives-syntax', shapes.pathname, join(top, 'api')], {
    cwd: root
  })
  const fast = { pairs: 100, requests: true, responses: true }
  const all = { returned: fast, later: fast, express: fast, body: fast, chain: fast }
  t.strictSame(JSON.parse(stdout), { app: all, host: all })
})

t.test('the private names that are leaned on are there', async (t) => {
  t.test('the classes of a node server', async (t) => {
    const server = createServer()
    const names = serverClassNames(server)
    t.equal(Reflect.get(server, names!.request), IncomingMessage)
    t.equal(Reflect.get(server, names!.response), http.ServerResponse)
    t.equal(serverClassNames({} as never), undefined, 'and nothing is made up without them')
  })
  t.test("a route's onSend hooks are told by hasHooks", async (t) => {
    const app = fastify()
    const hooked: Record<string, boolean> = {}
    const note = (request: any, reply: any): object => {
      hooked[request.url] = hasHooks(reply, 'onSend')
      return {}
    }
    app.addHook('onRoute', (route) => {
      if (route.url === '/added') route.onSend = async (_request, _reply, payload) => payload
    })
    app.get('/none', note)
    app.get('/added', note)
    for (const url of ['/none', '/added']) await app.inject(url)
    t.strictSame(hooked, { '/none': false, '/added': true })
  })
  t.test("a route's onError hooks are told by hasHooks", async (t) => {
    const app = fastify()
    const hooked: Record<string, boolean> = {}
    const note = (request: any, reply: any): object => {
      hooked[request.url] = hasHooks(reply, 'onError')
      return {}
    }
    app.get('/none', note)
    app.get('/added', { onError: async () => undefined }, note)
    for (const url of ['/none', '/added']) await app.inject(url)
    t.strictSame(hooked, { '/none': false, '/added': true })
  })
  t.test('the serializer of a reply', async (t) => {
    const app = fastify()
    const seen: boolean[] = []
    app.get('/', (_request, reply) => {
      seen.push(hasSerializer(reply))
      seen.push(hasSerializer(reply.serializer(() => '{}')))
      return {}
    })
    await app.inject('/')
    t.strictSame(seen, [false, true])
  })
  t.test('what node keeps of an answer until it is sent', async (t) => {
    const written: unknown[] = []
    const server = createServer((_request, response) => {
      const { socket } = response
      socket!._write = (...given: unknown[]) => {
        written.push(String(given[0]))
        return Object.getPrototypeOf(socket)._write.apply(socket, given)
      }
      written.push(endInOneWrite(response as never, response.end as never, Buffer.from('text')))
    })
    t.teardown(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    t.equal(await answer.text(), 'text')
    t.match(written, [/^HTTP\/1\.1 200 OK\r\n[^]*Content-Length: 4\r\n\r\ntext$/, true])
    t.equal(
      endInOneWrite({} as never, () => t.fail(), Buffer.from('text')),
      false,
      'and nothing is done without it'
    )
  })
  t.test("node's method that puts the head of an answer together", async (t) => {
    const response = new http.ServerResponse({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 } as never)
    t.ok(takesLines(response))
    storeWithLength(response, storeHeaderOfNode!, { lines: 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n', length: 4 })
    const { _header, _hasBody, _contentLength } = response as never
    t.match(_header, /^HTTP\/1\.1 200 OK\r\ncontent-length: 4\r\nDate: [^\r]+\r\nConnection: keep-alive\r\n\r\n$/)
    t.strictSame([_hasBody, _contentLength], [true, 4])
    response.shouldKeepAlive = false
    response.useChunkedEncodingByDefault = false
    t.notOk(takesLines(response), 'HTTP/1.0')
    t.notOk(takesLines({} as never), 'and nothing is written without the names')
  })
  t.test('whether a response has headers that were set on itself', async (t) => {
    const response = new http.ServerResponse(new IncomingMessage({} as never))
    t.equal(hasOwnHeaders(response), false)
    response.setHeader('a', 'b')
    t.equal(hasOwnHeaders(response), true)
    response.removeHeader('a')
    t.equal(hasOwnHeaders(response), true, 'node goes through its list, though it is empty')
  })
  t.test("node's method for a request that nobody reads", async (t) => {
    t.type(Reflect.get(IncomingMessage.prototype, '_dump'), 'function')
  })
  t.test('the headers of a reply', async (t) => {
    const app = fastify()
    app.get('/', (_request, reply) => ({ ...headersOf(reply.header('X-A', '1').header('set-cookie', 'a=1')) }))
    t.strictSame((await app.inject('/')).json(), { 'x-a': '1', 'set-cookie': 'a=1' })
    t.equal(headersOf({} as never), null, 'and nothing is made up without them')
  })
  t.test("the mark of validators that are not Fastify's own", async (t) => {
    const buildValidator = (): never => t.fail('compiles nothing') as never
    const app: FastifyInstance = fastify({ schemaController: { compilersFactory: { buildValidator } } })
    t.ok(takeCompilersForOwn(app))
    t.notOk(takeCompilersForOwn(app), 'it is gone')
    t.notOk(takeCompilersForOwn({} as never), 'and nothing is made up without it')
  })
  t.test('the packages that Fastify compiles schemas with are those that an app has it use', async (t) => {
    const ofApp = createRequire(join(root, 'dist/engine.cjs'))
    const ofFastify = createRequire(ofApp.resolve('fastify'))
    for (const name of ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'])
      t.equal(ofApp.resolve(name), ofFastify.resolve(name), name)
  })
  t.test('the listener behind onResponse hooks', async (t) => {
    const app = fastify()
    app.addHook('onResponse', async () => {})
    let names: string[] = []
    app.get('/', (_request, reply) => {
      names = reply.raw.listeners('finish').map((listener) => listener.name)
      return {}
    })
    await app.inject('/')
    t.ok(names.includes(ON_RESPONSE_LISTENER), names.join())
  })
  t.test('the servers of further addresses', async (t) => {
    const app = fastify()
    t.teardown(() => app.close())
    t.strictSame(furtherServers(app), [], 'none before it listens')
    await app.listen({ port: 0, host: 'localhost' })
    t.ok(Array.isArray(furtherServers(app)))
    t.ok(Object.getOwnPropertySymbols(app).some(({ description }) => description === 'fastify.serverBindings'))
  })
  t.test('an onRequest hook among the options of a not-found handler, behind the hooks of its scope', async (t) => {
    const app = fastify()
    t.teardown(() => app.close())
    const ran: string[] = []
    await app.register(
      async (scope) => {
        const options = { onRequest: [async () => void ran.push('option')] }
        scope.setNotFoundHandler(options as object, (_request, reply) => void reply.code(404).send(ran.push('handler')))
        scope.addHook('onRequest', async () => void ran.push('hook'))
      },
      { prefix: '/a' }
    )
    await app.inject('/a/none')
    t.strictSame(ran, ['hook', 'option', 'handler'])
  })
  t.test('the headers of a part of a form, before Busboy reads them', async (t) => {
    const form = (busboy: BusboyInstance): Promise<unknown[]> => {
      const files: unknown[] = []
      busboy.on('file', (name, stream, fileName) => {
        files.push([name, fileName])
        stream.resume()
      })
      const part = '--XX\r\nContent-Disposition: form-data; name="a"; filename="b"\r\nX-A: 1\r\n\r\ndata\r\n'
      busboy.end(`${part}${part}--XX--\r\n`)
      return once(busboy, 'finish').then(() => files)
    }
    const create = (): BusboyInstance => new Busboy({ headers: { 'content-type': 'multipart/form-data; boundary=XX' } })
    const seen: unknown[] = []
    const listened = create()
    onPartHeaders(listened, (headers) => {
      seen.push({ ...headers })
      headers['content-disposition'] = [`form-data; name="c"; filename="${seen.length}"`]
    })
    t.strictSame(await form(listened), [
      ['c', '1'],
      ['c', '2']
    ])
    const headers = { 'content-disposition': ['form-data; name="a"; filename="b"'], 'x-a': ['1'] }
    t.strictSame(seen, [headers, headers])
    t.doesNotThrow(() => onPartHeaders({} as never, () => {}), 'and nothing is made up without them')
  })
  t.test('the last byte of a body has arrived, though `end` has not been emitted', async (t) => {
    const stream = new Readable({ read() {} })
    stream.push('data')
    t.equal(hasSourceEnded(stream as IncomingMessage), false)
    stream.push(null)
    t.equal(hasSourceEnded(stream as IncomingMessage), true)
    t.equal(hasSourceEnded({} as never), false, 'and nothing is made up without the name')
  })
  t.test('a socket is told to be answering while its response is open', async (t) => {
    const seen: boolean[] = []
    const server = createServer((request, response) => {
      seen.push(isAnswering(request.socket))
      response.write('x')
      seen.push(isAnswering(request.socket), hasExchange(request.socket))
      response.end()
      seen.push(isAnswering(request.socket))
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    await callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)('GET /')
    t.strictSame(seen, [false, true, true, false])
  })
})

t.test("node's parser hands every chunk of a body to push, and its end", async (t) => {
  const pushed: (string | null)[] = []
  class Tapped extends IncomingMessage {
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      pushed.push(chunk === null ? null : chunk.toString())
      return super.push(chunk, encoding)
    }
  }
  const answer: RequestListener = (request, response) => void request.resume().on('end', () => response.end('done'))
  const server = createServer({ IncomingMessage: Tapped }, answer).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const wire = await new Wire(t, address).write(
    `${head('POST /', { 'transfer-encoding': 'chunked' })}1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n`
  )
  await wire.until(/done/)
  t.strictSame(pushed, ['a', 'bc', 'd', null])
  pushed.length = 0
  const whole = await new Wire(t, address).write(`${head('POST /', { 'content-length': 4 })}abcd`)
  await whole.until(/done/)
  t.strictSame(pushed, ['abcd', null])
})

t.test("the factory that Express's own suite runs goes through our classes and Fastify's hooks", async (t) => {
  const original = http.createServer
  t.teardown(() => (http.createServer = original))
  const { default: express } = await import('./support/express-like.mjs')
  const app = express()
  const sent: string[] = []
  app.fastify.addHook('onSend', async (request: any, _reply: unknown, payload: unknown) => {
    sent.push(request.url)
    return payload
  })
  const seen: boolean[] = []
  app.get('/:how', (request: any, response: any) => {
    const { IncomingMessage, ServerResponse } = app.serverOptions as typeof http
    seen.push(request instanceof IncomingMessage, response instanceof ServerResponse, request.app === app)
    if (request.params.how === 'json') response.json({ a: 1 })
    else if (request.params.how === 'send') response.send('x')
    else response.end('x')
  })
  const server = http.createServer(app).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const call = callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  for (const how of ['json', 'send', 'end']) t.equal((await call(`GET /${how}`)).status, 200, how)
  t.ok(seen.length === 9 && seen.every(Boolean), 'request and response are ours')
  t.strictSame(sent, ['/json', '/send', '/end'], 'onSend hooks ran')
})

t.test('onSend hooks see every answer that leaves whole', async (t) => {
  const routes = {
    returned: { GET: () => ({ a: 1 }) },
    json: { GET: (_: any, response: any) => response.json({ a: 1 }) },
    send: { GET: (_: any, response: any) => response.send('x') },
    end: { GET: (_: any, response: any) => response.end('x') },
    status: { GET: () => ({ status: 204 }) },
    redirect: { GET: (_: any, response: any) => response.redirect('/x') },
    error: {
      GET: () => {
        throw new Error('failed')
      }
    }
  }
  const app = await appOf(t, { routes })
  const seen: string[] = []
  app.addHook('onSend', async (request, reply, payload) => {
    seen.push(request.url)
    reply.header('x-hook', '1')
    return payload
  })
  const call = callByInject(app)
  for (const place of [...Object.keys(routes), 'none'])
    t.equal((await call(`GET /api/${place}`)).headers['x-hook'], '1', place)
  t.equal(seen.length, 8, 'each once')
})

t.test('a server on several addresses gives the same objects on each', async (t) => {
  const top = writeTree(t, {
    'api/a/route.js':
      'export const GET = (request) => ({ own: request instanceof globalThis.OwnRequest, id: request.requestId })'
  })
  const app = await createApp({ apiDir: join(top, 'api'), mode: 'test' })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: 'localhost' })
  const names = serverClassNames(app.server)
  Reflect.set(globalThis, 'OwnRequest', Reflect.get(app.server, names!.request))
  t.teardown(() => Reflect.deleteProperty(globalThis, 'OwnRequest'))
  for (const { address, port } of app.addresses() as AddressInfo[]) {
    const request = http.request({ host: address, port, path: '/api/a', agent: false }).end()
    const [response] = await once(request, 'response')
    let text = ''
    for await (const part of response) text += part
    t.match(JSON.parse(text), { own: true, id: /./ }, address)
  }
})
