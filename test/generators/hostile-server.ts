// The program whose process must live: applications of each kind that do what a request tells them, and the client that asks.
// Told by messages of its parent, one list of cases at a time; says which cases failed, and how.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { connect, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } from 'graphql'
import { createMiddleware, errorHandler } from 'twinroute'
import twinrouteExpress from 'twinroute/express'
import { graphqlRoutes } from 'twinroute/graphql'
import { appOf, hostOf } from '../support/hosts.js'
import { ANSWERS, SETTERS, type Hands } from './hostile-acts.js'
import { hasHugeValue, hasOwnFraming, type Case, type Verdict } from './hostile-cases.js'
import { origin, VALUES } from './hostile-values.js'

/** Milliseconds until a request that must be answered or cut counts as hanging. */
const PATIENCE = 3000
/** The handler timeout of the applications, in milliseconds. */
const TIMEOUT = Number(process.argv[2])
const FRAMED_PATIENCE = 30 + 2 * TIMEOUT

const folder = mkdtempSync(join(tmpdir(), 'twinroute-hostile-'))
writeFileSync(join(folder, 'file.txt'), 'file')
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]
const test = { test: () => undefined, teardown: (end: () => unknown) => void ends.push(end) }
const logger = { level: 'info', stream: { write() {} } }

/** What the process must not see while a case runs. */
let crashes: string[] = []
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error: unknown) => crashes.push(`${event}: ${describe(error)}`))
}

function describe(error: unknown): string {
  try {
    const { stack, message } = error as Partial<Error>
    const text: unknown = stack ?? message ?? error
    return String(text).split('\n').slice(0, 4).join(' | ')
  } catch {
    return 'a value that cannot be read'
  }
}

function caseOf(request: { headers: http.IncomingHttpHeaders }): Case | undefined {
  const text = request.headers['x-case']
  return typeof text === 'string' ? (JSON.parse(Buffer.from(text, 'base64url').toString()) as Case) : undefined
}

/** Does what the case of a request says, if it says so of this place. */
function actAt(place: Case['at'], hands: Hands, otherwise: () => unknown): unknown {
  const found = caseOf(hands.request)
  if (found?.at !== place) return otherwise()
  hands.request.folder ??= folder
  const act = (): unknown => perform(found, hands)
  return origin.run(asked, () => (found.later ? turn().then(act) : act()))
}

function perform({ acts, swallow }: Case, hands: Hands): unknown {
  let result: unknown
  for (const [name, ...values] of acts) {
    const given = values.map((value) => VALUES[value]?.())
    const act = SETTERS[name]
    if (act === undefined) result = ANSWERS[name]?.(hands, ...given)
    else if (!swallow) act(hands, ...given)
    else {
      try {
        act(hands, ...given)
      } catch {
        // the setter refuses the value: the next act is what the case is about
      }
    }
  }
  return result
}

function handlerThat(answers: (response: any) => unknown) {
  return (request: any, response: any): unknown => {
    const next = (error?: unknown): void => request.next(error)
    return actAt('handler', { request, response, next }, () => {
      const at = caseOf(request)?.at
      if (at === 'errorMiddleware' || at === 'errorHandler') throw new Error('for the error handler')
      return answers(response)
    })
  }
}

const handler = handlerThat(() => ({ fine: true }))

function middleware(place: Case['at']) {
  return (request: any, response: any, next: any): unknown => actAt(place, { request, response, next }, () => next())
}

function errorMiddleware(error: unknown, request: any, response: any, next: any): unknown {
  return actAt('errorMiddleware', { request, response, next }, () => next(error))
}

const routes = {
  case: { GET: handler, POST: handler, config: { timeout: TIMEOUT } },
  ok: { GET: () => ({ ok: true }) },
  never: { GET: () => undefined, config: { timeout: TIMEOUT } }
}
const guards = createMiddleware({ '/api/case': [middleware('chain')] })

async function application(options: object = {}): Promise<any> {
  const app = await appOf(test, {
    routes,
    options: {
      mode: 'development',
      handlerTimeout: TIMEOUT,
      middleware: guards,
      ...options,
      fastifyOptions: { logger, ...(options as any).fastifyOptions }
    }
  })
  app.use(middleware('use'))
  return app
}

/** With hooks of Fastify's, each of which may throw, reject, or change what it is given. */
async function withHooks(): Promise<FastifyInstance> {
  const app = await application()
  const act = async (hook: Case['at'], request: any, reply: any): Promise<void> => {
    const found = caseOf(request)
    if (found?.at !== hook || reply.raw.hooked === hook) return
    reply.raw.hooked = hook // its own error is answered past it
    await turn()
    await perform(found, { request: request.raw, response: reply.raw, next: fail })
  }
  for (const hook of ['onRequest', 'preHandler'] as const) {
    app.addHook(hook, async (request: any, reply: any) => act(hook, request, reply))
  }
  for (const hook of ['onSend', 'preSerialization'] as const) {
    app.addHook(hook as 'onSend', async (request: any, reply: any, payload: unknown) => {
      await act(hook, request, reply)
      return payload
    })
  }
  return app
}

