import { type Server, STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { deferContinue } from '../body/tap.js'
import { furtherServers, isAnswering } from '../link/private-names.js'
import type { LinkedResponse } from '../link/state.js'
import type { Shutdown } from './shutdown.js'
import type { Socket } from 'node:net'
import type { AppOptions } from '../contract/options.js'
import { ApiError } from '../errors/api-error.js'
import { codeOfStatus, errorAnswer } from '../errors/error-handler.js'
import type { Runtime } from '../dispatch/runtime.js'

/**
 * Prepares every server of an app: the main one, and those Fastify adds while it starts to listen, one for each further
 * address of a host name (`localhost` is 127.0.0.1 and ::1).
 */
export function prepareServers(app: FastifyInstance, shutdown: Shutdown): void {
  const tellRefused = acceptErrors(app)
  answerContinue(app, app.server)
  shutdown.watch(app.server)
  app.addHook('onListen', (done) => {
    keepListening(app.server, furtherServers(app))
    for (const server of [app.server, ...furtherServers(app)]) server.on('error', tellRefused)
    for (const server of furtherServers(app)) {
      answerContinue(app, server)
      shutdown.watch(server)
      // Fastify gives its handler of malformed requests to the main server only
      for (const answer of app.server.listeners('clientError')) server.on('clientError', answer as () => void)
    }
    done()
  })
}

/**
 * Fastify closes the servers of further addresses when the main one has an error, such as a connection that it cannot accept,
 * and when it is `unref`'d. Here a server that closes takes the others with it, so only an end of the main one may close them.
 * Fastify's listener is told from those of others by listening for `unref`, an event that Fastify has made up, and for `close`.
 */
function keepListening(main: Server, further: readonly Server[]): void {
  const closing = new Set(main.listeners('close'))
  for (const close of main.listeners('unref').filter((listener) => closing.has(listener))) {
    for (const event of ['error', 'unref']) main.off(event, close as () => void)
  }
  main.on('unref', () => {
    for (const server of further) server.unref()
  })
}

/** `Expect: 100-continue`: the body is asked for when it is first read, so that a guard can reject the request without it. */
function answerContinue(app: FastifyInstance, server: Server): void {
  server.on('checkContinue', (request, response) => {
    deferContinue(request, response as LinkedResponse)
    app.server.emit('request', request, response)
  })
}

/** Milliseconds between two lines of the log about connections that cannot be accepted. */
const TELL_EVERY = 1000

/**
 * A server that listens has an error for each connection it cannot accept, most of them where all file descriptors are in
 * use; without a listener, the first would end the process. They may come by the thousand.
 */
function acceptErrors(app: FastifyInstance): (error: Error) => void {
  let told = -TELL_EVERY
  return function tellRefused(error) {
    if (performance.now() - told < TELL_EVERY) return
    told = performance.now()
    app.log.error({ err: error }, `A connection could not be accepted: ${error.message}`)
  }
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

/** Answers what node's HTTP parser refuses, for which there is no request: in the envelope when the app has an error handler. */
export function clientErrorHandler({ mode }: Runtime, { errorHandler }: AppOptions) {
  return function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    const status = STATUS_BY_CODE[error.code ?? ''] ?? 400
    const message = status === 400 ? 'Malformed request' : String(STATUS_CODES[status])
    const body = errorHandler === undefined ? plainError(status, message) : envelope(status, message)
    if (socket.writable && !isAnswering(socket)) socket.write(head(status, body) + body)
    socket.destroySoon()
  }

  function envelope(status: number, message: string): string {
    const answer = errorAnswer(new ApiError(status, codeOfStatus(status), message), undefined, mode)
    delete answer.body.meta.stack
    return JSON.stringify(answer.body)
  }
}

function plainError(status: number, message: string): string {
  return JSON.stringify({ statusCode: status, error: STATUS_CODES[status], message })
}

function head(status: number, body: string): string {
  const type = 'Content-Type: application/json; charset=utf-8'
  const length = `Content-Length: ${Buffer.byteLength(body)}`
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${type}\r\n${length}\r\nConnection: close\r\n\r\n`
}
