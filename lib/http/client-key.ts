import ipaddr from 'ipaddr.js'
import type { Request } from '../contract/request.js'

const IPV6_NETWORK_BYTES = 8
/** Keys are kept; a client must not choose how much. */
const MAX_KEY_LENGTH = 256

/** What stands for the address of all clients that have none: over a Unix socket, or behind a proxy that hides them. */
const NO_ADDRESS = 'unknown'

/**
 * Who asks for what: client network and route pattern. The URL's text is no part of it, or a new spelling were a new client.
 *
 * @param onNoAddress hears that the client has no address, so that it is counted together with all others without one
 */
export function clientRouteKey(request: Request, onNoAddress: () => void): string {
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
