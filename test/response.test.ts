// The order of an answer: what hooks, middleware and handlers set, each by the means of its own side, counts in the order
// of the calls.
import { EventEmitter, on, once } from 'node:events'
import { get, OutgoingMessage } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import express from 'express'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t from 'tap'
import { createApp, createMiddleware, errorHandler, fileRoutes } from 'twinroute'
import twinrouteExpress from 'twinroute/express'
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
import { head, Wire } from './support/wire.js'

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

t.test('in twinroute/express hooks of app.fastify and Express code share one list of headers', async (t) => {
  const app = twinrouteExpress()
  t.teardown(() => app.fastify.close())
  app.fastify.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'public', 'x-a': '1', 'set-cookie': 'a=1', vary: 'Origin' })
  })
  app.fastify.addHook('onSend', async (_request, reply, payload) => {
    reply.header('x-last', String(reply.getHeader('cache-control')))
    return payload
  })
  app.use((_q, s, next) => next(void s.cookie('b', '2').vary('Accept')))
  app.get('/json', (_q, s) => {
    s.set('Cache-Control', 'private').removeHeader('X-A')
    s.json([s.get('Set-Cookie'), s.get('Vary')])
  })
  for (const call of [callByInject(app.fastify), callOver(await addressOf(app.fastify))]) {
    const { headers, json } = await call('GET /json')
    const cookies = ['a=1', 'b=2; Path=/']
    t.strictSame(json, [cookies, 'Origin, Accept'])
    t.match(headers, { 'cache-control': 'private', 'x-last': 'private', 'set-cookie': cookies, vary: 'Origin, Accept' })
    t.notOk('x-a' in headers)
  }
})

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

const NAMED_LINES = 'X-First: 1|x-second: 2|X-Third: 3|X-Third: 4|X-Replaced: 6|__proto__: 7|X-Added: 9|X-Added: 10'

t.test('a header that Express code sets leaves with its name as it was written, as under Express', async (t) => {
  const names: Handler = (_q, s, next) => {
    s.setHeader('X-First', '1').setHeader('x-second', 2).append('X-Third', ['3', '4'])
    s.set('X-REPLACED', '5').set('X-Replaced', '6').setHeader('__proto__', '7').setHeader('X-Added', '9')
    s.appendHeader('x-added', '10')
    s.setHeader('X-Removed', '8').removeHeader('x-REMOVED')
    next()
  }
  const ends: Record<string, Handler> = {
    json: (_q, s) => void s.json(s.getRawHeaderNames()),
    end: (_q, s) => void s.end('a'),
    pipe: (_q, s) => void Readable.from(['a']).pipe(s),
    writeHead: (_q, s) => void s.writeHead(200, { 'X-Replaced': '6' }).end('a')
  }
  const app = twinrouteExpress()
  t.teardown(() => app.fastify.close())
  app.use(names)
  for (const [path, GET] of Object.entries(ends)) app.get(`/api/${path}`, GET)
  const files = Object.fromEntries(Object.entries(ends).map(([path, GET]) => [path, { GET }]))
  const started = await createApp({ apiDir: writeRoutes(t, files), mode: 'test' })
  t.teardown(() => started.close())
  started.use(names as never)
  for (const [name, address] of [
    ['twinroute/express', await addressOf(app.fastify)],
    ['createApp', await addressOf(started as never)]
  ] as const)
    for (const path of Object.keys(ends)) {
      const response = await new Promise<any>((resolve) => get(`${address}/api/${path}`, resolve))
      const lines: string[] = response.rawHeaders
      const text = lines.map((part, i) => (i % 2 ? part : `${part}:`)).join(' ')
      response.resume()
      for (const line of NAMED_LINES.split('|')) t.ok(text.includes(line), `${name}, ${path}: ${line}`)
      t.notMatch(text, /X-Removed|X-REPLACED/, `${name}, ${path}: no other spelling`)
    }
})

