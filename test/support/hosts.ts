import { once } from 'node:events'
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { createApp, fileRoutes, type App, type AppOptions } from 'twinroute'
import { writeTree } from './route-tree.js'

/** The parts of tap that are used here. */
interface Test {
  test(name: string, body: (t: any) => Promise<void>): unknown
  teardown(end: () => unknown): void
}

/** What route files export, as values of the test: folder below the API directory to names and values. */
export type Routes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface Sent {
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
}

export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  bytes: Buffer
  text: string
  /** The body, parsed. */
  json: any
}

/** One request to the host: `call('GET /api/a')`. */
export type Call = (line: string, sent?: Sent) => Promise<Answer>

export interface Scenario {
  routes: Routes
  options?: Partial<AppOptions>
  /** Registers what comes before the routes. A host's own Fastify has no `use`, so such a scenario leaves it out. */
  use?: (app: App) => void
}

const PLACES = ['socket', 'inject', 'host'] as const
export type Place = (typeof PLACES)[number]

let trees = 0

/** Route files whose exports are the given values themselves, closures included. @returns the API directory */
export function writeRoutes(t: Test, routes: Routes): string {
  const tree = `twinroute test ${++trees}`
  Reflect.set(globalThis, tree, routes)
  t.teardown(() => Reflect.deleteProperty(globalThis, tree))
  const files = Object.entries(routes).map(([folder, exports]) => {
    const place = `globalThis[${JSON.stringify(tree)}][${JSON.stringify(folder)}]`
    const lines = Object.keys(exports).map((name) => `export const ${name} = ${place}.${name}\n`)
    return [join('api', folder, 'route.js'), lines.join('')]
  })
  return join(writeTree(t, Object.fromEntries(files)), 'api')
}

/** An application of these routes, closed when the test ends. It is not listening. */
export async function appOf(t: Test, { routes, options, use }: Scenario): Promise<App> {
  const app = await createApp({ mode: 'test', ...options, apiDir: writeRoutes(t, routes) })
  t.teardown(() => app.close())
  use?.(app)
  return app
}

/** The same routes on a Fastify instance of the user's own, which gets what the options say about Fastify itself. */
export async function hostOf(t: Test, { routes, options = {} }: Scenario): Promise<FastifyInstance> {
  const { errorHandler, fastifyOptions, trustProxy, ...given } = options
  const host: FastifyInstance = fastify({
    ...(fastifyOptions as object),
    ...(trustProxy === undefined ? {} : { trustProxy })
  })
  t.teardown(() => host.close())
  if (errorHandler !== undefined) host.setErrorHandler(errorHandler as never)
  await host.register(fileRoutes, { mode: 'test', ...given, apiDir: writeRoutes(t, routes) })
  return host
}

/** Listens on a free port. @returns the address, without a slash at its end */
export async function addressOf(app: FastifyInstance): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

/** Runs a check against the same routes over a socket, by inject, and on a Fastify instance of the user's own. */
export function onEveryHost(
  t: Test,
  scenario: Scenario,
  check: (t: any, call: Call, place: Place) => Promise<void>
): void {
  for (const place of PLACES) {
    if (place === 'host' && scenario.use !== undefined) continue
    t.test(`on ${place}`, async (t) => {
      const app: FastifyInstance = place === 'host' ? await hostOf(t, scenario) : await appOf(t, scenario)
      await check(t, place === 'inject' ? callByInject(app) : callOver(await addressOf(app)), place)
    })
  }
}

/** Requests to a listening address, each on a connection of its own. */
export function callOver(address: string): Call {
  return async (line, { headers = {}, body } = {}) => {
    const [method = '', path = ''] = line.split(' ')
    const { port } = new URL(address)
    const isChunked = body === undefined || 'transfer-encoding' in headers
    const length = isChunked ? {} : { 'content-length': Buffer.byteLength(body) }
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { host: 'example.com', ...length, ...headers }
    })
    request.end(body)
    const [response] = await once(request, 'response')
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part)
    return answer(response.statusCode, response.headers, Buffer.concat(parts))
  }
}

export function callByInject(app: FastifyInstance): Call {
  return async (line, { headers = {}, body } = {}) => {
    const [method, url] = line.split(' ')
    const payload = body === undefined ? {} : { payload: body }
    const length = body === '' ? { 'content-length': 0 } : {} // inject leaves it out
    const response = await app.inject({
      method: method as 'GET',
      url: url as string,
      headers: { host: 'example.com', ...length, ...headers },
      ...payload
    })
    return answer(response.statusCode, response.headers as Answer['headers'], response.rawPayload)
  }
}

/** A logger for `fastifyOptions`, and the entries it has got. */
export function logBook(): { logger: object; entries: any[] } {
  const entries: any[] = []
  const stream = { write: (line: string) => entries.push(JSON.parse(line)) }
  return { logger: { level: 'warn', stream }, entries }
}

function answer(status: number, headers: Answer['headers'], bytes: Buffer): Answer {
  return {
    status,
    headers,
    bytes,
    text: bytes.toString(),
    get json() {
      return JSON.parse(bytes.toString())
    }
  }
}
