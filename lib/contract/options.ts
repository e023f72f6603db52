import type { ServerOptions as HttpServerOptions } from 'node:http'
import type { SecureServerOptions as Http2SecureServerOptions } from 'node:http2'
import type { ServerOptions as HttpsServerOptions } from 'node:https'
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import type { Mode } from './mode.js'
import type { ErrorMiddleware, MiddlewareMap } from './middleware.js'
import type { BodyParserMode } from './route-module.js'
import type { UploadOptions } from './uploads.js'

/** What `fileRoutes` and `createApp` both take. */
export interface RoutesOptions {
  /** Directory of route files: a path (relative to the working directory) or a file URL. */
  apiDir: string | URL
  /** Prefix of all routes. Default `/api`; `/` for none. */
  baseRoute?: string
  /** The middleware map, in place of a middleware file. */
  middleware?: MiddlewareMap
  /** Largest body in bytes; multipart forms have limits of their own (`uploads`). Default 1 MiB. */
  bodyLimit?: number
  /** When bodies are parsed. Default `'late'`. */
  bodyParser?: BodyParserMode
  /** Limits of the forms that `request.formData()` reads, and where their files go. */
  uploads?: UploadOptions
  /** Milliseconds until an unanswered request gets 503. Default 30 000; 0 turns the limit off. */
  handlerTimeout?: number
  /** Default: `NODE_ENV`, then `development`. */
  mode?: Mode
}

export interface FileRoutesOptions extends RoutesOptions {}

/** CORS settings of `expressOptions.enableCors`. */
export interface CorsOptions {
  /** Any origin may read answers, without credentials. */
  allowAnyOrigin?: boolean
  /** Origins that are echoed, with credentials when `credentials` is set. Compared as whole strings. */
  cookieOrigins?: readonly string[]
  credentials?: boolean
  /** Comma-separated list for Access-Control-Allow-Methods. */
  methods?: string
  /** Comma-separated list for Access-Control-Allow-Headers. */
  headers?: string
}

/** How `close()` and the signals end an app. */
export interface ShutdownOptions {
  /**
   * Whether `start()` ends the process on SIGTERM, SIGINT and uncaught errors by closing the app first.
   * Default true, false in mode `test`.
   */
  signals?: boolean
  /** Milliseconds from `isClosing` to the closing of the listener, for load balancers to look elsewhere. Default 0. */
  delay?: number
  /** Milliseconds that requests may take to end once the listener is closed; what is left is cut off. Default 8 000. */
  graceTime?: number
}

/** Which of node's servers Fastify makes (https://fastify.dev/docs/latest/Reference/Server/). */
export interface ServerKind {
  http?: HttpServerOptions
  https?: HttpsServerOptions | Http2SecureServerOptions | true | null
  http2?: boolean
}

export interface AppOptions extends RoutesOptions {
  /** Port for `start()`. 0 takes a free one. Default: the environment variable `PORT`, then 5000. */
  port?: number
  /** Host for `start()`. Default: the environment variable `HOST`, then `localhost`. */
  host?: string
  /** Which proxies to trust, as Express's and Fastify's `trustProxy`. Default false. */
  trustProxy?: FastifyServerOptions['trustProxy']
  /** Fastify error handler, or Express error middleware (four parameters). Without one, Fastify's default answer. */
  errorHandler?: ((error: any, request: FastifyRequest, reply: FastifyReply) => unknown) | ErrorMiddleware
  expressOptions?: { enableCors?: CorsOptions }
  /**
   * A line in the log for each request (`true`), or for those that end with a status of 400 or more or that the client
   * left (`'errors'`). Failures (500 or more) are logged with their stack in any case. Default false.
   */
  requestLog?: boolean | 'errors'
  shutdown?: ShutdownOptions
  /** Passed through to Fastify. */
  fastifyOptions?: Omit<FastifyServerOptions, 'trustProxy' | 'bodyLimit'> & ServerKind
}
