import type { FastifyInstance, FastifyReply } from 'fastify'
import { readProperty } from '../errors/read-property.js'
import type { ProbeOptions } from './observe-options.js'
import type { OwnRoute } from './own-routes.js'
import { Readiness, type CheckResult } from './readiness.js'

export interface HealthSettings extends Required<ProbeOptions> {
  /** Why a check has failed is for the log only. */
  hidesReasons: boolean
}

/** What `/readyz` answers. */
interface ReadyAnswer {
  status: 'ok' | 'failed' | 'closing'
  checks?: Record<string, { status: 'ok' | 'failed'; message?: string }>
}

/** Liveness and readiness. Middleware of the map does not run before them: who restarts processes has no account. */
export function createHealthRoutes(app: FastifyInstance, settings: HealthSettings): OwnRoute[] {
  const { livePath, readyPath, hidesReasons } = settings
  const readiness = new Readiness(settings, app.log)
  const isClosing = watchClosing(app)
  const live: OwnRoute = {
    path: livePath,
    option: 'health.livePath',
    isGuarded: false,
    handler: (_request, reply) => answer(reply, { status: 'ok' })
  }
  const ready: OwnRoute = {
    path: readyPath,
    option: 'health.readyPath',
    isGuarded: false,
    handler: async (_request, reply) => {
      if (isClosing()) return answer(reply, { status: 'closing' })
      const results = await readiness.results()
      // closing may have begun meanwhile
      return answer(reply, isClosing() ? { status: 'closing' } : describe(results, hidesReasons ? 'hidden' : 'shown'))
    }
  }
  return [live, ready]
}

/** `createApp` begins to close before Fastify does, and says so. */
function watchClosing(app: FastifyInstance): () => boolean {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  return () => isClosing || readProperty(app, 'isClosing') === true
}

function describe(results: readonly CheckResult[], reasons: 'hidden' | 'shown'): ReadyAnswer {
  const checks = results.map(({ name, failure }) => {
    if (failure === undefined) return [name, { status: 'ok' }] as const
    return [name, { status: 'failed', ...(reasons === 'shown' && { message: failure.message }) }] as const
  })
  const hasFailed = results.some(({ failure }) => failure !== undefined)
  return { status: hasFailed ? 'failed' : 'ok', checks: Object.fromEntries(checks) }
}

function answer(reply: FastifyReply, body: ReadyAnswer): FastifyReply {
  return reply
    .code(body.status === 'ok' ? 200 : 503)
    .header('cache-control', 'no-store')
    .send(body)
}
