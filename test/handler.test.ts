import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import express from 'express'
import t from 'tap'
import { errorHandler, type AppOptions } from 'twinroute'
import { validate } from 'twinroute/http'
import { z } from 'zod'
import { connectTo } from './support/connection.js'
import { addressOf, appOf, callByInject, callOver, hostOf, logBook, onEveryHost, type Routes } from './support/hosts.js'

type AnyHandler = (request: any, response: any) => unknown

/** What an answer shall be: 200 unless it says otherwise; `undefined` for a header that must not be there. */
interface Wanted {
  status?: number
  type?: string | undefined
  text?: string
  headers?: Record<string, string | string[] | undefined>
}
type Row = { rule: string; handler: AnyHandler; wanted: Wanted }

const JSON_TYPE = 'application/json; charset=utf-8'
const HTML_TYPE = 'text/html; charset=utf-8'
const BYTES_TYPE = 'application/octet-stream'

/** `{ r0: { GET }, r1: { GET }, ... }`: a route for every row. */
function routesOf(rows: readonly (readonly [rule: string, GET: AnyHandler])[], more: object = {}): Routes {
  return Object.fromEntries(rows.map(([, GET], index) => [`r${index}`, { GET, ...more }]))
}

function checkRows(t: any, rows: readonly Row[], options: Partial<AppOptions> = {}): void {
  onEveryHost(t, { routes: routesOf(rows.map(({ rule, handler }) => [rule, handler])), options }, async (t, call) => {
    for (const [
      index,
      {
        rule,
        wanted: { type, ...wanted }
      }
    ] of rows.entries()) {
      const { status, headers, text } = await call(`GET /api/r${index}`)
      const all = { status, headers, text, type: headers['content-type'] }
      const typed = type === undefined ? {} : { type }
      t.match(all, { status: 200, ...wanted, ...typed }, rule)
      for (const name in wanted.headers)
        if (wanted.headers[name] === undefined) t.notOk(name in headers, `${rule}: no ${name}`)
    }
  })
}

class Point {
  x = 1
}

async function* parts(): AsyncGenerator<string | Buffer> {
  yield 'one,'
  yield Buffer.from('two,')
  yield 'drei ü'
}

function webStream(...texts: string[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(Buffer.from(text))
      controller.close()
    }
  })
}

function withCookies(): Headers {
  const headers = new Headers({ 'x-a': 'b' })
  headers.append('set-cookie', 'a=1')
  headers.append('set-cookie', 'b=2')
  return headers
}

t.test('what a handler returns becomes the answer', async (t) => {
  checkRows(t, [
    {
      rule: 'a plain object is sent as JSON',
      handler: () => ({ a: 1, ü: 'ü' }),
      wanted: { type: JSON_TYPE, text: '{"a":1,"ü":"ü"}' }
    },
    {
      rule: 'a promise of an object is sent as JSON',
      handler: async () => ({ a: 1 }),
      wanted: { type: JSON_TYPE, text: '{"a":1}' }
    },
    {
      rule: 'a thenable of an object is sent as JSON',
      handler: () => ({ then: (done: any) => done({ a: 1 }) }),
      wanted: { type: JSON_TYPE, text: '{"a":1}' }
    },
    { rule: 'an empty object is sent as JSON', handler: () => ({}), wanted: { type: JSON_TYPE, text: '{}' } },
    {
      rule: 'an array is JSON',
      handler: () => [1, { status: 201 }],
      wanted: { type: JSON_TYPE, text: '[1,{"status":201}]' }
    },
    {
      rule: 'an instance of a class is JSON',
      handler: () => new Point(),
      wanted: { type: JSON_TYPE, text: '{"x":1}' }
    },
    {
      rule: 'an object without prototype is JSON',
      handler: () => Object.assign(Object.create(null), { a: 1 }),
      wanted: { text: '{"a":1}' }
    },
    { rule: 'a frozen object is JSON', handler: () => Object.freeze({ a: 1 }), wanted: { text: '{"a":1}' } },
    {
      rule: 'toJSON decides',
      handler: () => ({ toJSON: () => ({ b: 2 }) }),
      wanted: { type: JSON_TYPE, text: '{"b":2}' }
    },
    {
      rule: 'a date is JSON',
      handler: () => new Date(0),
      wanted: { type: JSON_TYPE, text: '"1970-01-01T00:00:00.000Z"' }
    },
    { rule: 'null is JSON null', handler: () => null, wanted: { type: JSON_TYPE, text: 'null' } },
    { rule: 'a promise of null is JSON null', handler: async () => null, wanted: { type: JSON_TYPE, text: 'null' } },
    { rule: 'a number is JSON', handler: () => 0, wanted: { type: JSON_TYPE, text: '0' } },
    { rule: 'a boolean is JSON', handler: () => false, wanted: { type: JSON_TYPE, text: 'false' } },
    { rule: 'a string is an HTML page', handler: () => '<h1>ü</h1>', wanted: { type: HTML_TYPE, text: '<h1>ü</h1>' } },
    { rule: 'an empty string is an empty page', handler: async () => '', wanted: { type: HTML_TYPE, text: '' } },
    {
      rule: 'a string keeps a Content-Type that was set',
      handler: (_, response) => response.type('txt') && '<h1>',
      wanted: { type: 'text/plain; charset=utf-8', text: '<h1>' }
    },
    {
      rule: 'a status that was set before is kept',
      handler: (_, response) => response.status(202) && { a: 1 },
      wanted: { status: 202, text: '{"a":1}' }
    },
    {
      rule: 'headers that were set are kept',
      handler: (_, response) => response.set('X-A', 'b').cookie('a', '1') && {},
      wanted: { headers: { 'x-a': 'b', 'set-cookie': /^a=1; Path=\/$/ as never } }
    },
    {
      rule: 'a JSON type that was set is kept',
      handler: (_, response) => response.type('application/problem+json') && { a: 1 },
      wanted: { type: /^application\/problem\+json/ as never, text: '{"a":1}' }
    },
    {
      rule: 'an object is sent as JSON text under another type that was set',
      handler: (_, response) => response.type('html') && { a: 1 },
      wanted: { type: HTML_TYPE, text: '{"a":1}' }
    },
    {
      rule: 'a Buffer is sent as it is',
      handler: () => Buffer.from('bytes'),
      wanted: { type: BYTES_TYPE, text: 'bytes' }
    },
    {
      rule: 'a Uint8Array is sent as it is',
      handler: () => new Uint8Array([104, 105]),
      wanted: { type: BYTES_TYPE, text: 'hi' }
    },
    {
      rule: 'a Uint8Array that is part of a larger ArrayBuffer is sent as that part alone',
      handler: () => new Uint8Array([120, 104, 105, 120]).subarray(1, 3),
      wanted: { text: 'hi' }
    },
    {
      rule: 'an empty Buffer is sent as an empty answer of bytes',
      handler: () => Buffer.alloc(0),
      wanted: { text: '' }
    },
    {
      rule: 'a Buffer keeps the type that was set',
      handler: (_, response) => response.type('png') && Buffer.from('x'),
      wanted: { type: 'image/png', text: 'x' }
    },
    {
      rule: 'a Node stream is sent as it is',
      handler: () => Readable.from([Buffer.from('a'), Buffer.from('b')]),
      wanted: { text: 'ab' }
    },
    {
      rule: 'a Node stream of strings is sent as it is',
      handler: async () => Readable.from(['a', 'ü']),
      wanted: { text: 'aü' }
    },
    { rule: 'a web stream is sent as it is', handler: () => webStream('a', 'b'), wanted: { text: 'ab' } },
    { rule: 'an async iterable is sent as it is', handler: () => parts(), wanted: { text: 'one,two,drei ü' } },
    {
      rule: 'an object with an async iterator is sent as a stream',
      handler: () => ({ [Symbol.asyncIterator]: () => parts() }),
      wanted: { text: 'one,two,drei ü' }
    },
    { rule: 'an empty stream is an empty answer', handler: async () => Readable.from([]), wanted: { text: '' } },
    {
      rule: 'a stream keeps the type that was set',
      handler: (_, response) => response.set('Content-Type', 'text/csv') && Readable.from(['a,b']),
      wanted: { type: 'text/csv; charset=utf-8', text: 'a,b' }
    },
    {
      rule: 'a stream keeps headers and cookies',
      handler: (_, response) => response.set('X-A', 'b').cookie('a', '1') && Readable.from(['x']),
      wanted: { text: 'x', headers: { 'x-a': 'b', 'set-cookie': /^a=1; Path=\/$/ as never } }
    },
    {
      rule: 'a web Response gives status, headers and body',
      handler: () =>
        new Response('{"a":1}', { status: 201, headers: { 'content-type': 'application/json', 'x-a': 'b' } }),
      wanted: { status: 201, type: 'application/json', text: '{"a":1}', headers: { 'x-a': 'b' } }
    },
    {
      rule: 'a web Response is sent with every cookie',
      handler: () => new Response('x', { headers: withCookies() }),
      wanted: { text: 'x', headers: { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] } }
    },
    {
      rule: 'a web Response adds its cookies to those set before',
      handler: (_, response) => response.cookie('z', '0') && new Response('x', { headers: withCookies() }),
      wanted: { headers: { 'set-cookie': ['z=0; Path=/', 'a=1', 'b=2'] } }
    },
    {
      rule: 'a web Response without a body is an empty answer',
      handler: () => new Response(null, { status: 202 }),
      wanted: { status: 202, text: '', headers: { 'content-type': undefined } }
    },
    {
      rule: 'Response.json is JSON',
      handler: async () => Response.json({ a: 1 }),
      wanted: { type: 'application/json', text: '{"a":1}' }
    },
    {
      rule: 'Response.redirect redirects',
      handler: () => Response.redirect('http://example.org/x', 303),
      wanted: { status: 303, text: '', headers: { location: 'http://example.org/x' } }
    },
    {
      rule: 'a returned error counts as thrown',
      handler: () => new Error('x'),
      wanted: { status: 500, type: JSON_TYPE }
    }
  ])
})

