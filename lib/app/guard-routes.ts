import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify'
import { kUnguarded } from '../contract/middleware.js'
import { parseFastifyPath } from '../discovery/pattern.js'
import { createChainHook, type HookOptions } from '../dispatch/chain-hook.js'
import { keepOther } from '../plugins/routed-servers.js'
import type { Runtime } from '../dispatch/runtime.js'

/**
 * The middleware map guards every route of the app, also those of plugins (`/graphql`, a second `fileRoutes`) and of
 * `app.get()`: from here on, each has its chain bound when it is registered. The app's own file routes run theirs themselves.
 */
export function guardOtherRoutes(app: FastifyInstance, runtime: Runtime, options: HookOptions): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    if (isUnguarded(route)) return
    const segments = parseFastifyPath(route.url)
    if (!isFileRoute(route)) keepOther(app, { pattern: route.url, segments, methods: [route.method].flat() })
    const hook = createChainHook(runtime, segments, options)
    if (hook === null) return
    const own = route.onRequest as onRequestHookHandler | onRequestHookHandler[] | undefined
    route.onRequest = [hook, ...(own === undefined ? [] : [own].flat())]
  })
}

function isFileRoute({ config }: RouteOptions): boolean {
  return config !== undefined && 'twinroute' in config
}

function isUnguarded({ config }: RouteOptions): boolean {
  return config !== undefined && kUnguarded in config
}
