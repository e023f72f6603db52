import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '../listening.js'
import { ITEMS, openStream } from '../payloads.js'

/** The floor: what node:http costs without a framework. Routing is a chain of comparisons. */
export function start(): Promise<number> {
  return listen(createServer((request, response) => void answer(request, response)))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url as string
  const user = /^\/api\/users\/([^/?]+)\?page=(\d+)$/.exec(url)
  const many = /^\/api\/many\/r(\d+)\/([^/?]+)$/.exec(url)
  if (url === '/api/hello') return send(response, { hello: 'world' })
  if (user !== null) return send(response, { id: user[1], page: user[2] })
  if (many !== null) return send(response, { route: Number(many[1]), id: many[2] })
  if (url === '/api/chain') return send(response, { ok: true }, { 'x-chain': '4' })
  if (url === '/api/notes') return send(response, { name: (await readJson(request)).name })
  if (url === '/api/items') return send(response, ITEMS)
  if (url === '/api/stream') return void openStream().pipe(response)
  response.statusCode = 404
  response.end()
}

function send(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  response.writeHead(200, { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length })
  response.end(text)
}

async function readJson(request: IncomingMessage): Promise<{ name: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as { name: string }
}
