import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { RedisClient } from '../contract/redis.js'
import { within } from '../link/time-limit.js'

export interface CounterOptions {
  attempts: number
  windowMs: number
  redis: RedisClient | undefined
  keyPrefix: string
  maxKeys: number
}

/** Counts one attempt of `key`. Resolves while attempts are left; rejects with a RateLimiterRes when there are none. */
export interface AttemptCounter {
  consume(key: string): Promise<RateLimiterRes>
}

/** Redis may take this long before the attempt is counted here instead. */
const REDIS_TIMEOUT_MS = 300

/** A counter in this process, or in Redis with the local one standing in while Redis is down or slow. */
export function createAttemptCounter(options: CounterOptions): AttemptCounter {
  const { attempts, redis, keyPrefix, maxKeys } = options
  const duration = Math.ceil(options.windowMs / 1000)
  const local = new BoundedMemoryCounter({ points: attempts, duration, keyPrefix: '' }, maxKeys)
  if (redis === undefined) return local
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    useRedisPackage: true,
    rejectIfRedisNotReady: true, // or attempts would wait in the client's queue until Redis is back
    points: attempts,
    duration,
    keyPrefix: `${keyPrefix}:${attempts}/${duration}`
  })
  return new InsuredCounter(limiter, local)
}

/**
 * Counts together with other processes, and here when they cannot be asked. The library's own `RLWrapperTimeouts` does that too,
 * but a process that was busy for longer than the limit takes Redis for slow, and gives attempts of its own away.
 */
class InsuredCounter implements AttemptCounter {
  readonly #shared: AttemptCounter
  readonly #local: AttemptCounter

  constructor(shared: AttemptCounter, local: AttemptCounter) {
    this.#shared = shared
    this.#local = local
  }

  async consume(key: string): Promise<RateLimiterRes> {
    try {
      return await within(this.#shared.consume(key), REDIS_TIMEOUT_MS)
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) throw refusal // there are no attempts left
      return this.#local.consume(key)
    }
  }
}

/** Counts in memory for at most `maxKeys` clients; beyond that the one whose window is oldest starts anew. */
class BoundedMemoryCounter extends RateLimiterMemory {
  readonly #maxKeys: number
  /** In order of the start of their windows. */
  readonly #keys = new Set<string>()

  constructor(options: ConstructorParameters<typeof RateLimiterMemory>[0], maxKeys: number) {
    super(options)
    this.#maxKeys = maxKeys
  }

  override consume(key: string): Promise<RateLimiterRes> {
    const counted = super.consume(key)
    void counted.then(
      (result) => result.isFirstInDuration && this.#remember(key),
      () => undefined // refused keys are known already; the caller sees the rejection
    )
    return counted
  }

  #remember(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size <= this.#maxKeys) return
    const [oldest = key] = this.#keys
    this.#keys.delete(oldest)
    void this.delete(oldest)
  }
}
