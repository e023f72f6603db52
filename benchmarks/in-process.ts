// Requests without a socket: where a microsecond can be seen, which over HTTP drowns in the noise of the machine.
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'

export interface InProcessRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}

/** What an application of twinroute and a Fastify instance have in common. */
export interface Routing {
  server: object
  routing: (request: IncomingMessage, response: ServerResponse) => void
}

interface Classes {
  Request: typeof IncomingMessage
  Response: typeof ServerResponse
}

/** Sends requests to one application, all of a batch at once. */
export class InProcessClient {
  readonly #app: Routing
  readonly #classes: Classes
  readonly #request: InProcessRequest
  readonly #body: Buffer | undefined
  readonly #sockets: Socket[] = []

  constructor(app: Routing, request: InProcessRequest) {
    const { body, headers } = request
    this.#app = app
    this.#body = body === undefined ? undefined : Buffer.from(body)
    const length = this.#body === undefined ? {} : { 'content-length': String(this.#body.length) }
    this.#request = { ...request, headers: { host: 'x', connection: 'keep-alive', ...headers, ...length } }
    this.#classes = {
      Request: classOf(app, 'IncomingMessage', IncomingMessage),
      Response: classOf(app, 'ServerResponse', ServerResponse)
    }
  }

  /** @returns microseconds of CPU per request, those of other threads included */
  async batch(amount: number): Promise<number> {
    while (this.#sockets.length < amount) this.#sockets.push(sink())
    const before = process.cpuUsage()
    await Promise.all(this.#sockets.slice(0, amount).map((socket) => this.#send(socket)))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / amount
  }

  /** As node's HTTP parser would: the head, then the body. */
  #send(socket: Socket): Promise<void> {
    const { Request, Response } = this.#classes
    const { method, url, headers } = this.#request
    const request = new Request(socket)
    Object.assign(request, { method, url, headers: { ...headers } })
    Object.assign(request, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
    const response = new Response(request)
    response.assignSocket(socket)
    const answered = new Promise<void>((resolve, reject) => {
      response.on('finish', () => {
        response.detachSocket(socket)
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${method} ${url} was answered with ${response.statusCode}`))
      })
    })
    this.#app.routing(request, response)
    if (this.#body !== undefined) request.push(this.#body)
    request.complete = true // else a request that was read destroys the socket, as if its client had gone
    request.push(null)
    return answered
  }
}

/** The class that this application's server creates. */
function classOf<Class>(app: Routing, name: string, fallback: Class): Class {
  const key = Object.getOwnPropertySymbols(app.server).find((symbol) => symbol.description === name)
  return key === undefined ? fallback : (Reflect.get(app.server, key) as Class)
}

/** Takes what is written and forgets it. */
function sink(): Socket {
  const stream: unknown = new Writable({ write: (_chunk, _encoding, done) => done() })
  return Object.assign(stream as Socket, { remoteAddress: '127.0.0.1', setTimeout: () => stream })
}
