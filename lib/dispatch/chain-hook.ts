import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RouteParam, Segment } from '../contract/manifest.js'
import type { Binder } from '../middleware/bind.js'
import { paramReader } from '../compat/params.js'
import { kParams, type LinkedRequest } from '../compat/slots.js'
import { createChain } from './chain.js'
import { passChain } from './pass-chain.js'
import type { RouterOptions } from './router-options.js'
import type { Runtime } from './runtime.js'

export interface HookOptions {
  binder: Binder
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
  /** How the app's router reads a path. */
  router: RouterOptions
}

/** The chain of a route that is not one of the app's own files, as its onRequest hook; null when the map has nothing for it. */
export function createChainHook(runtime: Runtime, segments: readonly Segment[], options: HookOptions) {
  const chain = createChain(runtime, options.binder.chainFor(segments), [])
  if (chain === null) return null
  const deadline = runtime.deadlineOf(options.handlerTimeout)
  // a guard below a wildcard is asked segment by segment, as below a rest parameter of a route file
  const depth = segments.filter(({ kind }) => kind !== 'rest').length
  const readParams = paramReader(segments.flatMap(paramsOf), { ...options.router, depth })
  return function guard(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const raw = request.raw as LinkedRequest
    raw[kParams] = readParams?.(request.params as Record<string, string>, raw.url) ?? request.params
    const go = (): void => {
      raw[kParams] = undefined
      done()
    }
    passChain(runtime, reply, { chain, deadline, go })
  }
}

/** Fastify's own names: nothing stands under a token here. */
function paramsOf(segment: Segment): RouteParam[] {
  if (segment.kind === 'rest') return [{ token: '*', name: segment.name, rest: true }]
  if (segment.kind === 'static') return []
  return segment.parts.flatMap((part) => ('name' in part ? [{ token: part.name, name: part.name, rest: false }] : []))
}
