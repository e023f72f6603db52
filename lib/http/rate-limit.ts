import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Middleware } from '../contract/middleware.js'
import type { Request } from '../contract/request.js'
import type { Response } from '../contract/response.js'
import { checkOptions, FUNCTION, hasMethods, isAtLeast, isWhole, TEXT, type OptionRules } from '../options/rules.js'
import { createAttemptCounter, type RedisClient } from './attempt-counter.js'
import { clientRouteKey } from './client-key.js'

export interface RateLimitOptions {
  /** Attempts a client has per window. Default 5. */
  attempts?: number
  /** Length of the window in milliseconds, counted from the first attempt; rounded up to seconds. Default 900 000. */
  windowMs?: number
  /** A connected client of the `redis` package: processes share their counts. Default: counts in this process. */
  redis?: RedisClient
  /** Who is counted. Default: the client's address (IPv6 by /64, ports and zones left out) and the route pattern. */
  keyFor?: (request: Request) => string
  /** Start of the keys in Redis. Default `twinroute:attempts`. */
  keyPrefix?: string
  /** Clients counted in this process at most; beyond that the oldest window is forgotten. Default 100 000. */
  maxKeys?: number
  /** Default "Too many attempts, please try again later". */
  message?: string
}

const RULES: OptionRules<RateLimitOptions> = {
  attempts: { expected: 'a whole number of at least 1', accepts: isWhole(1) },
  windowMs: { expected: 'milliseconds, at least 1000', accepts: isAtLeast(1000) },
  redis: { expected: 'a client of the redis package', accepts: hasMethods('eval') },
  keyFor: FUNCTION,
  keyPrefix: TEXT,
  maxKeys: { expected: 'a whole number of at least 1', accepts: isWhole(1) },
  message: TEXT
}

/**
 * Middleware that lets a client through `attempts` times per window and then answers 429 `TOO_MANY_ATTEMPTS` in the flat
 * error shape, with `Retry-After` in seconds. Every request counts, whatever its method. While Redis is down or slow the
 * count goes on in this process.
 *
 * @throws TypeError naming a wrong or unknown option
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  checkOptions('rateLimit', options, RULES)
  const { attempts = 5, windowMs = 900_000, keyFor = createKey() } = options
  const { redis, keyPrefix = 'twinroute:attempts', maxKeys = 100_000 } = options
  const { message = 'Too many attempts, please try again later' } = options
  const counter = createAttemptCounter({ attempts, windowMs, redis, keyPrefix, maxKeys })
  return async function countAttempt(request, response, next) {
    try {
      await counter.consume(keyFor(request))
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) refuse(response, refusal, message)
      else next(refusal)
      return
    }
    next()
  }
}

/** The default key. Where clients have no address one of them can use up the attempts of all, so that is told, once. */
function createKey(): (request: Request) => string {
  let isTold = false
  const warn = (): void => {
    if (isTold) return
    isTold = true
    process.emitWarning(
      'rateLimit: a request has no client address (a Unix socket, or X-Forwarded-For without one); all such clients ' +
        'share one count. Set trustProxy, or say with keyFor who is counted',
      { code: 'TWINROUTE_NO_CLIENT_ADDRESS' }
    )
  }
  return (request) => clientRouteKey(request, warn)
}

function refuse(response: Response, { msBeforeNext }: RateLimiterRes, message: string): void {
  response.setHeader('Retry-After', Math.max(1, Math.ceil(msBeforeNext / 1000)))
  response.status(429).json({ error: 'TOO_MANY_ATTEMPTS', message })
}
