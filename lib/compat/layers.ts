import http from 'node:http'
import express from 'express'
import { tapDestroy, tapPush, tapRead } from './body.js'
import { answeringMethods, json, send } from './response.js'
import { kLocals, type LinkedResponse } from './slots.js'

const incoming = http.IncomingMessage.prototype

/** The overridden stream methods; only objects whose base is node's IncomingMessage may inherit them. */
export const requestStreamLayer: object = Object.create(express.request, {
  push: method(tapPush(incoming.push)),
  _destroy: method(tapDestroy(incoming._destroy)),
  _read: method(tapRead(incoming._read))
}) as object

/** Our response members over the `end` and `writeHead` of a base prototype. */
export function responseMembers(base: Pick<http.ServerResponse, 'end' | 'writeHead'>): PropertyDescriptorMap {
  const { end, writeHead } = answeringMethods(base)
  return {
    send: method(send),
    json: method(json),
    end: method(end),
    writeHead: method(writeHead),
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
