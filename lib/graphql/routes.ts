import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { GraphQLError, parse } from 'graphql'
import type { Request } from '../contract/request.js'
import { sendFailure, sendResult, answerPreflight, PREFLIGHT_CONFIG } from './answer.js'
import { acceptJsonOnly, replayBody } from './body.js'
import { createPostHandler, type Endpoint } from './execute.js'
import { type ErrorFormat, RequestError } from './errors.js'
import type { HealthOptions } from './graphql-options.js'
import { assetNames, createPageHandler, sendAsset } from './page/playground.js'
import type { Mode } from '../contract/mode.js'
import { ApiError } from '../errors/api-error.js'
import { errorAnswer } from '../errors/error-handler.js'
import { logError } from '../errors/readable-error.js'

export interface RouteSettings {
  path: string
  bodyLimit: number
  playground: boolean
  /** Undefined for no health route. */
  health: HealthOptions | undefined
}

/** Adds the routes of an endpoint to a scope of their own. Guards bound to them run before any body is read. */
export function addRoutes(scope: FastifyInstance, endpoint: Endpoint, settings: RouteSettings): void {
  const { path, bodyLimit, playground, health } = settings
  const below = path === '/' ? '' : path
  acceptJsonOnly(scope, bodyLimit)
  scope.setErrorHandler(createErrorHandler(endpoint.format))
  scope.post(path, { preParsing: replayBody }, createPostHandler(endpoint))
  scope.options(path, { config: PREFLIGHT_CONFIG }, (_request, reply) => answerPreflight(reply))
  scope.route({
    method: ['PUT', 'PATCH', 'DELETE'],
    url: path,
    // before the body, which would only be read to be thrown away
    preParsing: (_request, reply) => void refuseMethod(reply),
    handler: (_request, reply) => refuseMethod(reply)
  })
  if (playground) addPlayground(scope, path, below)
  else scope.get(path, (_request, reply) => reply.code(404).send({ error: 'Not found' }))
  if (health !== undefined) scope.get(`${below}/health`, createHealthHandler(health, endpoint.format.mode))
}

function addPlayground(scope: FastifyInstance, path: string, below: string): void {
  scope.get(path, createPageHandler(path))
  for (const name of assetNames) {
    scope.get(`${below}/assets/${name}`, (request, reply) => sendAsset(name, request, reply))
  }
}

function refuseMethod(reply: FastifyReply): FastifyReply {
  return sendResult(reply.header('allow', 'GET, HEAD, POST, OPTIONS'), 405, {
    errors: [{ message: 'GraphQL requests are sent with POST' }]
  })
}

/**
 * Bodies that cannot be read, and resolvers that take too long, are answered in the `errors` form; what guards throw is left
 * to the host, as with REST.
 */
function createErrorHandler(format: ErrorFormat) {
  return (error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return sendFailure(reply, unsupportedType(), format)
    const ours = error instanceof RequestError || /^FST_ERR_(CTP_|HANDLER_TIMEOUT)/.test(error.code ?? '')
    if (!ours && !isHandlerTimeout(error, request)) throw error
    return sendFailure(reply, error, format)
  }
}

/** The app's handler timeout has passed behind the body, so no guard was waited for. */
function isHandlerTimeout(error: Error, { body, raw }: FastifyRequest): boolean {
  return body !== undefined && (raw as Partial<Request>).signal?.reason === error
}

function unsupportedType(): RequestError {
  return new RequestError([new GraphQLError('The body must be JSON, with Content-Type application/json')], 415)
}

const PROBE = parse('{__typename}')

/**
 * Answers 200 when a query runs through the engine and the app's check passes, else 503 with the reason, which
 * production keeps to itself unless it was meant for clients.
 */
function createHealthHandler({ check, timeout = 2000 }: HealthOptions, mode: Mode): RouteHandlerMethod {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    try {
      await probeEngine(request)
      if (check !== undefined) await within(timeout, check)
      return { status: 'healthy', timestamp: new Date().toISOString(), service: 'graphql' }
    } catch (error) {
      logError(request.log, { err: error }, 'GraphQL health check failed')
      const { message } = errorAnswer(error, request.id, mode).body.error
      return reply.code(503).send({ status: 'unhealthy', error: message, timestamp: new Date().toISOString() })
    }
  }
}

async function probeEngine({ server }: FastifyRequest): Promise<void> {
  const { errors } = await server.graphql(PROBE)
  if (errors !== undefined) throw errors[0] ?? new Error('The engine gave no answer')
}

async function within(milliseconds: number, check: (signal: AbortSignal) => unknown): Promise<void> {
  const abort = new AbortController()
  const late = new ApiError(503, 'SERVICE_UNAVAILABLE', `Health check took more than ${milliseconds} ms`)
  const timer = setTimeout(() => abort.abort(late), milliseconds)
  const aborted = new Promise<never>((_resolve, reject) => {
    abort.signal.addEventListener('abort', () => reject(late))
  })
  try {
    const passed = await Promise.race([check(abort.signal), aborted])
    if (passed === false) throw new ApiError(503, 'SERVICE_UNAVAILABLE', 'Health check failed')
  } finally {
    clearTimeout(timer)
  }
}
