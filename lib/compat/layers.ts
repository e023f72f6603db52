import http from 'node:http'
import express from 'express'
import { tapDestroy, tapPush, tapRead } from './body.js'
import { answeringMethods, type ResponseBase } from './end.js'
import { headerMethods, type HeaderMethods } from './headers.js'
import { lateProofMethods, type WritingMethods } from './late-calls.js'
import { json, lateProofAnswer, send, sendFile, status } from './response.js'
import { kLocals, type CompatKind, type LinkedResponse } from './slots.js'

/** The methods of node's response that ours go back to. */
type Base = ResponseBase & WritingMethods & HeaderMethods

const incoming = http.IncomingMessage.prototype

/** The overridden stream methods; only objects whose base is node's IncomingMessage may inherit them. */
export const requestStreamLayer: object = Object.create(express.request, {
  push: method(tapPush(incoming.push)),
  _destroy: method(tapDestroy(incoming._destroy)),
  _read: method(tapRead(incoming._read))
}) as object

/** The writing methods over those of a base: node's, or those of an injected or HTTP/2 response. */
export function writingMembers(base: Base): PropertyDescriptorMap {
  const headers = headerMethods(base)
  const methods = { ...headers, ...lateProofMethods({ ...headers, write: base.write }), ...answeringMethods(base) }
  return Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, method(value)]))
}

/** Our response members over Express's own, which other packages may have replaced. */
export function responseMembers(kind: CompatKind): PropertyDescriptorMap {
  const members = {
    ...writingMembers(express.response as Base),
    send: method(send),
    json: method(json),
    status: method(status),
    jsonp: method(lateProofAnswer('jsonp')),
    sendFile: method(sendFile),
    redirect: method(lateProofAnswer('redirect')),
    sendStatus: method(lateProofAnswer('sendStatus'))
  }
  return kind === 'express' ? members : { ...members, ...lazyLocals() }
}

/** In applications of `twinroute/express` they are an own member, as in Express. */
function lazyLocals(): PropertyDescriptorMap {
  return {
    locals: {
      configurable: true,
      enumerable: true,
      get(this: LinkedResponse) {
        return (this[kLocals] ??= Object.create(null) as Record<string, unknown>)
      },
      set(this: LinkedResponse, value: Record<string, unknown>) {
        this[kLocals] = value
      }
    }
  }
}

function method(value: unknown): PropertyDescriptor {
  return { value, writable: true, configurable: true, enumerable: true }
}
