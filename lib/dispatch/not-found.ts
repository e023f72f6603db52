import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import findMyWay from 'find-my-way'
import type { ApiError } from '../errors/api-error.js'
import { malformedTarget, routeNotFound } from '../errors/refusals.js'
import type { Binder } from '../middleware/bind.js'
import type { ChainRunner } from '../middleware/run-chain.js'
import { link } from '../compat/attach.js'
import { paramReader, type ReadParams } from '../compat/params.js'
import { kParams, type LinkedRequest } from '../compat/slots.js'
import { hasForbiddenCharacters, refusedTarget } from '../compat/target.js'
import { createChain } from './chain.js'
import { routerOptionsOf } from './router-options.js'
import { passChain } from './pass-chain.js'
import type { Runtime } from './runtime.js'

export interface NotFoundOptions {
  runtime: Runtime
  binder: Binder
  /** In front of every prefix: the Fastify prefix of the plugin. */
  prefix: string
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

interface GuardedPrefix {
  chain: ChainRunner | null
  readParams: ReadParams | undefined
}

/**
 * The onRequest hook of requests no route matches: the chain of the prefix runs first, as in Express, so that a scan below
 * a guarded prefix learns nothing but 401. Which prefix it is, a router of the prefixes says, set as the app's own.
 */
export function createNotFoundEntry(app: FastifyInstance, options: NotFoundOptions) {
  const { runtime } = options
  const prefixes = prefixRouter(app, options)
  return function enterNotFound(
    fastifyRequest: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction
  ): void {
    if (!runtime.linksAtRoot) link(runtime.compat, fastifyRequest, reply)
    const request = fastifyRequest.raw as LinkedRequest
    const refused = refusedTarget(request.url) ?? forbidden(request.url)
    if (refused !== undefined) return runtime.fail(reply, refused)
    const found = prefixes.find('GET', request.url)
    if (found === null) return done()
    const { chain, readParams } = found.store as GuardedPrefix
    request[kParams] = readParams?.(found.params as Record<string, string>, request.url) ?? found.params
    if (chain === null) done()
    else passChain(runtime, reply, { chain, deadline: runtime.deadlineOf(options.handlerTimeout), go: done })
  }
}

function forbidden(url: string): ApiError | undefined {
  return hasForbiddenCharacters(url) ? malformedTarget() : undefined
}

/** Answers what no route took, after the chain: 404 in the app's error shape. */
export function createNotFoundHandler(runtime: Runtime) {
  return function notFound(_request: FastifyRequest, reply: FastifyReply): void {
    runtime.fail(reply, routeNotFound())
  }
}

function prefixRouter(app: FastifyInstance, { runtime, binder, prefix }: NotFoundOptions) {
  const options = routerOptionsOf(app)
  const router = findMyWay({ ...options })
  for (const entry of binder.prefixes()) {
    const depth = depthOf(prefix) + depthOf(entry.prefix)
    const readParams = paramReader(entry.params, { ...options, depth })
    const guarded: GuardedPrefix = { chain: createChain(runtime, entry.chain, []), readParams }
    for (const path of entry.fastifyPaths) router.on('GET', joinPaths(prefix, path), noop, guarded)
  }
  return router
}

export function depthOf(path: string): number {
  return path.split('/').filter((segment) => segment !== '').length
}

function joinPaths(prefix: string, path: string): string {
  const joined = `${prefix.replace(/\/$/, '')}${path === '/' ? '' : path}`
  return joined === '' ? '/' : joined
}

function noop(): void {}
