import { OutgoingMessage, type ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.js'
import { ClosingError } from '../errors/refusals.js'
import {
  BEGUN,
  FAILING,
  HANDED_OVER,
  kAbort,
  kAnswered,
  kReply,
  LEAVING,
  REFUSED,
  type LinkedRequest,
  type LinkedResponse
} from '../link/state.js'
import { loggedRequest } from '../errors/readable-error.js'
import { callbackIn, refuseWrite } from './status-line.js'

type Setters = Pick<ServerResponse, 'setHeader' | 'appendHeader' | 'removeHeader'>

/** Methods of node's response that throw after an answer, or emit an error that may have no listener. */
export type WritingMethods = Setters & Pick<ServerResponse, 'write'> & Partial<Pick<ServerResponse, 'setHeaders'>>

/**
 * What comes after the answer. A `write` has no effect, is logged, and its callback gets node's error; node would emit
 * it as an `error` event too, which ends the process where it has no listener. Header setters throw ERR_HTTP_HEADERS_SENT,
 * as under Express, but not when it was the handler timeout that answered: a callback that is only slow did nothing wrong,
 * and what it throws would have no catcher.
 */
export function lateProofMethods(base: WritingMethods): WritingMethods {
  const methods: Record<keyof WritingMethods, unknown> = {
    setHeader: headerSetter('setHeader', base.setHeader),
    appendHeader: headerSetter('appendHeader', base.appendHeader),
    removeHeader: headerSetter('removeHeader', base.removeHeader),
    // node's HTTP/2 response has none
    setHeaders: headerSetter('setHeaders', base.setHeaders ?? OutgoingMessage.prototype.setHeaders),
    write(this: LinkedResponse, chunk: unknown, ...rest: unknown[]) {
      if (this.writableEnded) return failLate(this, 'write', rest)
      if (refuseWrite(this, chunk, rest[0], rest[1])) return false
      const state = this[kAnswered]
      if (state === HANDED_OVER || state === FAILING) this[kAnswered] = LEAVING // Fastify pipes a stream
      return Reflect.apply(base.write, this, [chunk, ...rest]) as boolean
    }
  }
  return methods as WritingMethods
}

function headerSetter(name: string, set: (...given: never[]) => unknown) {
  // two parameters by name: an array of them per call would cost as much as the check
  return function (this: LinkedResponse, first: unknown, second: unknown): unknown {
    return isPastTimeout(this) ? tooLate(this, `response.${name}()`) : set.call(this, first as never, second as never)
  }
}

/**
 * The handler timeout has had its answer. Node's HTTP/2 response calls itself ended before its `end` writes the head, so the
 * head must have left, too.
 */
export function isPastTimeout(response: LinkedResponse): boolean {
  return response.writableEnded && response.headersSent && wasTimedOut(response)
}

/** The handler timeout aborts the request with the error it answers with; other aborts have other reasons. */
function wasTimedOut({ req }: LinkedResponse): boolean {
  const reason: unknown = (req as LinkedRequest)[kAbort]?.signal.reason
  return reason instanceof ApiError && !(reason instanceof ClosingError)
}

/** Notes a call that came after the answer. */
export function tooLate(response: LinkedResponse, by: string): LinkedResponse {
  const reply = response[kReply]
  reply?.log.warn(loggedRequest(reply), `The request was answered already; ${by} has no effect`)
  return response
}

/** An answer that has begun and that nothing ends: no `end()` yet, and nothing is piped into it, which would end it. */
export function isUnfinished(response: LinkedResponse): boolean {
  return response[kAnswered] === BEGUN && !response.writableEnded && response.listenerCount('unpipe') === 0
}

/**
 * The application has answered twice, which must not end the process: the first answer counts, and the second is logged. If the
 * first has only begun, the client would wait for its end for ever, so the error goes to error middleware, as in Express.
 */
export function refuseSecond(response: LinkedResponse, by: string): LinkedResponse {
  if (response[kAnswered] === REFUSED) {
    cutOffNextTurn(response) // error middleware has answered the error as if nothing had been sent
    return response
  }
  if (!isUnfinished(response)) return tooLate(response, by)
  response[kAnswered] = REFUSED
  const error = new Error(
    `${by} cannot answer: write, writeHead or flushHeaders has begun the answer, which only write and end continue`
  )
  ;(response.req as LinkedRequest).next?.(Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' }))
  return response
}

/**
 * Cuts off an answer that has begun, so that the client does not take it for whole, unless it has been ended until then. In the
 * next turn, since node keeps back what was written in this one.
 */
export function cutOffNextTurn(response: ServerResponse): void {
  setImmediate(() => {
    if (response.headersSent && !response.writableEnded) response.destroy()
  })
}

/** Like `tooLate`, for `write` and `end` with data: a callback among its arguments gets the error that node would give it. */
export function failLate(response: LinkedResponse, method: string, given: readonly unknown[]): false {
  tooLate(response, `response.${method}()`)
  const callback = callbackIn(given)
  if (callback !== undefined) process.nextTick(callback, writeAfterEnd())
  return false
}

function writeAfterEnd(): Error {
  return Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
}