t.test('a status object sets status, headers and body', async (t) => {
  checkRows(t, [
    {
      rule: 'a status object with a body',
      handler: () => ({ status: 201, body: { a: 1 } }),
      wanted: { status: 201, type: JSON_TYPE, text: '{"a":1}' }
    },
    {
      rule: 'a promise of a status object',
      handler: async () => ({ status: 599, body: [1] }),
      wanted: { status: 599, text: '[1]' }
    },
    {
      rule: 'a status object with headers',
      handler: () => ({ status: 201, headers: { Location: '/x', 'X-A': 'b' }, body: null }),
      wanted: { status: 201, text: 'null', headers: { location: '/x', 'x-a': 'b' } }
    },
    {
      rule: 'a status object with several values of a header',
      handler: () => ({ status: 200, headers: { 'Set-Cookie': ['a=1', 'b=2'] }, body: 1 }),
      wanted: { text: '1', headers: { 'set-cookie': ['a=1', 'b=2'] } }
    },
    {
      rule: 'a status object beside cookies set before',
      handler: (_, response) => response.cookie('z', '0') && { status: 200, headers: { 'set-cookie': 'a=1' } },
      wanted: { headers: { 'set-cookie': ['z=0; Path=/', 'a=1'] } }
    },
    {
      rule: 'Vary of a status object adds up with what was set',
      handler: (_, response) => response.vary('Origin') && { status: 200, headers: { Vary: 'Accept' } },
      wanted: { headers: { vary: /^(?=.*\bOrigin\b)(?=.*\bAccept\b)[^,]+, [^,]+$/ as never } }
    },
    {
      rule: 'a header of a status object that is undefined is left out',
      handler: () => ({ status: 200, headers: { 'x-a': undefined, 'x-b': '1' } }),
      wanted: { headers: { 'x-a': undefined, 'x-b': '1' } }
    },
    {
      rule: 'web Headers in a status object are sent',
      handler: () => ({ status: 200, headers: withCookies(), body: 'x' }),
      wanted: { headers: { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] } }
    },
    {
      rule: 'a text in a status object is a page',
      handler: () => ({ status: 404, body: '<h1>' }),
      wanted: { status: 404, type: HTML_TYPE, text: '<h1>' }
    },
    {
      rule: 'a text in a status object is what its headers say',
      handler: () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: '<h1>' }),
      wanted: { type: /^text\/plain/ as never, text: '<h1>' }
    },
    {
      rule: 'an object in a status object under another type is JSON text',
      handler: () => ({ status: 200, headers: { 'Content-Type': 'application/ld+json' }, body: { a: 1 } }),
      wanted: { type: /^application\/ld\+json/ as never, text: '{"a":1}' }
    },
    {
      rule: 'bytes in a status object',
      handler: () => ({ status: 206, body: Buffer.from('x') }),
      wanted: { status: 206, type: BYTES_TYPE, text: 'x' }
    },
    {
      rule: 'a stream in a status object',
      handler: () => ({ status: 200, headers: { 'content-type': 'text/csv' }, body: Readable.from(['a,b']) }),
      wanted: { type: /^text\/csv/ as never, text: 'a,b' }
    },
    {
      rule: 'an async iterable in a status object',
      handler: () => ({ status: 200, body: parts() }),
      wanted: { text: 'one,two,drei ü' }
    },
    {
      rule: 'a status object without a body',
      handler: () => ({ status: 202 }),
      wanted: { status: 202, text: '', headers: { 'content-type': undefined } }
    },
    {
      rule: 'a status object without a body, with headers',
      handler: () => ({ status: 302, headers: { location: '/x' } }),
      wanted: { status: 302, text: '', headers: { location: '/x' } }
    },
    {
      rule: 'a status object of 204 is sent without a body or type',
      handler: () => ({
        status: 204,
        headers: { 'content-type': 'text/plain', 'content-length': '3', 'x-a': 'b' },
        body: 'abc'
      }),
      wanted: { status: 204, text: '', headers: { 'content-type': undefined, 'content-length': undefined, 'x-a': 'b' } }
    },
    {
      rule: 'a status object of 304 is sent without a body or type, with its validators',
      handler: () => ({ status: 304, headers: { etag: '"x"' }, body: { a: 1 } }),
      wanted: { status: 304, text: '', headers: { 'content-type': undefined, etag: '"x"' } }
    },
    {
      rule: 'a status object of 205 is sent empty',
      handler: () => ({ status: 205, body: 'abc' }),
      wanted: { status: 205, text: '', headers: { 'content-length': '0' } }
    },
    {
      rule: 'a status object without a prototype',
      handler: () => Object.assign(Object.create(null), { status: 201, body: 'x' }),
      wanted: { status: 201, text: 'x' }
    }
  ])
})

t.test('anything else with a status is data', async (t) => {
  const data = [
    { status: 'healthy', timestamp: 1 },
    { status: '201' },
    { status: 1, data: [] },
    { status: 200, data: [] },
    { status: 201, body: 'x', message: 'y' },
    { status: 199 },
    { status: 600, body: 'x' },
    { status: 200.5 },
    { status: null, body: 'x' },
    { status: [201] },
    { body: { a: 1 } },
    { headers: {}, body: 'x' },
    {}
  ]
  checkRows(
    t,
    data.map((value) => {
      const text = JSON.stringify(value)
      return { rule: `${text} is data`, handler: () => value, wanted: { status: 200, type: JSON_TYPE, text } }
    })
  )
  class Answer {
    status = 201
    body = 'x'
  }
  checkRows(t, [
    {
      rule: 'an instance of a class is data',
      handler: () => new Answer(),
      wanted: { text: '{"status":201,"body":"x"}' }
    }
  ])
})

t.test('a fetched web Response can be passed on', async (t) => {
  const zipped = { status: 201, headers: { 'content-encoding': 'gzip', 'x-a': 'b' }, body: gzipSync('text') }
  const upstream = await appOf(t, {
    routes: { zipped: { GET: () => zipped }, chunked: { GET: () => Readable.from(['a', 'b']) } }
  })
  const address = await addressOf(upstream)
  const routes = { passed: { GET: (request: any) => fetch(`${address}/api/${request.query.to}`) } }
  onEveryHost(t, { routes }, async (t, call) => {
    t.match(await call('GET /api/passed?to=chunked'), { status: 200, text: 'ab' })
    const { status, headers, text } = await call('GET /api/passed?to=zipped')
    t.match({ status, text, passed: headers['x-a'] }, { status: 201, text: 'text', passed: 'b' })
    t.notOk('content-encoding' in headers, 'fetch has inflated the body')
  })
})

t.test('over HTTP/2 headers of an HTTP/1 connection are left out, whoever sets them', async (t) => {
  const names = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te', 'http2-settings']
  const headers = Object.fromEntries(names.map((name) => [name, name === 'transfer-encoding' ? 'chunked' : 'x']))
  const described = (response: any): any => response.set(headers)
  const handlers: Record<string, AnyHandler> = {
    json: (_, response) => void described(response).json('ab'),
    'a returned value': (_, response) => (described(response), ['ab']),
    'a status object': () => ({ status: 200, headers, body: 'ab' }),
    'a stream': (_, response) => (described(response), Readable.from(['a', 'b'])),
    'a web Response': () => new Response('ab', { headers }),
    write: (_, response) => void (described(response).write('a'), response.end('b')),
    writeHead: (_, response) => void response.writeHead(200, headers).end('ab'),
    flushHeaders: (_, response) => void (described(response).flushHeaders(), response.end('ab')),
    'a piped stream': (_, response) => void Readable.from(['a', 'b']).pipe(described(response)),
    'sent later': (_, response) => void setImmediate(() => described(response).send('ab')),
    'an error': () => {
      throw Object.assign(new Error('ab'), { headers, status: 400 })
    }
  }
  const rows = Object.entries(handlers)
  const routes = Object.fromEntries(rows.map(([, GET], index) => [`r${index}`, { GET }]))
  for (const [place, build] of Object.entries({ app: appOf, host: hostOf })) {
    const server = await build(t, { routes, options: { fastifyOptions: { http2: true } as never } })
    const session = connectHttp2(await addressOf(server))
    t.teardown(() => session.destroy())
    for (const [index, [rule]] of rows.entries()) {
      const stream = session.request({ ':path': `/api/r${index}` })
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
      const where = `${rule}, on the ${place}`
      t.equal(head[':status'], rule === 'an error' ? 400 : 200, where)
      t.strictSame(
        names.filter((name) => name in head),
        [],
        where
      )
      t.match(String(Buffer.concat(await stream.toArray())), 'ab', where)
    }
  }
})

