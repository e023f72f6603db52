// The order of an answer: what hooks, middleware and handlers set, each by the means of its own side, counts in the order
// of the calls.
import { once } from 'node:events'
import { connect } from 'node:http2'
import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t from 'tap'
import { createApp, createMiddleware, errorHandler, fileRoutes } from 'twinroute'
import {
  addressOf,
  callByInject,
  callOver,
  logBook,
  onEveryHost,
  writeRoutes,
  type Call,
  type Routes
} from './support/hosts.js'

type Handler = (request: any, response: any, next: any) => unknown

/** Where a step runs: a hook before the middleware, `app.use()`, the middleware map, a hook behind it, onSend. */
type Stage = 'onRequest' | 'use' | 'map' | 'preHandler' | 'handler' | 'onSend'

/** What a step does. On a host `use` runs in the map. A step's value is read: it belongs to what the row expects. */
type Step = readonly [stage: Stage, run: (response: any, reply: any) => unknown]

interface Row {
  rule: string
  steps: readonly Step[]
  /** What each step read, without the steps that return nothing. */
  read?: readonly unknown[]
  /** Headers of the answer; undefined for one that must not be there. A text of cookies is one cookie. */
  headers?: Record<string, string | readonly string[] | undefined>
}

const BOTH = ['a=1', 'b=2']
const PAST = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT'

