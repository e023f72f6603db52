import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Segment } from '../contract/manifest.js'
import type { Binder } from '../middleware/bind.js'
import { kParams, type LinkedRequest } from '../link/state.js'
import { createChain, passChain } from './pass-chain.js'
import { createPathGuard, type GuardedPattern } from './guard-path.js'
import type { Runtime } from './runtime.js'

export interface HookOptions {
  binder: Binder
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

export interface HookedRoute {
  segments: readonly Segment[]
  from: GuardedPattern['from']
}

/** The chain of a route that is not one of the app's own files, as its onRequest hook; null when the map has nothing for it. */
export function createChainHook(runtime: Runtime, { segments, from }: HookedRoute, options: HookOptions) {
  const { binder, handlerTimeout } = options
  const bound = binder.chainFor(segments)
  const chain = createChain(runtime, { bound, covering: binder.covering })
  const guardPath = createPathGuard(binder, { segments, bound, from })
  if (chain === null && guardPath === undefined) return null
  const deadline = runtime.deadlineOf(handlerTimeout)
  return function guard(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const raw = request.raw as LinkedRequest
    const go = (): void => {
      raw[kParams] = undefined
      const refused = guardPath?.(raw.url)
      if (refused === undefined) done()
      else runtime.fail(reply, refused)
    }
    if (chain === null) return go()
    raw[kParams] = request.params
    passChain(runtime, reply, { chain, deadline, go })
  }
}
