import http from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { armTap } from '../body/tap.js'
import type { ExpressSide } from './classes.js'
import { joinHeaders } from '../answer/headers.js'
import { headersOf, serverClassNames } from '../link/private-names.js'
import { initRequestState, initResponseState } from '../link/message-classes.js'
import { kExpressSide, kOriginalUrl, kReply, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { reclaimRequestAndResponse, adoptRequestAndResponse } from './http2-and-injected.js'

/**
 * Makes a running server of the host's create our objects, if it still creates node's own. Where that cannot be done,
 * {@link link} prepares the objects one by one, which costs three times as much.
 */
export function adoptServer(server: http.Server, side: ExpressSide): boolean {
  const names = serverClassNames(server)
  if (names === undefined) return false
  const isOwn = Reflect.get(server, names.request) === http.IncomingMessage
  if (!isOwn || Reflect.get(server, names.response) !== http.ServerResponse) return false
  Reflect.set(server, names.request, side.IncomingMessage)
  Reflect.set(server, names.response, side.ServerResponse)
  return true
}

const seen = new WeakSet<http.Server>()

/**
 * {@link adoptServer} for the server that made a request, at the first one of it: `http.createServer(app)` then costs what
 * `app.listen()` does. Its other listeners get our objects as well, which are node's own where no reply belongs to them.
 */
export function adoptServerOf(request: http.IncomingMessage, response: http.ServerResponse, side: ExpressSide): void {
  if ((response as LinkedResponse)[kReply] !== undefined) return // ours already
  const { server } = (request.socket ?? {}) as { server?: http.Server | null }
  if (!server || seen.has(server)) return
  seen.add(server)
  adoptServer(server, side)
}

/** Ties Node's request and response to Fastify's. The first step of every request that meets Express code. */
export function link(side: ExpressSide, request: FastifyRequest, reply: FastifyReply): void {
  const response = reply.raw as LinkedResponse
  if (response[kReply] === undefined) adoptRequestAndResponse(side, request.raw, reply.raw)
  else if ((request.raw as LinkedRequest)[kExpressSide] !== side)
    reclaimRequestAndResponse(side, request.raw, reply.raw)
  response[kReply] = reply
  joinHeaders(response, headersOf(reply))
  const linked = request.raw as LinkedRequest
  linked[kOriginalUrl] ??= linked.url // hooks and handlers may change it
  if (side.parsesBodies) armTap(linked)
}

/** Makes our members work on the objects of a foreign Express app in which one of ours is mounted: they act as Express's own. */
export function prepareForeignRequest(request: http.IncomingMessage, response: http.ServerResponse): void {
  if ((response as LinkedResponse)[kReply] !== undefined) return
  initRequestState(request)
  initResponseState(response)
}
