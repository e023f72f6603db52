import type { FastifyReply } from 'fastify'
import type { ManifestRoute } from '../contract/manifest.js'
import { isProduction } from '../contract/mode.js'
import type { Runtime } from './runtime.js'

/** Routes whose author has been told; a second warning would say nothing new. */
const warned = new WeakSet<object>()

/** What a message says of a route: its method and file. Undefined for a route that is no file's. */
export function routeOf({ request }: FastifyReply): { method: string; file: string; route: ManifestRoute } | undefined {
  const { twinroute: route } = request.routeOptions.config as { twinroute?: ManifestRoute }
  return route === undefined ? undefined : { method: request.method, file: route.file, route }
}

/** In development, once per route: an object with a status and further keys is data, which its author may not have meant. */
export function warnOfStatus(runtime: Runtime, reply: FastifyReply, result: object): void {
  const { status } = result as { status?: unknown }
  if (typeof status !== 'number' || isProduction(runtime.mode)) return
  if (!Number.isInteger(status) || status < 200 || status > 599 || status === reply.statusCode) return
  const place = routeOf(reply)
  if (place === undefined || warned.has(place.route)) return
  warned.add(place.route)
  const { method, file } = place
  const others = Object.keys(result).filter((key) => key !== 'status' && key !== 'headers' && key !== 'body')
  reply.log.warn(
    { method, file },
    `The returned object has the key status (${status}) beside ${others.join(', ')}, so it is data and is sent with ` +
      `status ${reply.statusCode}. To answer with status ${status}, return { status, headers, body } and no other keys`
  )
}
