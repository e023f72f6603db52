import type { NextFunction, Middleware } from './middleware.js'
import type { OpenRequest, Response } from './request.js'
import type { UploadLimits } from './uploads.js'

/** An answer as data: an integer `status` from 200 to 599 and no keys but these three. */
export interface StatusObject {
  status: number
  headers?: Record<string, string | readonly string[]>
  body?: unknown
}

/**
 * A route file's exported function. What it returns becomes the answer: an object is sent as JSON, a string as an HTML
 * page, a {@link StatusObject} as status, headers and body; Buffers, typed arrays, streams, async iterables and web
 * Response, Blob, File, FormData and URLSearchParams are sent as they are; undefined leaves the answer to the response
 * object. `next(error)` is as good as throwing the error, `next()` answers 404.
 */
export type Handler = (request: OpenRequest, response: Response, next: NextFunction) => unknown

/**
 * When JSON, urlencoded and text bodies are parsed: `'late'` after the middleware and before the handler, `'early'`
 * before any middleware, `false` never.
 */
export type BodyParserMode = 'late' | 'early' | false

/** `export const config` of a route file. */
export interface RouteConfig {
  /** Largest body in bytes; default: the app's. */
  bodyLimit?: number
  /** Milliseconds until an unanswered request gets 503; 0 turns the limit off; default: the app's. */
  timeout?: number
  bodyParser?: BodyParserMode
  /** Limits of the forms that `formData()` reads; default: the app's. */
  uploads?: UploadLimits
}

/** `export const middleware` of a route file: for all methods, or by method. HEAD follows GET unless exported itself. */
export type RouteMiddleware = readonly Middleware[] | Readonly<Partial<Record<RouteMethod, readonly Middleware[]>>>

/** A loaded and checked route file. */
export interface RouteModule {
  handlers: Readonly<Partial<Record<RouteMethod, Handler>>>
  middleware: RouteMiddleware
  config: Readonly<RouteConfig>
}

/** Names a route file may export as handlers. `HEAD` is optional: without it GET's handler answers HEAD. */
export const ROUTE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export type RouteMethod = (typeof ROUTE_METHODS)[number]

export function isRouteMethod(name: string): name is RouteMethod {
  return (ROUTE_METHODS as readonly string[]).includes(name)
}
