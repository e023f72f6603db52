import { isIP } from 'node:net'
import type { AppOptions, ShutdownOptions } from '../contract/options.js'
import {
  checkAll,
  checkObject,
  checkRoutesOptions,
  isMilliseconds,
  ROUTES_OPTIONS,
  unknownOption
} from '../plugins/check-options.js'
import { checkCors } from './check-cors.js'

const APP_OPTIONS = [
  ...ROUTES_OPTIONS,
  'port',
  'host',
  'trustProxy',
  'errorHandler',
  'expressOptions',
  'shutdown',
  'fastifyOptions'
] as const satisfies readonly (keyof AppOptions)[]

/** A number of hops is refused: Fastify believes none of them, where Express would, and both must read the same client. */
const TRUST_EXPECTED = 'true, false, addresses, or a function such as (address, hop) => hop < 1'

const NETWORK_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkAppOptions(options: AppOptions): void {
  checkRoutesOptions(options)
  const { port, host, trustProxy, errorHandler, expressOptions, shutdown, fastifyOptions } = options
  checkAll([
    ['port', port, port === undefined || isPort(port), 'an integer from 0 to 65535'],
    ['host', host, host === undefined || isHost(host), 'a host name or address; "0.0.0.0" for all'],
    ['trustProxy', trustProxy, trustProxy === undefined || isTrust(trustProxy), TRUST_EXPECTED],
    ['errorHandler', errorHandler, errorHandler === undefined || typeof errorHandler === 'function', 'a function']
  ])
  if (expressOptions !== undefined) checkExpressOptions(expressOptions)
  if (shutdown !== undefined) checkShutdown(shutdown)
  if (fastifyOptions !== undefined) checkObject('fastifyOptions', fastifyOptions)
  const unknown = unknownOption(options, APP_OPTIONS)
  if (unknown !== undefined) {
    throw new TypeError(`createApp has no option ${unknown}; Fastify's own options go into fastifyOptions`)
  }
}

function checkExpressOptions(expressOptions: NonNullable<AppOptions['expressOptions']>): void {
  checkObject('expressOptions', expressOptions)
  const { enableCors } = expressOptions
  if (enableCors !== undefined) checkCors(enableCors)
}

function checkShutdown(shutdown: ShutdownOptions): void {
  checkObject('shutdown', shutdown)
  const { signals, delay, graceTime } = shutdown
  checkAll([
    ['shutdown.signals', signals, signals === undefined || typeof signals === 'boolean', 'true or false'],
    ['shutdown.delay', delay, isMilliseconds(delay), 'milliseconds'],
    ['shutdown.graceTime', graceTime, isMilliseconds(graceTime), 'milliseconds']
  ])
}

function isPort(port: unknown): boolean {
  return Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65535
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
function isNetwork(address: string): boolean {
  return NETWORK_NAMES.has(address) || isIP(address.split('/', 1)[0] ?? '') !== 0
}