function fail(error: unknown): never {
  throw error
}

function actingErrorHandler(error: unknown, request: any, reply: any): unknown {
  const hands = { request: request.raw, response: reply.raw, next: () => reply.raw.destroy() }
  if (caseOf(request)?.at !== 'errorHandler') return errorHandler(error, request, reply)
  const result = actAt('errorHandler', hands, () => undefined)
  return reply.sent ? reply : result
}

async function withErrorCode(options: object = {}): Promise<FastifyInstance> {
  const app = await application({ errorHandler: actingErrorHandler, ...options })
  app.use(errorMiddleware)
  return app
}

async function host(): Promise<FastifyInstance> {
  return hostOf(test, {
    routes,
    options: {
      errorHandler: actingErrorHandler,
      middleware: guards,
      handlerTimeout: TIMEOUT,
      fastifyOptions: { logger } as never
    }
  })
}

function expressApp(): any {
  const app = twinrouteExpress() as any
  app.set('env', 'test')
  app.use(middleware('use'))
  // what a handler returns is ignored
  app.all(
    '/api/case',
    middleware('chain'),
    handlerThat((response) => void response.json({ fine: true }))
  )
  app.get('/api/ok', (_request: any, response: any) => response.json({ ok: true }))
  app.use(errorMiddleware)
  return app
}

async function withGraphql(): Promise<FastifyInstance> {
  const act = (_source: unknown, _given: unknown, { request }: any): unknown =>
    actAt('resolver', { request, response: undefined, next: fail }, () => 'fine')
  const app = await application()
  const Text = new GraphQLObjectType({
    name: 'Text',
    fields: { text: { type: GraphQLString, resolve: (source: any) => source.a } }
  })
  const Any = new GraphQLScalarType({ name: 'Any', serialize: (value) => value })
  const types = { any: Any, text: GraphQLString, number: GraphQLInt, list: new GraphQLList(Text), object: Text }
  const fields = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type, resolve: act }]))
  await app.register(graphqlRoutes, {
    schema: new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) }),
    context: (request: any) =>
      actAt('context', { request, response: undefined, next: fail }, () => ({ request })) as any
  })
  return app
}

/** Sends a request with a case, or without; resolves to what came back. */
type Ask = (method: string, path: string, sent: Case | undefined) => Promise<Verdict>

const QUERIES = ['any', 'text', 'number', 'list { text }', 'object { text }']

function headersOf(sent: Case | undefined): Record<string, string> {
  return sent === undefined ? {} : { 'x-case': Buffer.from(JSON.stringify(sent)).toString('base64url') }
}

function bodyOf(path: string, sent: Case | undefined): string | undefined {
  if (path !== '/graphql') return undefined
  return JSON.stringify({ query: `{ ${QUERIES[(sent?.field ?? 0) % QUERIES.length]} }` })
}

async function overSocket(server: http.Server): Promise<Ask> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  return (method, path, sent) =>
    new Promise((resolve) => {
      const body = bodyOf(path, sent)
      const type =
        body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const request = http.request({
        port,
        host: '127.0.0.1',
        agent: sent !== undefined && hasOwnFraming(sent) ? false : agent,
        method,
        path,
        maxHeaderSize: 2 ** 22,
        headers: { ...headersOf(sent), ...type }
      })
      const framed = sent !== undefined && hasOwnFraming(sent)
      const [limit, over] = limitOf(sent)
      const timer = setTimeout(() => (resolve(over), request.destroy()), limit)
      const cut = ({ code = '' }: NodeJS.ErrnoException): void => {
        clearTimeout(timer)
        resolve(code.startsWith('HPE') && !framed ? { why: `the answer cannot be parsed: ${code}` } : { cut: true })
      }
      request.on('error', cut)
      request.on('response', (response) => {
        const { statusCode: status, statusMessage: phrase = '', headers } = response
        let text = ''
        response
          .on('error', cut)
          .on('data', (part: Buffer) => (text += text.length < 1000 ? part.toString('latin1') : ''))
        response.on('end', () => (clearTimeout(timer), resolve({ status, phrase, text, headers })))
        response.on('close', () => (clearTimeout(timer), resolve({ cut: true })))
      })
      request.end(body)
    })
}

/** When a request counts as hanging, and whether that is wrong. */
function limitOf(sent: Case | undefined): [milliseconds: number, verdict: Verdict] {
  return sent !== undefined && hasOwnFraming(sent) ? [FRAMED_PATIENCE, { cut: true }] : [PATIENCE, { why: 'it hangs' }]
}

