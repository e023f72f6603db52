// What a route costs over the same route on plain Fastify, in one process and without a socket: `npm run bench:micro`.
// Over HTTP a difference of a microsecond drowns in the noise of the machine; here it shows. With --json the figures
// come as JSON.
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { createApp, type Middleware } from 'twinroute'
import { duel, sender, type Duel } from './in-process.js'

const MANY_ROUTES = 200

/** One request, as both servers answer it. */
interface Case {
  title: string
  url: string
  /** Route files by folder; none when no route is to match. */
  files: Readonly<Record<string, string>>
  plain: (app: FastifyInstance) => void
}

type Done = () => void
const hook = (_request: unknown, _reply: unknown, done: Done): void => done()
const pass: Middleware = (_request, _response, next) => next()
const mark: Middleware = (_request, response, next) => {
  response.setHeader('x-chain', '4')
  next()
}

const CASES: readonly Case[] = [
  {
    title: 'returned object',
    url: '/api/hello',
    files: { hello: "export const GET = () => ({ hello: 'world' })" },
    plain: (app) => app.get('/api/hello', () => ({ hello: 'world' }))
  },
  {
    title: 'parameter and query',
    url: '/api/users/42?page=2',
    files: { 'users/[id]': 'export const GET = (request) => ({ id: request.params.id, page: request.query.page })' },
    plain: (app) =>
      app.get<{ Params: { id: string }; Querystring: { page: string } }>('/api/users/:id', (request) => ({
        id: request.params.id,
        page: request.query.page
      }))
  },
  {
    title: 'async handler',
    url: '/api/later',
    files: { later: "export const GET = async () => ({ hello: 'world' })" },
    plain: (app) => app.get('/api/later', async () => ({ hello: 'world' }))
  },
  {
    title: 'four middlewares',
    url: '/api/chain',
    files: { chain: 'export const GET = () => ({ ok: true })' },
    plain: (app) => {
      const last = (_request: unknown, reply: { header(name: string, value: string): unknown }, done: Done): void => {
        reply.header('x-chain', '4')
        done()
      }
      app.get('/api/chain', { onRequest: [hook, hook, hook, last] }, () => ({ ok: true }))
    }
  },
  {
    title: 'response.json with ETag',
    url: '/api/json',
    files: { json: "export const GET = (request, response) => { response.json({ hello: 'world' }) }" },
    plain: (app) => app.get('/api/json', (_request, reply) => void reply.send({ hello: 'world' }))
  },
  { title: '404', url: '/api/missing', files: {}, plain: () => undefined },
  {
    title: `one of ${MANY_ROUTES} routes`,
    url: '/api/many/r150/7',
    files: Object.fromEntries(
      manyRoutes((route) => [
        `many/r${route}/[id]`,
        `export const GET = (request) => ({ route: ${route}, id: request.params.id })`
      ])
    ),
    plain: (app) => {
      manyRoutes((route) =>
        app.get<{ Params: { id: string } }>(`/api/many/r${route}/:id`, (request) => ({ route, id: request.params.id }))
      )
    }
  }
]

function manyRoutes<Result>(make: (route: number) => Result): Result[] {
  return Array.from({ length: MANY_ROUTES }, (_, route) => make(route))
}

export interface Cost extends Duel {
  title: string
}

const costs = await measureAll()
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(costs)}\n`)
else process.stdout.write(`${format(costs)}\n`)
process.exit()

async function measureAll(): Promise<Cost[]> {
  const apiDir = writeRoutes()
  const app = await createApp({
    apiDir,
    mode: 'production',
    middleware: { '/api/chain': [pass, pass, pass, mark] },
    fastifyOptions: { logger: false }
  })
  const plain = fastify({ requestTimeout: 60_000, genReqId: () => randomUUID() })
  for (const { plain: add } of CASES) add(plain)
  await app.ready()
  await plain.ready()
  rmSync(apiDir, { recursive: true })
  const found: Cost[] = []
  for (const { title, url } of CASES) found.push({ title, ...(await duel(sender(app, [url]), sender(plain, [url]))) })
  return found
}

function writeRoutes(): string {
  const top = mkdtempSync(join(tmpdir(), 'twinroute-cost-'))
  for (const [folder, text] of CASES.flatMap(({ files }) => Object.entries(files))) {
    mkdirSync(join(top, folder), { recursive: true })
    writeFileSync(join(top, folder, 'route.mjs'), text)
  }
  return top
}

function format(costs: readonly Cost[]): string {
  const rows = costs.map(({ title, twinroute, fastify: plain }) => {
    const [ours, theirs, more] = [twinroute, plain, twinroute - plain].map((value) => value.toFixed(2).padStart(10))
    return `${title.padEnd(26)}${ours}${theirs}${more}`
  })
  return [`${`${process.version}, µs per request`.padEnd(26)} twinroute   fastify      more`, ...rows].join('\n')
}