t.test('over HTTP/2 several values of a header that may have one are sent as their list', async (t) => {
  const described = (response: any): any =>
    response
      .append('ETag', '"a"')
      .append('ETag', '"b"')
      .set({ Location: ['/a', '/b'], 'Keep-Alive': 'x', 'Set-Cookie': ['a=1', 'b=2'], 'X-List': ['1', '2'] })
  const later = (act: () => unknown): void => void setImmediate(act)
  const handlers: Record<string, AnyHandler> = {
    json: (_, response) => void described(response).json('ab'),
    'a stream': (_, response) => (described(response), Readable.from(['a', 'b'])),
    write: (_, response) => void (described(response).write('a'), response.end('b')),
    writeHead: (_, response) => void response.writeHead(200, { ...described(response).getHeaders() }).end('ab'),
    'a piped stream': (_, response) => later(() => Readable.from(['a', 'b']).pipe(described(response))),
    'sent later': (_, response) => later(() => described(response).send('ab'))
  }
  const rows = Object.entries(handlers)
  const routes = Object.fromEntries(rows.map(([, GET], index) => [`r${index}`, { GET }]))
  for (const [place, build] of Object.entries({ app: appOf, host: hostOf })) {
    const server = await build(t, { routes, options: { fastifyOptions: { http2: true } as never } })
    const session = connectHttp2(await addressOf(server))
    t.teardown(() => session.destroy())
    for (const [index, [rule]] of rows.entries()) {
      const stream = session.request({ ':path': `/api/r${index}` })
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
      const wanted = { ':status': 200, etag: '"a", "b"', location: '/a, /b', 'set-cookie': ['a=1', 'b=2'] }
      t.match(head, wanted, `${rule}, on the ${place}`)
      t.equal(head['x-list'], '1, 2')
      t.match(String(Buffer.concat(await stream.toArray())), 'ab')
    }
  }
})

t.test('HEAD is answered by GET, without the body', async (t) => {
  const handlers: readonly (readonly [string, AnyHandler])[] = [
    ['an object', () => ({ a: 1 })],
    ['a page', () => '<h1>ü'],
    ['bytes', () => Buffer.from('abc')],
    ['a status object', () => ({ status: 404, headers: { 'x-a': 'b' }, body: { a: 1 } })],
    ['json', (_, response) => response.json({ a: 1 })],
    ['send', (_, response) => response.send('text')],
    ['end', (_, response) => response.set('Content-Length', '3').end('abc')],
    ['a stream', () => Readable.from(['abc'])],
    ['a web Response', () => Response.json({ a: 1 })]
  ]
  onEveryHost(t, { routes: routesOf(handlers) }, async (t, call) => {
    for (const [index, [name]] of handlers.entries()) {
      const get = await call(`GET /api/r${index}`)
      const head = await call(`HEAD /api/r${index}`)
      t.equal(head.text, '', `${name}: no body`)
      t.equal(head.status, get.status, `${name}: the same status`)
      const { date: _date, 'x-request-id': _id, 'transfer-encoding': _chunked, ...headers } = get.headers
      t.match(head.headers, headers, `${name}: the same headers`)
    }
  })
})

t.test('an exported HEAD is used instead of GET', async (t) => {
  const routes = {
    own: { GET: () => ({ a: 1 }), HEAD: (_: any, response: any) => response.set('X-Own', '1').end() },
    only: { HEAD: () => ({ status: 200, headers: { 'x-own': '2' } }) }
  }
  onEveryHost(t, { routes }, async (t, call) => {
    t.match(await call('HEAD /api/own'), { status: 200, headers: { 'x-own': '1' }, text: '' })
    t.match(await call('GET /api/own'), { status: 200, text: '{"a":1}' })
    t.match(await call('HEAD /api/only'), { status: 200, headers: { 'x-own': '2' } })
    t.match(await call('GET /api/only'), { status: 405, headers: { allow: 'HEAD, OPTIONS' } })
  })
})

t.test('undefined leaves the answer to the response object', async (t) => {
  const later = (answer: (response: any) => void): AnyHandler => {
    return (_, response) => void setImmediate(() => answer(response))
  }
  checkRows(t, [
    {
      rule: 'json',
      handler: (_, response) => void response.status(201).json({ a: 1 }),
      wanted: { status: 201, type: JSON_TYPE, text: '{"a":1}' }
    },
    {
      rule: 'setHeader and json',
      handler: (_, response) => void response.setHeader('X-A', 'b').json({}),
      wanted: { headers: { 'x-a': 'b' } }
    },
    {
      rule: 'the response may be returned',
      handler: (_, response) => response.json({ a: 1 }),
      wanted: { text: '{"a":1}' }
    },
    {
      rule: 'an async handler may return the response',
      handler: async (_, response) => response.send('x'),
      wanted: { type: HTML_TYPE, text: 'x' }
    },
    {
      rule: 'response.req is the request',
      handler: (request, response) => ({ same: response.req === request && request.res === response }),
      wanted: { text: '{"same":true}' }
    },
    {
      rule: 'a callback answers later',
      handler: later((response) => response.json({ a: 1 })),
      wanted: { text: '{"a":1}' }
    },
    {
      rule: 'an async handler may leave the answer to a callback',
      handler: async (_, response) => void setImmediate(() => response.json({ a: 1 })),
      wanted: { text: '{"a":1}' }
    },
    { rule: 'end later', handler: later((response) => response.end('x')), wanted: { text: 'x' } },
    {
      rule: 'write and end later',
      handler: later((response) => response.write('a') && setImmediate(() => response.end('b'))),
      wanted: { text: 'ab' }
    },
    {
      rule: 'writeHead',
      handler: (_, response) => void response.writeHead(418, { 'x-a': 'b' }).end('x'),
      wanted: { status: 418, text: 'x', headers: { 'x-a': 'b' } }
    },
    {
      rule: 'a piped stream',
      handler: async (_, response) => void Readable.from(['a', 'b']).pipe(response),
      wanted: { text: 'ab' }
    },
    {
      rule: 'pipe returns the response',
      handler: (_, response) => Readable.from(['a', 'b']).pipe(response),
      wanted: { text: 'ab' }
    },
    {
      rule: 'pipeline answers as pipe does',
      handler: (_, response) => pipeline(Readable.from(['a', 'b']), response, () => {}),
      wanted: { text: 'ab' }
    },
    {
      rule: 'the response may be returned before it answers',
      handler: (_, response) => {
        setImmediate(() => response.json({ a: 1 }))
        return response.status(201)
      },
      wanted: { status: 201, text: '{"a":1}' }
    },
    {
      rule: 'sendFile',
      handler: async (_, response) => response.sendFile('package.json', { root: process.cwd() }),
      wanted: { type: JSON_TYPE, text: /"name": "twinroute"/ as never }
    },
    {
      rule: 'sendFile of a missing file is 404',
      handler: (_, response) => response.sendFile('missing', { root: process.cwd() }),
      wanted: { status: 404 }
    },
    {
      rule: 'an error handed to request.next',
      handler: (request) => void request.next(new Error('x')),
      wanted: { status: 500 }
    },
    { rule: 'request.next without an error is 404', handler: (request) => void request.next(), wanted: { status: 404 } }
  ])
})

