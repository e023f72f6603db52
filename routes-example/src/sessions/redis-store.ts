import type { SessionStore } from '@fastify/session'
import { RedisStore } from 'connect-redis'
import { ApiError } from 'twinroute'
import { inTime, type Redis } from '../redis.js'

export interface RedisSessions {
  store: SessionStore
  /** Whether the last attempt to save a session has failed. */
  isUnsaved(session: object): boolean
}

/** Sessions all instances share. Without Redis there are none: requests of the group get 503. */
export function redisSessions(client: Redis, prefix: string): RedisSessions {
  const store = new RedisStore({ client, prefix: `${prefix}:session:` })
  const unsaved = new WeakSet<object>()
  return {
    isUnsaved: (session) => unsaved.has(session),
    store: {
      get: (id, done) => void settle(store.get(id), done),
      set(id, session, done) {
        void settle(store.set(id, session as never), (error) => {
          if (error === null) unsaved.delete(session)
          else unsaved.add(session)
          done(error)
        })
      },
      destroy: (id, done) => void settle(store.destroy(id), done)
    }
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
