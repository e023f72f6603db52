import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Middleware } from '../contract/middleware.js'
import { addDescription } from '../contract/middleware-description.js'
import type { RedisClient } from '../contract/redis.js'
import type { Request, Response } from '../contract/request.js'
import {
  AT_LEAST_ONE,
  checkOptions,
  FUNCTION,
  isAtLeast,
  REDIS_CLIENT,
  TEXT,
  type OptionRules
} from '../options/rules.js'
import { createAttemptCounter } from './attempt-counter.js'
import ipaddr from 'ipaddr.js'

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
  attempts: AT_LEAST_ONE,
  windowMs: { expected: 'milliseconds, at least 1000', accepts: isAtLeast(1000) },
  redis: REDIS_CLIENT,
  keyFor: FUNCTION,
  keyPrefix: TEXT,
  maxKeys: AT_LEAST_ONE,
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
  const countAttempt: Middleware = async function rateLimit(request, response, next) {
    try {
      await counter.consume(keyFor(request))
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) answerTooMany(response, Math.min(refusal.msBeforeNext, windowMs), message)
      else next(refusal)
      return
    }
    next()
  }
  return addDescription(countAttempt, { responses: { 429: 'Too many requests' }, form: 'flat' })
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

/** @param wait milliseconds; more than the window where the clock has been set back, if nobody cuts it */
function answerTooMany(response: Response, wait: number, message: string): void {
  response.setHeader('Retry-After', Math.max(1, Math.ceil(wait / 1000)))
  response.status(429).json({ error: 'TOO_MANY_ATTEMPTS', message })
}

const IPV6_NETWORK_BYTES = 8
/** Keys are kept; a client must not choose how much. */
const MAX_KEY_LENGTH = 256

/** The address of all clients that have none: over a Unix socket, or behind a proxy that hides them. */
const NO_ADDRESS = 'unknown'

/**
 * Who asks for what: client network and route pattern. The URL's text is no part of it, or a new spelling were a new client.
 *
 * @param onNoAddress called when the client has no address, so that it is counted together with all others without one
 */
function clientRouteKey(request: Request, onNoAddress: () => void): string {
  const network = clientNetwork(request.ip)
  if (network === NO_ADDRESS) onNoAddress()
  return `${network}|${routePattern(request)}`.slice(0, MAX_KEY_LENGTH)
}

/**
 * An IPv4 address as it is, an IPv6 address as its /64 network: a single customer usually gets all of one. An IPv4 address
 * in IPv6 notation (`::ffff:192.0.2.1`, what a dual-stack socket reports) is the IPv4 address. What a proxy writes around
 * an address says nothing of who it is: ports, brackets, quotes, zones.
 */
function clientNetwork(ip: string | undefined): string {
  const text = bareAddress(ip ?? '')
  if (!ipaddr.isValid(text)) return NO_ADDRESS
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex')}/64`
}

/** `192.0.2.1:4711`, `"[2001:db8::1]:4711"` and `[fe80::1%25eth0]` without what is no address. */
function bareAddress(text: string): string {
  const unquoted = text.trim().replaceAll('"', '')
  const close = unquoted.indexOf(']')
  if (unquoted.startsWith('[')) return close === -1 ? '' : withoutZone(unquoted.slice(1, close))
  const colon = unquoted.indexOf(':')
  const hasPort = colon !== -1 && colon === unquoted.lastIndexOf(':')
  return hasPort ? unquoted.slice(0, colon) : withoutZone(unquoted)
}

function withoutZone(text: string): string {
  return text.split('%', 1)[0] as string
}

/**
 * The pattern of the route, or the prefix the middleware hangs on. Folded to one case, because a router that ignores case
 * leaves `baseUrl` as the client spelled it.
 */
function routePattern(request: Request): string {
  const path: unknown = request.route?.path
  return String(path ?? request.baseUrl).toLowerCase()
}