/** What one request to an Express application gets, under Express and under twinroute: the lines of its head, and its body. */
async function onBothExpresses(t: any, handlers: readonly Handler[]) {
  const answers: { name: string; status: number; lines: string[]; body: string }[] = []
  for (const [name, create] of [
    ['Express', express],
    ['twinroute/express', twinrouteExpress]
  ] as const) {
    const app = create() as ReturnType<typeof express>
    app.disable('x-powered-by')
    for (const handler of handlers) app.use(handler)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const response = await new Promise<any>((resolve) => get({ host: '127.0.0.1', port }, resolve))
    const raw: string[] = response.rawHeaders
    const lines = raw.flatMap((part, i) => (i % 2 ? [] : [`${part}: ${raw[i + 1]}`]))
    let body = ''
    for await (const chunk of response.setEncoding('utf8')) body += chunk
    answers.push({ name, status: response.statusCode, lines, body })
  }
  return answers
}

/** What Express code does to a response, the lines that leave, and what else is not among them. */
const headRows: readonly { rule: string; handlers: readonly Handler[]; lines: readonly string[]; not?: RegExp }[] = [
  {
    rule: 'a header is called __proto__ in any spelling',
    handlers: [
      (_q, s) => {
        s.setHeader('__PROTO__', ['a', 'b'])
        s.setHeader('X-Read', `${s.getHeader('__proto__')} ${s.hasHeader('length')} ${s.getHeaderNames()}`).json({})
      }
    ],
    lines: ['__PROTO__: a', '__PROTO__: b', 'X-Read: a,b false __proto__']
  },
  {
    rule: 'what appendHeader adds keeps its type, and is refused as node does',
    handlers: [
      (_q, s) => {
        s.setHeader('X-Number', 1).appendHeader('x-number', 2).appendHeader('X-Number', [3])
        let refused = ''
        try {
          s.appendHeader('X-Number')
        } catch (error: any) {
          refused = error.code
        }
        s.setHeader('X-Read', JSON.stringify(s.getHeader('x-number')) + refused).json({})
      }
    ],
    lines: ['X-Number: 1', 'X-Number: 2', 'X-Number: 3', 'X-Read: [1,2,3]ERR_HTTP_INVALID_HEADER_VALUE']
  },
  {
    rule: 'null, and undefined in a list, are sent as their text, and read as they are',
    handlers: [
      (_q, s) => {
        s.setHeader('X-Null', null).setHeader('X-List', ['a', undefined])
        s.setHeader('X-Read', `${s.getHeader('x-null')} ${s.hasHeader('X-Null')}`).json({})
      }
    ],
    lines: ['X-Null: null', 'X-List: a', 'X-List: undefined', 'X-Read: null true']
  },
  {
    rule: 'names keep their case behind middleware that sets what writeHead is given',
    handlers: [
      (_q, s, next) => {
        s.setHeader('X-Case', '1').cookie('first', '1')
        onHeaders(s, () => s.setHeader('X-Late', '2'))
        next()
      },
      (_q, s) => void s.json({})
    ],
    lines: ['X-Case: 1', 'Set-Cookie: first=1; Path=/', 'X-Late: 2'],
    not: /x-case|set-cookie/
  },
  ...['send', 'end'].map((method) => ({
    rule: `a cookie set by node's own method, as the package cookies does, joins the others once: ${method}`,
    handlers: [
      ((_q, s, next) => {
        s.cookie('first', '1').cookie('second', '2')
        s.on('finish', () => s.getHeader('set-cookie')) // as loggers do
        setByNode(s, 'third=3')
        s.cookie('fourth', '4')
        onHeaders(s, () => setByNode(s, 'fifth=5'))
        next()
      }) as Handler,
      ((_q, s) => void s[method]('x')) as Handler
    ],
    lines: ['first=1; Path=/', 'second=2; Path=/', 'third=3', 'fourth=4; Path=/', 'fifth=5'].map(
      (cookie) => `Set-Cookie: ${cookie}`
    ),
    not: /(first=1.*){2}|(third=3.*){2}/
  }))
]

