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

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkAppOptions(options: AppOptions): void {
  checkRoutesOptions(options)
  const { port, host, trustProxy, errorHandler, expressOptions, shutdown, fastifyOptions } = options
  checkAll([
    ['port', port, port === undefined || isPort(port), 'an integer from 0 to 65535'],
    ['host', host, host === undefined || typeof host === 'string', 'a host name or address'],
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

function isTrust(trust: unknown): boolean {
  const isAddresses = Array.isArray(trust) && trust.every((address) => typeof address === 'string')
  return isAddresses || ['boolean', 'string', 'function'].includes(typeof trust)
}
