import http from 'node:http'
import { Socket } from 'node:net'
import {
  kAbort,
  kAfter,
  kAnswered,
  kBefore,
  kBodyError,
  kChunks,
  kCookieHelper,
  kCookies,
  kDeadline,
  kExpect,
  kForm,
  kHeaders,
  kInStack,
  kLimit,
  kLocals,
  kNames,
  kNext,
  kOriginalUrl,
  kParams,
  kQuery,
  kQueryOf,
  kRawEnd,
  kRedispatched,
  kReply,
  kRequestId,
  kRoute,
  kScope,
  kSize,
  kTap,
  kTick,
  kWake,
  OPEN,
  TAP_IDLE,
  type LinkedRequest,
  type LinkedResponse
} from './state.js'

export type RequestClass<Request> = new (socket: Socket) => Request
export type ResponseClass<Response> = new (request: http.IncomingMessage, options?: unknown) => Response

// node's own classes, with the members that the constructors below assign; node's types leave out a response's options
const NodeRequest = http.IncomingMessage as RequestClass<unknown> as RequestClass<LinkedRequest>
const NodeResponse = http.ServerResponse as ResponseClass<unknown> as ResponseClass<LinkedResponse>

/*
 * The constructors assign our members on `this`, line by line: V8 counts these lines and leaves room for the members inside
 * the object. In arrays beside it, where members go that a function adds, a request costs a tenth more. `class … extends` is part
 * of it: a function that calls IncomingMessage costs 2 µs more per object on Node 24 and later.
 */

/** Node's request with our members. */
export class StatefulRequest extends NodeRequest {
  constructor(socket: Socket) {
    super(socket)
    this.res = undefined
    this[kTap] = TAP_IDLE
    this[kChunks] = null
    this[kSize] = 0
    this[kLimit] = 0
    this[kWake] = null
    this[kBodyError] = undefined
    this[kExpect] = false
    this[kQuery] = undefined
    this[kQueryOf] = undefined
    this[kParams] = undefined
    this[kCookies] = undefined
    this[kCookieHelper] = undefined
    this[kInStack] = false
    this[kRequestId] = undefined
    this[kRedispatched] = false
    this[kAbort] = null
    this[kForm] = null
    this[kOriginalUrl] = undefined
    this[kRoute] = undefined
    this[kNext] = undefined
  }
}

/** Node's response with our members, and with those of node that it would add when the head is written. */
export class StatefulResponse extends NodeResponse {
  constructor(request: http.IncomingMessage, options?: unknown) {
    super(request, options)
    ;(request as LinkedRequest).res = this
    this.statusCode = 200
    this[kReply] = null
    this[kHeaders] = null
    this[kNames] = null
    this[kAnswered] = OPEN
    this[kRawEnd] = null
    this[kDeadline] = null
    this[kBefore] = null
    this[kAfter] = null
    this[kTick] = 0
    this[kScope] = null
    this[kLocals] = undefined
  }
}

type Initial = readonly (readonly [symbol, unknown])[]

let requestState: Initial | undefined
let responseState: Initial | undefined

/** Our members for a request that is not of our class. */
export function initRequestState(request: object): void {
  requestState ??= initialOf(new StatefulRequest(new Socket()))
  assign(request, requestState)
}

/** Our members for a response that is not of our class. */
export function initResponseState(response: object): void {
  responseState ??= initialOf(new StatefulResponse(new http.IncomingMessage(new Socket())))
  assign(response, responseState)
}

/** Our members of an object, by the description that all of them begin with. */
function initialOf(blank: object): Initial {
  const symbols = Object.getOwnPropertySymbols(blank).filter(({ description }) => description?.startsWith('twinroute.'))
  return symbols.map((symbol) => [symbol, Reflect.get(blank, symbol)])
}

function assign(target: object, initial: Initial): void {
  for (const [symbol, value] of initial) Reflect.set(target, symbol, value)
}
