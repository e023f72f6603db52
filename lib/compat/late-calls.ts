import type { ServerResponse } from 'node:http'
import { kAnswered, kReply, LEAVING, OPEN, type LinkedResponse } from './slots.js'

/** Methods of node's response that throw after an answer, or emit an error nobody listens for. */
export type WritingMethods = Pick<ServerResponse, 'setHeader' | 'appendHeader' | 'removeHeader' | 'write'>

type Rest = [encoding?: unknown, callback?: unknown]

/**
 * A callback that comes after the answer (the handler timeout sent it, or the handler answered twice) finds nobody who
 * would catch what it throws, and the process would end. Its calls have no effect and are logged. While an answer is being
 * written they fail as node's do.
 */
export function lateProofMethods(base: WritingMethods): WritingMethods {
  const methods = {
    setHeader(this: LinkedResponse, name: string, value: unknown) {
      if (this.writableEnded) return tooLate(this, 'setHeader')
      return base.setHeader.call(this, name, value as string)
    },
    appendHeader(this: LinkedResponse, name: string, value: unknown) {
      if (this.writableEnded) return tooLate(this, 'appendHeader')
      return base.appendHeader.call(this, name, value as string)
    },
    removeHeader(this: LinkedResponse, name: string) {
      if (this.writableEnded) tooLate(this, 'removeHeader')
      else base.removeHeader.call(this, name)
    },
    write(this: LinkedResponse, chunk: unknown, ...rest: Rest) {
      if (this.writableEnded) return tooLate(this, 'write').writable
      if (this[kAnswered] !== OPEN) this[kAnswered] = LEAVING // Fastify pipes a stream, and the head goes out now
      return Reflect.apply(base.write, this, [chunk, ...rest]) as boolean
    }
  }
  return methods as WritingMethods
}

/** Notes a call that came after the answer. */
export function tooLate(response: LinkedResponse, method: string): LinkedResponse {
  const reply = response[kReply]
  const request = { method: reply?.request.method, url: reply?.request.url }
  reply?.log.warn(request, `The request was answered already; response.${method}() has no effect`)
  return response
}
