import type { FastifyInstance } from 'fastify'

export interface RouterOptions {
  caseSensitive: boolean
  ignoreTrailingSlash: boolean
  ignoreDuplicateSlashes: boolean
  useSemicolonDelimiter: boolean
  maxParamLength: number
}

/** How the app's router reads a path. Fastify takes these options in two places; the binding follows either. */
export function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const own = initialConfig.routerOptions as Partial<RouterOptions> | undefined
  return {
    caseSensitive: (initialConfig.caseSensitive ?? true) && (own?.caseSensitive ?? true),
    ignoreTrailingSlash: Boolean(initialConfig.ignoreTrailingSlash) || Boolean(own?.ignoreTrailingSlash),
    ignoreDuplicateSlashes: Boolean(initialConfig.ignoreDuplicateSlashes) || Boolean(own?.ignoreDuplicateSlashes),
    useSemicolonDelimiter: Boolean(initialConfig.useSemicolonDelimiter) || Boolean(own?.useSemicolonDelimiter),
    maxParamLength: Math.max(initialConfig.maxParamLength ?? 100, own?.maxParamLength ?? 100)
  }
}
