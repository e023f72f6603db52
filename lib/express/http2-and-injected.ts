import { EventEmitter } from 'node:events'
import http from 'node:http'
import { constants, type Http2ServerResponse } from 'node:http2'
import { Readable } from 'node:stream'
import express from 'express'
import { tapRead } from '../body/tap.js'
import { CONNECTION_HEADERS } from '../errors/error-headers.js'
import { validateHeader } from '../errors/error-headers.js'
import { hasSourceEnded } from '../link/private-names.js'
import { type ExpressSide, writingMembers } from './classes.js'
import { initRequestState, initResponseState } from '../link/message-classes.js'
import { kExpect, kOtherKind, kTap, TAP_MISSED, type LinkedRequest } from '../link/state.js'

/** Of node's HTTP/2 response. */
interface Trailing {
  setTrailer(name: string, value: string): void
}

const incoming = http.IncomingMessage.prototype
const outgoing = http.ServerResponse.prototype

/**
 * Gives Express's API to a request and response that are not of our classes: injected, HTTP/2, or of a host's server that
 * could not be adopted. The prototypes become those of any other request and response; what their own kind adds to node's
 * streams is defined on the objects themselves before. So it survives when other code sets the prototypes: a mounted Express
 * app sets them to its own, under which an injected request would be answered with an empty 200 and an HTTP/2 stream would end the process.
 */
export function adoptRequestAndResponse(
  side: ExpressSide,
  request: http.IncomingMessage,
  response: http.ServerResponse
): void {
  if (Object.getPrototypeOf(request) !== incoming) defineUnlessOwn(request, ownRequestMembers(request))
  if (Object.getPrototypeOf(response) !== outgoing) defineUnlessOwn(response, ownResponseMembers(response))
  Object.setPrototypeOf(request, side.expressApp.request)
  Object.setPrototypeOf(response, side.expressApp.response)
  const linked = request as LinkedRequest
  const expectsContinue = Reflect.get(request, kExpect) === true // noted when the request came
  initRequestState(request)
  initResponseState(response)
  linked[kTap] = TAP_MISSED
  linked[kExpect] = expectsContinue
  const socket = request.socket as { readable?: boolean } | undefined
  if (socket !== undefined && socket.readable === undefined) socket.readable = true // else `complete` means nothing
  Object.assign(request, { res: response })
  // adapters of serverless platforms make a response with a stub for its request
  if (response.req !== request) Object.assign(response, { req: request })
}

/** Own values an Express application leaves on a request it has passed on; they would hide what the router found. */
const LEFT_BY_EXPRESS = ['params', 'next', 'route', 'baseUrl'] as const

/**
 * Takes back a request and response of ours whose prototypes another Express application on the host has replaced with its own.
 */
export function reclaimRequestAndResponse(
  side: ExpressSide,
  request: http.IncomingMessage,
  response: http.ServerResponse
): void {
  Object.setPrototypeOf(request, side.IncomingMessage.prototype as object)
  Object.setPrototypeOf(response, side.ServerResponse.prototype as object)
  for (const name of LEFT_BY_EXPRESS) Reflect.deleteProperty(request, name)
}

/** Own members are left as they are: a mock has its functions on the object itself, and tests wait for what they emit. */
function defineUnlessOwn(target: object, members: PropertyDescriptorMap): void {
  const own = Object.keys(target).filter((name) => name in members)
  const kept = own.length === 0 ? members : omit(members, own)
  Object.defineProperties(target, kept)
}

function omit(members: PropertyDescriptorMap, names: readonly string[]): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

const membersByKind = new WeakMap<object, PropertyDescriptorMap>()

function ownRequestMembers(request: http.IncomingMessage): PropertyDescriptorMap {
  return membersOfKind(request, () => ({
    ...membersOf(request, [incoming, Readable.prototype]),
    [kOtherKind]: hiddenMethod(true),
    _destroy: hiddenMethod(request._destroy), // IncomingMessage's own takes a request without `complete` for a cut one
    ...('complete' in request ? {} : { complete: { get: isReadToEnd, configurable: true } }),
    ...(request.httpVersionMajor === 2 ? http2Members(request) : {})
  }))
}

function http2Members(request: http.IncomingMessage): PropertyDescriptorMap {
  return {
    get: hiddenMethod(getHttp2Header),
    header: hiddenMethod(getHttp2Header),
    _read: hiddenMethod(tapRead(request._read)) // asks an `Expect: 100-continue` client for its body
  }
}

