// Runs a package's job in each place Express middleware can stand: in a middleware map (createMiddleware), in `use()` of an
// application, and in an application of `twinroute/express`. The requests and what is expected of the answers are the same.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as httpRequest,
  type RequestListener,
  type Server
} from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp, createMiddleware } from '../../../dist/index.js'
import express from '../../../dist/express.js'

/** What a case's `setup` gives, `close` among it, and the `port` that the check may need. */
export type Env = any

/** The answer to one request. */
export interface Answer {
  status: number
  headers: Record<string, any>
  bytes: Buffer
  text: string
  json: any
  /** The cookies it sets, as the next request sends them. */
  cookie: string
}

/** `call('POST /api/x', { headers, body })`, each on a connection of its own; objects are sent as JSON. */
export type Call = (line: string, sent?: { headers?: OutgoingHttpHeaders; body?: unknown }) => Promise<Answer>

export interface Case {
  /** The package. */
  name: string
  /** Default: the package's. */
  version?: () => string
  /** What it is asked to do. */
  job: string
  /** What stands below `/api`, in order. */
  middleware: (env: Env) => any[] | Promise<any[]>
  /** Behind it; answers `{ ok: true }` by default. */
  handler?: (request: any, response: any) => unknown
  /** Sends requests and asserts. */
  check: (call: Call, env: Env) => Promise<void>
  /** Where it can stand; default: everywhere. */
  places?: readonly Place[]
  /** Of createApp. */
  options?: object
  /** What middleware and check share; its `close` is called at the end. */
  setup?: () => Promise<object> | object
}

export const PLACES = ['createMiddleware', 'use', 'twinroute/express'] as const

export type Place = (typeof PLACES)[number]

interface Started {
  port: number
  close: () => Promise<unknown>
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const require = createRequire(import.meta.url)

/** The version of an installed package. */
export function versionOf(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return require(join(folder, name, 'package.json')).version
    } catch (error: any) {
      if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    }
  }
  throw new Error(`${name} is not installed: npm ci --prefix test/matrix`)
}

/** Throws what went wrong at one place. */
export async function runAt(place: Place, one: Case): Promise<void> {
  const env: Env = (await one.setup?.()) ?? {}
  const started = await START[place](one, await one.middleware(env))
  try {
    await one.check(callOver(started.port), { ...env, port: started.port })
  } finally {
    await started.close()
    await env.close?.()
  }
}

const START: Record<Place, (one: Case, middleware: any[]) => Promise<Started>> = {
  async createMiddleware(one, middleware) {
    return listening(await appOf(one, { middleware: createMiddleware({ '/api/': middleware }) }))
  },
  async use(one, middleware) {
    const app = await appOf(one, {})
    app.use('/api', ...middleware)
    return listening(app)
  },
  async 'twinroute/express'(one, middleware) {
    const app: any = express()
    app.use('/api', ...middleware)
    app.all('/api{/*rest}', (request: unknown, response: unknown) => answer(one, request, response))
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) }
  }
}

/** Only what is returned asynchronously can fail asynchronously: as route files, Express routes wait for promises. */
async function answer(one: Case, request: any, response: any): Promise<void> {
  const result = await (one.handler ?? done)(request, response)
  if (result !== undefined && result !== response && !response.headersSent) response.json(result)
}

function done(): object {
  return { ok: true }
}

async function appOf(one: Case, more: object): Promise<App> {
  const apiDir = mkdtempSync(join(tmpdir(), 'twinroute-matrix-'))
  mkdirSync(join(apiDir, '[[...rest]]'))
  const key = `twinroute matrix ${apiDir}`
  Reflect.set(globalThis, key, one.handler ?? done)
  const lines = METHODS.map((method) => `export const ${method} = globalThis[${JSON.stringify(key)}]`)
  writeFileSync(join(apiDir, '[[...rest]]', 'route.mjs'), lines.join('\n'))
  const app = await createApp({ mode: 'test', apiDir, ...one.options, ...more })
  app.addHook('onClose', async () => {
    rmSync(apiDir, { recursive: true })
    Reflect.deleteProperty(globalThis, key)
  })
  return app
}

async function listening(app: App): Promise<Started> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
}

export function closeServer(server: Server): Promise<unknown> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}

/** A server of the test's own, behind proxies for example. */
export async function serve(handler: RequestListener): Promise<Started> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) }
}

function callOver(port: number): Call {
  return async (line, { headers = {}, body } = {}) => {
    const [method, path] = line.split(' ') as [string, string]
    const isPlain = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)
    const payload = isPlain ? JSON.stringify(body) : (body as string | Buffer | undefined)
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
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part)
    const bytes = Buffer.concat(parts)
    return {
      status: response.statusCode as number,
      headers: response.headers,
      bytes,
      text: bytes.toString(),
      get json() {
        return JSON.parse(bytes.toString())
      },
      cookie: (response.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    }
  }
}

/** A multipart body with one field and one file. */
export function multipart(
  fields: Record<string, string> = { title: 'a title' },
  file = 'the file'
): { headers: OutgoingHttpHeaders; body: string } {
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
export function filesIn(files: Record<string, string>): { folder: string; close: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'twinroute-matrix-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return { folder, close: () => rmSync(folder, { recursive: true }) }
}
