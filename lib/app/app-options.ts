import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AppOptions, ShutdownOptions } from '../contract/options.js'
import {
  checkOptions,
  FUNCTION,
  isAtLeast,
  isFlag,
  isWhole,
  objectOf,
  SWITCH,
  type OptionOwner,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { isRecord } from '../options/values.js'
import { ROUTES_RULES } from '../options/routes-options.js'
import { checkOrigins, CORS } from './cors.js'
import type { FastifyServerOptions } from 'fastify'
import type { ExpressSide } from '../express/classes.js'
import { type HeaderName, headerName, noteSendable } from '../answer/header-names.js'
import { kRequestId, type LinkedRequest } from '../link/state.js'
import type { Runtime } from '../dispatch/runtime.js'
import { clientErrorHandler } from './servers.js'
import { FailureLog, frameworkErrorHandler, type AppParts } from './install-error-handler.js'
import { defaultLogger } from './readable-log.js'
import { randomId } from './request-ids.js'
import { routeDefaults, TRUST_PROXY } from '../options/defaults.js'

/** Rejects a number of hops: Fastify trusts no hop then and Express does, and both must see the same client. */
const TRUST_EXPECTED = 'true, false, addresses, or a function such as (address, hop) => hop < 1'

const NETWORK_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal'])

const MILLISECONDS: OptionRule = { expected: 'milliseconds', accepts: isAtLeast(0) }

const RULES: OptionRules<AppOptions> = {
  ...ROUTES_RULES,
  port: { expected: 'an integer from 0 to 65535', accepts: isPort },
  host: { expected: 'a host name or address; "0.0.0.0" for all', accepts: isHost },
  trustProxy: { expected: TRUST_EXPECTED, accepts: isTrust },
  errorHandler: FUNCTION,
  expressOptions: objectOf<NonNullable<AppOptions['expressOptions']>>({ enableCors: CORS }),
  requestLog: { expected: 'true, false or "errors"', accepts: (value) => isFlag(value) || value === 'errors' },
  shutdown: objectOf<ShutdownOptions>({ signals: SWITCH, delay: MILLISECONDS, graceTime: MILLISECONDS }),
  fastifyOptions: { expected: 'an object', accepts: isRecord }
}

const OWNER: OptionOwner = { name: 'createApp', hint: "Fastify's own options go into fastifyOptions" }

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkAppOptions(options: AppOptions): void {
  checkOptions(OWNER, options, RULES)
  checkOrigins(OWNER.name, options.expressOptions?.enableCors?.cookieOrigins)
}

export function isPort(port: unknown): port is number {
  return isWhole(0, 65535)(port)
}

/** An empty one, perhaps from an environment variable, would listen on all interfaces. */
function isHost(host: unknown): boolean {
  return typeof host === 'string' && host.trim() !== ''
}

function isTrust(trust: unknown): boolean {
  if (typeof trust === 'boolean' || typeof trust === 'function') return true
  const addresses: unknown[] = typeof trust === 'string' ? trust.split(',') : Array.isArray(trust) ? trust : [undefined]
  return addresses.every((address) => typeof address === 'string' && isNetwork(address.trim()))
}

/** As proxy-addr takes them: an address, with or without a mask, or the name of a kind of network. */
function isNetwork(network: string): boolean {
  if (NETWORK_NAMES.has(network)) return true
  const [address = '', mask, ...rest] = network.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return mask === undefined || isBits(mask, version) || (version === 4 && isNetmask(mask))
}

function isBits(mask: string, version: number): boolean {
  return /^\d+$/.test(mask) && isWhole(1, version === 4 ? 32 : 128)(Number(mask))
}

/** `255.255.0.0`: ones, then zeros. */
function isNetmask(mask: string): boolean {
  return isIP(mask) === 4 && Number(ipaddr.IPv4.parse(mask).prefixLengthFromSubnetMask()) > 0
}

/** Longest value of a path parameter, in characters. */
const MAX_PARAM_LENGTH = 1024

/** Milliseconds until a request must have arrived whole; Fastify sets no limit. */
const REQUEST_TIMEOUT = 60_000

/** What the app's Fastify is made with: our classes and limits, under what the user gives. */
export function fastifyOptions(options: AppOptions, runtime: Runtime, parts: AppParts): FastifyServerOptions {
  const { fastifyOptions: given = {}, trustProxy = TRUST_PROXY } = options
  const { bodyLimit, handlerTimeout } = routeDefaults(options)
  return {
    ...(isLoggerGiven(given) ? {} : { logger: defaultLogger(runtime.mode) }), // Fastify takes one of the two
    logController: new FailureLog(),
    genReqId: requestId,
    requestTimeout: REQUEST_TIMEOUT,
    return503OnClosing: false, // a request that was accepted is answered
    frameworkErrors: frameworkErrorHandler(runtime, parts, handlerTimeout),
    clientErrorHandler: clientErrorHandler(runtime, options),
    ...given,
    trustProxy,
    bodyLimit,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH, ...given.routerOptions },
    ...serverClasses(given as ServerChoice, runtime.express)
  } as FastifyServerOptions
}

/** As Fastify reads them: `logger: undefined` is a choice, of none. */
function isLoggerGiven(given: object): boolean {
  return 'logger' in given || Reflect.get(given, 'loggerInstance') !== undefined
}

interface ServerChoice {
  http?: object | null
  https?: object | boolean | null
  http2?: boolean
}

const REQUEST_ID = headerName('x-request-id') as HeaderName

function requestId(request: object): string {
  const earlier = (request as Partial<LinkedRequest>)[kRequestId]
  if (earlier !== undefined) return earlier
  const id = randomId()
  noteSendable(REQUEST_ID, id) // which need not be looked at when the head is written
  return id
}

/** Our request and response classes, where the kind of server takes them. Requests of HTTP/2 are prepared one by one. */
function serverClasses(given: ServerChoice, side: ExpressSide): object {
  const classes = { IncomingMessage: side.IncomingMessage, ServerResponse: side.ServerResponse }
  const https = given.https === true ? {} : given.https
  if (given.http2 === true) {
    if (!https) return {}
    const fallback = { Http1IncomingMessage: side.IncomingMessage, Http1ServerResponse: side.ServerResponse }
    return { https: { ...https, ...fallback } }
  }
  return https ? { https: { ...https, ...classes } } : { http: { ...given.http, ...classes } }
}