function ownResponseMembers(response: http.ServerResponse): PropertyDescriptorMap {
  return membersOfKind(response, () => {
    const kind = Object.getPrototypeOf(response) as http.ServerResponse & Trailing
    const isHttp2 = response.req?.httpVersionMajor === 2
    const members = { ...membersOf(response, [outgoing]), ...writingMembers(isHttp2 ? checkingHeaders(kind) : kind) }
    return isHttp2 ? { ...members, ...http2ResponseMembers(kind) } : members
  })
}

function http2ResponseMembers(kind: http.ServerResponse & Trailing): PropertyDescriptorMap {
  return {
    // HTTP/2 has no reason phrase (RFC 9113, section 8.3.2), and node warns when one is read or set
    statusMessage: hiddenMethod(undefined),
    setTrailer: hiddenMethod(setTrailerOf(kind)),
    destroy: hiddenMethod(resetting(kind.destroy)),
    // node's has none, and a wait for an answer ends when the client has left
    destroyed: { get: isStreamDestroyed, configurable: true }
  }
}

/**
 * Node's HTTP/2 response resets the stream with NO_ERROR, after which a client takes what it has got for the whole answer.
 * Over HTTP/1 the broken connection tells it.
 */
function resetting(destroy: http.ServerResponse['destroy']): unknown {
  return function (this: Http2ServerResponse & http.ServerResponse, error?: Error) {
    if (this.headersSent && !this.writableEnded) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return destroy.call(this, error)
  }
}

/**
 * Node's HTTP/2 response checks a header's value when the head leaves, often after the handler that could have been told.
 * That of HTTP/1 refuses it where it is set.
 */
function checkingHeaders(kind: http.ServerResponse): http.ServerResponse {
  return Object.create(kind, {
    setHeader: hiddenMethod(checkingSetter(kind.setHeader)),
    appendHeader: hiddenMethod(checkingSetter(kind.appendHeader))
  }) as http.ServerResponse
}

function checkingSetter(set: (name: string, value: string[]) => unknown): unknown {
  return function (this: http.ServerResponse, name: string, value: string[]) {
    if (!this.headersSent) validateHeader(name, value)
    return set.call(this, name, value)
  }
}

function isStreamDestroyed(this: Http2ServerResponse): boolean {
  return this.stream.destroyed
}

/** Node writes trailers from an event, where nothing would catch what a value throws: they are made text where they are set. */
function setTrailerOf({ setTrailer }: Trailing): unknown {
  return function (this: http.ServerResponse, name: string, value: unknown): void {
    validateHeader(name, value)
    if (CONNECTION_HEADERS.includes(name.trim().toLowerCase())) return
    setTrailer.call(this, name, Array.isArray(value) ? value.map(String).join(', ') : String(value))
  }
}

/** One set per kind of object. */
function membersOfKind(target: object, create: () => PropertyDescriptorMap): PropertyDescriptorMap {
  const kind = Object.getPrototypeOf(target) as object
  let found = membersByKind.get(kind)
  if (found === undefined) membersByKind.set(kind, (found = create()))
  return found
}

/** What every request and response has from node's EventEmitter, the list of listeners included, which must stay the object's own. */
const SHARED = new Set<string | symbol>(['constructor', ...Reflect.ownKeys(EventEmitter.prototype)])

/** The members of an object's prototypes down to the ones that every request and response has, the nearer ones winning. */
function membersOf(target: object, ends: readonly object[]): PropertyDescriptorMap {
  const members: PropertyDescriptorMap = {}
  const stops = new Set<object | null>([...ends, Object.prototype, null])
  for (let holder = prototypeOf(target); holder !== null && !stops.has(holder); holder = prototypeOf(holder)) {
    for (const name of Reflect.ownKeys(holder)) {
      // node's HTTP/2 classes have members under symbols, too
      const descriptor = Object.getOwnPropertyDescriptor(holder, name)
      if (!SHARED.has(name)) members[name] ??= { ...descriptor, configurable: true }
    }
  }
  return members
}

function prototypeOf(target: object): object | null {
  return Object.getPrototypeOf(target) as object | null
}

function hiddenMethod(value: unknown): PropertyDescriptor {
  return { value, writable: true, configurable: true, enumerable: false }
}

/** An injected request does not say whether it has been read to its end, which body parsers ask before they read. */
function isReadToEnd(this: http.IncomingMessage): boolean {
  return hasSourceEnded(this)
}

/** HTTP/2 names the host in `:authority`. */
function getHttp2Header(this: LinkedRequest, name: string): unknown {
  const value: unknown = express.request.get.call(this, name)
  return value ?? (name.toLowerCase() === 'host' ? this.headers[':authority'] : undefined)
}
