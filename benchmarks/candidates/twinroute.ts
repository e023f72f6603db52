import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import session from 'express-session'
import { createApp, type App, type Middleware } from 'twinroute'
import express from 'twinroute/express'
import { portOf } from '../listening.js'
import { pageDirectory, SESSION_SECRET } from '../payloads.js'
import { manyRoutes } from '../workload.js'

/** How a handler answers: the text of a function body around the value. */
type Style = (value: string) => string

const returning: Style = (value) => `(request) => (${value})`
const json: Style = (value) => `(request, response) => { response.json(${value}) }`

type Write = (folder: string, text: string) => void

const PAYLOADS = new URL('../payloads.js', import.meta.url).href
const HANDLERS = new URL('twinroute-handlers.js', import.meta.url).href

/** Works with route files of their own. */
const OWN_FILES: Readonly<Record<string, (write: Write, style: Style) => void>> = {
  list: (write, style) => write('items', `import { ITEMS } from '${PAYLOADS}'\nexport const GET = ${style('ITEMS')}`),
  stream: (write) => write('stream', `import { openStream } from '${PAYLOADS}'\nexport const GET = () => openStream()`),
  // an application without a route file does not start
  static: (write, style) => write('hello', `export const GET = ${style("{ hello: 'world' }")}`),
  session: (write) => {
    write('login', "export const GET = (request) => { request.session.user = 'Ada'; return { ok: true } }")
    write(
      'session',
      'export const GET = (request) => ({ user: request.session.user, cookie: request.cookies.cookie7 })'
    )
  },
  validated: (write, style) =>
    write(
      'orders',
      `import { checkOrder } from '${HANDLERS}'
export const middleware = { POST: [checkOrder] }
export const POST = ${style('{ customer: request.validatedData.customer, items: request.validatedData.items.length }')}`
    )
}

/** Works with middleware of their own. */
const OWN_MIDDLEWARE: Readonly<Record<string, (app: App) => unknown>> = {
  static: (app) => app.use('/files', express.static(pageDirectory())),
  session: (app) => app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }))
}

/** The route files of a work, written for one style. */
function writeRoutes(style: Style, work: string): string {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-bench-'))
  const write: Write = (folder, text) => {
    mkdirSync(join(top, folder), { recursive: true })
    writeFileSync(join(top, folder, 'route.mjs'), text)
  }
  const writeOwn = OWN_FILES[work]
  if (writeOwn === undefined) writeUsual(write, style, manyRoutes(work))
  else writeOwn(write, style)
  return top
}

function writeUsual(write: Write, style: Style, many: number): void {
  write('hello', `export const GET = ${style("{ hello: 'world' }")}`)
  write('users/[id]', `export const GET = ${style('{ id: request.params.id, page: request.query.page }')}`)
  write('notes', `export const POST = ${style('{ name: request.body.name }')}`)
  write('chain', `export const GET = ${style('{ ok: true }')}`)
  write('wait', 'export const GET = () => new Promise(() => {})')
  for (let route = 0; route < many; route++) {
    write(`many/r${route}/[id]`, `export const GET = ${style(`{ route: ${route}, id: request.params.id }`)}`)
  }
}

const pass: Middleware = (_request, _response, next) => next()
const mark: Middleware = (_request, response, next) => {
  response.setHeader('x-chain', '4')
  next()
}

async function serve(work: string, style: Style, settings: Record<string, unknown> = {}): Promise<number> {
  return start(work, writeRoutes(style, work), settings)
}

/** The works with schemas, by `defineHandler`. */
function serveTyped(work: string, schemas: 'zod' | 'jsonSchema'): Promise<number> {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-bench-'))
  const [folder, method, handler] = work === 'list' ? ['items', 'GET', 'items'] : ['orders', 'POST', 'order']
  mkdirSync(join(top, folder))
  writeFileSync(
    join(top, folder, 'route.mjs'),
    `import { ${schemas} } from '${HANDLERS}'\nexport const ${method} = ${schemas}.${handler}`
  )
  return start(work, top)
}

async function start(work: string, apiDir: string, settings: Record<string, unknown> = {}): Promise<number> {
  const app = await createApp({
    apiDir,
    mode: 'production',
    middleware: { '/api/chain': [pass, pass, pass, mark] },
    fastifyOptions: { logger: false }
  })
  rmSync(apiDir, { recursive: true }) // loaded; the driver kills this process
  OWN_MIDDLEWARE[work]?.(app)
  for (const [name, value] of Object.entries(settings)) app.express.set(name, value)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

export const returned = (work: string): Promise<number> => serve(work, returning)
export const withJson = (work: string): Promise<number> => serve(work, json)
export const withJsonButNoEtag = (work: string): Promise<number> => serve(work, json, { etag: false })
export const withZod = (work: string): Promise<number> => serveTyped(work, 'zod')
export const withJsonSchema = (work: string): Promise<number> => serveTyped(work, 'jsonSchema')
