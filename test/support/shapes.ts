// node --allow-natives-syntax shapes.js API_DIR: sends many requests of each kind and prints, as JSON, whether V8 keeps
// their request and response objects in fast mode and under one hidden class.
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInThisContext } from 'node:vm'
import fastify, { type FastifyInstance } from 'fastify'
import { createApp, fileRoutes } from 'twinroute'

const REQUESTS = 100
type Sent = [method: string, headers?: http.OutgoingHttpHeaders, body?: string]
type Pair = [request: object, response: object]
interface Shapes {
  pairs: number
  requests: boolean
  responses: boolean
}

const JSON_BODY: Sent = ['POST', { 'content-type': 'application/json' }, '{"a":1}']
const KINDS: Record<string, Sent> = {
  returned: ['GET'],
  later: ['GET'],
  express: ['GET', { cookie: 'a=1' }],
  body: JSON_BODY,
  chain: JSON_BODY
}

/** Filled by the route files: kind to the pairs it has seen. */
const seen: { seenPairs: Record<string, Pair[]> } = Object.assign(globalThis, { seenPairs: {} })

async function send(port: number, [kind, sent]: [string, Sent]): Promise<void> {
  const [method, headers = {}, body] = sent
  const request = http.request({ port, host: '127.0.0.1', path: `/api/${kind}?q=1`, method, headers, agent })
  request.end(body)
  const [response] = await once(request, 'response')
  await once(response.resume(), 'end')
}

// V8's own functions; no parser of JavaScript but V8's takes them, so they stand in a text
const isFast = runInThisContext('(object) => %HasFastProperties(object)')
const areAlike = runInThisContext('(first, second) => %HaveSameMap(first, second)')

function isOneFastShape(objects: readonly object[]): boolean {
  return objects.every((object) => isFast(object) && areAlike(object, objects[0]))
}

async function shapesOn(app: Pick<FastifyInstance, 'listen' | 'server' | 'close'>): Promise<Record<string, Shapes>> {
  seen.seenPairs = {}
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (const kind of Object.entries(KINDS)) for (let i = 0; i < REQUESTS; i++) await send(port, kind)
  const shapes = Object.entries(seen.seenPairs).map(([kind, pairs]) => [
    kind,
    {
      pairs: pairs.length,
      requests: isOneFastShape(pairs.map(([request]) => request)),
      responses: isOneFastShape(pairs.map(([, response]) => response))
    }
  ])
  await app.close()
  return Object.fromEntries(shapes)
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const options = { apiDir: process.argv[2] as string, mode: 'test' } as const
const host = fastify()
await host.register(fileRoutes, options)
const shapes = { app: await shapesOn(await createApp(options)), host: await shapesOn(host) }
agent.destroy()
process.stdout.write(JSON.stringify(shapes))
