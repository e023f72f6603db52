import type { SessionStore } from '@fastify/session'
import { RedisStore } from 'connect-redis'
import { ApiError } from 'twinroute'
import { inTime, type Redis } from '../redis.js'

/** Sessions all instances share. Without Redis there are none: requests of the group get 503. */
export function redisSessions(client: Redis, prefix: string): SessionStore {
  const store = new RedisStore({ client, prefix: `${prefix}:session:` })
  return {
    get: (id, done) => void settle(store.get(id), done),
    set: (id, session, done) => void settle(store.set(id, session as never), done),
    destroy: (id, done) => void settle(store.destroy(id), done)
  }
}

type Done = (error: unknown, value?: never) => void

async function settle(work: Promise<unknown>, done: Done): Promise<void> {
  try {
    const value = (await inTime(work)) as never
    done(null, value)
  } catch {
    done(unavailable())
  }
}

function unavailable(): ApiError {
  const error = new ApiError(503, 'SERVICE_UNAVAILABLE', 'Sessions are not reachable; try again shortly')
  error.headers = { 'retry-after': '1' }
  return error
}