t.test('after the answer nothing more is sent', async (t) => {
  const seconds: (readonly [string, AnyHandler])[] = [
    ['a returned value is dropped', () => ({ second: true })],
    ['a later value of a promise is dropped', () => turn({ second: true })],
    ['a returned status object is dropped', () => ({ status: 500, headers: { 'x-second': '1' } })],
    ['a second json', (_, response) => response.json({ second: true })],
    ['a second send', (_, response) => response.status(500).send('second')],
    ['sendStatus', (_, response) => response.sendStatus(500)],
    ['redirect', (_, response) => response.redirect('/second')],
    ['set, cookie and send', (_, response) => response.set('X-Second', '1').cookie('a', 'b').send('second')],
    ['writeHead', (_, response) => response.writeHead(500, { 'x-second': '1' })],
    ['write', (_, response) => response.write('second')],
    ['end', (_, response) => response.end('second')],
    ['end without data, twice', (_, response) => response.end().end()],
    ['a piped stream', (_, response) => void Readable.from(['second']).pipe(response)],
    ['sendFile', (_, response) => response.sendFile('package.json', { root: process.cwd() })],
    ['removeHeader', (_, response) => response.removeHeader('content-type')],
    ['appendHeader', (_, response) => response.appendHeader('x-second', '1')],
    ['an error handed to next', (request) => request.next(new Error('second'))]
  ]
  const thrown: (readonly [string, AnyHandler])[] = [
    [
      'an error thrown',
      () => {
        throw new Error('second')
      }
    ],
    ['a rejection', () => Promise.reject(new Error('second'))]
  ]
  const firsts: (readonly [string, AnyHandler])[] = [
    ['after json', (_, response) => response.json({ first: true })],
    ['after end', (_, response) => response.end('{"first":true}')]
  ]
  for (const [name, first] of firsts) {
    const handlers = [...seconds, ...thrown].map(
      ([rule, second]) => [rule, (q: any, s: any) => (first(q, s), second(q, s))] as const
    )
    onEveryHost(t, { routes: routesOf(handlers), options: { errorHandler } }, async (t, call) => {
      for (const [index, [rule]] of handlers.entries()) {
        const { status, text, headers } = await call(`GET /api/r${index}`)
        t.match({ status, text }, { status: 200, text: '{"first":true}' }, `${rule} ${name}`)
        t.notOk('x-second' in headers, `${rule} ${name}`)
      }
    })
  }
  t.test('nothing is thrown at a callback that comes too late', async (t) => {
    const given: { request: any; response: any }[] = []
    const GET = (request: any, response: any) => void given.push({ request, response })
    const routes = { a: { GET, config: { timeout: 10 } } }
    onEveryHost(t, { routes }, async (t, call) => {
      for (const [rule, second] of seconds) {
        t.equal((await call('GET /api/a')).status, 503)
        const { request, response } = given.pop()!
        t.doesNotThrow(() => second(request, response), rule)
        await turn()
      }
    })
  })
  t.test('a second answer does not change the first while an onSend hook holds it', async (t) => {
    const holding = seconds.filter(([rule]) => /^(a second|a returned|a later|sendStatus|redirect|end)/.test(rule))
    const app = await appOf(t, {
      routes: routesOf(
        holding.map(([rule, second]) => [rule, (q: any, s: any) => (s.json({ first: true }), second(q, s))])
      )
    })
    app.addHook('onSend', async (_request, _reply, payload) => turn(payload))
    const call = callByInject(app)
    for (const [index, [rule]] of holding.entries()) {
      t.match(await call(`GET /api/r${index}`), { status: 200, text: '{"first":true}' }, rule)
    }
  })
  t.test('a second answer is logged', async (t) => {
    const { logger, entries } = logBook()
    const handlers = seconds.filter(([rule]) => /^(a second|sendStatus|redirect|write|end$)/.test(rule))
    const both = handlers.map(([rule, second]) => [rule, (q: any, s: any) => (s.json({}), second(q, s))] as const)
    const app = await appOf(t, { routes: routesOf(both), options: { fastifyOptions: { logger } as never } })
    for (const [index, [rule]] of handlers.entries()) {
      entries.length = 0
      await callByInject(app)(`GET /api/r${index}`)
      t.ok(
        entries.some(({ msg }) => /answered already|after the answer/.test(msg)),
        rule
      )
    }
  })
})

/** Calls that come after an answer, and what node gives them: a thrown error, or one for their callback. */
const LATE_SETTERS: readonly (readonly [string, (response: any) => unknown])[] = [
  ['setHeader', (r) => r.setHeader('x-late', '1')],
  ['appendHeader', (r) => r.appendHeader('x-late', '1')],
  ['removeHeader', (r) => r.removeHeader('x-late')],
  ['setHeaders with a Map', (r) => r.setHeaders(new Map([['x-late', '1']]))],
  ['setHeaders with Headers', (r) => r.setHeaders(new Headers({ 'x-late': '1' }))],
  ['writeHead', (r) => r.writeHead(200)],
  ['set', (r) => r.set('x-late', '1')],
  ['append', (r) => r.append('x-late', '1')],
  ['cookie', (r) => r.cookie('late', '1')],
  ['clearCookie', (r) => r.clearCookie('late')],
  ['type', (r) => r.type('txt')],
  ['location', (r) => r.location('/late')],
  ['vary', (r) => r.vary('x-late')]
]

const LATE_DATA: readonly {
  name: string
  call: (response: any, done: (error?: Error) => void) => unknown
  code: string
}[] = [
  { name: 'end(callback)', call: (r, done) => r.end(done), code: 'ERR_STREAM_ALREADY_FINISHED' },
  { name: 'end(chunk, callback)', call: (r, done) => r.end('two', done), code: 'ERR_STREAM_WRITE_AFTER_END' },
  {
    name: 'end(chunk, encoding, callback)',
    call: (r, done) => r.end('two', 'utf8', done),
    code: 'ERR_STREAM_WRITE_AFTER_END'
  },
  {
    name: 'end(null, null, callback)',
    call: (r, done) => r.end(null, null, done),
    code: 'ERR_STREAM_ALREADY_FINISHED'
  },
  { name: 'write(chunk, callback)', call: (r, done) => r.write('two', done), code: 'ERR_STREAM_WRITE_AFTER_END' },
  {
    name: 'write(chunk, encoding, callback)',
    call: (r, done) => r.write('two', 'utf8', done),
    code: 'ERR_STREAM_WRITE_AFTER_END'
  }
]

const FIRST_ANSWERS: readonly (readonly [string, (response: any) => unknown])[] = [
  ['send', (r) => r.send('one')],
  ['json', (r) => r.json('one')],
  ['end', (r) => r.end('one')],
  ['redirect', (r) => r.redirect('/one')],
  ['sendStatus', (r) => r.sendStatus(200)],
  ['write and end', (r) => (r.write('one'), r.end())]
]

