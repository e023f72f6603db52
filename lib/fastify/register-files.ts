import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'
import type { ManifestRoute } from '../contract/manifest.js'
import { skipBodyParsers } from '../body/await-body.js'
import { servedMethods } from '../dispatch/methods.js'
import type { RefusedMethods } from '../dispatch/refused-methods.js'
import { type PreparedRoute, prepareRoute, registerRoute, type RouteContext } from '../dispatch/register-route.js'
import type { FileClaim, MethodClaims } from './method-claims.js'

/** What the file routes of an app are registered with; those of a host have all methods. */
export interface AppFiles {
  claims: MethodClaims
  refusedMethods: RefusedMethods
}

interface FilePath extends FileClaim {
  url: string
  prepared: PreparedRoute
}

/** Of the options that a route is registered with, those by which a plugin changes what is done with a request. */
const CHANGES = [
  ...(['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend', 'onResponse'] as const),
  ...(['onError', 'onTimeout', 'onRequestAbort', 'errorHandler', 'handler', 'bodyLimit', 'constraints'] as const),
  ...(['schema', 'handlerTimeout'] as const)
]

/** Registers file routes with all methods. */
export function registerWhole(scope: FastifyInstance, routes: readonly ManifestRoute[], context: RouteContext): void {
  const methods = scope.supportedMethods
  for (const route of routes) {
    const prepared = prepareRoute(route, methods, context)
    for (const url of route.fastifyPaths) registerRoute(scope, prepared, { url, methods })
  }
}

/**
 * Registers the file routes of an app with the methods that they serve: Fastify's router has a tree for each method, and takes
 * long to take a path. The others are answered where Fastify finds no route, but for those that another route would take.
 */
export class FileRegistration {
  readonly #files: AppFiles
  readonly #context: RouteContext
  readonly #paths = new Map<string, FilePath>()
  /** The number of claims for which the methods are complete. */
  #settledAt: number | undefined

  constructor(files: AppFiles, context: RouteContext) {
    this.#files = files
    this.#context = context
  }

  /** In the scope of file routes. */
  register(scope: FastifyInstance, routes: readonly ManifestRoute[]): void {
    this.#files.refusedMethods.accept(scope.supportedMethods)
    for (const route of routes) this.#prepare(scope, route)
    const missing = this.#missing(scope)
    scope.addHook('onRoute', (shown: RouteOptions) => this.#keepChanged(scope, shown))
    for (const path of this.#paths.values()) {
      for (const method of missing.get(path) ?? []) path.methods.add(method)
      registerRoute(scope, path.prepared, path)
    }
    this.#complete(scope)
  }

  /** Registers what routes made necessary that plugins have registered meanwhile, when they saw those of files. */
  readonly finish: FastifyPluginAsync = async (scope) => {
    skipBodyParsers(scope)
    this.#complete(scope)
  }

  #complete(scope: FastifyInstance): void {
    while (this.#settledAt !== this.#files.claims.count) {
      for (const [claim, methods] of this.#missing(scope)) {
        const path = claim as FilePath
        for (const method of methods) path.methods.add(method)
        registerRoute(scope, path.prepared, { url: path.url, methods })
      }
    }
  }

  #missing(scope: FastifyInstance): ReadonlyMap<FileClaim, readonly string[]> {
    this.#settledAt = this.#files.claims.count
    return this.#files.claims.missing([...this.#paths.values()], scope.supportedMethods)
  }

  #prepare(scope: FastifyInstance, route: ManifestRoute): void {
    const accepted = scope.supportedMethods
    const prepared = prepareRoute(route, accepted, this.#context)
    // Fastify reads a path that it has no route for without that option
    const served = this.#context.reading.useSemicolonDelimiter ? accepted : servedMethods(route.module)
    for (const url of route.fastifyPaths) {
      // of an optional rest there are two paths, the first of them without it
      const isWhole = url === route.fastifyPaths.at(-1)
      const segments = isWhole ? route.segments : route.segments.slice(0, -1)
      const methods = new Set(accepted.filter((method) => served.includes(method)))
      const path: FilePath = { url, segments, methods, prepared }
      this.#paths.set(url, path)
      this.#files.refusedMethods.add({ ...prepared, url, methods })
    }
  }

  /**
   * A route that a plugin changes when it sees it, for example by a hook of its own, keeps all methods, so that the change holds
   * for those that it does not serve, too.
   */
  #keepChanged(scope: FastifyInstance, shown: RouteOptions): void {
    const path = this.#paths.get(shown.url)
    if (path === undefined || !isChanged(shown, path.prepared)) return
    const others = scope.supportedMethods.filter((method) => !path.methods.has(method))
    shown.method = [shown.method, others].flat()
    for (const method of others) path.methods.add(method)
    if (others.length > 0) this.#settledAt = undefined
  }
}

/** A mark in the config may be one by which a hook of the application knows what to guard. */
function isChanged(shown: RouteOptions, prepared: PreparedRoute): boolean {
  const isMarked = Reflect.ownKeys(shown.config ?? {}).some((name) => name !== 'twinroute')
  return isMarked || CHANGES.some((name) => shown[name] !== Reflect.get(prepared, name))
}
