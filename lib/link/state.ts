import type { AsyncResource } from 'node:async_hooks'
import type { FastifyReply } from 'fastify'
import type { RequestFormData } from '../contract/uploads.js'
import type { Request, Response } from '../contract/request.js'

/** What the objects are for: an app of `createApp`, a host's own Fastify, an application of `twinroute/express`. */
export type RuntimeKind = 'app' | 'host' | 'express'

/*
 * What twinroute keeps on Node's request and response. The constructors in message-classes.ts set all members, so that every
 * request of an app has the same hidden class; nothing else is written to these objects on the way.
 */

export const kReply: unique symbol = Symbol('twinroute.reply')
/** On the prototype of an app's requests: the Express side of that app. */
export const kExpressSide: unique symbol = Symbol('twinroute.express side')
export const kHeaders: unique symbol = Symbol('twinroute.headers')
export const kNames: unique symbol = Symbol('twinroute.header names')
/** On requests that are none of node's HTTP/1: injected, HTTP/2. */
export const kOtherKind: unique symbol = Symbol('twinroute.other kind')
export const kAnswered: unique symbol = Symbol('twinroute.answered')
export const kRawEnd: unique symbol = Symbol('twinroute.raw end')
export const kDeadline: unique symbol = Symbol('twinroute.deadline')
export const kBefore: unique symbol = Symbol('twinroute.before')
export const kAfter: unique symbol = Symbol('twinroute.after')
export const kTick: unique symbol = Symbol('twinroute.tick')
export const kScope: unique symbol = Symbol('twinroute.scope')
export const kTap: unique symbol = Symbol('twinroute.tap')
export const kChunks: unique symbol = Symbol('twinroute.chunks')
export const kSize: unique symbol = Symbol('twinroute.size')
export const kLimit: unique symbol = Symbol('twinroute.limit')
export const kWake: unique symbol = Symbol('twinroute.wake')
export const kBodyError: unique symbol = Symbol('twinroute.body error')
export const kExpect: unique symbol = Symbol('twinroute.expect')
export const kQuery: unique symbol = Symbol('twinroute.query')
export const kQueryOf: unique symbol = Symbol('twinroute.query of')
export const kParams: unique symbol = Symbol('twinroute.params')
export const kCookies: unique symbol = Symbol('twinroute.cookies')
export const kCookieHelper: unique symbol = Symbol('twinroute.cookie helper')
export const kInStack: unique symbol = Symbol('twinroute.in stack')
export const kRequestId: unique symbol = Symbol('twinroute.request id')
export const kRedispatched: unique symbol = Symbol('twinroute.redispatched')
export const kOriginalUrl: unique symbol = Symbol('twinroute.original url')
export const kRoute: unique symbol = Symbol('twinroute.route')
export const kNext: unique symbol = Symbol('twinroute.next')
export const kLocals: unique symbol = Symbol('twinroute.locals')
export const kAbort: unique symbol = Symbol('twinroute.abort')
export const kForm: unique symbol = Symbol('twinroute.form')

/** What the tap does with the next chunk of the body. */
export const TAP_IDLE = 0
export const TAP_ARMED = 1
export const TAP_OFF = 2
/** A chunk went by that the tap does not have: the body must be read from the stream. */
export const TAP_MISSED = 3
/** More bytes than the limit went by. */
export const TAP_OVERFLOW = 4
/** The body step has run: its outcome is in `body` or under `kBodyError`. */
export const TAP_DONE = 5

/** How far the answer is; the table in end.ts has every call in every state. */
export const OPEN = 0
/** Handed to reply.send; the head has not left, since a hook or a store may still run. */
export const HANDED_OVER = 1
/** The head has left or is about to; the next call of `end` writes. */
export const LEAVING = 2
/** An error is with the error handler, which alone may answer. */
export const FAILING = 3
/** The head has left by `write`, `writeHead`, `flushHeaders` or a pipe: the code that began the answer ends it. */
export const BEGUN = 4
/** The same, and a second answer has been refused: its error is with error middleware, which may end the answer. */
export const REFUSED = 5

/** The signals of requests that are not over. */
interface SignalList {
  add(abort: AbortController, response: Response): void
}

/** Where a response waits for its answer; the handler timeout keeps one. */
export interface WaitingList {
  release(response: LinkedResponse): void
}

export interface LinkedRequest extends Request {
  readonly [kExpressSide]: { readonly openSignals: SignalList } | undefined
  readonly [kOtherKind]?: true
  [kTap]: number
  [kChunks]: Buffer[] | null
  [kSize]: number
  [kLimit]: number
  [kWake]: ((error?: Error) => void) | null
  [kBodyError]: Error | undefined
  [kExpect]: boolean
  [kQuery]: unknown
  /** The url that `kQuery` was read from, null where it was assigned. */
  [kQueryOf]: string | null | undefined
  [kParams]: unknown
  [kCookies]: unknown
  [kCookieHelper]: unknown
  [kInStack]: boolean
  /** Set when the request is routed a second time: it keeps the id it had. */
  [kRequestId]: string | undefined
  [kRedispatched]: boolean
  [kAbort]: AbortController | null
  [kForm]: Promise<RequestFormData> | null
  [kOriginalUrl]: string | undefined
  [kRoute]: unknown
  [kNext]: unknown
}

export type HeaderValue = string | number | readonly string[] | undefined

export interface LinkedResponse extends Response {
  [kReply]: FastifyReply | null
  /** The headers of the reply, which those of the response are one with until the head leaves (headers.ts). */
  [kHeaders]: Record<string, HeaderValue> | null
  /** The names of headers as they were set, by the names in lower case; null while all are in lower case. */
  [kNames]: Record<string, string> | null
  /** OPEN until an answer is decided; `headersSent` is still false while a store or an onSend hook runs. */
  [kAnswered]: number
  /** The answer is a raw `end` that onSend hooks see; true when its author has set the length. */
  [kRawEnd]: boolean | null
  [kDeadline]: WaitingList | null
  [kBefore]: LinkedResponse | null
  [kAfter]: LinkedResponse | null
  [kTick]: number
  /** Async context in which the handler timeout fires. */
  [kScope]: AsyncResource | null
  [kLocals]: Record<string, unknown> | undefined
}

/** Nothing more may be sent: the answer is decided, or its head has left already. */
export function isAnswered(response: LinkedResponse): boolean {
  return response[kAnswered] !== OPEN || response.headersSent
}

/**
 * Nothing behind may add to the answer. One that was only begun, by `flushHeaders`, `writeHead` or `write`, may be
 * continued by the next middleware or the handler, as under Express.
 */
export function isOver(response: LinkedResponse): boolean {
  const state = response[kAnswered]
  if (response.writableEnded) return true
  return state !== OPEN && !((state === BEGUN || state === REFUSED || state === LEAVING) && response.headersSent)
}

/** The head has not left, and no error handler is about to send it: the handler timeout has to wait for it. */
export function isWaiting(response: LinkedResponse): boolean {
  return (response[kAnswered] === OPEN || response[kAnswered] === HANDED_OVER) && !response.headersSent
}

/** Marks the answer as decided and ends the wait for it. */
export function markAnswered(
  response: LinkedResponse,
  how: typeof HANDED_OVER | typeof LEAVING | typeof FAILING | typeof BEGUN
): void {
  response[kAnswered] = how
  if (how === HANDED_OVER) return // onSend hooks may take for ever
  const deadline = response[kDeadline]
  if (deadline !== null) deadline.release(response)
}
