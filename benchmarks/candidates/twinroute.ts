import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type Middleware } from 'twinroute'
import { portOf } from '../listening.js'
import { MANY_ROUTES } from '../workload.js'

/** How a handler answers: the text of a function body around the value. */
type Style = (value: string) => string

const returning: Style = (value) => `(request) => (${value})`
const json: Style = (value) => `(request, response) => { response.json(${value}) }`

/** The route files of the workload, written for one style. */
function writeRoutes(style: Style): string {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-bench-'))
  const write = (folder: string, text: string): void => {
    mkdirSync(join(top, folder), { recursive: true })
    writeFileSync(join(top, folder, 'route.mjs'), text)
  }
  write('hello', `export const GET = ${style("{ hello: 'world' }")}`)
  write('users/[id]', `export const GET = ${style('{ id: request.params.id, page: request.query.page }')}`)
  write('notes', `export const POST = ${style('{ name: request.body.name }')}`)
  write('chain', `export const GET = ${style('{ ok: true }')}`)
  write('wait', 'export const GET = () => new Promise(() => {})')
  for (let route = 0; route < MANY_ROUTES; route++) {
    write(`many/r${route}/[id]`, `export const GET = ${style(`{ route: ${route}, id: request.params.id }`)}`)
  }
  return top
}

const pass: Middleware = (_request, _response, next) => next()
const mark: Middleware = (_request, response, next) => {
  response.setHeader('x-chain', '4')
  next()
}

async function serve(style: Style, settings: Record<string, unknown> = {}): Promise<number> {
  const apiDir = writeRoutes(style)
  const app = await createApp({
    apiDir,
    mode: 'production',
    middleware: { '/api/chain': [pass, pass, pass, mark] },
    fastifyOptions: { logger: false }
  })
  rmSync(apiDir, { recursive: true }) // loaded; the driver kills this process
  for (const [name, value] of Object.entries(settings)) app.express.set(name, value)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return portOf(app.server)
}

export const returned = (): Promise<number> => serve(returning)
export const withJson = (): Promise<number> => serve(json)
export const withJsonButNoEtag = (): Promise<number> => serve(json, { etag: false })
