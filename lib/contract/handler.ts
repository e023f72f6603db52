import type { NextFunction } from './middleware.js'
import type { Request } from './request.js'
import type { Response } from './response.js'

/** An answer as data: an integer `status` from 200 to 599 and no keys but these three. */
export interface StatusObject {
  status: number
  headers?: Record<string, string | readonly string[]>
  body?: unknown
}

/**
 * A route file's exported function. What it returns becomes the answer: an object is sent as JSON, a string as an HTML
 * page, a {@link StatusObject} as status, headers and body; Buffers, streams, web Responses and async iterables are sent
 * as they are; undefined leaves the answer to the response object. `next(error)` is as good as throwing the error, `next()`
 * answers 404.
 */
export type Handler = (request: Request, response: Response, next: NextFunction) => unknown
