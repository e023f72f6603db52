import type { ResolveHook } from 'node:module'

const HERE = new Set(['prom-client', '@fastify/under-pressure'])

/** Optional packages of twinroute, which lies further up than the folder where they are installed. */
export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, HERE.has(specifier) ? { ...context, parentURL: import.meta.url } : context)
