import type { RoutesOptions } from '../contract/options.js'
import type { BodyParserMode } from '../contract/route-module.js'
import type { UploadLimits, UploadOptions, UploadSettings } from '../contract/uploads.js'

export const MEBIBYTE = 1024 * 1024

/** Largest body of a request, in bytes. */
export const BODY_LIMIT = MEBIBYTE

/** In front of the paths of all route files. */
export const BASE_ROUTE = '/api'

/** Where `app.start()` listens. */
export const PORT = 5000
export const HOST = 'localhost'

/** Whether headers of a proxy tell the client's address. */
export const TRUST_PROXY = false

/** Milliseconds between the begin of closing and the end of listening. */
export const CLOSING_DELAY = 0

/** Milliseconds that requests may take to end: Docker and others kill after ten seconds, and hooks need a part of them. */
export const GRACE_TIME = 8000

/** Node's timers wrap around above this many milliseconds. */
export const LONGEST_TIMEOUT = 2 ** 31 - 1

/** What a route takes from its app where its own `config` says nothing. */
export interface RouteDefaults {
  /** Bytes. */
  bodyLimit: number
  bodyParser: BodyParserMode
  /** Milliseconds; 0 for no limit. */
  handlerTimeout: number
}

export function routeDefaults(options: RoutesOptions): RouteDefaults {
  const { bodyLimit = BODY_LIMIT, bodyParser = 'late', handlerTimeout = 30_000 } = options
  return { bodyLimit, bodyParser, handlerTimeout }
}

export const UPLOAD_DEFAULTS = {
  parts: 100,
  files: 10,
  fileSize: 10 * MEBIBYTE,
  fields: 100,
  fieldSize: MEBIBYTE,
  headerSize: 16 * 1024
}

/** What holds for the forms of a route: its own limits over those of its app over the defaults. */
export function resolveUploads(app: UploadOptions = {}, own: UploadLimits = {}): UploadSettings {
  const limits = withDefaults<UploadOptions & typeof UPLOAD_DEFAULTS>(UPLOAD_DEFAULTS, app, own)
  const { parts, files, fileSize, fieldSize, headerSize } = limits
  const totalSize = own.totalSize ?? app.totalSize ?? files * fileSize + fieldSize + parts * headerSize
  return { ...limits, totalSize, directory: app.directory }
}

/** The given values over the defaults, which undefined does not replace. */
export function withDefaults<Values extends object>(defaults: Values, ...given: readonly object[]): Values {
  const set = given.flatMap((values) => Object.entries(values)).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(set) }
}
