import http from 'node:http'
import express from 'express'
import type { Compat } from './classes.js'
import { requestStreamLayer, responseMembers } from './layers.js'
import { initRequestSlots, initResponseSlots, kCompat, kTap, TAP_MISSED, type LinkedRequest } from './slots.js'

interface Layer {
  prototype: object
  /** How many members `app.request` or `app.response` had when the layer was made; users add members at any time. */
  members: number
}

const layers = new WeakMap<object, WeakMap<object, Layer>>()

/**
 * Gives Express's API to a pair that is not of our classes: injected, HTTP/2, or of a host's server that could not be
 * adopted. Their own prototypes must stay in the chain (Express's alone would answer an injected request with an empty
 * 200), so Express's members are laid over them, once per kind of object.
 */
export function upgradePair(compat: Compat, request: http.IncomingMessage, response: http.ServerResponse): void {
  const { expressApp } = compat
  if (Object.getPrototypeOf(request) === http.IncomingMessage.prototype)
    Object.setPrototypeOf(request, expressApp.request)
  else layOver(request, expressApp.request, { ...http2Members(request), [kCompat]: { value: compat } })
  if (Object.getPrototypeOf(response) === http.ServerResponse.prototype)
    Object.setPrototypeOf(response, expressApp.response)
  else layOver(response, expressApp.response, responseMembers(Object.getPrototypeOf(response) as http.ServerResponse))
  initRequestSlots(request)
  initResponseSlots(response)
  ;(request as LinkedRequest)[kTap] = TAP_MISSED
  Object.assign(request, { res: response })
  if (!('req' in response)) Object.assign(response, { req: request })
}

/** Own values an Express application leaves on a request it has passed on; they would hide what the router found. */
const LEFT_BY_EXPRESS = ['params', 'next', 'route', 'baseUrl'] as const

/**
 * Takes back a pair of ours whose prototypes another Express application on the host has replaced with its own.
 */
export function reclaimPair(compat: Compat, request: http.IncomingMessage, response: http.ServerResponse): void {
  Object.setPrototypeOf(request, compat.IncomingMessage.prototype as object)
  Object.setPrototypeOf(response, compat.ServerResponse.prototype as object)
  for (const name of LEFT_BY_EXPRESS) Reflect.deleteProperty(request, name)
}

function layOver(target: object, top: object, extra: PropertyDescriptorMap): void {
  const base = Object.getPrototypeOf(target) as object
  const known = layersOf(top).get(base)
  const members = countMembers(top)
  if (known?.members === members) {
    Object.setPrototypeOf(target, known.prototype)
    return
  }
  const prototype = Object.create(base, { ...descriptorsOf(top), ...extra }) as object
  layersOf(top).set(base, { prototype, members })
  Object.setPrototypeOf(target, prototype)
}

function layersOf(top: object): WeakMap<object, Layer> {
  let found = layers.get(top)
  if (found === undefined) layers.set(top, (found = new WeakMap()))
  return found
}

/** All members from `top` down to node's own prototypes, the nearer ones winning; stream methods belong to the base. */
function descriptorsOf(top: object): PropertyDescriptorMap {
  const all: PropertyDescriptorMap = {}
  for (const holder of chainOf(top)) {
    if (holder === requestStreamLayer) continue
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(holder))) all[name] ??= descriptor
  }
  return all
}

function countMembers(top: object): number {
  return chainOf(top).reduce((count, holder) => count + Object.keys(holder).length, 0)
}

function chainOf(top: object): object[] {
  const chain: object[] = []
  const ends = [http.IncomingMessage.prototype, http.ServerResponse.prototype] as object[]
  for (let holder = top; !ends.includes(holder); holder = Object.getPrototypeOf(holder) as object) chain.push(holder)
  return chain
}

/** HTTP/2 names the host in `:authority`. */
function http2Members(request: http.IncomingMessage): PropertyDescriptorMap {
  if (request.httpVersionMajor !== 2) return {}
  const descriptor = { value: getHttp2Header, writable: true, configurable: true, enumerable: true }
  return { get: descriptor, header: descriptor }
}

function getHttp2Header(this: LinkedRequest, name: string): unknown {
  const value: unknown = express.request.get.call(this, name)
  return value ?? (name.toLowerCase() === 'host' ? this.headers[':authority'] : undefined)
}