const rows: readonly Row[] = [
  {
    rule: 'a cookie cleared by the handler is cleared after a middleware of use() has set it',
    steps: [
      ['use', (s) => void s.cookie('sid', 'T')],
      ['handler', (s) => void s.clearCookie('sid').json({})]
    ],
    headers: { 'set-cookie': ['sid=T; Path=/', `sid=; Path=/; ${PAST}`] }
  },
  {
    rule: 'a cookie cleared by the handler is cleared after a hook has set it',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', 'sid=T; Path=/')],
      ['handler', (s) => void s.clearCookie('sid').json({})]
    ],
    headers: { 'set-cookie': ['sid=T; Path=/', `sid=; Path=/; ${PAST}`] }
  },
  {
    rule: 'cookies of hooks and middleware are sent in the order of the calls, whichever side set them',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', 'a=1')],
      ['map', (s) => void s.append('Set-Cookie', 'b=2')],
      ['map', (s) => void s.appendHeader('set-cookie', 'c=3')],
      ['preHandler', (_, reply) => void reply.header('set-cookie', ['d=4', 'e=5'])],
      ['handler', (s) => void s.append('Set-Cookie', 'f=6').send('x')],
      ['onSend', (_, reply) => void reply.header('set-cookie', 'g=7')]
    ],
    headers: { 'set-cookie': ['a=1', 'b=2', 'c=3', 'd=4', 'e=5', 'f=6', 'g=7'] }
  },
  {
    rule: 'every reader sees the cookies of both sides',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', 'a=1')],
      ['map', (s) => void s.append('Set-Cookie', 'b=2')],
      ['preHandler', (_, reply) => [reply.getHeader('set-cookie'), reply.getHeaders()['set-cookie']]],
      ['handler', (s) => [s.get('Set-Cookie'), s.getHeader('set-cookie'), s.getHeaders()['set-cookie']]]
    ],
    read: [
      [BOTH, BOTH],
      [BOTH, BOTH, BOTH]
    ]
  },
  {
    rule: 'a cookie of the response alone is seen by the reply',
    steps: [
      ['map', (s) => void s.cookie('a', '1')],
      ['preHandler', (_, reply) => [reply.hasHeader('Set-Cookie'), reply.getHeader('Set-Cookie')]]
    ],
    read: [[true, 'a=1; Path=/']],
    headers: { 'set-cookie': 'a=1; Path=/' }
  },
  {
    rule: 'setHeader replaces the cookies of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', ['a=1', 'b=2'])],
      ['handler', (s) => void s.setHeader('Set-Cookie', 'c=3').json({})]
    ],
    headers: { 'set-cookie': 'c=3' }
  },
  {
    rule: 'removeHeader removes the cookies of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', ['a=1', 'b=2'])],
      ['handler', (s) => (s.removeHeader('Set-Cookie'), s.hasHeader('set-cookie'))]
    ],
    read: [false],
    headers: { 'set-cookie': undefined }
  },
  {
    rule: 'reply.removeHeader removes the cookies of a middleware',
    steps: [
      ['use', (s) => void s.cookie('a', '1').cookie('b', '2')],
      ['preHandler', (_, reply) => void reply.removeHeader('set-cookie').header('set-cookie', 'c=3')]
    ],
    headers: { 'set-cookie': 'c=3' }
  },
  {
    rule: 'cookies given to writeHead replace those set before, as in Node',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', 'a=1')],
      ['map', (s) => void s.cookie('b', '2')],
      ['handler', (s) => void s.writeHead(200, { 'Set-Cookie': 'c=3', 'X-A': '1' }).end()]
    ],
    headers: { 'set-cookie': 'c=3', 'x-a': '1' }
  },
  {
    rule: 'a list of cookies that many requests share does not grow',
    steps: [
      ['map', (s) => void s.set('Set-Cookie', SHARED)],
      ['preHandler', (_, reply) => void reply.header('set-cookie', 'c=3')],
      ['handler', () => SHARED.length]
    ],
    read: [2],
    headers: { 'set-cookie': ['a=1', 'b=2', 'c=3'] }
  },
  {
    rule: 'Vary of both sides adds up',
    steps: [
      ['onRequest', (_, reply) => void reply.header('vary', 'Origin')],
      ['map', (s) => void s.vary('Accept')],
      ['map', (s) => void s.append('Vary', 'Cookie')],
      ['handler', (s) => [s.get('Vary')]]
    ],
    read: [[['Origin, Accept', 'Cookie']]],
    headers: { vary: 'Origin, Accept, Cookie' }
  },
  {
    rule: 'setHeader replaces a Vary of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('vary', 'Origin')],
      ['handler', (s) => void s.set('Vary', 'Accept').json({})]
    ],
    headers: { vary: 'Accept' }
  },
  {
    rule: 'reply.header replaces a Vary of a middleware',
    steps: [
      ['use', (s) => void s.vary('Accept')],
      ['preHandler', (_, reply) => void reply.header('vary', 'Origin')]
    ],
    headers: { vary: 'Origin' }
  },
  {
    rule: 'removeHeader removes a Vary of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('vary', 'Origin')],
      ['handler', (s) => void s.removeHeader('vary')]
    ],
    headers: { vary: undefined }
  },
  ...['json', 'send', 'end', 'write', 'status object', 'returned', 'redirect', 'sendStatus'].flatMap(
    (way): readonly Row[] => [
      {
        rule: `a header set by the handler replaces that of a hook, answered by ${way}`,
        steps: [
          ['onRequest', (_, reply) => void reply.header('cache-control', 'public')],
          ['handler', (s) => answerBy(way, s.set('Cache-Control', 'private'))]
        ],
        headers: { 'cache-control': 'private' }
      },
      {
        rule: `a header of a hook that the handler has removed is not sent, answered by ${way}`,
        steps: [
          ['onRequest', (_, reply) => void reply.header('x-a', '1').header('x-b', '1')],
          ['handler', (s) => (s.removeHeader('X-A'), answerBy(way, s))]
        ],
        headers: { 'x-a': undefined, 'x-b': '1' }
      },
      {
        rule: `a header of a hook that follows replaces that of a middleware, answered by ${way}`,
        steps: [
          ['use', (s) => void s.set({ 'Cache-Control': 'public', 'X-A': '1' })],
          ['preHandler', (_, reply) => void reply.header('Cache-Control', 'private').removeHeader('X-A')],
          ['handler', (s) => answerBy(way, s)]
        ],
        headers: { 'cache-control': 'private', 'x-a': undefined }
      }
    ]
  ),
  {
    rule: 'a header set before an error replaces that of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('cache-control', 'public').header('x-a', '1')],
      [
        'handler',
        (s) => {
          s.set('Cache-Control', 'no-store').removeHeader('x-a')
          throw Object.assign(new Error('failed'), { headers: { 'retry-after': '3' } })
        }
      ]
    ],
    headers: { 'cache-control': 'no-store', 'x-a': undefined, 'retry-after': '3' }
  },
  {
    rule: 'a type set by the handler replaces that of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.type('text/css')],
      ['handler', (s) => void s.type('text/plain').send('x')]
    ],
    headers: { 'content-type': 'text/plain; charset=utf-8' }
  },
  {
    rule: 'a status object replaces what middleware and hooks have set, and adds its cookies and Vary',
    steps: [
      ['onRequest', (_, reply) => void reply.headers({ 'x-a': 'hook', 'set-cookie': 'a=1', vary: 'Origin' })],
      ['map', (s) => void s.set('X-B', 'map').append('Set-Cookie', 'b=2').vary('Accept')],
      [
        'handler',
        () => ({ status: 200, headers: { 'x-a': '1', 'x-b': '2', 'set-cookie': 'c=3', vary: 'Cookie' }, body: {} })
      ]
    ],
    headers: { 'x-a': '1', 'x-b': '2', 'set-cookie': ['a=1', 'b=2', 'c=3'], vary: 'Origin, Accept, Cookie' }
  },
  {
    rule: 'what a hook has set can be read by every means of the response',
    steps: [
      ['onRequest', (_, reply) => void reply.header('X-A', '1')],
      [
        'handler',
        (s) => [
          s.get('x-A'),
          s.getHeader('X-a'),
          s.hasHeader('x-a'),
          s.getHeaders()['x-a'],
          s.getHeaderNames().filter((name: string) => name === 'x-a').length
        ]
      ]
    ],
    read: [['1', '1', true, '1', 1]]
  },
  {
    rule: 'what the response has set can be read by every means of the reply',
    steps: [
      ['map', (s) => void s.set('X-A', '1')],
      ['preHandler', (_, reply) => [reply.getHeader('X-A'), reply.hasHeader('x-a'), reply.getHeaders()['x-a']]]
    ],
    read: [['1', true, '1']]
  },
  {
    rule: 'every reader sees the later of two values',
    steps: [
      ['onRequest', (_, reply) => void reply.header('x-a', '1')],
      ['map', (s) => [s.set('X-A', '2').get('x-a'), s.getHeaders()['x-a']]],
      ['preHandler', (_, reply) => [reply.getHeader('x-a'), reply.header('x-a', '3').getHeaders()['x-a']]],
      ['handler', (s) => [s.get('X-A'), s.getHeaders()['x-a'], s.getHeaderNames().includes('x-a')]]
    ],
    read: [
      ['2', '2'],
      ['2', '3'],
      ['3', '3', true]
    ],
    headers: { 'x-a': '3' }
  },
  {
    rule: 'appendHeader adds to a header of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('x-a', '1')],
      ['handler', (s) => [s.appendHeader('X-A', '2').appendHeader('x-a', ['3', '4']).getHeader('x-a')]]
    ],
    read: [[['1', '2', '3', '4']]],
    headers: { 'x-a': '1, 2, 3, 4' }
  },
  {
    rule: 'setHeaders replaces the headers of a hook',
    steps: [
      ['onRequest', (_, reply) => void reply.header('x-a', '1').header('set-cookie', 'a=1')],
      ['handler', (s) => void s.setHeaders(new Map(Object.entries({ 'x-a': '2', 'set-cookie': ['b=2'] })))]
    ],
    headers: { 'x-a': '2', 'set-cookie': 'b=2' }
  },
  {
    rule: 'an onSend hook has the last word by either side',
    steps: [
      ['onRequest', (_, reply) => void reply.header('x-a', 'hook').header('x-b', 'hook')],
      ['handler', (s) => void s.set({ 'x-c': 'handler', 'x-d': 'handler' }).json({})],
      [
        'onSend',
        (s, reply) => {
          s.setHeader('X-A', 'last')
          s.removeHeader('X-B')
          reply.header('x-c', 'last').removeHeader('x-d')
          return [
            s.getHeader('x-a'),
            reply.getHeader('x-a'),
            s.hasHeader('x-b'),
            s.getHeader('x-c'),
            s.hasHeader('x-d')
          ]
        }
      ]
    ],
    read: [['last', 'last', false, 'last', false]],
    headers: { 'x-a': 'last', 'x-b': undefined, 'x-c': 'last', 'x-d': undefined }
  },
  {
    rule: 'a middleware that patches writeHead may still set and remove what a hook has set',
    steps: [
      ['onRequest', (_, reply) => void reply.header('x-a', '1').header('x-b', '1')],
      [
        'map',
        (s) => {
          const writeHead = s.writeHead
          s.writeHead = function patched(...given: unknown[]) {
            const headers = Object(given.at(-1)) as Record<string, unknown>
            for (const name of Object.keys(headers)) s.setHeader(name, headers[name]) // as the package on-headers does
            s.setHeader('X-A', '2')
            s.removeHeader('x-b')
            return writeHead.call(s, given[0])
          }
        }
      ]
    ],
    headers: { 'x-a': '2', 'x-b': undefined }
  },
  {
    rule: 'a header may be called constructor',
    steps: [['handler', (s) => [s.hasHeader('constructor'), s.getHeader('constructor')]]],
    read: [[false, undefined]]
  },
  {
    rule: 'a cookie that cannot be sent is thrown to whoever sets it',
    steps: [
      ['onRequest', (_, reply) => void reply.header('set-cookie', 'a=1')],
      ['handler', (s) => [codeOf(() => s.setHeader('Set-Cookie', 'a\nb'))]]
    ],
    read: [['ERR_INVALID_CHAR']],
    headers: { 'set-cookie': 'a=1' }
  }
]

