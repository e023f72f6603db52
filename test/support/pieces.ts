// Requests whose body comes in pieces and without a Content-Length: chunked, over HTTP/2, injected as a stream.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { addressOf, appOf, hostOf, type Scenario } from './hosts.js'

/** The part of tap that ends what a test has started. */
interface Test {
  test(name: string, body: (t: any) => Promise<void>): unknown
  teardown(end: () => unknown): void
}

export interface PieceAnswer {
  status: number
  text: string
  /** The body, parsed. */
  json: any
}

/** One POST whose pieces are sent one after the other. */
export type PostPieces = (
  path: string,
  headers: Record<string, string>,
  pieces: readonly (string | Buffer)[]
) => Promise<PieceAnswer>

const WAYS = ['HTTP/1', 'HTTP/2', 'inject', 'a host', 'a host on HTTP/2', 'inject into a host'] as const

/** Runs a check against the same routes in every way a body without a length can come. */
export function onEveryWay(t: Test, scenario: Scenario, check: (t: any, post: PostPieces) => Promise<void>): void {
  for (const way of WAYS) {
    const isHost = way.includes('host')
    if (isHost && scenario.use !== undefined) continue
    t.test(`by ${way}`, async (t) => {
      const http2 = way.includes('HTTP/2') ? { fastifyOptions: { http2: true } as never } : {}
      const given = { ...scenario, options: { ...scenario.options, ...http2 } }
      const app: FastifyInstance = isHost ? await hostOf(t, given) : await appOf(t, given)
      const { post, leave } = await posting(app, way)
      await check(t, post)
      leave()
    })
  }
}

interface Client {
  post: PostPieces
  leave: () => void
}

async function posting(app: FastifyInstance, way: (typeof WAYS)[number]): Promise<Client> {
  if (way.includes('inject')) return { post: injectPieces(app), leave: () => {} }
  const address = await addressOf(app)
  if (!way.includes('HTTP/2')) return { post: chunkedPieces(address), leave: () => {} }
  const session = connect(address)
  return { post: http2Pieces(session), leave: () => session.destroy() }
}

function injectPieces(app: FastifyInstance): PostPieces {
  return async (url, headers, pieces) => {
    const payload = Readable.from(pieces, { objectMode: false })
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload })
    return answer(statusCode, body)
  }
}

function chunkedPieces(address: string): PostPieces {
  return async (path, headers, pieces) => {
    const request = httpRequest(`${address}${path}`, { method: 'POST', agent: false, headers })
    const answered = new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
    request.on('error', () => {}) // a server that refuses need not read to the end
    request.flushHeaders()
    for (const piece of pieces) await sendPiece(request, piece)
    request.end()
    const response = await answered
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return answer(response.statusCode ?? 0, text)
  }
}

function http2Pieces(session: ClientHttp2Session): PostPieces {
  return async (path, headers, pieces) => {
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers })
    const answered = answerOf(stream)
    for (const piece of pieces) await sendPiece(stream, piece)
    stream.end()
    return answered
  }
}

/** What a stream of HTTP/2 is answered. */
export async function answerOf(stream: ClientHttp2Stream): Promise<PieceAnswer> {
  stream.on('error', () => {})
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }]
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return answer(headers[':status'] ?? 0, text)
}

async function sendPiece(stream: NodeJS.WritableStream, piece: string | Buffer): Promise<void> {
  stream.write(piece)
  await turn()
}

function answer(status: number, text: string): PieceAnswer {
  return {
    status,
    text,
    get json() {
      return JSON.parse(text)
    }
  }
}
