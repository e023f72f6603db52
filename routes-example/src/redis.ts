import { createClient } from 'redis'
import type { Log } from './database/database.js'

const LONGEST_WAIT_MS = 2000
const ANSWER_WITHIN_MS = 500

/** What `REDIS_URL` gives: a client that reconnects by itself. */
export type Redis = ReturnType<typeof createClient>

/** Starts to connect and returns at once. While Redis is away, commands fail at once instead of waiting for it. */
export function connectRedis(url: string, log: Log): Redis {
  let down = false
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, LONGEST_WAIT_MS) }
  })
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (!down) log.error(`Redis not reachable (${error.message || error.code}); trying again`)
    down = true
  })
  client.on('ready', () => {
    down = false
    log.info('Redis ready')
  })
  // A failed first attempt is an 'error' event as well.
  client.connect().catch(() => {})
  return client as Redis
}

/** What Redis answers, or a rejection when it does not answer in time: it may hang with its connections open. */
export function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(reject, ANSWER_WITHIN_MS, new Error('Redis did not answer in time')).unref()
  })
  return Promise.race([work, late])
}
