import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { parse } from 'graphql'
import type { Mode } from '../contract/mode.js'
import { ApiError } from '../errors/api-error.js'
import { errorAnswer } from '../errors/envelope.js'
import { logError } from '../errors/readable-error.js'
import type { HealthOptions } from './options.js'

const PROBE = parse('{__typename}')

/**
 * Answers 200 when a query runs through the engine and the app's check passes, else 503 with the reason, which
 * production keeps to itself unless it was meant for clients.
 */
export function createHealthHandler({ check, timeout = 2000 }: HealthOptions, mode: Mode): RouteHandlerMethod {
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
