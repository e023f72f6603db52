// What `twinroute/express` is, in the one form that programs of both module systems can read: a CommonJS declaration.
// It is a declaration file because `export =` is no JavaScript; the build copies it. The value is made in
// lib/app/express-app.ts.
import express = require('express')
import type { FastifyInstance } from 'fastify'
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'

/** Express's `express()`, with applications that run through Fastify. */
declare function expressFactory(): expressFactory.TwinrouteExpress

/** What Express's own has on it, values and types. */
declare namespace expressFactory {
  /** An Express application whose requests run through Fastify. */
  export interface TwinrouteExpress extends express.Express {
    /**
     * The Fastify instance beneath, for hooks, plugins and `inject`. Hooks and plugins are added before the first request;
     * routes registered here are asked before Express's.
     */
    readonly fastify: FastifyInstance
    /**
     * For a server of your own: `https.createServer({ ...app.serverOptions, key, cert }, app)`. Without them the server creates
     * our objects from its second request on.
     */
    readonly serverOptions: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
    handle: (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void
  }

  export type ExpressFactory = typeof expressFactory
  export { expressFactory as express }

  export import application = express.application
  export import request = express.request
  export import response = express.response
  export import json = express.json
  export import raw = express.raw
  export import static = express.static
  export import text = express.text
  export import urlencoded = express.urlencoded

  export import Application = express.Application
  export import CookieOptions = express.CookieOptions
  export import Errback = express.Errback
  export import ErrorRequestHandler = express.ErrorRequestHandler
  export import Express = express.Express
  export import Handler = express.Handler
  export import IRoute = express.IRoute
  export import IRouter = express.IRouter
  export import IRouterHandler = express.IRouterHandler
  export import IRouterMatcher = express.IRouterMatcher
  export import Locals = express.Locals
  export import MediaType = express.MediaType
  export import NextFunction = express.NextFunction
  export import Request = express.Request
  export import RequestHandler = express.RequestHandler
  export import RequestParamHandler = express.RequestParamHandler
  export import Response = express.Response
  export import Router = express.Router
  export import RouterOptions = express.RouterOptions
  export import Send = express.Send
}

export = expressFactory
