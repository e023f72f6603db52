import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { replaceMethod } from '../fastify/replace-method.js'

/** How Fastify's list of plugins ends the line of one that is still loading. The first line is the root, open until ready. */
const LOADING = / -1 ms$/gm

/**
 * Registers plugins behind everything else that is registered before the app boots, whenever that is: Fastify shows a
 * route to the `onRoute` hooks that are there when it is registered, and to no later ones, and gives it the decorators of
 * that moment. Plugins that are registered on the result of `createApp` must not miss the routes of files.
 *
 * Boot begins with the first `ready()`, which `listen` and `inject` call, too. A plugin may call it while it loads itself;
 * what is registered then would become a part of that plugin, so these wait until nothing is loading.
 */
export function registerLast(app: FastifyInstance, plugins: readonly FastifyPluginAsync[]): void {
  let registered: Promise<void> | undefined
  const bootBehind = (instance: FastifyInstance): void => {
    replaceMethod(instance, 'ready', (_scope, given, ready) => {
      registered ??= registerWhenIdle(app, plugins)
      const booted = registered.then(() => ready(...given))
      return typeof given[0] === 'function' ? undefined : booted
    })
  }
  bootBehind(app)
  // Fastify gives each scope a `ready` of its own
  app.addHook('onRegister', bootBehind)
}

async function registerWhenIdle(app: FastifyInstance, plugins: readonly FastifyPluginAsync[]): Promise<void> {
  await new Promise(process.nextTick) // what is registered in the same turn as `ready()` still comes before
  // Fastify tells of no plugin that it has failed but by `ready`, so that there is no event to wait for
  while (isLoading(app)) await wait(1)
  for (const plugin of plugins) void app.register(plugin)
}

function isLoading(app: FastifyInstance): boolean {
  return (app.printPlugins().match(LOADING)?.length ?? 0) > 1
}