function byInject(app: FastifyInstance): Ask {
  return async (method, path, sent) => {
    const body = bodyOf(path, sent)
    const answer = app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...headersOf(sent), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: body })
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Verdict>((resolve) => (timer = setTimeout(resolve, ...limitOf(sent))))
    const told = answer.then(
      ({ statusCode, statusMessage, body, headers }): Verdict => ({
        status: statusCode,
        phrase: statusMessage,
        text: body.slice(0, 1000),
        headers
      }),
      (): Verdict => ({ cut: true })
    )
    const verdict = await Promise.race([told, late])
    clearTimeout(timer)
    return verdict
  }
}

async function overHttp2(app: FastifyInstance): Promise<Ask> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let session: ClientHttp2Session | undefined
  return (method, path, sent) =>
    new Promise((resolve) => {
      const open = (): ClientHttp2Session => connect(`http://127.0.0.1:${port}`).on('error', () => {})
      // an answer beyond the limits of a session ends it, and would end the next request with it
      const own = sent !== undefined && (hasOwnFraming(sent) || hasHugeValue(sent)) ? open() : undefined
      if (session === undefined || session.closed || session.destroyed) session = open()
      const stream = (own ?? session).request(
        { ':method': method, ':path': path, ...headersOf(sent) },
        { endStream: true }
      )
      const [limit, over] = limitOf(sent)
      const timer = setTimeout(() => (resolve(over), stream.destroy()), limit)
      let text = ''
      let headers: any = {}
      stream.on('response', (given) => (headers = given)).on('error', () => {})
      stream.on('data', (part: Buffer) => (text += text.length < 1000 ? part.toString() : ''))
      stream.on('close', () => {
        clearTimeout(timer)
        own?.destroy()
        resolve(headers[':status'] === undefined ? { cut: true } : { status: headers[':status'], text, headers })
      })
    })
}

/** How each kind of application is asked. */
async function startAll(): Promise<Record<Case['app'], Record<string, Ask>>> {
  const both = async (app: FastifyInstance): Promise<Record<string, Ask>> => {
    await app.ready()
    return { inject: byInject(app), socket: await overSocket(app.server) }
  }
  const express = expressApp()
  return {
    createApp: await both(await application()),
    hooks: await both(await withHooks()),
    errors: await both(await withErrorCode()),
    host: await both(await host()),
    graphql: await both(await withGraphql()),
    http2: { socket: await overHttp2(await withErrorCode({ fastifyOptions: { http2: true } })) },
    express: {
      socket: await overSocket(http.createServer(express.serverOptions, express)),
      inject: byInject(express.fastify)
    }
  }
}

let asked = 0

async function judge(ask: Ask, sent: Case): Promise<Verdict> {
  crashes = []
  asked++
  const verdict = await ask(sent.method, sent.app === 'graphql' ? '/graphql' : '/api/case', sent)
  await turn()
  await turn()
  const then = await ask('GET', '/api/ok', undefined)
  if (crashes.length > 0) return { ...verdict, why: crashes[0] ?? '', behind: behind(crashes[0] ?? '') }
  if (then.status !== 200 || then.text !== '{"ok":true}')
    return { ...verdict, why: `the next request: ${JSON.stringify(then).slice(0, 300)}` }
  return verdict
}

/** How many cases ago what was thrown was made; 0 where it does not say so. */
function behind(crash: string): number {
  const made = /of case (\d+)/.exec(crash)?.[1]
  return made === undefined ? 0 : asked - Number(made)
}

async function checkTimeout(ask: Ask): Promise<string | undefined> {
  const { status } = await ask('GET', '/api/never', undefined)
  return status === 503 ? undefined : `the handler timeout gives ${status}`
}

const asks = await startAll().catch((error: unknown) => {
  process.stderr.write(`${describe(error)}\n`)
  process.exit(1)
})
/** What came back as the parent can be told it: by `inject` a status and a phrase are what the application has set. */
function told(verdict: Verdict): Verdict {
  const { status, phrase } = verdict as { status?: unknown; phrase?: unknown }
  if (status !== undefined && typeof status !== 'number') return { why: `the status is of type ${typeof status}` }
  if (phrase !== undefined && typeof phrase !== 'string') return { why: `the phrase is of type ${typeof phrase}` }
  return verdict
}

async function run(cases: readonly Case[]): Promise<void> {
  for (const sent of cases) {
    const verdict = await judge(asks[sent.app][sent.by] as Ask, sent).catch((error: unknown) => ({
      why: `the client fails: ${describe(error)}`
    }))
    process.send?.({ verdict: told(verdict) })
  }
  const { express: _unlimited, ...others } = asks
  const checks = Object.entries(others).map(async ([name, { socket }]) => {
    const why = await checkTimeout(socket as Ask)
    return why === undefined ? [] : [`${name}: ${why}`]
  })
  const timeouts = await Promise.all(checks)
  process.send?.({ timeouts: timeouts.flat() })
}

process.on('message', (cases: Case[]) => void run(cases))
process.on('disconnect', () => {
  try {
    for (const end of ends) end()
  } finally {
    process.exit() // what is thrown here would be one of the crashes that are only noted
  }
})
process.send?.('ready')
