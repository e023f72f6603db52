import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Segment } from '../contract/manifest.js'
import type { Binder } from '../middleware/bind.js'
import { kParams, type LinkedRequest } from '../compat/slots.js'
import { createChain } from './chain.js'
import { passChain } from './pass-chain.js'
import type { Runtime } from './runtime.js'

export interface HookOptions {
  binder: Binder
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

/** The chain of a route that is not from a file, as its onRequest hook; null when the map has nothing for it. */
export function createChainHook(
  runtime: Runtime,
  segments: readonly Segment[],
  { binder, handlerTimeout }: HookOptions
) {
  const chain = createChain(runtime, binder.chainFor(segments), [])
  if (chain === null) return null
  const deadline = runtime.deadlineOf(handlerTimeout)
  return function guard(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    ;(request.raw as LinkedRequest)[kParams] = request.params
    passChain(runtime, reply, { chain, deadline, go: done })
  }
}