/** Express itself says what is right: the same calls on both. */
t.test('a late call is told what Express tells it', async (t) => {
  /** At once: after its `finish` node's own response is destroyed in the next tick, and its callbacks hear nothing. */
  const callAll = (response: any): Promise<Record<string, unknown>> => {
    response.on('error', () => {}) // node's own response emits one for late data
    const thrown = LATE_SETTERS.map(([name, call]) => [name, codeThrownBy(() => call(response))] as const)
    const told = LATE_DATA.map(
      async ({ name, call }) => [name, (await new Promise<any>((resolve) => call(response, resolve)))?.code] as const
    )
    const written = ['write', response.write('two')] as const
    return Promise.all([...thrown, ...told, written]).then(Object.fromEntries)
  }
  const codeThrownBy = (call: () => unknown): unknown => {
    try {
      call()
      return 'nothing'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  }
  for (const [name, answer] of FIRST_ANSWERS) {
    const seen: Promise<Record<string, unknown>>[] = []
    const GET = (_request: unknown, response: any): void => {
      seen.push(new Promise((resolve) => response.once('finish', () => resolve(callAll(response)))))
      answer(response)
    }
    const plain = express().get('/api/a', GET).listen(0, '127.0.0.1')
    t.teardown(() => plain.close())
    await once(plain, 'listening')
    await callOver(`http://127.0.0.1:${(plain.address() as AddressInfo).port}`)('GET /api/a')
    const wanted = await seen.pop()
    t.match(wanted, { setHeader: 'ERR_HTTP_HEADERS_SENT', write: false }, 'Express tells of each')
    onEveryHost(t, { routes: { a: { GET } } }, async (t, call, place) => {
      await call('GET /api/a')
      // an injected response says that it has finished before it has, and then once more
      const early = { 'end(callback)': undefined, 'end(null, null, callback)': undefined }
      t.strictSame(await seen.pop(), { ...wanted, ...(place === 'inject' ? early : {}) }, `after ${name}`)
    })
  }
})

t.test('late data without a callback raises no error event where nothing listens', async (t) => {
  const raised: unknown[] = []
  const note = (error: unknown): void => void raised.push(error)
  process.on('uncaughtException', note)
  t.teardown(() => process.off('uncaughtException', note))
  const GET = (_request: unknown, response: any): void => {
    response.end('one')
    response.write('two')
    response.end('three')
  }
  onEveryHost(t, { routes: { a: { GET } } }, async (t, call) => {
    t.match(await call('GET /api/a'), { status: 200, text: 'one' })
    await turn()
    t.strictSame(raised, [])
  })
})

t.test('end with a callback, while a hook holds the answer, hears of its end', async (t) => {
  let ended = 0
  const GET = (_request: unknown, response: any): void => {
    response.send('one')
    response.end(() => ended++)
    response.end('two', (error: NodeJS.ErrnoException) => t.equal(error.code, 'ERR_STREAM_WRITE_AFTER_END'))
  }
  const app = await appOf(t, { routes: { a: { GET } } })
  app.addHook('onSend', async (_request, _reply, payload) => turn(payload))
  for (const call of [callByInject(app), callOver(await addressOf(app))]) {
    ended = 0
    t.match(await call('GET /api/a'), { status: 200, text: 'one' })
    t.equal(ended, 1)
  }
})

/** Everything that may be thrown, with the message that is expected of it. */
const THROWN: readonly { rule: string; value: unknown; message: RegExp }[] = [
  { rule: 'an Error', value: new Error('failed'), message: /^failed$/ },
  { rule: 'a frozen Error', value: Object.freeze(new Error('failed')), message: /^failed$/ },
  { rule: 'a text', value: 'failed', message: /^failed$/ },
  { rule: 'a number', value: 42, message: /^42$/ },
  { rule: 'an object with a message', value: { message: 'failed' }, message: /^failed$/ },
  { rule: 'an object', value: { a: 1 }, message: /object/ },
  { rule: 'an object without prototype', value: Object.create(null), message: /./ },
  { rule: 'null', value: null, message: /without a reason/ },
  { rule: 'undefined', value: undefined, message: /without a reason/ },
  { rule: 'false', value: false, message: /without a reason/ },
  { rule: 'an empty text', value: '', message: /./ },
  { rule: 'a symbol', value: Symbol('failed'), message: /failed/ },
  { rule: 'a function', value: () => 1, message: /./ },
  { rule: 'a revoked proxy', value: revokedProxy(), message: /cannot be read/ },
  { rule: 'an Error whose members throw', value: hostileError(), message: /^failed$/ }
]

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function hostileError(): Error {
  const get = (): never => {
    throw new Error('hostile')
  }
  return Object.defineProperties(new Error('failed'), { statusCode: { get }, headers: { get }, expose: { get } })
}

t.test('whatever a handler throws or rejects with is answered once, as 500', async (t) => {
  let calls = 0
  const counting = (error: any, request: any, reply: any): unknown => {
    calls++
    return errorHandler(error, request, reply)
  }
  const rows = THROWN.flatMap(({ rule, value, message }) => [
    {
      rule: `${rule}, thrown`,
      message,
      handler: () => {
        throw value
      }
    },
    {
      rule: `${rule}, rejected`,
      message,
      handler: async () => {
        throw value
      }
    },
    {
      rule: `${rule}, rejected by a thenable`,
      message,
      handler: () => ({ then: (_: any, fail: any) => fail(value) })
    }
  ])
  const routes = routesOf(rows.map(({ rule, handler }) => [rule, handler]))
  onEveryHost(t, { routes, options: { errorHandler: counting } }, async (t, call) => {
    for (const [index, { rule, message }] of rows.entries()) {
      calls = 0
      const { status, json } = await call(`GET /api/r${index}`)
      t.match({ status, error: json.error }, { status: 500, error: { code: 'INTERNAL_SERVER_ERROR', message } }, rule)
      t.equal(calls, 1, `${rule}: the error handler ran once`)
    }
  })
})

t.test('results that cannot be sent are 500, and the process goes on', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const failing = (): never => {
    throw new Error('failed')
  }
  const rows: (readonly [string, AnyHandler])[] = [
    ['a BigInt', () => 10n],
    ['an object with a BigInt', () => ({ a: 10n })],
    ['a circle', () => circle],
    ['a circle given to json', (_, response) => response.json(circle)],
    ['a function', () => failing],
    ['a symbol', () => Symbol('x')],
    ['toJSON that throws', () => ({ toJSON: failing })],
    [
      'a getter that throws',
      () => ({
        get a() {
          return failing()
        }
      })
    ],
    ['a header with a line break', () => ({ status: 200, headers: { 'x-a': 'a\r\nx-b: c' }, body: {} })],
    ['a header name with a blank', () => ({ status: 200, headers: { 'x a': 'b' }, body: {} })],
    ['headers that are no object', () => ({ status: 200, headers: 'x-a: b', body: {} })],
    ['a set header with a line break', (_, response) => response.set('X-A', 'a\nb')],
    ['status 99', (_, response) => response.status(99)],
    [
      'statusCode 99',
      (_, response) => {
        response.statusCode = 99
        return {}
      }
    ],
    [
      'statusCode 100',
      (_, response) => {
        response.statusCode = 100
        return {}
      }
    ],
    [
      'statusCode 1000',
      (_, response) => {
        response.statusCode = 1000
        response.json({})
      }
    ],
    [
      'a status message with a line break',
      (_, response) => {
        response.statusMessage = 'a\nb'
        return {}
      }
    ],
    ['writeHead with a wrong status', (_, response) => response.writeHead(99).end()],
    ['a network error as web Response', () => Response.error()],
    [
      'a web Response that was read',
      async () => {
        const response = new Response('x')
        await response.text()
        return response
      }
    ],
    [
      'a stream that fails at once',
      () =>
        new Readable({
          read() {
            this.destroy(new Error('failed'))
          }
        })
    ],
    ['a stream that is destroyed', () => Readable.from(['a']).destroy()],
    [
      'an async iterable that fails at once',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield failing()
        }
      })
    ],
    ['a web stream that fails at once', () => new ReadableStream({ pull: failing })],
    [
      'an async iterable of objects',
      () => ({
        async *[Symbol.asyncIterator]() {
          yield { a: 1 }
        }
      })
    ],
    ['a stream of objects', () => Readable.from([{ a: 1 }, { a: 2 }])],
    ['a web stream of objects', () => new ReadableStream({ start: (controller) => controller.enqueue({ a: 1 }) })],
    ['then that throws', () => ({ then: failing })],
    [
      'a then getter that throws',
      () => ({
        get then() {
          return failing()
        }
      })
    ]
  ]
  const hooked = { errorHandler, fastifyOptions: {} }
  onEveryHost(t, { routes: routesOf(rows), options: hooked }, async (t, call) => {
    for (const [index, [rule]] of rows.entries()) {
      const { status, json } = await call(`GET /api/r${index}`)
      t.match({ status, code: json.error?.code }, { status: 500, code: 'INTERNAL_SERVER_ERROR' }, rule)
    }
  })
  t.test(
    'results that cannot be sent are 500 behind an asynchronous onSend hook, where node would throw into nowhere',
    async (t) => {
      const app = await appOf(t, { routes: routesOf(rows), options: { errorHandler } })
      app.addHook('onSend', async (_request, _reply, payload) => turn(payload))
      const call = callByInject(app)
      for (const [index, [rule]] of rows.entries()) {
        const { status, json } = await call(`GET /api/r${index}`)
        t.match({ status, code: json.error?.code }, { status: 500, code: 'INTERNAL_SERVER_ERROR' }, rule)
      }
    }
  )
})

t.test('a status line that cannot be sent is an error that says what can', async (t) => {
  const rows: { rule: string; GET: AnyHandler; message: string }[] = [
    {
      rule: 'a status below 200 of an answer',
      GET: (_, response) => response.status(199).json({}),
      message: 'Status 199 cannot be sent: it must be a number from 200 to 999'
    },
    {
      rule: 'a status below 100 of writeHead',
      GET: (_, response) => response.writeHead(99).end(),
      message: 'Invalid status code: 99'
    },
    {
      rule: 'a status of the wrong type',
      GET: (_, response) => Reflect.set(response, 'statusCode', 10n) && {},
      message: 'Status of type bigint cannot be sent: it must be a number from 200 to 999'
    },
    {
      rule: 'a control character in the status message',
      GET: (_, response) => Reflect.set(response, 'statusMessage', 'a\nb') && {},
      message:
        'The status message has the character U+000A at index 1; node sends a tab, U+0020 to U+007E and U+0080 to U+00FF'
    },
    {
      rule: 'a character beyond Latin-1 in the status message',
      GET: (_, response) => Reflect.set(response, 'statusMessage', '5 \u20AC') && {},
      message:
        'The status message has the character U+20AC at index 2; node sends a tab, U+0020 to U+007E and U+0080 to U+00FF'
    }
  ]
  const routes = Object.fromEntries(rows.map(({ GET }, index) => [`r${index}`, { GET }]))
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const [index, { rule, message }] of rows.entries()) {
      const { status, json } = await call(`GET /api/r${index}`)
      t.match({ status, message: json.error?.message }, { status: 500, message }, rule)
    }
  })
})

