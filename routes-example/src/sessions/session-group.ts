import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import type { FastifyInstance } from 'fastify'
import { fileRoutes } from 'twinroute'
import type { Config } from '../config.js'
import type { Redis } from '../redis.js'
import { redisSessions } from './redis-store.js'

const SESSION_LIFE_MS = 60 * 60 * 1000

export interface SessionOptions {
  config: Config
  /** Undefined: sessions are kept in this process. */
  redis: Redis | undefined
}

/** The routes of `sessions/api/`: the only ones that read a session, so no other request pays for one. */
export async function sessionGroup(app: FastifyInstance, { config, redis }: SessionOptions): Promise<void> {
  const { mode, sessionSecret, secureCookies, redisPrefix } = config
  const sessions = redis && redisSessions(redis, redisPrefix)
  if (!app.hasDecorator('parseCookie')) await app.register(cookie)
  // The plugin saves with each answer, also with the one that says that the session could not be saved: that would fail once more.
  if (sessions !== undefined) {
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode >= 400 && sessions.isUnsaved(request.session)) Reflect.set(request, 'session', null)
    })
  }
  await app.register(session, {
    // A random one ends sessions with the process.
    secret: sessionSecret ?? randomBytes(32).toString('hex'),
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: secureCookies, maxAge: SESSION_LIFE_MS },
    ...(sessions && { store: sessions.store })
  })
  await app.register(fileRoutes, { apiDir: new URL('./api', import.meta.url), baseRoute: '/session', mode })
}
