// With @types/express-session in the program, which types `session` and `sessionID` for every Express request.
import 'express-session'
import type { RequestHandler } from 'express'
import { createMiddleware, type Middleware, type Request } from 'twinroute'

declare const guard: RequestHandler
export const middleware: Middleware = guard
export const map = createMiddleware({ '/api': [guard, middleware] })
export const id = (request: Request): string => request.sessionID