/** As the package on-headers: sets the headers that writeHead is given, calls a listener, and writes the head. */
function onHeaders(response: any, listener: () => unknown): void {
  const { writeHead } = response
  let hasFired = false
  response.writeHead = function (status: number, ...rest: unknown[]) {
    for (const [name, value] of Object.entries(rest.at(-1) ?? {})) response.setHeader(name, value)
    if (!hasFired) listener()
    hasFired = true
    return writeHead.call(this, status)
  }
}

function setByNode(response: any, cookie: string): void {
  const cookies = [response.getHeader('Set-Cookie') ?? []].flat()
  OutgoingMessage.prototype.setHeader.call(response, 'Set-Cookie', [...cookies, cookie])
}

t.test('the head that Express code makes leaves as under Express', async (t) => {
  for (const { rule, handlers, lines, not } of headRows) {
    t.test(rule, async (t) => {
      for (const answer of await onBothExpresses(t, handlers)) {
        t.equal(answer.status, 200, answer.name)
        for (const line of lines) t.ok(answer.lines.includes(line), `${answer.name}: ${line} in ${answer.lines}`)
        if (not !== undefined) t.notMatch(answer.lines.join(' '), not, answer.name)
      }
    })
  }
})

t.test('a Content-Type that is no text is sent as one, whatever it describes', async (t) => {
  const bodies: Record<string, unknown> = { bytes: Buffer.from('a'), text: 'a', stream: Readable.from(['a']) }
  const files = Object.fromEntries(
    Object.entries(bodies).map(([path, body]) => [
      path,
      { GET: (_q: any, s: any) => (s.setHeader('Content-Type', ['text/csv']), body) }
    ])
  )
  const sent = { GET: (_q: any, s: any) => void s.setHeader('Content-Type', 5).send(Buffer.from('a')) }
  const empty = { GET: (_q: any, s: any) => void s.setHeader('Content-Type', '').send('a') }
  const app = await createApp({ apiDir: writeRoutes(t, { ...files, sent, empty }), mode: 'test' })
  t.teardown(() => app.close())
  for (const path of Object.keys(files)) {
    const { statusCode, headers, body } = await app.inject(`/api/${path}`)
    t.match(
      { statusCode, type: headers['content-type'], body },
      { statusCode: 200, type: /^text\/csv/, body: 'a' },
      path
    )
  }
  t.equal((await app.inject('/api/sent')).statusCode, 200)
  const { statusCode, headers } = await app.inject('/api/empty')
  t.match([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'])
})

t.test('a replaced writeHead runs once where an onSend hook has seen a raw answer', async (t) => {
  const app = await createApp({
    apiDir: writeRoutes(t, { raw: { GET: (_q: any, s: any) => s.end('a') } }),
    mode: 'test'
  })
  t.teardown(() => app.close())
  app.use((_q: any, s: any, next: any) => {
    const { writeHead } = s
    s.writeHead = function (...given: unknown[]) {
      s.appendHeader('X-Runs', '1')
      return writeHead.apply(this, given)
    }
    next()
  })
  app.addHook('onSend', async (_request, _reply, payload) => payload)
  t.equal((await app.inject('/api/raw')).headers['x-runs'], '1')
})

t.test('an error answer is not in the language of the one that was lost', async (t) => {
  const GET: Handler = (_q, s) => {
    s.setHeader('Content-Language', 'de').appendHeader('Content-Encoding', 'gzip')
    throw new Error('broken')
  }
  const app = await createApp({ apiDir: writeRoutes(t, { lost: { GET } }), mode: 'test' })
  t.teardown(() => app.close())
  const { statusCode, headers } = await app.inject('/api/lost')
  t.match([statusCode, headers['content-language'], headers['content-encoding']], [500, undefined, undefined])
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
  t.test('a value that no one could send is sent where its class says how it is written', async (t) => {
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

/** What becomes of an answer: its text, or that it was cut off before its end. */
async function fateOf(call: Call, line: string): Promise<string> {
  try {
    return (await call(line)).text
  } catch {
    return 'cut off'
  }
}

const BEGIN: Record<string, (response: any) => unknown> = {
  write: (s) => s.write('a'),
  flushHeaders: (s) => s.flushHeaders(),
  writeHead: (s) => s.writeHead(200),
  'writeHead and write': (s) => s.writeHead(200, { 'Content-Type': 'text/plain' }).write('a')
}

const FINISH: Record<string, (response: any) => unknown> = {
  json: (s) => s.json({}),
  'status and json': (s) => s.status(500).json({}),
  jsonp: (s) => s.jsonp({}),
  'a text sent': (s) => s.send('x'),
  'bytes sent': (s) => s.send(Buffer.from('x')),
  sendStatus: (s) => s.sendStatus(500),
  redirect: (s) => s.redirect('/x')
}

const begun = Object.entries(BEGIN).flatMap(([first, begin]) =>
  Object.entries(FINISH).map(([second, finish]) => ({
    rule: `${first}, then ${second}`,
    handle: (_: any, s: any) => void (begin(s), finish(s))
  }))
)

t.test('an answer that has begun and gets a second one is cut off, as by the error that Express throws', async (t) => {
  const targets: Record<string, () => Promise<Call>> = {
    'Express 5': async () => {
      const app = express().set('env', 'test')
      for (const [index, { handle }] of begun.entries()) app.get(`/api/r${index}`, handle)
      const server = app.listen(0, '127.0.0.1')
      t.teardown(() => server.close())
      await once(server, 'listening')
      return callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    },
    'twinroute/express': async () => {
      const app = twinrouteExpress()
      for (const [index, { handle }] of begun.entries()) app.get(`/api/r${index}`, handle)
      t.teardown(() => app.fastify.close())
      return callOver(await addressOf(app.fastify))
    }
  }
  for (const [target, start] of Object.entries(targets)) {
    t.test(target, async (t) => {
      const call = await start()
      for (const [index, { rule }] of begun.entries())
        t.equal(await fateOf(call, `GET /api/r${index}`), 'cut off', rule)
    })
  }
  const routes = Object.fromEntries(begun.map(({ handle }, index) => [`r${index}`, { GET: handle }]))
  onEveryHost(t, { routes }, async (t, call) => {
    for (const [index, { rule }] of begun.entries()) t.equal(await fateOf(call, `GET /api/r${index}`), 'cut off', rule)
  })
})

t.test('error middleware may end an answer that had begun, and one that answers anew has it cut off', async (t) => {
  const handlers: Record<string, readonly [handle: (s: any) => unknown, fate: string]> = {
    'ends it': [(s) => s.end('b'), 'ab'],
    'answers anew': [(s) => s.status(500).json({}), 'cut off'],
    'sends a text': [(s) => s.send('x'), 'cut off']
  }
  const apiDir = writeRoutes(t, {
    a: { GET: (_: any, s: any) => void (s.write('a'), s.json({})) },
    b: { GET: (_: any, s: any) => (s.write('a'), { a: 1 }) }
  })
  for (const [rule, [handle, fate]] of Object.entries(handlers)) {
    const answer = (_error: any, _q: any, s: any, _next: any): void => void handle(s)
    const asLast = await createApp({ mode: 'test', apiDir, errorHandler: answer })
    const used = await createApp({ mode: 'test', apiDir })
    used.use(answer)
    for (const [place, app] of Object.entries({ 'the errorHandler option': asLast, 'use()': used })) {
      t.teardown(() => app.close())
      const address = await addressOf(app as never)
      for (const call of [callOver(address), callByInject(app as never)])
        for (const path of ['/api/a', '/api/b'])
          t.equal(await fateOf(call, `GET ${path}`), fate, `${place} ${rule}, ${path}`)
    }
  }
})

t.test('a value that is returned behind a begun answer cuts it off, unless it is no answer', async (t) => {
  const answers: Record<string, () => unknown> = {
    'an object': () => ({ a: 1 }),
    'an array': () => [],
    'a text': () => 'x',
    bytes: () => Buffer.from('x'),
    'a stream': () => Readable.from(['x']),
    'a status object': () => ({ status: 500 }),
    'a web Response': () => new globalThis.Response('x'),
    'a Blob': () => new Blob(['x']),
    'a FormData': () => new FormData(),
    URLSearchParams: () => new URLSearchParams('a=1'),
    'an ArrayBuffer': () => new ArrayBuffer(1),
    'an async iterable': () => ({ [Symbol.asyncIterator]: () => Readable.from(['x'])[Symbol.asyncIterator]() }),
    'an error': () => new Error('x')
  }
  const others: Record<string, (response: any) => unknown> = {
    nothing: () => undefined,
    null: () => null,
    'what write returns': (s) => s.write('b'),
    'a timer': () => setImmediate(() => {}),
    'an emitter': (s) => s.once('x', () => {}),
    'the response': (s) => s
  }
  const cut = Object.values(answers).map((give) => (_: any, s: any) => (s.write('a'), give()))
  const kept = Object.values(others).map((give) => (_: any, s: any) => {
    s.write('a')
    setImmediate(() => setImmediate(() => s.end('c')))
    return give(s)
  })
  const ended = Object.values(answers).map((give) => async (_: any, s: any) => (s.write('a'), s.end(), give()))
  const piped = [(_: any, s: any) => (Readable.from(turns('a', 'b', () => s.json({}))).pipe(s), undefined)]
  const routes = Object.fromEntries([...cut, ...kept, ...ended, ...piped].map((GET, index) => [`r${index}`, { GET }]))
  const wanted = [
    ...Object.keys(answers).map((rule) => [rule, /^cut off$/] as const),
    ...Object.keys(others).map((rule) => [rule, /^ab?c$/] as const),
    ...Object.keys(answers).map((rule) => [`${rule} after the end`, /^a$/] as const),
    ['json while a stream is piped', /^ab$/] as const
  ]
  onEveryHost(t, { routes }, async (t, call) => {
    for (const [index, [rule, fate]] of wanted.entries()) t.match(await fateOf(call, `GET /api/r${index}`), fate, rule)
  })
})

/** Yields a text, does something while it is under way, and yields another. */
async function* turns(first: string, second: string, between: () => unknown): AsyncGenerator<string> {
  yield first
  await turn()
  between()
  yield second
}

t.test('the reason phrase of an error answer is that of its status, unless error middleware answers', async (t) => {
  const fail = (_: unknown, response: any): void => {
    response.statusMessage = 'Created it'
    throw new Error('failed')
  }
  const phrases = async (app: FastifyInstance, path: string): Promise<string[]> => {
    const injected = await app.inject(path)
    const [response] = await once(get(`${await addressOf(app)}${path}`, { agent: false }), 'response')
    response.resume()
    return [injected.statusMessage, response.statusMessage]
  }
  const standard = ['Internal Server Error', 'Internal Server Error']
  const handlers: Record<string, object> = {
    'no error handler': {},
    'the error handler': { errorHandler },
    "a Fastify handler of one's own": {
      errorHandler: (_: unknown, __: unknown, reply: any) => reply.code(500).send('x')
    }
  }
  for (const [rule, options] of Object.entries(handlers)) {
    const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { a: { GET: fail } }), ...options })
    t.teardown(() => app.close())
    t.strictSame(await phrases(app as never, '/api/a'), standard, rule)
  }
  const host = fastify()
  t.teardown(() => host.close())
  await host.register(fileRoutes, { mode: 'test', apiDir: writeRoutes(t, { a: { GET: fail } }) })
  t.strictSame(await phrases(host, '/api/a'), standard, 'on a host')
  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { a: { GET: fail } }) })
  t.teardown(() => app.close())
  app.use((_error: any, _q: any, s: any, _next: any) => void s.status(500).end())
  t.strictSame(await phrases(app as never, '/api/a'), ['Created it', 'Created it'], 'error middleware')
})

