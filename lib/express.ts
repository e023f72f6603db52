export { default, default as express } from './express.cjs'
export { json, Route } from './app/express-app.js'
export { application, raw, request, response, Router, static, text, urlencoded } from 'express'
export type { ExpressFactory, TwinrouteExpress } from './contract/express-factory.cjs'
export type {
  Application,
  CookieOptions,
  Errback,
  ErrorRequestHandler,
  Express,
  Handler,
  IRoute,
  IRouter,
  IRouterHandler,
  IRouterMatcher,
  Locals,
  MediaType,
  NextFunction,
  Request,
  RequestHandler,
  RequestParamHandler,
  Response,
  RouterOptions,
  Send
} from 'express'