t.test('what was said of a failed answer is not said of the error', async (t) => {
  const describe = (response: any): void => {
    response.set({ 'Content-Encoding': 'gzip', 'Content-Length': '5', ETag: '"x"', 'X-Kept': '1' }).type('csv')
  }
  const failing = new Readable({ read() {} })
  const rows: (readonly [string, AnyHandler])[] = [
    [
      'thrown',
      (_, response) => {
        describe(response)
        throw new Error('failed')
      }
    ],
    [
      'a failing status object',
      () => ({
        status: 200,
        headers: { 'content-encoding': 'gzip', 'content-type': 'text/csv', 'x-kept': '1' },
        body: 1n
      })
    ],
    [
      'an object that cannot be written as JSON',
      (_, response) => {
        describe(response)
        response.type('json')
        const circle: Record<string, unknown> = {}
        circle.self = circle
        return circle
      }
    ],
    [
      'a failing stream',
      (_, response) => {
        describe(response)
        process.nextTick(() => failing.destroy(new Error('failed')))
        return failing
      }
    ]
  ]
  for (const [rule, GET] of rows) {
    const scenario = { routes: { a: { GET } }, options: { errorHandler } }
    // a stream fails once, on the app
    const apps =
      rule === 'a failing stream' ? [await appOf(t, scenario)] : [await appOf(t, scenario), await hostOf(t, scenario)]
    for (const app of apps) {
      const { headers, status, json } = await callByInject(app)('GET /api/a')
      t.match(
        { status, code: json.error.code, type: headers['content-type'], kept: headers['x-kept'] },
        { status: 500, code: 'INTERNAL_SERVER_ERROR', type: JSON_TYPE, kept: '1' },
        rule
      )
      t.notOk('content-encoding' in headers, rule)
      t.notOk('etag' in headers, rule)
    }
  }
})

t.test('a stream that fails on its way is cut off', async (t) => {
  async function* failing(): AsyncGenerator<string> {
    yield 'first'
    await turn()
    throw new Error('failed')
  }
  const routes = {
    iterable: { GET: () => failing() },
    stream: { GET: () => Readable.from(failing()) },
    body: { GET: () => ({ status: 200, body: failing() }) },
    error: {
      GET: (_: any, response: any) => {
        response.write('first')
        throw new Error('failed')
      }
    }
  }
  const { logger, entries } = logBook()
  const options = { errorHandler, fastifyOptions: { logger } as never }
  const app = await appOf(t, { routes, options })
  const call = callOver(await addressOf(app))
  for (const place of Object.keys(routes)) await t.rejects(call(`GET /api/${place}`), { code: 'ECONNRESET' }, place)
  t.ok(entries.length >= 4, 'and logged')
})

t.test('over HTTP/2 a client is told of an answer that was cut off, too', async (t) => {
  const failing = async function* (): AsyncGenerator<string> {
    yield 'first'
    await turn()
    throw new Error('failed')
  }
  const begin = (response: any): any => (response.write('first'), response)
  const handlers: Record<string, AnyHandler> = {
    'a stream that fails': () => Readable.from(failing()),
    'an iterable that fails': () => failing(),
    'a web stream that fails': () => new globalThis.Response(Readable.toWeb(Readable.from(failing())) as never),
    'an error behind a write': (_, response) => {
      begin(response)
      throw new Error('failed')
    },
    'an answer behind a write': (_, response) => void begin(response).json({}),
    'a value behind a write': (_, response) => (begin(response), { a: 1 }),
    'a response that is destroyed': (_, response) => void setImmediate(() => begin(response).destroy())
  }
  const routes = Object.fromEntries(Object.values(handlers).map((GET, index) => [`r${index}`, { GET }]))
  const rows = Object.keys(handlers).map((rule, index) => [rule, `/api/r${index}`] as const)
  const builders = { app: [appOf, [...rows, ['a route of Fastify', '/own']]], host: [hostOf, rows] } as const
  for (const [place, [build, asked]] of Object.entries(builders)) {
    const server = await build(t, { routes, options: { fastifyOptions: { http2: true } as never } })
    server.get('/own', () => Readable.from(failing()))
    const session = connectHttp2(await addressOf(server))
    t.teardown(() => session.destroy())
    for (const [rule, path] of asked) {
      const received = session.request({ ':path': path }).resume().toArray()
      await t.rejects(received, { code: 'ERR_HTTP2_STREAM_ERROR' }, `${rule}, on the ${place}`)
    }
  }
})

t.test('a handler that never answers gets 503 at its timeout', async (t) => {
  const signals: AbortSignal[] = []
  const never: (readonly [string, AnyHandler])[] = [
    ['undefined', (request) => void signals.push(request.signal)],
    ['a promise of undefined', async (request) => void signals.push(request.signal)],
    [
      'the response itself',
      (request, response) => {
        signals.push(request.signal)
        return response.status(201)
      }
    ],
    [
      'a promise that stays open',
      (request) => {
        signals.push(request.signal)
        return new Promise(() => {})
      }
    ]
  ]
  const routes = routesOf(never, { config: { timeout: 10 } })
  onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
    for (const [index, [rule]] of never.entries()) {
      const { status, json } = await call(`GET /api/r${index}`)
      t.match({ status, code: json.error.code }, { status: 503, code: 'SERVICE_UNAVAILABLE' }, rule)
      t.ok(signals.pop()?.aborted, `${rule}: request.signal is aborted`)
    }
  })
  t.test('the handler timeout never fires before its time', async (t) => {
    const limit = 240
    const call = callByInject(await appOf(t, { routes: { a: { GET: () => {} } }, options: { handlerTimeout: limit } }))
    const started = performance.now()
    t.equal((await call('GET /api/a')).status, 503)
    t.ok(performance.now() - started >= limit, 'the whole limit has passed')
  })
  t.test('the timeout of the app counts where the route has none', async (t) => {
    const routes = {
      own: { GET: () => {}, config: { timeout: 10 } },
      apps: { GET: () => {} },
      slow: { GET: (_: any, response: any) => void setTimeout(() => response.json({}), 60), config: { timeout: 0 } }
    }
    const call = callByInject(await appOf(t, { routes, options: { handlerTimeout: 20 } }))
    t.equal((await call('GET /api/own')).status, 503)
    t.equal((await call('GET /api/apps')).status, 503)
    t.equal((await call('GET /api/slow')).status, 200, '0 turns it off')
  })
  t.test('what comes later is dropped', async (t) => {
    const late: (() => unknown)[] = []
    const resolving = () => new Promise((resolve) => late.push(() => resolve({ late: true })))
    const rejecting = () => new Promise((_, reject) => late.push(() => reject(new Error('late'))))
    const routes = routesOf(
      [
        ['', resolving],
        ['', rejecting]
      ],
      { config: { timeout: 10 } }
    )
    onEveryHost(t, { routes, options: { errorHandler } }, async (t, call) => {
      for (const place of ['r0', 'r1']) {
        t.equal((await call(`GET /api/${place}`)).status, 503)
        late.pop()!()
        await turn()
      }
    })
  })
  t.test('an answer that has begun outlives the timeout', async (t) => {
    const ended: (() => void)[] = []
    const GET = (_: any, response: any): void => {
      response.write('first')
      ended.push(() => response.end())
    }
    const app = await appOf(t, {
      routes: { a: { GET, config: { timeout: 5 } }, b: { GET: () => {}, config: { timeout: 5 } } }
    })
    const call = callOver(await addressOf(app))
    const begun = call('GET /api/a')
    while (ended.length === 0) await turn()
    for (let i = 0; i < 3; i++) t.equal((await call('GET /api/b')).status, 503, 'timeouts pass meanwhile')
    ended[0]!()
    t.match(await begun, { status: 200, text: 'first' })
  })
})

t.test('a client that leaves aborts what is made for it', async (t) => {
  let left: (value: unknown) => void = () => {}
  const iterable = {
    async *[Symbol.asyncIterator]() {
      try {
        while (true) yield 'x'.repeat(1000) + (await turn(''))
      } finally {
        left('returned')
      }
    }
  }
  const rows: (readonly [string, AnyHandler])[] = [
    [
      'request.signal',
      (request, response) => {
        request.signal.addEventListener('abort', () => left('aborted'))
        response.write('x')
      }
    ],
    [
      'a stream is destroyed',
      () =>
        new Readable({
          read() {
            this.push('x')
          },
          destroy: (_, done) => {
            left('destroyed')
            done(null)
          }
        })
    ],
    ['an async iterable returns', () => iterable],
    [
      'a web stream is cancelled',
      () =>
        new ReadableStream({
          pull: (controller) => controller.enqueue(Buffer.from('x')),
          cancel: () => left('cancelled')
        })
    ],
    [
      'a web Response is cancelled',
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(Buffer.from('x')),
            cancel: () => left('cancelled')
          })
        )
    ],
    [
      'a signal asked for afterwards',
      async (request, response) => {
        response.write('x')
        await once(response, 'close')
        left(request.signal.aborted && 'aborted')
      }
    ]
  ]
  for (const build of [appOf, hostOf]) {
    const { port } = new URL(await addressOf(await build(t, { routes: routesOf(rows) })))
    for (const [index, [rule]] of rows.entries()) {
      const gone = new Promise((resolve) => (left = resolve))
      const request = httpRequest({ host: '127.0.0.1', port, path: `/api/r${index}` }).end()
      const [response] = await once(request, 'response')
      response.once('data', () => request.destroy())
      await t.resolves(gone, rule)
      t.ok(await gone, rule)
    }
  }
  t.test('an answered request is not aborted', async (t) => {
    let signal: AbortSignal | undefined
    const GET = (request: any): object => ({ aborted: (signal = request.signal as AbortSignal).aborted })
    onEveryHost(t, { routes: { a: { GET } } }, async (t, call) => {
      t.strictSame((await call('GET /api/a')).json, { aborted: false })
      await turn()
      t.notOk(signal!.aborted)
    })
  })
})