/** Answers by `end`, with what their author says of them. */
const RAW: Record<string, (response: any) => unknown> = {
  'a page without a type': (s) => s.end('<h1>hi</h1>'),
  'bytes without a type': (s) => s.end(Buffer.from('hi')),
  nothing: (s) => s.end(),
  'an empty text': (s) => s.end(''),
  'a text in latin1': (s) => s.end('hü', 'latin1'),
  'a typed text': (s) => s.setHeader('Content-Type', 'text/css').end('a {}'),
  'JSON without a charset': (s) => s.setHeader('Content-Type', 'application/json').end('{}'),
  'typed bytes': (s) => s.setHeader('Content-Type', 'image/png').end(Buffer.from('x')),
  'a length of its own': (s) => s.setHeader('Content-Length', '2').end('hi'),
  'a length without a body': (s) => (s.req.method === 'HEAD' ? s.setHeader('Content-Length', '9').end() : s.end()),
  'a status': (s) => ((s.statusCode = 418), s.end('tea')),
  'a 204 with a type': (s) => s.status(204).setHeader('Content-Type', 'text/css').end('x'),
  'a 304 with an ETag': (s) => s.status(304).setHeader('ETag', '"a"').end(),
  'an error page of middleware': (s) => s.status(401).end('<h1>no</h1>')
}

