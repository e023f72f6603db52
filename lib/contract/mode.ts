/** How the application runs. Only the exact word `production` means production. */
export type Mode = string

/** The mode of an application: the given one, else `NODE_ENV`, else `development`. The only reader of `NODE_ENV`. */
export function resolveMode(given?: Mode): Mode {
  return given ?? (process.env.NODE_ENV || 'development')
}

export function isProduction(mode: Mode): boolean {
  return mode === 'production'
}

/** Where createApp and fileRoutes keep their mode on their Fastify instance, for what runs there. */
export const kMode: unique symbol = Symbol('twinroute.mode')

/** The mode of a plugin: the given one, else that of the app it is registered on, else as {@link resolveMode}. */
export function modeOn(instance: object, given?: Mode): Mode {
  return given ?? (Reflect.get(instance, kMode) as Mode | undefined) ?? resolveMode()
}