const SHARED = ['a=1', 'b=2']

function answerBy(way: string, response: any): unknown {
  const object = { a: 1 }
  switch (way) {
    case 'end':
      return void response.end('x')
    case 'write':
      return void (response.write('x'), response.end())
    case 'status object':
      return { status: 200, body: object }
    case 'returned':
      return object
    case 'redirect':
      return void response.redirect('/x')
    case 'sendStatus':
      return void response.sendStatus(200)
    default:
      return void response[way](object)
  }
}

function codeOf(call: () => unknown): unknown {
  try {
    call()
    return 'nothing thrown'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Adds what the steps of one stage do, and what they read. */
type Run = (stage: Stage, path: string, response: any, reply: any) => unknown

const PLACES = {
  socket: async (t: any, run: Run) => callOver(await addressOf(await appOf(t, run, {}))),
  inject: async (t: any, run: Run) => callByInject(await appOf(t, run, {})),
  'HTTP/2': async (t: any, run: Run) => {
    const app = await appOf(t, run, { http2: true })
    return callOverHttp2(t, await addressOf(app))
  },
  host: async (t: any, run: Run) => callOver(await addressOf(await hostOf(t, run)))
}

function replyOf(response: any): unknown {
  return replies.get(response)
}
const replies = new WeakMap<object, FastifyReply>()

async function appOf(t: any, run: Run, fastifyOptions: object): Promise<FastifyInstance> {
  const app = await createApp({ mode: 'test', errorHandler, fastifyOptions, ...filesOf(t, run) })
  t.teardown(() => app.close())
  addHooks(app as never, run)
  app.use((q: any, s: any, next: any) => next(void run('use', q.url, s, replyOf(s))))
  return app as never
}

async function hostOf(t: any, run: Run): Promise<FastifyInstance> {
  const host = fastify()
  t.teardown(() => host.close())
  addHooks(host, run)
  host.setErrorHandler(errorHandler as never)
  await host.register(fileRoutes, { mode: 'test', ...filesOf(t, run, 'use') })
  return host
}

function filesOf(t: any, run: Run, first?: 'use') {
  const GET = (q: any, s: any): unknown => run('handler', q.url, s, replyOf(s))
  const guard = (q: any, s: any, next: any): void => {
    if (first !== undefined) run(first, q.url, s, replyOf(s))
    next(void run('map', q.url, s, replyOf(s)))
  }
  return { apiDir: writeRoutes(t, { '[row]': { GET } }), middleware: createMiddleware({ '/api': [guard] }) }
}

function addHooks(app: FastifyInstance, run: Run): void {
  app.addHook('onRequest', async ({ url }, reply) => {
    replies.set(reply.raw, reply)
    run('onRequest', url, reply.raw, reply)
  })
  app.addHook('preHandler', async ({ url }, reply) => void run('preHandler', url, reply.raw, reply))
  app.addHook('onSend', async ({ url }, reply, payload) => {
    run('onSend', url, reply.raw, reply)
    return payload
  })
}

/** One request after the other on one connection. */
function callOverHttp2(t: any, address: string): Call {
  const client = connect(address)
  t.teardown(() => client.close())
  return async (line) => {
    const [method, path] = line.split(' ')
    const stream = client.request({ ':method': method, ':path': path })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(part as Buffer)
    const bytes = Buffer.concat(parts)
    return { status: headers[':status'], headers, bytes, text: bytes.toString(), json: undefined } as never
  }
}

/** Values that a step has read are arrays, numbers and booleans; an object is what it returns as the answer. */
function isRead(value: unknown): boolean {
  return Array.isArray(value) || typeof value === 'number' || typeof value === 'boolean'
}

/** The values of a header as one text: a client may get them as one or as several. */
function lineOf(name: string, value: unknown): string | undefined {
  return value === undefined ? undefined : [value].flat().join(name === 'set-cookie' ? '; and ' : ', ')
}

t.test('a request that is routed anew keeps what was set before, in its order', async (t) => {
  const GET = (_: any, s: any): void => {
    s.cookie('c', '3').vary('Accept').removeHeader('x-b')
    s.json(s.get('set-cookie'))
  }
  const app = await createApp({
    apiDir: writeRoutes(t, { new: { GET } }),
    mode: 'test',
    expressOptions: { enableCors: { cookieOrigins: ['https://a.example'], credentials: true } }
  })
  t.teardown(() => app.close())
  app.use((q: any, s: any, next: any) => {
    s.cookie('a', '1').set({ 'X-A': '1', 'X-B': '1', 'X-Request-Id': 'mine' }).append('Set-Cookie', 'b=2')
    q.url = '/api/new'
    next()
  })
  for (const call of [callByInject(app as never), callOver(await addressOf(app as never))]) {
    const { headers, json } = await call('GET /old', { headers: { origin: 'https://a.example' } })
    const cookies = ['a=1; Path=/', 'b=2', 'c=3; Path=/']
    t.strictSame(json, cookies)
    t.strictSame(headers['set-cookie'], cookies)
    t.match(headers, { 'x-a': '1', 'x-request-id': 'mine', vary: 'Origin, Accept' })
    t.notOk('x-b' in headers)
  }
})

t.test('what is set last is sent, whichever side set it, and can be read by both', async (t) => {
  for (const [place, start] of Object.entries(PLACES)) {
    t.test(`on ${place}`, async (t) => {
      const read: unknown[] = []
      const call = await start(t, (stage, path, response, reply) => {
        const { steps } = rows[Number(path.split('/').at(-1))] as Row
        const done = steps.filter(([where]) => where === stage).map(([, does]) => does(response, reply))
        read.push(...done.filter(isRead))
        return done.find((value) => typeof value === 'object' && !isRead(value)) ?? {}
      })
      for (const [index, { rule, read: wanted = [], headers = {} }] of rows.entries()) {
        read.length = 0
        const answer = await call(`GET /api/${index}`)
        t.strictSame(read, wanted, `${rule}: what is read`)
        for (const [name, value] of Object.entries(headers))
          t.equal(lineOf(name, answer.headers[name]), lineOf(name, value), `${rule}: ${name}`)
      }
    })
  }
})

t.test('the JSON settings of the Express side hold for returned values', async (t) => {
  const values: readonly (readonly [returned: unknown, text: string])[] = [
    [{ id: 1n, tag: '<b>' }, '{\n  "id": "1n",\n  "tag": "\\u003cb\\u003e"\n}'],
    [[1n], '[\n  "1n"\n]'],
    [{ status: 201, body: { id: 1n } }, '{\n  "id": "1n"\n}'],
    [1n, '"1n"'],
    [
      new (class Row {
        id = 1n
      })(),
      '{\n  "id": "1n"\n}'
    ],
    [null, 'null']
  ]
  const returning = values.map(([value], index) => [`r${index}`, { GET: () => value }] as const)
  const set = (request: any, response: any): void => {
    request.app.set('json replacer', (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
    request.app.set('json spaces', 2).enable('json escape')
    response.end()
  }
  const routes: Routes = { set: { GET: set }, ...Object.fromEntries(returning) }
  onEveryHost(t, { routes }, async (t, call) => {
    t.equal((await call('GET /api/r0')).status, 500, 'without them a BigInt cannot be sent')
    await call('GET /api/set')
    for (const [index, [, wanted]] of values.entries()) {
      const { headers, text } = await call(`GET /api/r${index}`)
      t.equal(text, wanted)
      t.equal(headers['content-type'], 'application/json; charset=utf-8', wanted)
      t.equal(Number(headers['content-length']), Buffer.byteLength(wanted), wanted)
    }
  })
})

const FORM = /^------formdata-\S+\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n------formdata-\S+\r\n/i

t.test('what the web platform calls a body can be returned', async (t) => {
  const form = (): FormData => {
    const data = new FormData()
    data.set('a', '1')
    return data
  }
  const bytes = new TextEncoder().encode('hü')
  const rows: readonly { rule: string; GET: Handler; type: string | RegExp; text: string | RegExp; length?: string }[] =
    [
      { rule: 'an ArrayBuffer', GET: () => bytes.buffer, type: 'application/octet-stream', text: 'hü', length: '3' },
      {
        rule: 'a SharedArrayBuffer',
        GET: () => {
          const shared = new SharedArrayBuffer(1)
          new Uint8Array(shared)[0] = 97
          return shared
        },
        type: 'application/octet-stream',
        text: 'a',
        length: '1'
      },
      {
        rule: 'a view of shared memory',
        GET: (_, response) => response.send(new Uint8Array(new SharedArrayBuffer(2))),
        type: 'application/octet-stream',
        text: '\0\0',
        length: '2'
      },
      {
        rule: 'bytes of another realm',
        GET: () => runInNewContext('new Uint8Array([97])') as unknown,
        type: 'application/octet-stream',
        text: 'a',
        length: '1'
      },
      {
        rule: 'a Blob',
        GET: async () => new Blob(['hü'], { type: 'text/css' }),
        type: 'text/css',
        text: 'hü',
        length: '3'
      },
      { rule: 'a Blob without a type', GET: () => new Blob(['a']), type: 'application/octet-stream', text: 'a' },
      {
        rule: 'a Blob under a type of the response',
        GET: (_, response) => {
          response.type('image/png')
          return new Blob(['a'], { type: 'text/css' })
        },
        type: 'image/png',
        text: 'a'
      },
      { rule: 'an empty Blob', GET: () => new Blob([]), type: 'application/octet-stream', text: '', length: '0' },
      { rule: 'a File', GET: () => new File(['hü'], 'a.txt', { type: 'text/plain' }), type: 'text/plain', text: 'hü' },
      {
        rule: 'URLSearchParams',
        GET: () => new URLSearchParams({ a: 'b c', d: 'ü' }),
        type: 'application/x-www-form-urlencoded; charset=utf-8',
        text: 'a=b+c&d=%C3%BC',
        length: '14'
      },
      { rule: 'FormData', GET: form, type: /^multipart\/form-data; boundary=----formdata-/, text: FORM },
      {
        rule: 'a Blob as the body of a status object',
        GET: () => ({ status: 200, headers: { 'content-type': 'text/x' }, body: new Blob(['a']) }),
        type: 'text/x',
        text: 'a'
      }
    ]
  const routes = Object.fromEntries(rows.map(({ GET }, index) => [`r${index}`, { GET }]))
  onEveryHost(t, { routes }, async (t, call) => {
    for (const [index, { rule, type, text, length }] of rows.entries()) {
      const answer = await call(`GET /api/r${index}`)
      t.match(
        { ...answer.headers, status: answer.status, text: answer.text },
        { status: 200, 'content-type': type },
        rule
      )
      if (typeof text === 'string') t.equal(answer.text, text, rule)
      else t.match(answer.text, text, rule)
      if (length !== undefined) t.equal(answer.headers['content-length'], length, `${rule}: length`)
      t.equal((await call(`HEAD /api/r${index}`)).text, '', `${rule}: HEAD`)
    }
  })
})

t.test('an uploaded file is sent as its bytes, and JSON of it does not tell where it lies', async (t) => {
  const routes: Routes = {
    file: { POST: async (request: any) => (await request.formData()).get('f') },
    list: { POST: async (request: any) => ({ files: (await request.formData()).getAll('f') }) }
  }
  const body =
    '--XX\r\nContent-Disposition: form-data; name="f"; filename="a.css"\r\nContent-Type: text/css\r\n\r\na {}\r\n--XX--\r\n'
  const sent = { body, headers: { 'content-type': 'multipart/form-data; boundary=XX' } }
  onEveryHost(t, { routes }, async (t, call) => {
    const { text, headers } = await call('POST /api/file', sent)
    t.equal(text, 'a {}')
    t.match(headers, { 'content-type': 'text/css', 'content-length': '4' })
    t.strictSame((await call('POST /api/list', sent)).json, { files: [{}] })
  })
})

t.test('what JSON would empty is refused, and the message names what may be returned', async (t) => {
  const values: Record<string, () => unknown> = {
    'a Map': () => new Map([[1, 2]]),
    'a Set': () => new Set([1]),
    'a Promise as a body': () => ({ status: 200, body: Promise.resolve(1) }),
    'a generator': () => [1].values(),
    'a regular expression': () => /a/,
    Headers: () => new Headers({ a: 'b' }),
    'a web Request': () => new globalThis.Request('http://a.example'),
    'a function': () => () => 1,
    'a symbol': () => Symbol('a')
  }
  const routes = Object.fromEntries(Object.values(values).map((GET, index) => [`r${index}`, { GET }]))
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const [index, rule] of Object.keys(values).entries()) {
      const { status, json } = await call(`GET /api/r${index}`)
      t.equal(status, 500, rule)
      t.match(json.error.message, /^An? .+ cannot be sent\. Return an object, array, string/, rule)
    }
  })
  t.test('but not where a class says how it is written', async (t) => {
    const GET = (): unknown => Object.assign(new Map([[1, 2]]), { toJSON: () => ({ mine: true }) })
    onEveryHost(t, { routes: { a: { GET } } }, async (t, call) => {
      t.strictSame((await call('GET /api/a')).json, { mine: true })
    })
  })
})

t.test('an answer has one framing, whatever its headers say', async (t) => {
  const chunked = { 'Transfer-Encoding': 'chunked' }
  const rows: Record<string, Handler> = {
    'a status object with Transfer-Encoding': () => ({ status: 200, headers: chunked, body: { a: 1 } }),
    'a text with Transfer-Encoding': () => ({ status: 200, headers: chunked, body: 'text' }),
    'a web Response with Transfer-Encoding': () => new globalThis.Response('text', { headers: chunked }),
    'an object behind a raw Transfer-Encoding': (_, response) => {
      response.setHeader('Transfer-Encoding', 'chunked')
      return { a: 1 }
    },
    'a web Response of 204 with Content-Length': () =>
      new globalThis.Response(null, { status: 204, headers: { 'content-length': '5' } }),
    'a web Response of 205 with Content-Length': () =>
      new globalThis.Response(null, { status: 205, headers: { 'content-length': '5' } }),
    'a status object of 204 with both': () => ({ status: 204, headers: { ...chunked, 'content-length': '5' } }),
    'a stream with Transfer-Encoding': () => ({ status: 200, headers: chunked, body: Readable.from(['text']) })
  }
  const routes = Object.fromEntries(Object.values(rows).map((GET, index) => [`r${index}`, { GET }]))
  onEveryHost(t, { routes }, async (t, call) => {
    for (const [index, rule] of Object.keys(rows).entries()) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await call(`${method} /api/r${index}`)
        const framings = ['content-length', 'transfer-encoding'].filter((name) => name in headers)
        // the length of a stream is not known, and HEAD has no body to be framed
        const least = status === 204 || method === 'HEAD' ? 0 : 1
        t.ok(framings.length >= least, `${rule}, ${method}`)
        t.ok(framings.length <= (status === 204 ? 0 : 1), `${rule}, ${method}: ${framings.join()}`)
        if (status === 205) t.equal(headers['content-length'], '0', rule)
        if (method === 'GET' && status === 200) t.match(text, /^(text|\{"a":1\})$/, rule)
      }
    }
  })
})

