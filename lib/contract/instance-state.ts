import type { ManifestRoute } from './manifest.js'
import { resolveMode, type Mode } from './mode.js'
import type { UploadOptions } from './uploads.js'

/*
 * What twinroute keeps on objects of Fastify's. What is kept for a whole server is in lib/fastify/server-state.ts.
 */

const kMode: unique symbol = Symbol('twinroute.mode')
const kUploads: unique symbol = Symbol('twinroute.uploads')
const kUnguarded: unique symbol = Symbol('twinroute.unguarded')

/** On a Fastify instance. Its scopes inherit it, as they do decorators. */
interface InstanceState {
  [kMode]?: Mode
  [kUploads]?: UploadOptions
}

export function keepMode(instance: object, mode: Mode): void {
  ;(instance as InstanceState)[kMode] = mode
}

/** The mode of a plugin: the given one, else that of the app it is registered on, else as {@link resolveMode}. */
export function modeOn(instance: object, given?: Mode): Mode {
  return given ?? (instance as InstanceState)[kMode] ?? resolveMode()
}

export function keepUploads(instance: object, uploads: UploadOptions): void {
  ;(instance as InstanceState)[kUploads] = uploads
}

/** The upload options of the app or registration around a scope. */
export function uploadsOn(instance: object): UploadOptions | undefined {
  return (instance as InstanceState)[kUploads]
}

/** In the `config` of a route of Fastify's. */
export interface RouteState {
  /** The route file behind it. */
  twinroute?: ManifestRoute
  /** The middleware map does not guard it: it is the answer to OPTIONS `/graphql`, or hooks guard it already. */
  [kUnguarded]?: true
}

export const UNGUARDED: Readonly<Pick<RouteState, typeof kUnguarded>> = { [kUnguarded]: true }

export function isUnguarded({ config }: { config?: object }): boolean {
  return config !== undefined && kUnguarded in config
}

/** The route file behind a route; undefined for all others. */
export function fileRouteOf({ config }: { config?: object }): ManifestRoute | undefined {
  return (config as RouteState | undefined)?.twinroute
}