t.test('an onSend hook that passes its payload on adds nothing to a raw answer', async (t) => {
  const lines = Object.keys(RAW).flatMap((_, index) => [`GET /r${index}`, `HEAD /r${index}`])
  const answers = async (call: Call): Promise<unknown[]> => {
    const seen: unknown[] = []
    for (const line of lines) {
      const { status, headers, text } = await call(line)
      const { date: _date, connection: _connection, 'x-request-id': _id, 'x-powered-by': _by, ...kept } = headers
      seen.push({ line, status, headers: kept, text })
    }
    return seen
  }
  const middleware = (q: any, s: any, next: any): unknown => {
    const handle = Object.values(RAW)[Number(q.url.slice(2))]
    return handle === undefined ? next() : handle(s)
  }
  const pass = async (_request: unknown, _reply: unknown, payload: unknown): Promise<unknown> => payload
  const reference = express().use(middleware).listen(0, '127.0.0.1')
  t.teardown(() => reference.close())
  await once(reference, 'listening')
  const wanted = await answers(callOver(`http://127.0.0.1:${(reference.address() as AddressInfo).port}`))

  const ours = twinrouteExpress().use(middleware)
  ours.fastify.addHook('onSend', pass)
  t.teardown(() => ours.fastify.close())
  t.strictSame(await answers(callOver(await addressOf(ours.fastify))), wanted, 'twinroute/express')

  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { unused: { GET() {} } }) })
  t.teardown(() => app.close())
  app.addHook('onSend', pass)
  app.use(middleware as never)
  t.strictSame(await answers(callOver(await addressOf(app as never))), wanted, 'createApp, use()')

  const handlers = Object.entries(RAW).map(([, handle], index) => [
    `r${index}`,
    { GET: (_: any, s: any) => void handle(s) }
  ])
  const host = fastify()
  t.teardown(() => host.close())
  host.addHook('onSend', (_request, _reply, payload, done) => done(null, payload))
  const apiDir = writeRoutes(t, Object.fromEntries(handlers))
  await host.register(fileRoutes, { mode: 'test', apiDir, baseRoute: '/' })
  t.strictSame(await answers(callOver(await addressOf(host))), wanted, 'host, route files')
})

