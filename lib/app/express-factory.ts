import express from 'express'
import { createExpressApp, type TwinrouteExpress } from './express-app.js'

type ExpressStatics = Pick<typeof express, keyof typeof express>

/** Express's `express`, with applications that run through Fastify. */
export interface ExpressFactory extends ExpressStatics {
  (): TwinrouteExpress
}

const { Router, json, raw, text, urlencoded, static: serveStatic, request, response, application } = express

/** The factory with what Express's own has on it. */
export const expressFactory: ExpressFactory = Object.assign(createExpressApp, {
  Router,
  Route: Reflect.get(express, 'Route') as unknown, // in Express, though not in its types
  json,
  raw,
  text,
  urlencoded,
  static: serveStatic,
  request,
  response,
  application
})

/** `express.Request` and the like, as types are written in programs that import Express whole; Express's own defaults. */
export declare namespace expressFactory {
  export interface Application extends express.Application {}
  export interface CookieOptions extends express.CookieOptions {}
  export interface ErrorRequestHandler<
    P = Params,
    Res = Any,
    Body = Any,
    Q = Query,
    L extends Locals = Locals
  > extends express.ErrorRequestHandler<P, Res, Body, Q, L> {}
  export interface Express extends express.Express {}
  export interface NextFunction extends express.NextFunction {}
  export interface Request<
    P = Params,
    Res = Any,
    Body = Any,
    Q = Query,
    L extends Locals = Locals
  > extends express.Request<P, Res, Body, Q, L> {}
  export interface RequestHandler<
    P = Params,
    Res = Any,
    Body = Any,
    Q = Query,
    L extends Locals = Locals
  > extends express.RequestHandler<P, Res, Body, Q, L> {}
  export interface Response<Res = Any, L extends Locals = Locals> extends express.Response<Res, L> {}
  export interface Router extends express.Router {}
}

type Params = express.Request['params']
type Query = express.Request['query']
type Any = express.Request['body']
type Locals = Record<string, Any>
