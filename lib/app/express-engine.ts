import { METHODS, type IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import finalhandler from 'finalhandler'
import type { TwinrouteExpress } from '../contract/express-factory.cjs'
import { unsendableNames } from '../errors/error-headers.js'
import { readableThrown, toReadableError } from '../errors/readable-error.js'
import { setPoweredBy } from '../answer/reply-headers.js'
import { cutOffNextTurn } from '../answer/late-calls.js'
import { link } from '../express/link-request.js'
import { meetSeveralNames } from '../express/parameter-names.js'
import { indexRouter } from '../express/route-index.js'
import { kOtherKind, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import type { Runtime } from '../dispatch/runtime.js'
import { prepareUploads } from '../body/temporary-files.js'
import { createFastify } from './create-fastify.js'

type Handle = TwinrouteExpress['handle']

export interface Engine {
  readonly fastify: FastifyInstance
  readonly handle: Handle
}

/**
 * A Fastify whose answer to what it has no route for is Express's router. It runs behind the onRequest hooks of all
 * plugins, and before Fastify would parse a body.
 */
export function createEngine(runtime: Runtime, app: TwinrouteExpress): Engine {
  const { express: side } = runtime
  const refused = new RefusedPaths()
  const fastify: FastifyInstance = createFastify({
    http: { IncomingMessage: side.IncomingMessage, ServerResponse: side.ServerResponse },
    frameworkErrors(error, request, reply) {
      if (refused.has(request.raw)) {
        refused.show(request.raw)
        link(side, request, reply)
        return answerFinally(app, reply, error)
      }
      refused.hide(request.raw, fastify.supportedMethods)
      fastify.routing(request.raw, reply.raw)
    }
  })
  prepareUploads(fastify)
  meetSeveralNames()
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.method === refused.method) refused.show(request.raw)
    link(side, request, reply)
    done()
  })
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) runRouter(app, reply)
    else done(null, payload)
  })
  fastify.addHook('preClose', async () => side.openSignals.abort())
  fastify.setErrorHandler((error, _request, reply) => answerFinally(app, reply, error))
  return { fastify, handle: bootOnFirstRequest(fastify) }
}

/**
 * Malformed paths and over-long parameters. Fastify finds no route for them and runs none of its hooks, but Express has
 * routes for them, which must not be reached past a guard that is a hook. So they are routed again, by a method without
 * routes and a path that can be decoded: as what no route matches. The first hook gives the request its own back. What is refused
 * once more, such as `*?a`, is answered with 400.
 */
class RefusedPaths {
  readonly #own = new WeakMap<IncomingMessage, Pick<IncomingMessage, 'method' | 'url'>>()
  method: string | undefined = ''

  has(request: IncomingMessage): boolean {
    return this.#own.has(request)
  }

  hide(request: IncomingMessage, routed: readonly string[]): void {
    this.method = METHODS.find((method) => !routed.includes(method))
    this.#own.set(request, { method: request.method, url: request.url })
    Object.assign(request, { method: this.method, url: decodable(request.url ?? '/') })
  }

  show(request: IncomingMessage): void {
    Object.assign(request, this.#own.get(request))
  }
}

/** The url with the escapes of its malformed segments escaped, so that a scope with a prefix still recognises its own. */
function decodable(url: string): string {
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  const segments = path.split('/').map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')))
  return segments.join('/') + url.slice(path.length)
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment)
    return true
  } catch {
    return false
  }
}

function runRouter(app: TwinrouteExpress, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  const request = reply.request.raw as LinkedRequest
  const { router } = app // its getter is called once
  // not app.enabled(), which looks through the settings of all applications around this one
  if ((app.settings as Record<string, unknown>)['x-powered-by']) tellPoweredBy(request, reply)
  response.locals ??= Object.create(null) as Record<string, unknown>
  indexRouter(router)
  router(request, response, (error: unknown) => answerFinally(app, reply, error))
}

/**
 * On the reply, whose headers node writes at once: one on the response would make it go through all of them singly. Mocks
 * keep headers of their own.
 */
function tellPoweredBy(request: LinkedRequest, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  if (request[kOtherKind]) response.setHeader('X-Powered-By', 'Express')
  else setPoweredBy(response, reply, 'Express')
}

/** What no route or error middleware took: Express's own final answer, a page with 404 or the error. */
function answerFinally(app: TwinrouteExpress, reply: FastifyReply, thrown: unknown): void {
  const response = reply.raw as LinkedResponse
  const request = reply.request.raw
  const error = readableThrown(thrown)
  const env = String(app.get('env'))
  if (error && response.headersSent) {
    setImmediate(printError, env, error)
    return cutOffNextTurn(response) // Express destroys the socket, which an injected request does not have
  }
  const final = finalhandler(request, response, { env, onerror: (thrown) => printError(env, thrown) })
  whenRead(request, () => {
    if (response.headersSent) return // answered meanwhile
    try {
      final(error as Error)
    } catch (failure) {
      const unsendable = unsendableNames(response.getHeaders()) // of a plugin of Fastify's
      for (const name of unsendable) response.removeHeader(name)
      if (unsendable.length > 0) printError(env, failure)
      // else the method may be the reason, which is part of the page of a 404, and which middleware may have set to no text
      final(unsendable.length > 0 ? (error as Error) : toReadableError(failure))
    }
  })
}

/** The final handler would wait by itself for what is left of the body, and then answer without checking the response. */
function whenRead(request: IncomingMessage, go: () => void): void {
  if ((request.complete && !request.readable) || request.destroyed) return go()
  let isOver = false
  const goOnce = (): void => {
    if (isOver) return
    isOver = true
    go()
  }
  // taken off again by `once`, a listener costs more than all else that is done here
  for (const event of ['end', 'close', 'error']) request.on(event, goOnce)
  request.unpipe()
  request.resume()
}

function printError(env: string, error: unknown): void {
  if (env !== 'test')
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

/** Fastify boots on the first request, so that everything registered until then counts. */
function bootOnFirstRequest(fastify: FastifyInstance): Handle {
  let isReady = false
  let booting: Promise<void> | undefined
  return (request, response) => {
    if (isReady) return fastify.routing(request, response)
    const wasReadable = request.readable
    booting ??= Promise.resolve(fastify.ready()).then(() => {
      isReady = true
    })
    booting.then(
      () => {
        // adapters of serverless platforms mark the request as read when `handle` returns, and its body would be skipped
        if (wasReadable && !request.destroyed && !request.readableEnded) Reflect.set(request, 'readable', true)
        fastify.routing(request, response)
      },
      (error: unknown) => {
        printError('boot', error)
        response.statusCode = 500
        response.end('The application could not start')
      }
    )
  }
}