t.test('an onSend hook sees a raw answer and may change it', async (t) => {
  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { unused: { GET() {} } }) })
  t.teardown(() => app.close())
  const seen: unknown[] = []
  app.addHook('onSend', async (_request, reply, payload) => {
    seen.push([payload, reply.getHeader('content-type'), reply.getHeader('content-length')])
    reply.type('text/x')
    return `${String(payload)}!`
  })
  app.use(((q: any, s: any) => {
    if (q.url === '/length') s.setHeader('Content-Length', '1')
    s.once('finish', () => seen.push(s.getHeader('content-length')))
    s.end('a')
  }) as never)
  for (const call of [callByInject(app as never), callOver(await addressOf(app as never))]) {
    t.match(await call('GET /plain'), { text: 'a!', headers: { 'content-type': 'text/x' } })
    t.match(await call('GET /length'), { text: 'a!', headers: { 'content-type': 'text/x', 'content-length': '2' } })
  }
  const wanted = [['a', undefined, undefined], undefined, ['a', undefined, '1'], '2']
  t.strictSame(seen, [...wanted, ...wanted])
})

t.test('a raw answer of 102 leaves as it is, with onSend hooks too', async (t) => {
  const app = await createApp({ mode: 'test', apiDir: writeRoutes(t, { unused: { GET() {} } }) })
  t.teardown(() => app.close())
  app.addHook('onSend', async (_request, _reply, payload) => payload)
  app.use(((_q: any, s: any) => void ((s.statusCode = 102), s.end())) as never)
  const wire = new Wire(t, await addressOf(app as never))
  await wire.write(head('GET /'))
  t.match(await wire.until(/\r\n\r\n/), /^HTTP\/1\.1 102 Processing\r\n/)
})

