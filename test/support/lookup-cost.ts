// How the cost of a request grows with the number of routes, beside plain Fastify with as many, in process:
// `npm run bench:lookup`. The urls of all routes take turns.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { createApp } from 'twinroute'
import { duel, sender } from './in-process.js'

const COUNTS = [10, 100, 1000, 5000]

process.stdout.write(`${process.version}, µs per request\n`)
for (const count of COUNTS) {
  const urls = Array.from({ length: count }, (_, route) => `/api/group${route % 10}/r${route}/7`)
  const app = await appWith(count)
  const plain = await fastifyWith(count)
  const cost = await duel(sender(app, urls), sender(plain, urls))
  const [ours, theirs, more] = [cost.twinroute, cost.fastify, cost.twinroute - cost.fastify].map((value) =>
    value.toFixed(2)
  )
  process.stdout.write(`${count} routes: twinroute ${ours}, fastify ${theirs}, more ${more}\n`)
}
process.exit()

async function appWith(count: number): Promise<FastifyInstance> {
  const apiDir = mkdtempSync(join(tmpdir(), 'twinroute-lookup-'))
  for (let route = 0; route < count; route++) {
    const folder = join(apiDir, `group${route % 10}`, `r${route}`, '[id]')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'route.mjs'), 'export const GET = (request) => ({ id: request.params.id })')
  }
  const app = await createApp({ apiDir, mode: 'production', fastifyOptions: { logger: false } })
  await app.ready()
  rmSync(apiDir, { recursive: true })
  return app
}

async function fastifyWith(count: number): Promise<FastifyInstance> {
  const app = fastify()
  for (let route = 0; route < count; route++) {
    app.get<{ Params: { id: string } }>(`/api/group${route % 10}/r${route}/:id`, ({ params }) => ({ id: params.id }))
  }
  await app.ready()
  return app
}
