// Heads with values that node refuses, or reads in its own way, where no caller is left who could catch an error.
import { OutgoingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import express from 'express'
import fastify from 'fastify'
import t from 'tap'
import twinrouteExpress from 'twinroute/express'
import { addressOf, appOf, hostOf } from './support/hosts.js'
import { type Engine, listen } from './support/express-server.js'
import { Wire } from './support/wire.js'

type Handle = (request: any, response: any) => unknown

const BYTE = 'b'
const stream = (): Readable => Readable.from([Buffer.from(BYTE)])

/** Ways to send one byte, of which most have no caller to throw to. */
const sends: Record<string, Handle> = {
  'a stream that is piped': (_q, s) => stream().pipe(s),
  'a write in a later turn': (_q, s) => void setImmediate(() => (s.write(BYTE), s.end())),
  'an end': (_q, s) => s.end(Buffer.from(BYTE)),
  'a head alone': (_q, s) => (s.flushHeaders(), s.end(BYTE)),
  'a head and an end': (_q, s) => s.writeHead(200).end(BYTE)
}

/** @returns status, what the pattern finds in each line of the head, and the body, without chunks */
async function ask(t: any, address: string, path: string, { version = '1.1', lines = /^x-.*$/gim } = {}) {
  const wire = new Wire(t, address)
  await wire.write(`GET ${path} HTTP/${version}\r\nHost: example.com\r\nConnection: close\r\n\r\n`)
  const [top = '', body = ''] = (await wire.closed()).split('\r\n\r\n', 2)
  const found = top.match(lines)?.filter((line) => !/^x-request-id/i.test(line)) ?? []
  return { status: top.split(' ')[1], lines: found, body: body.replace(/^1\r\nb\r\n0$/, BYTE) }
}

const NAMES: Record<string, string> = {
  'letters of Latin-1': 'attachment; filename="José.txt"',
  'UTF-8, as an upstream server sends it': Buffer.from('attachment; filename="José.txt"').toString('latin1'),
  'UTF-8 beyond Latin-1': Buffer.from('attachment; filename="文.pdf"').toString('latin1')
}
const beside: Record<string, [string, string | string[]]> = {
  nothing: ['X-One', '1'],
  cookies: ['Set-Cookie', ['a=1', 'b=2']],
  'a header of the connection': ['Connection', 'close']
}

t.test(
  'a file name beyond ASCII can stand behind a length, whatever sends it, and decodes as from Express',
  async (t) => {
    const handle: Handle = (request, response) => {
      const [send, name, other] = JSON.parse(decodeURIComponent(request.url.slice(1)))
      response.setHeader('Content-Length', '1')
      response.setHeader('Content-Disposition', NAMES[name])
      response.setHeader(...beside[other]!)
      sends[send]!(request, response)
    }
    const [theirs, ours] = await Promise.all(
      [express, twinrouteExpress as unknown as Engine].map((engine) => listen(t, engine().use(handle)))
    )
    for (const send of Object.keys(sends))
      for (const name of Object.keys(NAMES))
        for (const other of Object.keys(beside))
          for (const version of ['1.1', '1.0']) {
            const path = `/${encodeURIComponent(JSON.stringify([send, name, other]))}`
            const asked = { version, lines: /^content-disposition.*$/gim }
            const [wanted, found] = [await ask(t, theirs!, path, asked), await ask(t, ours!, path, asked)]
            // node makes a text of the bytes, and cuts each character beyond Latin-1 to a byte; Latin-1 itself is lost by it
            if (name !== 'UTF-8, as an upstream server sends it') wanted.lines = found.lines
            t.strictSame(found, wanted, `${send}, ${name}, beside ${other}, HTTP/${version}`)
            t.equal(found.lines.length, 1)
          }
  }
)

/** What node refuses when it writes the head, at the latest; Fastify takes all of it. */
const refused: Record<string, () => [string, unknown]> = {
  'beyond Latin-1': () => ['x-user', '\u4e2d'],
  'a line break': () => ['x-user', 'a\r\nx-more: 1'],
  'a symbol': () => ['x-user', Symbol('user')],
  'a text that is made once': () => {
    let made = 0
    const toString = (): string => {
      if (made++ > 1) throw new Error('made')
      return 'user'
    }
    return ['x-user', { toString }]
  },
  'a list with one of them': () => ['x-user', ['a', '\u4e2d']],
  'a length of another kind': () => ['content-length', 1n]
}

t.test(
  'a header of the reply that node refuses is left out where node code answers, and the process lives',
  async (t) => {
    for (const [what, header] of Object.entries(refused)) {
      const GET: Handle = (request, response) => sends[request.query.by]!(request, response)
      const scenario = { routes: { a: { GET } } }
      for (const app of [await appOf(t, scenario), await hostOf(t, scenario)]) {
        app.addHook('onRequest', async (_request: any, reply: any) => {
          reply.header('x-kept', '1')
          reply.header(...header())
        })
        const address = await addressOf(app as never)
        for (const send of Object.keys(sends)) {
          const { status, lines, body } = await ask(t, address, `/api/a?by=${encodeURIComponent(send)}`)
          t.equal(status, '200', `${what}: ${send}`)
          t.ok(lines.includes('x-kept: 1') && !lines.some((line) => line.includes('more')), String(lines))
          t.equal(body, BYTE)
        }
      }
    }
  }
)

/** Code that calls node's method itself, on a response of which other headers have been set. */
const pastOurs: Record<string, Handle> = {
  'with an object': (_q, s) => ServerResponse.prototype.writeHead.call(s, 200, { 'X-Own': '1' }),
  'with an object that has one of them': (_q, s) => ServerResponse.prototype.writeHead.call(s, 200, { 'x-SET': '2' }),
  'with a list': (_q, s) => ServerResponse.prototype.writeHead.call(s, 200, ['X-Own', '1'] as never),
  alone: (_q, s) => ServerResponse.prototype.writeHead.call(s, 200),
  'with a header that node has': (_q, s) => {
    OutgoingMessage.prototype.setHeader.call(s, 'X-Node', '1')
    ServerResponse.prototype.writeHead.call(s, 200, { 'X-Own': '1' })
  }
}

t.test("the headers that were set leave with a head that code writes by node's own writeHead", async (t) => {
  for (const [how, write] of Object.entries(pastOurs)) {
    const handle: Handle = (request, response) => {
      response.set('X-Set', '1').cookie('a', '1')
      write(request, response)
      response.end(BYTE)
    }
    const lines = /^(?:x-|set-cookie).*$/gim
    const [theirs, ours] = await Promise.all(
      [express, twinrouteExpress as unknown as Engine].map(async (engine) =>
        ask(t, await listen(t, engine().disable('x-powered-by').use(handle)), '/', { lines })
      )
    )
    t.strictSame({ ...ours, lines: ours!.lines.toSorted() }, { ...theirs, lines: theirs!.lines.toSorted() }, how)
  }
})

const lists: Record<string, unknown[]> = {
  flat: ['X-A', '1', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
  'of pairs': [
    ['X-A', '1'],
    ['X-A', '2'],
    ['Set-Cookie', 'a=1']
  ],
  empty: [],
  'of a name without a value': ['X-A', '1', 'X-B']
}

t.test('a list of headers that writeHead is given leaves whole, as on plain Fastify', async (t) => {
  const lines = /^(?:x-|set-cookie).*$/gim
  for (const [how, list] of Object.entries(lists)) {
    const handler: Handle = (_request, reply) => {
      reply.hijack()
      try {
        reply.raw.writeHead(200, list).end(BYTE)
      } catch (error: any) {
        reply.raw.end(error.code)
      }
    }
    const plain = fastify()
    t.teardown(() => plain.close())
    const app = await appOf(t, { routes: { a: { GET: () => 'a' } } })
    for (const one of [plain, app]) one.get('/', handler as never)
    const wanted = await ask(t, await addressOf(plain as never), '/', { lines })
    t.strictSame(await ask(t, await addressOf(app), '/', { lines }), wanted, how)
  }
})

/** What `writeHead` is given, and what leaves of it where a hook has set a header that cannot be sent. */
const begun: Record<string, { given: unknown[]; status: string; lines: string[] }> = {
  'a status and headers': { given: [401, { 'X-Own': '1' }], status: '401 Unauthorized', lines: ['X-Own: 1'] },
  'a phrase as well': { given: [403, 'Not you', { 'X-Own': '1' }], status: '403 Not you', lines: ['X-Own: 1'] },
  'a list': { given: [201, ['X-Own', '1']], status: '201 Created', lines: ['X-Own: 1'] },
  'a header that cannot be sent': { given: [201, { 'X-Own': '\u4e2d' }], status: 'ERR_INVALID_CHAR', lines: [] },
  'such a phrase': { given: [201, '\u4e2d', { 'X-Own': '1' }], status: 'ERR_INVALID_CHAR', lines: [] },
  'no status': { given: [99, { 'X-Own': '1' }], status: 'ERR_INVALID_CHAR', lines: [] } // node comes to the hook's header first
}

t.test(
  'status, phrase and headers of writeHead leave where a hook has set what cannot be sent; what they have of it is thrown',
  async (t) => {
    for (const [what, { given, status, lines }] of Object.entries(begun)) {
      let thrown: string | undefined
      const GET: Handle = (_request, response) => {
        try {
          response.writeHead(...given).end(BYTE)
        } catch (error: any) {
          thrown = error.code
          response.statusCode = 202
          response.end(BYTE)
        }
      }
      const app = await appOf(t, { routes: { a: { GET } } })
      app.addHook('onRequest', async (_request: any, reply: any) => void reply.header('x-user', '\u4e2d'))
      const wire = new Wire(t, await addressOf(app))
      await wire.write('GET /api/a HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n')
      const [top = ''] = (await wire.closed()).split('\r\n\r\n', 1)
      t.equal(thrown ?? top.split('\r\n')[0]?.replace('HTTP/1.1 ', ''), status, what)
      t.strictSame(top.match(/^x-own.*$/gim) ?? [], lines, what)
      if (thrown !== undefined) t.match(top, /^HTTP\/1.1 202 /)
    }
  }
)

t.test('a list of values keeps its lines where another header is left out', async (t) => {
  const GET: Handle = (_request, response) => {
    response.setHeader('X-A', [1, 2]).setHeader('Set-Cookie', ['a=1', 2])
    stream().pipe(response)
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  app.addHook('onRequest', async (_request: any, reply: any) => void reply.header('x-user', '\u4e2d'))
  const { lines } = await ask(t, await addressOf(app), '/api/a', { lines: /^(?:x-a|set-cookie).*$/gim })
  t.strictSame(
    lines.map((line) => line.toLowerCase()),
    ['x-a: 1', 'x-a: 2', 'set-cookie: a=1', 'set-cookie: 2']
  )
})
