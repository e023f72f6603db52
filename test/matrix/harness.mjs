// Runs a package's job in each place Express middleware can stand: in a middleware map (createMiddleware), in `use()` of an
// application, and in an application of `twinroute/express`. The requests and what is expected of the answers are the same.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, createMiddleware } from '../../dist/index.js'
import express from '../../dist/express.js'

/**
 * @typedef {object} Case
 * @property {string} name the package
 * @property {string} job what it is asked to do
 * @property {(env: object) => unknown[] | Promise<unknown[]>} middleware what stands below `/api`, in order
 * @property {(request: object, response: object) => unknown} [handler] behind it; answers `{ ok: true }` by default
 * @property {(call: Function, env: object) => Promise<void>} check sends requests and asserts
 * @property {readonly string[]} [places] where it can stand; default: everywhere
 * @property {object} [options] of createApp
 * @property {() => Promise<object>} [setup] what middleware and check share; its `close` is called at the end
 */

export const PLACES = ['createMiddleware', 'use', 'twinroute/express']

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const require = createRequire(import.meta.url)

/** The version of an installed package. */
export function versionOf(name) {
  for (const folder of require.resolve.paths(name)) {
    try {
      return require(join(folder, name, 'package.json')).version
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    }
  }
  throw new Error(`${name} is not installed: npm ci --prefix test/matrix`)
}

/** Throws what went wrong at one place. */
export async function runAt(place, one) {
  const env = (await one.setup?.()) ?? {}
  const started = await START[place](one, await one.middleware(env))
  try {
    await one.check(callOver(started.port), { ...env, port: started.port })
  } finally {
    await started.close()
    await env.close?.()
  }
}

const START = {
  async createMiddleware(one, middleware) {
    return listening(await appOf(one, { middleware: createMiddleware({ '/api/': middleware }) }))
  },
  async use(one, middleware) {
    const app = await appOf(one, {})
    app.use('/api', ...middleware)
    return listening(app)
  },
  async 'twinroute/express'(one, middleware) {
    const app = express()
    app.use('/api', ...middleware)
    app.all('/api{/*rest}', (request, response) => answer(one, request, response))
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: server.address().port, close: () => closeServer(server) }
  }
}

/** Only what is returned asynchronously can fail asynchronously: as route files, Express routes wait for promises. */
async function answer(one, request, response) {
  const result = await (one.handler ?? done)(request, response)
  if (result !== undefined && result !== response && !response.headersSent) response.json(result)
}

function done() {
  return { ok: true }
}

async function appOf(one, more) {
  const apiDir = mkdtempSync(join(tmpdir(), 'twinroute-matrix-'))
  mkdirSync(join(apiDir, '[[...rest]]'))
  const key = `twinroute matrix ${apiDir}`
  globalThis[key] = one.handler ?? done
  const lines = METHODS.map((method) => `export const ${method} = globalThis[${JSON.stringify(key)}]`)
  writeFileSync(join(apiDir, '[[...rest]]', 'route.mjs'), lines.join('\n'))
  const app = await createApp({ mode: 'test', apiDir, ...one.options, ...more })
  app.addHook('onClose', async () => {
    rmSync(apiDir, { recursive: true })
    delete globalThis[key]
  })
  return app
}

async function listening(app) {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: app.server.address().port, close: () => app.close() }
}

export function closeServer(server) {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}

/** A server of the test's own, behind proxies for example. */
export async function serve(handler) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, close: () => closeServer(server) }
}

/** `call('POST /api/x', { headers, body })`, each on a connection of its own; objects are sent as JSON. */
export function callOver(port) {
  return async (line, { headers = {}, body } = {}) => {
    const [method, path] = line.split(' ')
    const isPlain = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)
    const payload = isPlain ? JSON.stringify(body) : body
    const about = {
      ...(isPlain ? { 'content-type': 'application/json' } : {}),
      ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) })
    }
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { ...about, ...headers }
    })
    request.end(payload)
    const [response] = await once(request, 'response')
    const parts = []
    for await (const part of response) parts.push(part)
    const bytes = Buffer.concat(parts)
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes,
      text: bytes.toString(),
      get json() {
        return JSON.parse(bytes.toString())
      },
      /** The cookies it sets, as the next request sends them. */
      cookie: (response.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    }
  }
}

/** A multipart body with one field and one file. */
export function multipart(fields = { title: 'a title' }, file = 'the file') {
  const lines = Object.entries(fields).flatMap(([name, value]) => [
    '--edge',
    `Content-Disposition: form-data; name="${name}"`,
    '',
    value
  ])
  lines.push(
    '--edge',
    'Content-Disposition: form-data; name="file"; filename="a.txt"',
    'Content-Type: text/plain',
    '',
    file
  )
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    body: `${lines.join('\r\n')}\r\n--edge--\r\n`
  }
}

/** A folder of files, removed by `close`. */
export function filesIn(files) {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-matrix-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return { folder, close: () => rmSync(folder, { recursive: true }) }
}