t.test('every handler gets next, whatever parameters it declares', async (t) => {
  const router = express.Router()
  router.get('/*rest', (_q, s) => void s.send('by a router'))
  const rows: Record<string, { GET: Handler; status: number; text: RegExp }> = {
    'next(error)': { GET: (_q, _s, next) => next(new Error('mine')), status: 500, text: /mine/ },
    'next(error) of an asynchronous handler': {
      GET: async (_q, _s, next) => (await turn(), next(new Error('mine'))),
      status: 500,
      text: /mine/
    },
    'next(error) with a status': {
      GET: (_q, _s, next) => next(Object.assign(new Error('mine'), { status: 409 })),
      status: 409,
      text: /mine/
    },
    'next(error) later': {
      GET: (_q, _s, next) => void setImmediate(() => next(new Error('mine'))),
      status: 500,
      text: /mine/
    },
    'next of a text': { GET: (_q, _s, next) => next('mine'), status: 500, text: /mine/ },
    'next()': { GET: (_q, _s, next) => next(), status: 404, text: /NOT_FOUND/ },
    'next() later': { GET: async (_q, _s, next) => void setImmediate(() => next()), status: 404, text: /NOT_FOUND/ },
    'next(null)': { GET: (_q, _s, next) => next(null), status: 404, text: /NOT_FOUND/ },
    "next('route')": { GET: (_q, _s, next) => next('route'), status: 404, text: /NOT_FOUND/ },
    "next('router')": { GET: (_q, _s, next) => next('router'), status: 404, text: /NOT_FOUND/ },
    'next() as the last of several arguments': {
      GET: (...given: any[]) => given.at(-1)(),
      status: 404,
      text: /NOT_FOUND/
    },
    'next(error), then a value': {
      GET: (_q, _s, next) => (next(new Error('mine')), { a: 1 }),
      status: 500,
      text: /mine/
    },
    'next(error) twice': {
      GET: (_q, _s, next) => (next(new Error('mine')), next(new Error('second'))),
      status: 500,
      text: /mine/
    },
    'next() after the answer': { GET: (_q, s, next) => (s.send('sent'), next()), status: 200, text: /^sent$/ },
    'next(error) after the answer': {
      GET: (_q, s, next) => (s.send('sent'), next(new Error('mine'))),
      status: 200,
      text: /^sent$/
    },
    'a handler that ignores it': { GET: (_q, s) => s.send('sent'), status: 200, text: /^sent$/ },
    'a Router as the handler': { GET: router, status: 200, text: /^by a router$/ },
    'request.next(error)': { GET: (q) => q.next(new Error('mine')), status: 500, text: /mine/ },
    'request.next()': { GET: (q) => q.next(), status: 404, text: /NOT_FOUND/ }
  }
  const routes = Object.fromEntries(Object.values(rows).map(({ GET }, index) => [`r${index}`, { GET }]))
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const [index, [rule, { status, text }]] of Object.entries(rows).entries()) {
      t.match(await call(`GET /api/r${index}`), { status, text }, rule)
      t.match(await call(`HEAD /api/r${index}`), { status, text: '' }, `${rule}, HEAD`)
    }
  })
  t.test('error middleware gets what next gets', async (t) => {
    const app = await createApp({
      mode: 'test',
      apiDir: writeRoutes(t, { a: { POST: (_q: any, _s: any, next: any) => next(new Error('mine')) } })
    })
    t.teardown(() => app.close())
    app.use((error: any, _q: any, s: any, _next: any) => void s.status(418).send(error.message))
    t.match(await callByInject(app as never)('POST /api/a'), { status: 418, text: 'mine' })
  })
})

