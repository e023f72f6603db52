import type { FastifyReply } from 'fastify'
import type { ManifestRoute } from '../contract/manifest.js'
import { isProduction, type Mode } from '../contract/mode.js'
import { loggedRequest } from '../errors/readable-error.js'
import { routeFileOf } from '../link/refusal.js'
import { isAnswered, type LinkedResponse } from '../link/state.js'
import { MAY_BE_RETURNED } from './body-kinds.js'

/** The part of Runtime that warnings read. */
interface Speaker {
  readonly mode: Mode
}

/** What an unanswered request waits for. */
export type Waiting = 'middleware' | 'handler' | 'error handler'

/** Routes whose author has been told of one thing; a second warning would say nothing new. */
const toldOfStatus = new WeakSet<object>()
const toldOfSilence = new WeakSet<object>()

/** Milliseconds: long enough for most callbacks, short enough for an author who sits and waits. */
const SILENCE = 1000

const HOW_TO_ANSWER = `Return ${MAY_BE_RETURNED}; or call response.json(), send() or end()`

/** What a message says of a route: its method and file. Undefined for a route that is no file's. */
export function routeOf(reply: FastifyReply): { method: string; file: string; route: ManifestRoute } | undefined {
  const route = routeFileOf(reply.request)
  return route === undefined ? undefined : { method: loggedRequest(reply).method, file: route.file, route }
}

/** In development, once per route: an object with a status and further keys is data, which its author may not have meant. */
export function warnOfStatus({ mode }: Speaker, reply: FastifyReply, result: object): void {
  if (isProduction(mode)) return
  const { status } = result as { status?: unknown }
  if (typeof status !== 'number') return
  if (!Number.isInteger(status) || status < 200 || status > 599 || status === reply.statusCode) return
  const place = routeOf(reply)
  if (place === undefined || toldOfStatus.has(place.route)) return
  toldOfStatus.add(place.route)
  const { method, file } = place
  const others = Object.keys(result).filter((key) => key !== 'status' && key !== 'headers' && key !== 'body')
  reply.log.warn(
    { method, file },
    `The returned object has the key status (${status}) beside ${others.join(', ')}, so it is data and is sent with ` +
      `status ${reply.statusCode}. To answer with status ${status}, return { status, headers, body } and no other keys`
  )
}

/** Who has not answered, and how it is done. */
export function describeWait(reply: FastifyReply, waiting: Waiting): string {
  const place = routeOf(reply)
  const route = place === undefined ? loggedRequest(reply).method : `${place.method} of ${place.file}`
  if (waiting === 'handler') return `${route} has returned nothing and not answered. ${HOW_TO_ANSWER}`
  if (waiting === 'error handler') return `error middleware or the error handler has not answered (${route})`
  return `a middleware in front of ${route} has neither answered nor called next()`
}

/** In development, once per route: the handler has returned nothing, and the answer does not come by other means. */
export function warnOfSilence({ mode }: Speaker, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  if (isAnswered(response) || isProduction(mode)) return
  const place = routeOf(reply)
  if (place === undefined || toldOfSilence.has(place.route)) return
  const { method, file, route } = place
  const tell = (): void => {
    if (isAnswered(response) || response.destroyed || toldOfSilence.has(route)) return
    toldOfSilence.add(route)
    reply.log.warn({ method, file }, `No answer after ${SILENCE} ms: ${describeWait(reply, 'handler')}`)
  }
  setTimeout(tell, SILENCE).unref()
}
