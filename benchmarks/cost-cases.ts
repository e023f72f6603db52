import { Writable } from 'node:stream'
import compression from 'compression'
import cookieParser from 'cookie-parser'
import session from 'express-session'
import type { App, AppOptions, Middleware } from 'twinroute'
import type { InProcessRequest } from './in-process.js'
import { ORDER_TEXT } from './orders.js'
import { SESSION_SECRET } from './payloads.js'
import { observeWith, traceMiddleware, traceRequests } from './observed.js'
import { ownFastify } from './own-fastify.js'
import { note } from './workload.js'

/** One application with one route file. */
export interface Variant {
  /** The text of `route.mjs`. */
  route: string
  options?: Partial<AppOptions>
  /** Runs before the application is made. What it switches on holds for the process, and so for no variant that was made before. */
  prepare?: () => unknown
  /** Settings and middleware; what it returns is sent as headers. */
  setUp?: (app: App) => unknown
  headers?: Readonly<Record<string, string>>
  /** Without what `createApp` adds: `fileRoutes` on a Fastify instance. */
  isPlugin?: boolean
}

/** What costs something, beside the same without it. */
export interface CostCase {
  title: string
  body?: string
  without: Variant
  with: Variant
  /** What is switched on slows down the whole process: the variant without it is measured before, and not in turns. */
  isApart?: boolean
}

const HELLO = "export const GET = () => ({ hello: 'world' })"
const JSON_HELLO = "export const GET = (request, response) => { response.json({ hello: 'world' }) }"
const LIST =
  'export const GET = () => Array.from({ length: 150 }, (_, id) => ({ id, name: `Item ${id}`, price: id + 0.5 }))'
const POST = 'export const POST = () => ({ ok: true })'
const HANDLERS = new URL('candidates/twinroute-handlers.js', import.meta.url).href

const COOKIES = { cookie: Array.from({ length: 10 }, (_, index) => `cookie${index}=value-${index}`).join('; ') }
const GZIP = { 'accept-encoding': 'gzip' }
const JSON_BODY = { 'content-type': 'application/json' }

const pass: Middleware = (_request, _response, next) => next()
const FOUR = { middleware: { '/api/cost': [pass, pass, pass, pass] } }
const forgotten = { stream: new Writable({ write: (_chunk, _encoding, done) => done() }) }

let lastId = 0
const counted = { logger: false, genReqId: () => String(lastId++) } as const

function use(amount: number): (app: App) => void {
  return (app) => {
    for (let i = 0; i < amount; i++) app.use(pass)
  }
}

function useSession(app: App): void {
  app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }))
}

export const COST_CASES: readonly CostCase[] = [
  {
    title: '`createApp` instead of `fileRoutes`',
    without: { route: HELLO, isPlugin: true },
    with: { route: HELLO }
  },
  {
    title: 'random request ids',
    without: { route: HELLO, options: { fastifyOptions: counted } },
    with: { route: HELLO }
  },
  {
    title: 'handler timeout, async handler',
    without: { route: `export const GET = async () => ({ hello: 'world' })`, options: { handlerTimeout: 0 } },
    with: { route: `export const GET = async () => ({ hello: 'world' })` }
  },
  { title: '`response.json` instead of `return`', without: { route: HELLO }, with: { route: JSON_HELLO } },
  {
    title: 'ETag of `response.json`',
    without: { route: JSON_HELLO, setUp: (app) => app.express.set('etag', false) },
    with: { route: JSON_HELLO }
  },
  {
    title: 'logger that writes failures only',
    without: { route: HELLO },
    with: { route: HELLO, options: { fastifyOptions: { logger: forgotten } } }
  },
  {
    title: 'two log lines per request',
    without: { route: HELLO, options: { fastifyOptions: { logger: forgotten } } },
    with: {
      route: HELLO,
      options: { fastifyOptions: { logger: forgotten, logController: new ownFastify.LogController() } }
    }
  },
  { title: 'one `app.use`', without: { route: HELLO }, with: { route: HELLO, setUp: use(1) } },
  { title: 'ten `app.use`', without: { route: HELLO }, with: { route: HELLO, setUp: use(10) } },
  {
    title: 'four middlewares in the map',
    without: { route: HELLO },
    with: { route: HELLO, options: FOUR }
  },
  {
    title: 'a line of `requestLog`',
    without: { route: HELLO, options: { fastifyOptions: { logger: forgotten } } },
    with: { route: HELLO, options: { fastifyOptions: { logger: forgotten }, requestLog: true } }
  },
  {
    title: '`observe`, metrics',
    without: { route: HELLO },
    with: { route: HELLO, setUp: observeWith({ health: false }) }
  },
  {
    title: '`observe`, load shedding',
    without: { route: HELLO },
    with: {
      route: HELLO,
      setUp: observeWith({ metrics: false, health: false, shedding: { maxEventLoopDelay: 60_000 } })
    }
  },
  {
    title: 'OpenTelemetry, a span for each request and handler',
    isApart: true,
    without: { route: HELLO },
    with: { route: HELLO, prepare: traceRequests }
  },
  {
    title: 'OpenTelemetry, and one for each of four middlewares',
    isApart: true,
    without: { route: HELLO, options: FOUR },
    with: { route: HELLO, options: FOUR, prepare: traceMiddleware }
  },
  {
    title: 'one of ten cookies read',
    without: { route: HELLO, headers: COOKIES },
    with: { route: 'export const GET = (request) => ({ hello: request.cookies.cookie7 })', headers: COOKIES }
  },
  {
    title: 'cookie-parser, ten cookies',
    without: { route: HELLO, headers: COOKIES },
    with: { route: HELLO, headers: COOKIES, setUp: (app) => app.use(cookieParser()) }
  },
  {
    title: 'express-session, a session that exists',
    without: { route: HELLO },
    with: { route: sessionRoute(), setUp: beginSession }
  },
  {
    title: 'express-session, no session yet',
    without: { route: HELLO },
    with: { route: HELLO, setUp: useSession }
  },
  {
    title: 'body parser, 1 KB of JSON',
    body: note(1024),
    without: { route: `${POST}\nexport const config = { bodyParser: false }`, headers: JSON_BODY },
    with: { route: POST, headers: JSON_BODY }
  },
  {
    title: "body parsed `'early'` instead of `'late'`",
    body: note(1024),
    without: { route: POST, headers: JSON_BODY },
    with: { route: POST, headers: JSON_BODY, options: { bodyParser: 'early' } }
  },
  {
    title: '`validate`, an order with zod',
    body: ORDER_TEXT,
    without: { route: POST, headers: JSON_BODY },
    with: {
      route: `import { checkOrder } from '${HANDLERS}'\nexport const middleware = { POST: [checkOrder] }\n${POST}`,
      headers: JSON_BODY
    }
  },
  {
    title: 'compression, 6 KB of JSON',
    without: { route: LIST, headers: GZIP },
    with: { route: LIST, headers: GZIP, setUp: (app) => app.use(compression()) }
  },
  {
    title: 'compression, an answer below its threshold',
    without: { route: HELLO, headers: GZIP },
    with: { route: HELLO, headers: GZIP, setUp: (app) => app.use(compression()) }
  }
]

/** Signs in when asked for it, and reads the session otherwise. */
function sessionRoute(): string {
  return `export const GET = (request) => {
  if (request.query.login) request.session.user = 'Ada'
  return { hello: request.session.user }
}`
}

async function beginSession(app: App): Promise<InProcessRequest['headers']> {
  useSession(app)
  const response = await app.inject('/api/cost?login=1')
  const [cookie = ''] = String(response.headers['set-cookie']).split(';')
  return { cookie }
}
