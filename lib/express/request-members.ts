import { refusingRouteOf } from '../link/refusal.js'
import express from 'express'
import type { FastifyReply } from 'fastify'
import { cookieHelper, parseCookieHeader } from './cookies.js'
import { formData } from '../body/form-data.js'
import { queryMembers } from './query.js'
import {
  kAbort,
  kExpressSide,
  kCookieHelper,
  kCookies,
  kInStack,
  kNext,
  kOriginalUrl,
  kParams,
  kReply,
  kRoute,
  type RuntimeKind,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'

type Descriptors = Record<string, PropertyDescriptor>

/** What `request.next` calls outside of a router: Express's `sendFile` and middleware hand their errors to it. */
export type Escape = (reply: FastifyReply, error: unknown) => void

export interface MemberOptions {
  escape: Escape
  kind: RuntimeKind
}

/**
 * Every member twinroute adds to Express's request, as the layer between `app.request` and Express's own request prototype.
 * The type and docstring of each are in `lib/contract/request.ts`.
 */
export function requestMembers({ escape, kind }: MemberOptions): Descriptors {
  const inherited = assignable(Object.getOwnPropertyDescriptors(express.request) as Descriptors)
  const common = { ...inherited, ...queryMembers(kind), ...assignable(lifeMembers()), ...bodyMembers() }
  // what Express's router and parsers write are own members there, which `in` and spreading show
  if (kind === 'express') return common
  const client = kind === 'host' ? clientMembers() : forwardedMembers()
  return { ...common, ...parsedMembers(), ...routingMembers(escape), ...assignable(client) }
}

/**
 * Express's getters have no setters, but middleware assigns some of them (`query` by sanitizers, `hostname` by other
 * Express adapters) and would throw on every request. An assigned value stays on its request.
 */
export function assignable(getters: Descriptors): Descriptors {
  const result: Descriptors = {}
  for (const [name, descriptor] of Object.entries(getters)) {
    if (descriptor.get === undefined || descriptor.set !== undefined) continue
    result[name] = {
      ...descriptor,
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true })
      }
    }
  }
  return result
}

/** Read from the head of the request on first use. */
function parsedMembers(): Descriptors {
  return members({
    get params(): unknown {
      return this[kParams] ?? replyOf(this)?.request.params
    },
    set params(value: unknown) {
      this[kParams] = value
    },
    get cookies(): unknown {
      // as Express: undefined until a parser has run, since cookie-parser skips a request that has cookies
      if (this[kInStack]) return this[kCookies]
      return (this[kCookieHelper] ??= cookieHelper(cookieValues(this)))
    },
    set cookies(value: unknown) {
      this[kCookies] = value
      this[kCookieHelper] = undefined
    }
  })
}

/** What Express's router writes and restores; outside of it they speak of the file route. */
function routingMembers(escape: Escape): Descriptors {
  const routing = members({
    get originalUrl(): string {
      return this[kOriginalUrl] ?? this.url
    },
    set originalUrl(value: string) {
      this[kOriginalUrl] = value
    },
    get route(): unknown {
      return this[kRoute] ?? fileRoute(this)
    },
    set route(value: unknown) {
      this[kRoute] = value
    },
    get next(): unknown {
      return this[kNext] ?? ((error?: unknown) => leave(this, escape, error))
    },
    set next(value: unknown) {
      this[kNext] = value
    }
  })
  return { ...routing, baseUrl: { value: '', writable: true, configurable: true, enumerable: true } }
}

/** On a host the client's address, protocol and host are what its Fastify says. */
function clientMembers(): Descriptors {
  return members({
    get ip(): string | undefined {
      return replyOf(this)?.request.ip
    },
    get ips(): string[] {
      // Fastify's list begins with the socket's address, Express's ends with the nearest proxy's
      return (replyOf(this)?.request.ips ?? []).slice(1).toReversed()
    },
    get protocol(): string | undefined {
      return replyOf(this)?.request.protocol
    },
    get host(): string | undefined {
      return replyOf(this)?.request.host
    }
  })
}

/** Of several values in a header of proxies Express takes the first, Fastify the last, which the nearest proxy has added. */
function forwardedMembers(): Descriptors {
  return members({
    get protocol(): unknown {
      const isList = this.headers['x-forwarded-proto']?.includes(',')
      return (isList && replyOf(this)?.request.protocol) || expressProtocol.call(this)
    },
    get host(): unknown {
      const isList = this.headers['x-forwarded-host']?.includes(',')
      return (isList && replyOf(this)?.request.host) || expressHost.call(this)
    }
  })
}

function bodyMembers(): Descriptors {
  return { formData: { value: formData, writable: true, configurable: true, enumerable: true } }
}

function lifeMembers(): Descriptors {
  return members({
    get requestId(): string | undefined {
      return replyOf(this)?.request.id
    },
    get signal(): AbortSignal {
      return (this[kAbort] ?? watchClient(this)).signal
    }
  })
}

function members(definitions: object & ThisType<LinkedRequest>): Descriptors {
  return Object.getOwnPropertyDescriptors(definitions) as Descriptors
}

function fileRoute(request: LinkedRequest): { path: string } | undefined {
  const routed = replyOf(request)?.request
  const path = routed && (routed.routeOptions.url ?? refusingRouteOf(routed)?.url)
  return path === undefined ? undefined : { path }
}

function leave(request: LinkedRequest, escape: Escape, error: unknown): void {
  const reply = replyOf(request)
  if (reply !== undefined) escape(reply, error)
}

export function replyOf(request: LinkedRequest) {
  return (request.res as LinkedResponse | undefined)?.[kReply] ?? undefined
}

function getterOf(name: 'protocol' | 'host'): (this: object) => unknown {
  return Object.getOwnPropertyDescriptor(express.request, name)?.get as (this: object) => unknown
}

const expressProtocol = getterOf('protocol')
const expressHost = getterOf('host')

function cookieValues(request: LinkedRequest): Record<string, unknown> {
  const parsed = request[kCookies]
  if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>
  return parseCookieHeader(request.headers.cookie)
}

function watchClient(request: LinkedRequest): AbortController {
  const abort = (request[kAbort] = new AbortController())
  const response = request.res
  const abortUnlessEnded = (): void => {
    if (!response?.writableEnded) abort.abort()
  }
  if (response?.destroyed) abortUnlessEnded()
  else if (response !== undefined) {
    response.once('close', abortUnlessEnded)
    request[kExpressSide]?.openSignals.add(abort, response)
  }
  return abort
}