t.test('response.destroyed says whether the client has left, over HTTP/2 as over HTTP/1', async (t) => {
  for (const http2 of [false, true]) {
    let begin: (response: any) => void = () => {}
    const GET = (_: unknown, response: any): void => begin(response)
    const app = await appOf(t, { routes: { a: { GET } }, options: { fastifyOptions: { http2 } as never } })
    const address = await addressOf(app)
    const session = http2 ? connectHttp2(address) : undefined
    t.teardown(() => session?.destroy())
    const begun = new Promise<any>((resolve) => (begin = resolve))
    const request = session?.request({ ':path': '/api/a' }) ?? httpRequest(`${address}/api/a`, { agent: false })
    request.on('error', () => {}).end()
    const response = await begun
    t.equal(response.destroyed, false)
    request.destroy()
    await once(response, 'close')
    t.equal(response.destroyed, true, 'so that its handler timeout keeps no process alive')
  }
})

/** Sources that yield for ever, or not at all; each tells when it is released. */
function sources(released: () => void): Record<string, () => unknown> {
  const web = (): ReadableStream => new ReadableStream({ cancel: released })
  const node = (objectMode: boolean): Readable =>
    new Readable({ objectMode, read() {}, destroy: (error, done) => (released(), done(error)) })
  const iterable = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<string>>(() => {}),
      return: async () => (released(), { done: true as const, value: undefined })
    })
  }
  return {
    'a web stream': web,
    'a web Response': () => new Response(web()),
    'a status object with a web stream': () => ({ status: 200, body: web() }),
    'a Node stream': () => node(false),
    'a Node stream of objects': () => node(true),
    'an async iterable': () => iterable,
    'a promise of a web stream': async () => web()
  }
}

/** A stream that never ends, but yields. */
async function* endless(released: () => void): AsyncGenerator<string> {
  try {
    while (true) {
      yield 'x'
      await turn()
    }
  } finally {
    released()
  }
}

t.test('a returned stream is released at once when nothing more of it can be sent', async (t) => {
  for (const http2 of [false, true]) {
    const names = Object.keys(sources(() => {}))
    let released: () => void = () => {}
    let begun: () => void = () => {}
    const waiting: (() => void)[] = []
    const make = (name: string): unknown => sources(() => released())[name]?.()
    const idle = (name: string) => () => {
      setImmediate(begun)
      return make(name)
    }
    /** Returns when the client has left. */
    const late = (name: string) => async (_request: any, response: any) => {
      await new Promise<void>((resolve) => {
        response.once('close', () => resolve())
        begun()
      })
      return make(name)
    }
    const slow = (name: string) => () => new Promise((resolve) => waiting.push(() => resolve(make(name))))
    const bodiless = (name: string) => (_request: any, response: any) => {
      response.status(204)
      return make(name)
    }
    const routes: Routes = Object.fromEntries(
      names.flatMap((name, index) => [
        [`idle${index}`, { GET: idle(name) }],
        [`late${index}`, { GET: late(name) }],
        [`slow${index}`, { GET: slow(name), config: { timeout: 10 } }],
        [`none${index}`, { GET: bodiless(name) }]
      ])
    )
    const options = http2 ? { fastifyOptions: { http2: true } as never } : {}
    for (const [place, build] of [
      ['an app', appOf],
      ['a host', hostOf]
    ] as const) {
      t.test(`on ${place}${http2 ? ' over HTTP/2' : ''}`, async (t) => {
        const address = await addressOf(await build(t, { routes, options }))
        const session = http2 ? connectHttp2(address) : undefined
        const send = (method: string, path: string): { leave: () => void; status: Promise<unknown> } => {
          if (session !== undefined) {
            const stream = session.request({ ':method': method, ':path': path })
            stream.on('error', () => {})
            const status = once(stream.resume(), 'response').then(([headers]) => headers[':status'])
            status.catch(() => {})
            return { leave: () => stream.close(8), status }
          }
          const request = httpRequest(`${address}${path}`, { method, agent: false })
          request.on('error', () => {}).end()
          const status = once(request, 'response').then(([response]) => response.resume().statusCode)
          status.catch(() => {})
          return { leave: () => request.destroy(), status }
        }
        for (const [index, name] of names.entries()) {
          const ends: Record<string, () => Promise<unknown>> = {
            'the client leaves': async () => {
              const started = new Promise<void>((resolve) => (begun = resolve))
              const { leave } = send('GET', `/api/idle${index}`)
              await started
              leave()
            },
            'the client has left before it is returned': async () => {
              const started = new Promise<void>((resolve) => (begun = resolve))
              const { leave } = send('GET', `/api/late${index}`)
              await started
              leave()
            },
            'it is returned after the timeout': async () => {
              t.equal(await send('GET', `/api/slow${index}`).status, 503)
              waiting.pop()?.()
            },
            // the status of a Response or status object counts over that of response.status
            ...(/Response|status/.test(name)
              ? {}
              : { 'the status has no body': async () => t.equal(await send('GET', `/api/none${index}`).status, 204) }),
            'the method is HEAD': async () => t.equal(await send('HEAD', `/api/idle${index}`).status, 200)
          }
          for (const [rule, act] of Object.entries(ends)) {
            const over = new Promise<void>((resolve) => (released = resolve))
            await act()
            await t.resolves(over, `${name}: ${rule}`)
          }
        }
        session?.destroy()
      })
    }
  }
})

t.test('HEAD of a stream without end is answered at once, with the headers', async (t) => {
  const bytes = (): Readable => new Readable({ read: (): void => {} })
  const prepared = (response: any): unknown => response.type('text/plain').set('X-A', 'b')
  const type = 'text/plain; charset=utf-8'
  const routes = {
    node: { GET: (_request: any, response: any) => prepared(response) && bytes() },
    generator: { GET: (_request: any, response: any) => prepared(response) && endless(() => {}) },
    status: { GET: () => ({ status: 202, headers: { 'x-a': 'b', 'content-type': type }, body: bytes() }) }
  }
  onEveryHost(t, { routes }, async (t, call) => {
    for (const path of Object.keys(routes)) {
      const { status, headers, text } = await call(`HEAD /api/${path}`)
      t.match(
        { status, type: headers['content-type'], a: headers['x-a'], text },
        { status: path === 'status' ? 202 : 200, type, a: 'b', text: '' },
        path
      )
    }
  })
})

t.test('an answer without a body is an answer at the handler timeout, too', async (t) => {
  const middleware: Record<string, AppOptions['errorHandler']> = {
    'end()': (_error: any, _request: any, response: any, _next: any) => void response.status(401).end(),
    'writeHead() and end()': (_error: any, _request: any, response: any, _next: any) =>
      void response.writeHead(401).end(),
    'send()': (_error: any, _request: any, response: any, _next: any) => void response.status(401).send(),
    'end() with a callback': (_error: any, _request: any, response: any, _next: any) =>
      void response.status(401).end(() => {})
  }
  const handlers: typeof middleware = {
    'end() of the raw response': (_error: any, _request: any, reply: any) => {
      reply.raw.statusCode = 401
      reply.raw.end()
    },
    'end() of a reply that is hijacked': (_error: any, _request: any, reply: any) => {
      reply.hijack()
      reply.raw.statusCode = 401
      reply.raw.end()
    },
    'reply.send()': (_error: any, _request: any, reply: any) => void reply.code(401).send()
  }
  const routes: Routes = { a: { GET: () => {}, config: { timeout: 10 } } }
  for (const [name, errorHandler] of Object.entries({ ...middleware, ...handlers })) {
    for (const http2 of [false, true]) {
      const options = { errorHandler: errorHandler as never, fastifyOptions: { http2 } as never }
      const places = name in handlers ? ([appOf, hostOf] as const) : ([appOf] as const)
      for (const build of places) {
        for (const hooks of ['no hooks', 'an onSend hook']) {
          const place = `${build === appOf ? 'an app' : 'a host'}${http2 ? ' over HTTP/2' : ''} with ${hooks}`
          t.test(`${name} on ${place}`, async (t) => {
            const app = await build(t, { routes, options })
            if (hooks !== 'no hooks') app.addHook('onSend', (_request, _reply, payload, done) => done(null, payload))
            const address = await addressOf(app)
            for (const method of ['GET', 'HEAD']) {
              const status = http2
                ? await statusOverHttp2(t, address, method)
                : (await callOver(address)(`${method} /api/a`)).status
              t.equal(status, 401, method)
            }
            t.equal((await callByInject(app)('GET /api/a')).status, 401, 'injected')
          })
        }
      }
    }
  }
})

