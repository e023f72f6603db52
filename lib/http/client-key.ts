import ipaddr from 'ipaddr.js'
import type { Request } from '../contract/request.js'

const IPV6_NETWORK_BYTES = 8
/** Keys are kept; a client must not choose how much. */
const MAX_KEY_LENGTH = 256

/** Who asks for what: client network and route pattern. The URL's text is no part of it, or a new spelling were a new client. */
export function clientRouteKey(request: Request): string {
  return `${clientNetwork(request.ip)}|${routePattern(request)}`.slice(0, MAX_KEY_LENGTH)
}

/**
 * An IPv4 address as it is, an IPv6 address as its /64 network: a single customer usually gets all of one. An IPv4 address
 * in IPv6 notation (`::ffff:192.0.2.1`, what a dual-stack socket reports) is the IPv4 address.
 */
export function clientNetwork(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex')}/64`
}

/**
 * The pattern of the route, or the prefix the middleware hangs on. Folded to one case, because a router that ignores case
 * leaves `baseUrl` as the client spelled it.
 */
function routePattern(request: Request): string {
  const path: unknown = request.route?.path
  return String(path ?? request.baseUrl).toLowerCase()
}
