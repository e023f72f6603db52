import http from 'node:http'
import type { Socket } from 'node:net'
import express, { type Application } from 'express'
import { requestStreamLayer, responseMembers } from './layers.js'
import { requestMembers, type MemberOptions } from './request.js'
import { initRequestSlots, initResponseSlots, kCompat } from './slots.js'

/** Express's application object, with the parts its types leave out. */
export interface ExpressApp extends Application {
  request: object
  response: object
}

/** The Express side of one server: its application object and its request and response classes. */
export interface Compat {
  /** `request.app`: settings, locals, engines; also the object whose `request` and `response` users extend. */
  readonly expressApp: ExpressApp
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
  /** Our members below `app.request`. */
  readonly requestLayer: object
  /** Some route parses bodies: the tap is worth its while. */
  parsesBodies: boolean
}

/**
 * Makes the classes of an app. The prototype chain of a request is: class, `app.request` (which users extend live), our
 * members, our stream methods, Express's own request prototype, IncomingMessage. Ours stand below `app.request`, since
 * mounted Express apps swap the prototype for their own `request`, which inherits from it.
 */
export function createCompat(options: MemberOptions): Compat {
  const expressApp = express() as ExpressApp
  expressApp.disable('x-powered-by')
  const requestLayer = Object.create(requestStreamLayer, requestMembers(options)) as object
  const responseLayer = Object.create(express.response, responseMembers(options.kind)) as object
  Object.setPrototypeOf(expressApp.request, requestLayer)
  Object.setPrototypeOf(expressApp.response, responseLayer)
  const compat: Compat = { expressApp, requestLayer, ...createClasses(expressApp), parsesBodies: false }
  Object.defineProperty(requestLayer, kCompat, { value: compat })
  return compat
}

// node passes the server's options as a second argument, which its types leave out
const NodeResponse: new (request: http.IncomingMessage, options: unknown) => http.ServerResponse = http.ServerResponse

// `class … extends`: a function that calls IncomingMessage costs 2 µs more per object on Node 24 and later
function createClasses(expressApp: ExpressApp): Pick<Compat, 'IncomingMessage' | 'ServerResponse'> {
  class CompatRequest extends http.IncomingMessage {
    constructor(socket: Socket) {
      super(socket)
      ;(this as { res?: unknown }).res = undefined
      initRequestSlots(this)
    }
  }
  class CompatResponse extends NodeResponse {
    constructor(request: http.IncomingMessage, options: unknown) {
      super(request, options)
      initResponseSlots(this)
      ;(request as { res?: unknown }).res = this
    }
  }
  Object.setPrototypeOf(CompatRequest.prototype, expressApp.request)
  Object.setPrototypeOf(CompatResponse.prototype, expressApp.response)
  return { IncomingMessage: CompatRequest, ServerResponse: CompatResponse as typeof http.ServerResponse }
}