t.test(
  'at the handler timeout a client that is slow to send its body gets 408, one that is not answered 503',
  async (t) => {
    const readsAll = async (request: any, _response: any, next: any): Promise<void> => {
      for await (const _chunk of request);
      next()
    }
    const never = async (): Promise<never> => new Promise(() => {})
    const config = { timeout: 40 }
    const routes = {
      validated: { POST: never, middleware: [validate(z.object({ a: z.string() }))], config },
      form: { POST: (request: any) => request.formData(), config },
      stream: { POST: never, middleware: [readsAll], config },
      unread: { POST: never, config: { ...config, bodyParser: false } },
      silent: { POST: never, config }
    } satisfies Routes
    const MULTIPART = 'multipart/form-data; boundary=X'
    const PART = '--X\r\ncontent-disposition: form-data; name="f"\r\n\r\nte'
    for (const { name, path, type = 'application/json', sent, status } of [
      { name: 'validate waits for a body', path: 'validated', sent: '{"a"', status: 408 },
      { name: 'the handler waits for a form', path: 'form', type: MULTIPART, sent: PART, status: 408 },
      { name: 'a middleware reads the stream', path: 'stream', sent: '{"a"', status: 408 },
      { name: 'nobody reads the body', path: 'unread', sent: '{"a"', status: 503 },
      { name: 'the body has arrived', path: 'silent', sent: '{"a":"b"}', status: 503 }
    ]) {
      for (const build of [appOf, hostOf]) {
        t.test(`${name}, on ${build === appOf ? 'an app' : 'a host'}`, async (t) => {
          const { logger, entries } = logBook()
          const app = await build(t, { routes, options: { errorHandler, fastifyOptions: { logger } } })
          const connection = await connectTo(await addressOf(app))
          t.teardown(() => connection.socket.destroy())
          const length = path === 'silent' ? sent.length : 1000
          const fields = `Host: test\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n`
          await connection.send(`POST /api/${path} HTTP/1.1\r\n${fields}\r\n${sent}`)
          await connection.receives(/"code":"\w+"/)
          const [head = '', body = ''] = connection.text.split('\r\n\r\n')
          t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
          if (status === 503) return
          t.match(body, '"code":"REQUEST_TIMEOUT","message":"The request did not arrive in time"')
          t.match(head, /^connection: close$/im, 'what is still to come is no request')
          await connection.closed
          t.strictSame(entries, [], "a client's fault is no line of the log")
        })
      }
    }
  }
)

async function statusOverHttp2(t: any, address: string, method: string): Promise<unknown> {
  const session = connectHttp2(address)
  t.teardown(() => session.close())
  const [headers] = await once(session.request({ ':method': method, ':path': '/api/a' }).resume(), 'response')
  return headers[':status']
}

t.test('what runs at the handler timeout runs in the async context of its own request', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const inContext = (request: any, _response: any, next: any): void => context.run(String(request.get('x-name')), next)
  const routes = {
    use: { GET: () => {}, config: { timeout: 40 } },
    own: { GET: async () => new Promise(() => {}), middleware: [inContext], config: { timeout: 40 } }
  }
  const seen: Record<string, unknown[]> = {}
  const note = (request: any): void => {
    ;(seen[String(request.headers['x-name'])] ??= []).push(context.getStore())
  }
  const check = (paths: readonly string[]) => async (t: any, call: any) => {
    for (const path of paths) {
      for (const key of Object.keys(seen)) delete seen[key]
      const names = ['anna', 'bert', 'carl']
      const answers: Promise<any>[] = []
      for (const name of names) {
        answers.push(call(`GET /api/${path}`, { headers: { 'x-name': name } }))
        await turn()
      }
      for (const { status } of await Promise.all(answers)) t.equal(status, 503)
      t.strictSame(seen, { anna: ['anna'], bert: ['bert'], carl: ['carl'] }, path)
    }
  }
  const errorMiddleware = (error: any, request: any, response: any, next: any): void => {
    note(request)
    next(error)
  }
  t.test('error middleware runs in the async context of the request that timed out', async (t) => {
    const use = (app: any): void => void app.use(inContext).use(errorMiddleware)
    onEveryHost(t, { routes, use }, check(['use', 'own']))
  })
  t.test('the error handler runs in the async context of the request that timed out', async (t) => {
    const options = {
      errorHandler: (error: any, request: any, reply: any) => {
        note(request)
        return errorHandler(error, request, reply)
      }
    }
    onEveryHost(t, { routes, options }, check(['own']))
  })
  t.test('listeners of request.signal run in the async context of the request that timed out', async (t) => {
    const GET = (request: any): void => request.signal.addEventListener('abort', () => note(request))
    onEveryHost(t, { routes: { a: { GET, middleware: [inContext], config: { timeout: 40 } } } }, check(['a']))
  })
})

t.test('the handler timeout covers every route of an app, its hooks and its 404', async (t) => {
  const never = new Promise<never>(() => {})
  const hung = async (): Promise<never> => never
  const build = async (t: any, more: (app: any) => void = () => {}): Promise<any> => {
    const app = await appOf(t, {
      routes: {
        files: { GET: () => ({}) },
        json: { GET: (_: any, response: any) => response.json({}) },
        later: { GET: async () => 'x' }
      },
      options: { handlerTimeout: 20, errorHandler }
    })
    more(app)
    return app
  }
  const rows: readonly { rule: string; path: string; method?: string; more: (app: any) => void }[] = [
    { rule: 'app.get, async', path: '/own', more: (app) => app.get('/own', hung) },
    { rule: 'app.get that returns nothing', path: '/own', more: (app) => app.get('/own', () => {}) },
    { rule: 'HEAD of app.get', method: 'HEAD', path: '/own', more: (app) => app.get('/own', hung) },
    { rule: 'POST with a body', method: 'POST', path: '/own', more: (app) => app.post('/own', hung) },
    {
      rule: 'a route of a plugin',
      path: '/p/own',
      more: (app) => app.register(async (scope: any) => scope.get('/own', hung), { prefix: '/p' })
    },
    { rule: 'a preHandler hook', path: '/own', more: (app) => app.get('/own', { preHandler: hung }, () => 'x') },
    { rule: 'a not-found handler of the app', path: '/none', more: (app) => app.setNotFoundHandler(hung) },
    {
      rule: 'a not-found handler of a prefix',
      path: '/p/none',
      more: (app) => app.register(async (scope: any) => scope.setNotFoundHandler(hung), { prefix: '/p' })
    }
  ]
  for (const { rule, path, method = 'GET', more } of rows) {
    t.test(rule, async (t) => {
      const app = await build(t, more)
      const call = callOver(await addressOf(app))
      for (const send of [callByInject(app), call]) {
        const { status, text } = await send(
          `${method} ${path}`,
          method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {}
        )
        t.equal(status, 503)
        if (method !== 'HEAD') t.equal(JSON.parse(text).error.code, 'SERVICE_UNAVAILABLE')
      }
      t.equal((await call('GET /api/files')).status, 200, 'and the app goes on')
    })
  }
  t.test('an onSend hook that hangs gets an empty 503, since it would hang for an error, too', async (t) => {
    const open: (() => void)[] = []
    const app = await build(t, (app) => {
      app.addHook('onSend', async (request: any) => {
        if (request.headers['x-hang']) await new Promise<void>((resolve) => open.push(resolve))
      })
      app.get('/own', () => ({}))
      app.get('/bad', () => {
        throw new Error('x')
      })
    })
    const call = callOver(await addressOf(app))
    for (const path of ['/own', '/bad', '/api/files', '/api/json', '/api/later', '/api/none', '/none']) {
      for (const send of [callByInject(app), call]) {
        t.equal((await send(`GET ${path}`, { headers: { 'x-hang': 'yes' } })).status, 503, path)
        for (const go of open.splice(0)) go()
        await turn()
        t.equal((await call('GET /own')).status, 200, `${path}: what the hook does later harms nobody`)
      }
    }
  })
  t.test("a route's own handlerTimeout of Fastify's counts, and so does a hijacked reply", async (t) => {
    const app = await build(t, (app) => {
      app.get(
        '/longer',
        { handlerTimeout: 5000 },
        (_request: any, reply: any) => void setTimeout(() => reply.send('x'), 80)
      )
      app.get('/hijacked', (_request: any, reply: any) => {
        reply.hijack()
        setTimeout(() => reply.raw.end('raw'), 80)
      })
    })
    const call = callOver(await addressOf(app))
    t.match(await call('GET /longer'), { status: 200, text: 'x' })
    t.match(await call('GET /hijacked'), { status: 200, text: 'raw' })
  })
})
