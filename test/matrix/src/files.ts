import { equal, match, ok } from 'node:assert/strict'
import { join } from 'node:path'
import history from 'connect-history-api-fallback'
import express from 'express'
import proxyOf from 'express-http-proxy'
import staticGzip from 'express-static-gzip'
import { createProxyMiddleware } from 'http-proxy-middleware'
import favicon from 'serve-favicon'
import serveIndex from 'serve-index'
import serveStatic from 'serve-static'
import vhost from 'vhost'
import webpack from 'webpack'
import webpackDev from 'webpack-dev-middleware'
import webpackHot from 'webpack-hot-middleware'
import { type Call, type Case, type Env, filesIn, multipart, serve } from './harness.js'

const site = () =>
  filesIn({
    'hello.txt': 'hello',
    'ü b.txt': 'encoded',
    'sub/index.html': '<p>sub</p>',
    'index.html': '<p>index</p>',
    'big.js.gz': 'not really',
    'big.js': 'plain',
    'favicon.ico': 'icon'
  })

/** A server that tells what reached it. */
function upstream() {
  return serve((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-upstream': '1' })
      response.end(JSON.stringify({ method: request.method, url: request.url, body: Buffer.concat(parts).toString() }))
    })
  })
}

async function proxies(call: Call): Promise<void> {
  const get = await call('GET /api/a%20b?c=1')
  equal(get.json.url, '/a%20b?c=1')
  equal(get.headers['x-upstream'], '1')
  equal((await call('POST /api/x', { body: { a: 1 } })).json.body, '{"a":1}')
  ok((await call('POST /api/x', multipart())).json.body.includes('the file'))
  const big = 'x'.repeat(300_000)
  equal(
    (await call('PUT /api/x', { headers: { 'content-type': 'text/plain' }, body: big })).json.body.length,
    big.length
  )
}

function compiler({ folder }: Env): any {
  return webpack({
    mode: 'development',
    context: folder,
    entry: './entry.js',
    output: { path: join(folder, 'out'), filename: 'bundle ü.js', publicPath: '/' },
    infrastructureLogging: { level: 'none' }
  })
}

const sources = () => filesIn({ 'entry.js': 'console.log("bundled")' })

const cases: Case[] = [
  {
    name: 'serve-static',
    job: 'sends files, redirects folders below its path, passes on the rest',
    setup: site,
    middleware: ({ folder }) => [serveStatic(folder)],
    async check(call) {
      equal((await call('GET /api/hello.txt')).text, 'hello')
      equal((await call('GET /api/%C3%BC%20b.txt')).text, 'encoded')
      equal((await call('GET /api/sub')).headers.location, '/api/sub/')
      equal((await call('GET /api/none')).json.ok, true)
      equal((await call('GET /api/hello.txt', { headers: { range: 'bytes=1-2' } })).text, 'el')
      const { headers } = await call('GET /api/hello.txt')
      equal((await call('GET /api/hello.txt', { headers: { 'if-none-match': headers.etag } })).status, 304)
    }
  },
  {
    name: 'serve-index',
    job: 'lists a folder',
    setup: site,
    middleware: ({ folder }) => [serveIndex(folder)],
    async check(call) {
      match((await call('GET /api/', { headers: { accept: 'text/html' } })).text, /hello\.txt/)
      ok((await call('GET /api/', { headers: { accept: 'application/json' } })).json.includes('hello.txt'))
    }
  },
  {
    name: 'serve-favicon',
    job: 'sends the icon',
    setup: site,
    middleware: ({ folder }) => [favicon(join(folder, 'favicon.ico'))],
    async check(call) {
      const { status } = await call('GET /api/other')
      equal(status, 200)
      // the icon stands at the root of a site: below a prefix the package sees the stripped path
      equal((await call('GET /api/favicon.ico')).text, 'icon')
    }
  },
  {
    name: 'express-static-gzip',
    job: 'sends the compressed file instead',
    setup: site,
    middleware: ({ folder }) => [staticGzip(folder, { enableBrotli: false })],
    async check(call) {
      const { headers, text } = await call('GET /api/big.js', { headers: { 'accept-encoding': 'gzip' } })
      equal(headers['content-encoding'], 'gzip')
      equal(text, 'not really')
      equal((await call('GET /api/big.js')).text, 'plain')
    }
  },
  {
    name: 'connect-history-api-fallback',
    job: 'answers every page of an application with its index',
    setup: site,
    middleware: ({ folder }) => [history({ index: '/index.html' }), express.static(folder)],
    async check(call) {
      equal((await call('GET /api/deep/page', { headers: { accept: 'text/html' } })).text, '<p>index</p>')
      equal((await call('GET /api/hello.txt')).text, 'hello')
    }
  },
  {
    name: 'vhost',
    job: 'passes the requests of one host to another application',
    middleware: () => [
      vhost(
        'shop.example',
        express().use((request, response) => response.send(`shop ${request.url}`))
      )
    ],
    async check(call) {
      equal((await call('GET /api/x', { headers: { host: 'shop.example' } })).text, 'shop /x')
      equal((await call('GET /api/x')).json.ok, true)
    }
  },
  {
    name: 'http-proxy-middleware',
    job: 'proxies JSON, forms, uploads and 300 KB',
    setup: upstream,
    middleware: ({ port }) => [createProxyMiddleware({ target: `http://127.0.0.1:${port}` })],
    check: proxies
  },
  {
    name: 'http-proxy-middleware, bodies parsed early',
    version: () => '',
    job: 'proxies although request.body is set before it',
    setup: upstream,
    options: { bodyParser: 'early' },
    places: ['createMiddleware', 'use'],
    middleware: ({ port }) => [
      (request: any, _response: any, next: any) =>
        next(
          request.method === 'POST' && request.is('json') && request.body === undefined
            ? new Error('not parsed')
            : undefined
        ),
      createProxyMiddleware({ target: `http://127.0.0.1:${port}` })
    ],
    check: proxies
  },
  {
    name: 'express-http-proxy',
    job: 'proxies, reading the body itself',
    setup: upstream,
    middleware: ({ port }) => [proxyOf(`http://127.0.0.1:${port}`)],
    async check(call) {
      equal((await call('GET /api/a?c=1')).json.url, '/a?c=1')
      equal((await call('POST /api/x', { body: { a: 1 } })).json.body, '{"a":1}')
    }
  },
  {
    name: 'webpack-dev-middleware',
    job: 'serves a bundle from memory, its name encoded',
    setup: sources,
    middleware: (env) => [(env.dev = webpackDev(compiler(env)))],
    async check(call, { dev, close }) {
      match((await call('GET /api/bundle%20%C3%BC.js')).text, /bundled/)
      equal((await call('GET /api/none.js')).json.ok, true)
      await new Promise((resolve) => dev.close(resolve))
      equal(typeof close, 'function')
    }
  },
  {
    name: 'webpack-hot-middleware',
    job: 'streams its events',
    setup: sources,
    middleware(env) {
      env.compiler = compiler(env)
      env.hot = webpackHot(env.compiler, { path: '/hot', heartbeat: 20, log: false })
      return [env.hot]
    },
    async check(_call, { port, hot, compiler }) {
      const response = await fetch(`http://127.0.0.1:${port}/api/hot`)
      match(response.headers.get('content-type') ?? '', /text\/event-stream/)
      const reader = response.body!.getReader()
      ok((await reader.read()).value!.length > 0)
      await reader.cancel()
      hot.close()
      await new Promise((resolve) => compiler.close(resolve))
    }
  }
]

export default cases
