import type { NextFunction as ExpressNextFunction } from 'express'
import type { OpenRequest, Response } from './request.js'

/** Continues with the next middleware; an argument other than `'route'` and `'router'` (as in Express) is an error. */
export type NextFunction = ExpressNextFunction

/** Express middleware: calls `next()` to continue, or answers. A rejected promise counts as `next(error)`. */
export type Middleware = (request: OpenRequest, response: Response, next: NextFunction) => unknown

/** Express error middleware: recognised by its four parameters. */
export type ErrorMiddleware = (error: any, request: OpenRequest, response: Response, next: NextFunction) => unknown

/** Path prefix to an ordered list of middleware. An empty list makes its prefix public. */
export type MiddlewareMap = Readonly<Record<string, readonly Middleware[]>>
