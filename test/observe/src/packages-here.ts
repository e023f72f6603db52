import type { ResolveHook } from 'node:module'

const HERE = new Set(['prom-client', '@fastify/under-pressure'])

/** Finds these packages in this folder, whoever imports them. */
export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, HERE.has(specifier) ? { ...context, parentURL: import.meta.url } : context)
