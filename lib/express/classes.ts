import http, { type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import express, { type Application } from 'express'
import { requestMembers, type MemberOptions } from './request-members.js'
import { type RequestClass, type ResponseClass, StatefulRequest, StatefulResponse } from '../link/message-classes.js'
import { kExpressSide, kLocals, type RuntimeKind, type LinkedResponse } from '../link/state.js'
import { destroyEnded, type Dumpable, endUnread } from '../body/end-unread.js'
import { tapDestroy, tapPush, tapRead } from '../body/tap.js'
import { storeHeaderOver } from '../answer/own-head.js'
import { answeringMethods, type ResponseBase } from '../answer/end.js'
import { headerMethods } from '../answer/headers.js'
import { lateProofMethods, type WritingMethods } from '../answer/late-calls.js'
import { json, lateProofAnswer, send, sendFile, status } from './response-members.js'
import { ClosingError } from '../errors/refusals.js'

/** Express's application object, with the parts its types leave out. */
export interface ExpressApp extends Application {
  request: object
  response: object
}

/** The Express side of one server: its application object and its request and response classes. */
export interface ExpressSide {
  /** `request.app`: settings, locals, engines; also the object whose `request` and `response` users extend. */
  readonly expressApp: ExpressApp
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
  /** Our members below `app.request`. */
  readonly requestLayer: object
  readonly openSignals: OpenSignals
  /** Set once a route parses bodies; only then are chunks kept. */
  parsesBodies: boolean
}

/**
 * Makes the classes of an app. The prototype chain of a request is: class, `app.request` (which users extend live), our
 * members, our stream methods, Express's own request prototype, IncomingMessage. Ours are below `app.request`, since
 * mounted Express apps swap the prototype for their own `request`, which inherits from it.
 */
export function createExpressSide(options: MemberOptions): ExpressSide {
  const expressApp = express() as ExpressApp
  expressApp.disable('x-powered-by')
  keepFast(expressApp.settings as object)
  const requestLayer = Object.create(requestStreamLayer, requestMembers(options)) as object
  const responseLayer = Object.create(express.response, responseMembers(options.kind)) as object
  Object.setPrototypeOf(expressApp.request, requestLayer)
  Object.setPrototypeOf(expressApp.response, responseLayer)
  const side: ExpressSide = {
    expressApp,
    requestLayer,
    ...createClasses(expressApp, options.kind),
    openSignals: new OpenSignals(),
    parsesBodies: false
  }
  Object.defineProperty(requestLayer, kExpressSide, { value: side })
  return side
}

/**
 * Express adds its many settings one by one, so that V8 keeps them as a hash table: five look-ups for each JSON answer. What has
 * been a prototype is kept as other objects are.
 */
function keepFast(settings: object): void {
  Object.create(settings)
}

type Classes = Pick<ExpressSide, 'IncomingMessage' | 'ServerResponse'>

function createClasses(expressApp: ExpressApp, kind: RuntimeKind): Classes {
  class AppRequest extends StatefulRequest {}
  class AppResponse extends StatefulResponse {}
  const classes = kind === 'express' ? createExpressClasses() : { AppRequest, AppResponse }
  Object.setPrototypeOf(classes.AppRequest.prototype, expressApp.request)
  Object.setPrototypeOf(classes.AppResponse.prototype, expressApp.response)
  return { IncomingMessage: classes.AppRequest as object, ServerResponse: classes.AppResponse as object } as Classes
}

type RouterMember = 'next' | 'baseUrl' | 'originalUrl' | '_parsedUrl' | 'params' | 'route'

// our classes, with what they have in an Express application before its router writes
const BeforeRouter = StatefulRequest as RequestClass<unknown> as RequestClass<Record<RouterMember, unknown>>
const BeforeLocals = StatefulResponse as ResponseClass<unknown> as ResponseClass<Record<'locals', unknown>>

/** With room for what Express's router and URL parser write on every request, in their order, and the application on every response. */
function createExpressClasses() {
  class AppRequest extends BeforeRouter {
    constructor(socket: Socket) {
      super(socket)
      this.next = undefined
      this.baseUrl = undefined
      this.originalUrl = undefined
      this._parsedUrl = undefined
      this.route = undefined
      this.params = undefined
    }
  }
  class AppResponse extends BeforeLocals {
    constructor(request: http.IncomingMessage, options: unknown) {
      super(request, options)
      this.locals = undefined
    }
  }
  return { AppRequest, AppResponse }
}

/** The methods of node's response that ours go back to. */
type Base = ResponseBase & WritingMethods

const incoming = http.IncomingMessage.prototype as http.IncomingMessage & Dumpable

/** The overridden stream methods; only objects whose base is node's IncomingMessage may inherit them. */
const requestStreamLayer: object = Object.create(express.request, {
  push: method(tapPush(incoming.push)),
  _destroy: method(destroyEnded(tapDestroy(incoming._destroy))),
  _dump: method(endUnread(incoming._dump)),
  _read: method(tapRead(incoming._read))
}) as object

/** The writing methods over those of a base: node's, or those of an injected or HTTP/2 response. */
export function writingMembers(base: Base): PropertyDescriptorMap {
  const headers = headerMethods(base)
  const methods = { ...headers, ...lateProofMethods({ ...headers, write: base.write }), ...answeringMethods(base) }
  if (base._storeHeader !== undefined) Object.assign(methods, { _storeHeader: storeHeaderOver(base) })
  return Object.fromEntries(Object.entries(methods).map(([name, value]) => [name, method(value)]))
}

/** Our response members over Express's own, which other packages may have replaced. */
function responseMembers(kind: RuntimeKind): PropertyDescriptorMap {
  const members = {
    ...writingMembers(express.response as Base),
    send: method(send),
    json: method(json),
    status: method(status),
    jsonp: method(lateProofAnswer('jsonp')),
    sendFile: method(sendFile),
    redirect: method(lateProofAnswer('redirect')),
    sendStatus: method(lateProofAnswer('sendStatus'))
  }
  return kind === 'express' ? members : { ...members, ...lazyLocals() }
}

/** In applications of `twinroute/express` they are an own member, as in Express. */
function lazyLocals(): PropertyDescriptorMap {
  return {
    locals: {
      configurable: true,
      enumerable: true,
      get(this: LinkedResponse) {
        return (this[kLocals] ??= Object.create(null) as Record<string, unknown>)
      },
      set(this: LinkedResponse, value: Record<string, unknown>) {
        this[kLocals] = value
      }
    }
  }
}

function method(value: unknown): PropertyDescriptor {
  return { value, writable: true, configurable: true, enumerable: true }
}

/** The signals of requests that are not over: of those whose `signal` was read, so that others cost nothing. */
class OpenSignals {
  readonly #open = new Set<AbortController>()

  add(abort: AbortController, response: ServerResponse): void {
    const remove = (): void => void this.#open.delete(abort)
    this.#open.add(abort)
    response.once('close', remove).once('finish', remove) // an injected response may only finish
  }

  /** The application closes: streams that end on their signal would hold it otherwise. */
  abort(): void {
    for (const abort of this.#open) abort.abort(new ClosingError())
    this.#open.clear()
  }
}