t.test('in development, once per route, a status beside further keys is warned of', async (t) => {
  const wrong = { status: 404, message: 'none' }
  const routes: Routes = {
    wrong: { GET: () => wrong, POST: () => wrong },
    meant: { GET: (_: unknown, response: any) => (response.status(404), wrong) },
    data: { GET: () => ({ status: 200, data: [] }) },
    small: { GET: () => ({ status: 1, message: '' }) },
    object: { GET: () => ({ status: 404, body: wrong }) }
  }
  for (const [mode, wanted] of [
    ['development', [['GET', 'wrong']]],
    ['production', []]
  ] as const) {
    const { logger, entries } = logBook()
    onEveryHost(t, { routes, options: { mode, fastifyOptions: { logger } as never } }, async (t, call) => {
      entries.length = 0
      for (const name of ['wrong', 'wrong', 'meant', 'data', 'small', 'object']) await call(`GET /api/${name}`)
      await call('POST /api/wrong')
      const warnings = entries.filter(({ msg }) => /status object|return \{ status/.test(msg))
      t.strictSame(
        warnings.map(({ method, file }) => [method, file.split('/').at(-2)]),
        wanted,
        mode
      )
      for (const { msg } of warnings)
        t.match(msg, /status \(404\) beside message, .* sent with status 200\. .*\{ status, headers, body \}/)
    })
  }
})