/** A logger, and a promise of the first entry that matches. */
function logWatch() {
  const lines = new EventEmitter()
  const stream = { write: (line: string) => void lines.emit('line', JSON.parse(line)) }
  const until = async (pattern: RegExp): Promise<any> => {
    for await (const [entry] of on(lines, 'line')) if (pattern.test(entry.msg)) return entry
  }
  return { logger: { level: 'warn', stream }, until }
}

t.test('in development a handler that returns nothing and does not answer is named after a second', async (t) => {
  const handlers: readonly Handler[] = [async () => {}, () => {}, (_, response) => response.status(201)]
  const { logger, until } = logWatch()
  const open: any[] = []
  const routes = Object.fromEntries(
    handlers.map((handle, index) => [
      `silent${index}`,
      { GET: (q: any, s: any, next: any): unknown => (open.push(s), handle(q, s, next)) }
    ])
  )
  onEveryHost(t, { routes, options: { mode: 'development', fastifyOptions: { logger } as never } }, async (t, call) => {
    const said = handlers.map(async (_, index) => until(new RegExp(`^No answer after 1000 ms: .*silent${index}`)))
    const answers = handlers.map(async (_, index) => call(`GET /api/silent${index}`))
    for (const [index, line] of said.entries()) {
      const { msg, method, file } = await line
      t.match({ method, file }, { method: 'GET', file: new RegExp(`silent${index}.route\\.js$`) })
      t.match(msg, /GET of \S+ has returned nothing and not answered\. Return an object, .* response\.json\(\)/)
    }
    for (const response of open.splice(0)) response.end('late')
    for (const answer of answers) t.match(await answer, { text: 'late' }, 'the answer may still come')
  })
})

t.test('the log of a 503 names who has not answered, in every mode', async (t) => {
  const never = (): void => {}
  const config = { timeout: 10 }
  const routes: Routes = {
    handler: { GET: async () => {}, config },
    middleware: { GET: () => 'x', middleware: [never], config }
  }
  const rows = [
    ['handler', /: GET of \S+handler\S+ has returned nothing and not answered\. Return an object/],
    ['middleware', /: a middleware in front of GET of \S+middleware\S+ has neither answered nor called next\(\)$/]
  ] as const
  for (const mode of ['production', 'development']) {
    const { logger, until } = logWatch()
    onEveryHost(t, { routes, options: { mode, fastifyOptions: { logger } as never } }, async (t, call) => {
      for (const [name, pattern] of rows) {
        const said = until(/^No answer within/)
        t.equal((await call(`GET /api/${name}`)).status, 503)
        t.match(
          await said,
          { msg: pattern, method: 'GET', file: new RegExp(`${name}.route\\.js$`) },
          `${name}, ${mode}`
        )
      }
    })
  }
  t.test('a middleware of use() too, where no route is reached', async (t) => {
    const { logger, until } = logWatch()
    const app = await createApp({
      mode: 'test',
      handlerTimeout: 10,
      apiDir: writeRoutes(t, { unused: { GET() {} } }),
      fastifyOptions: { logger } as never
    })
    t.teardown(() => app.close())
    app.use(never as never)
    const said = until(/^No answer within/)
    t.equal((await callByInject(app as never)('GET /none')).status, 503)
    t.match((await said).msg, /: a middleware in front of GET has neither answered nor called next\(\)$/)
  })
})
