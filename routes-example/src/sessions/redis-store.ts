import type { SessionStore } from '@fastify/session'
import { RedisStore } from 'connect-redis'
import { ApiError } from 'twinroute'
import { inTime, type Redis } from '../redis.js'

/** Sessions all instances share. Without Redis there are none: requests of the group get 503. */
export function redisSessions(client: Redis, prefix: string): SessionStore {
  const store = new RedisStore({ client, prefix: `${prefix}:session:` })
  const refused = new WeakSet<object>()
  return {
    get: (id, done) => void settle(store.get(id), done),
    set(id, session, done) {
      // The answer that says so is sent with the same session, and would fail for the same reason.
      if (refused.has(session)) return done(null)
      void settle(store.set(id, session as never), (error) => {
        if (error !== null) refused.add(session)
        done(error)
      })
    },
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
