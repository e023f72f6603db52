import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AppOptions } from '../contract/options.js'
import { routeFileOf } from '../link/refusal.js'

/** Begins to watch a request; its line is written when the answer has ended, or when the client has left. */
export type WatchRequest = (request: FastifyRequest, reply: FastifyReply) => void

interface Watched {
  /** The last one of a request that a middleware has sent to another route. */
  request: FastifyRequest
  /** Milliseconds, of `performance.now()`. */
  begun: number
  /** The client's address: when the answer has ended, its connection may be gone. */
  ip: string
}

/** What a line of the request log has beside Fastify's `reqId`. */
export interface RequestLine {
  method: string
  /** Path and query, as the client has sent them. */
  url: string
  /** The pattern of the route; undefined where no route has the path. */
  route: string | undefined
  /** Undefined when the client left before the answer. */
  status: number | undefined
  /** Milliseconds from the first hook to the end of the answer. */
  ms: number
  /** The client's address, as `trustProxy` tells it. */
  ip: string
}

const FIRST_ERROR = 400
const FIRST_FAILURE = 500

/**
 * One line per request, or per request that ended with a status of 400 or more, or without an answer. A line of a failure
 * (500 or more) has level `warn`, every other `info`.
 * @returns undefined where nothing is logged: then nothing runs per request
 */
export function createRequestLog({ requestLog = false }: AppOptions): WatchRequest | undefined {
  if (requestLog === false) return undefined
  const watched = new WeakMap<ServerResponse, Watched>()
  return (request, { raw }) => {
    const known = watched.get(raw)
    if (known !== undefined) {
      known.request = request
      return
    }
    const entry: Watched = { request, begun: performance.now(), ip: addressOf(request) }
    watched.set(raw, entry)
    const write = (status: number | undefined): void => {
      raw.removeListener('finish', onFinish)
      raw.removeListener('close', onClose)
      if (requestLog === true || (status ?? FIRST_ERROR) >= FIRST_ERROR) writeLine(entry, status)
    }
    const onFinish = (): void => write(raw.statusCode)
    const onClose = (): void => write(undefined)
    raw.on('finish', onFinish)
    raw.on('close', onClose)
  }
}

/** The same as a hook. */
export function hookOf(watch: WatchRequest): onRequestHookHandler {
  return (request, reply, done) => {
    watch(request, reply)
    done()
  }
}

function describeRequest({ request, begun, ip }: Watched, status: number | undefined): RequestLine {
  const { method, originalUrl, routeOptions } = request
  return {
    method,
    url: originalUrl,
    route: routeFileOf(request)?.pattern ?? routeOptions.url,
    status,
    ms: Math.round((performance.now() - begun) * 10) / 10,
    ip
  }
}

/** Fastify's own request of a malformed path does not know which proxies are trusted; Express's side does. */
function addressOf({ raw, ip }: FastifyRequest): string {
  return (raw as { ip?: string }).ip ?? ip
}

function writeLine(watched: Watched, status: number | undefined): void {
  const line = describeRequest(watched, status)
  const { log } = watched.request
  const text = `${line.method} ${line.url} ${status ?? 'aborted by the client'} ${line.ms} ms`
  if ((status ?? 0) >= FIRST_FAILURE) log.warn({ http: line }, text)
  else log.info({ http: line }, text)
}
