import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AppOptions, ShutdownOptions } from '../contract/options.js'
import {
  checkOptions,
  FUNCTION,
  isAtLeast,
  isRecord,
  isWhole,
  objectOf,
  SWITCH,
  type OptionOwner,
  type OptionRule,
  type OptionRules
} from '../options/rules.js'
import { ROUTES_RULES } from '../options/routes-options.js'
import { checkOrigins, CORS } from './cors.js'

/** Rejects a number of hops: Fastify trusts no hop then and Express does, and both must see the same client. */
const TRUST_EXPECTED = 'true, false, addresses, or a function such as (address, hop) => hop < 1'

const NETWORK_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal'])

const MILLISECONDS: OptionRule = { expected: 'milliseconds', accepts: isAtLeast(0) }

const RULES: OptionRules<AppOptions> = {
  ...ROUTES_RULES,
  port: { expected: 'an integer from 0 to 65535', accepts: isWhole(0, 65535) },
  host: { expected: 'a host name or address; "0.0.0.0" for all', accepts: isHost },
  trustProxy: { expected: TRUST_EXPECTED, accepts: isTrust },
  errorHandler: FUNCTION,
  expressOptions: objectOf<NonNullable<AppOptions['expressOptions']>>({ enableCors: CORS }),
  shutdown: objectOf<ShutdownOptions>({ signals: SWITCH, delay: MILLISECONDS, graceTime: MILLISECONDS }),
  fastifyOptions: { expected: 'an object', accepts: isRecord }
}

const OWNER: OptionOwner = { name: 'createApp', hint: "Fastify's own options go into fastifyOptions" }

/** @throws TypeError naming the wrong or unknown option and what was expected */
export function checkAppOptions(options: AppOptions): void {
  checkOptions(OWNER, options, RULES)
  checkOrigins(OWNER.name, options.expressOptions?.enableCors?.cookieOrigins)
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
