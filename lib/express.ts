export { expressFactory as default, expressFactory as express } from './app/express-factory.js'
export { json, raw, Router, static, text, urlencoded } from 'express'
export type { ExpressFactory } from './app/express-factory.js'
export type { TwinrouteExpress } from './app/express-app.js'
export type {
  Application,
  CookieOptions,
  ErrorRequestHandler,
  Express,
  Handler,
  IRoute,
  IRouter,
  Locals,
  NextFunction,
  Request,
  RequestHandler,
  RequestParamHandler,
  Response,
  RouterOptions
} from 'express'
