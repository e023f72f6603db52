// The types only. The getters and setters of these members are in `lib/express/request-members.ts`.

import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import type { PathParams } from './path-params.js'
import type { RequestFormData } from './uploads.js'

/** One cookie of the request. */
export interface CookieItem {
  name: string
  value: string
}

/**
 * The cookies of the request. `get`, `has` and `all` are the interface; the values are own properties, too
 * (`request.cookies.sid`), as cookie-parser leaves them, except for cookies named like one of the three methods.
 */
export interface RequestCookies {
  /** The cookie of that name, or undefined. */
  get(name: string): CookieItem | undefined
  /** Whether the request has a cookie of that name. */
  has(name: string): boolean
  /** A map of cookie name to value, without a prototype. */
  all(): Record<string, string>
}

/** A file as upload middleware (multer and alike) describes it. */
export interface UploadedFile {
  fieldname: string
  originalname: string
  encoding: string
  mimetype: string
  /** Bytes. */
  size: number
  destination: string
  filename: string
  path: string
  buffer: Buffer
}

/** The type that a package such as @types/multer declares for this member of Express's request; else our own. */
type Declared<Name extends string, Own> = Name extends keyof ExpressRequest ? ExpressRequest[Name] : Own

/**
 * What your middleware adds to every request, or makes of its open members: `user`, `session`, `file`, `files` and any name of your
 * own.
 *
 * ```ts
 * declare module 'twinroute' {
 *   interface RequestTypes {
 *     user: User | undefined
 *     tenant: string
 *   }
 * }
 * ```
 */
export interface RequestTypes {}

/** What `Request<Shape>` may say of one request. */
export interface RequestShape {
  params?: unknown
  query?: unknown
  body?: unknown
  user?: unknown
  session?: unknown
  file?: unknown
  files?: unknown
  /** The parts that only `defineHandler` checks. */
  valid?: unknown
}

/** The type of a member: that of the shape, else that of {@link RequestTypes}, else the last. */
type Member<Shape, Name extends string, Otherwise> = Name extends keyof Shape
  ? Shape[Name]
  : Name extends keyof RequestTypes
    ? RequestTypes[Name]
    : Otherwise

/** The query as Express's `simple` parser leaves it: a repeated key is a list. */
type Query = Record<string, string | string[] | undefined>

/** TypeScript compares two requests by these members, and not by the names of their shapes, because the type is a mapped one. */
type Valid<Shape> = { readonly [Part in keyof Member<Shape, 'valid', object>]: Member<Shape, 'valid', object>[Part] }

/** What twinroute adds to, or types more closely than, Express 5's request. */
export interface RequestMembers<Shape = unknown> {
  /** What `defineHandler` made of the parts that have schemas: `headers`, `cookies` and `form`. */
  valid: Valid<Shape>
  /**
   * The parsed body; undefined until a body parser has run, which for JSON, urlencoded forms and text is just before the
   * handler. A plain value: `await request.body` works too. Under `defineHandler` it is what the schema makes of it.
   */
  body: Member<Shape, 'body', any>
  /** The cookies of the request: `request.cookies.get('sid')?.value`, or `request.cookies.sid`. */
  cookies: RequestCookies & Record<string, any>
  /** The parameters of the path, decoded once: of `users/[id]`, `id`; of `[...rest]`, a list. */
  params: Shape extends string ? PathParams<Shape> : Member<Shape, 'params', ExpressRequest['params']>
  /** The parsed query: texts by name, lists of texts for a repeated key. */
  query: Member<Shape, 'query', Query>
  /** Who asks: set by `authenticate`, Passport or your own middleware; undefined without. */
  user: Member<Shape, 'user', any>
  /** The session, set by express-session or @fastify/session. */
  session: Member<Shape, 'session', any>
  /** The id of the session. */
  sessionID: Declared<'sessionID', string | undefined>
  /** What an authentication strategy says beside the user (Passport). */
  authInfo: any
  /** The nonce of the Content-Security-Policy, set by your security-header middleware. */
  cspNonce: Declared<'cspNonce', string | undefined>
  /** The one uploaded file, set by upload middleware; undefined when the client sent none. */
  file: Member<Shape, 'file', Declared<'file', UploadedFile | undefined>>
  /** The uploaded files, set by upload middleware: a list, or lists by field name. */
  files: Member<Shape, 'files', Declared<'files', UploadedFile[] | Record<string, UploadedFile[]> | undefined>>
  /** What `validate` let through; `ValidatedRequest` gives it its type. */
  validatedData?: unknown
  /** The version of the interface the client asked for; set by `apiVersion`. */
  apiVersion?: string
  /** Fastify's `request.id`: unique per request, never read from the wire unless `requestIdHeader` is set. */
  requestId: Declared<'requestId', string>
  /** Aborted when the client leaves or the handler timeout passes. Created on first use. */
  readonly signal: AbortSignal
  /**
   * The multipart or urlencoded body as a web `FormData`. Its files are `File` objects with the `path` of the temporary
   * file behind them, which is gone when the answer has been sent.
   */
  formData(): Promise<RequestFormData>
  /** The value of a request header, whatever the case of its name; the same as `get`. */
  header: ExpressRequest['header']
  /** `{ path }`: the route in the syntax of Fastify's router. */
  route: ExpressRequest['route']
  /** The cookies whose signature holds, set by cookie-parser with a secret. */
  signedCookies: ExpressRequest['signedCookies']
  /** Path and query as the client sent them, whatever middleware has made of `url`. */
  originalUrl: ExpressRequest['originalUrl']
  /** The prefix in its middleware, `''` in handlers. */
  baseUrl: ExpressRequest['baseUrl']
  /** The Express application: settings and `locals`. */
  app: ExpressRequest['app']
  /** `next(error)` passes an error to the error handler, `next()` answers 404. */
  next?: ExpressRequest['next']
}

/**
 * The request every middleware and handler receives: Express 5's, with twinroute's members.
 *
 * `Request<'/users/[id]'>` types the parameters by the folders; `Request<{ params; query; body; user }>` says what you know of
 * the members, and {@link RequestTypes} what holds for all requests.
 */
export interface Request<Shape extends RequestShape | string = object>
  extends
    RequestMembers<Shape>,
    Omit<ExpressRequest<any, any, any, any>, keyof (RequestMembers & RequestTypes)>,
    Omit<RequestTypes, keyof RequestMembers> {}

/** The request where a function may have been written for any path, any query and any upload middleware. */
export interface OpenRequest extends Request<{ params: any; query: any; file: any; files: any }> {}

/** The response every middleware and handler receives: Express 5's own. */
export interface Response extends ExpressResponse {
  /** Sets a header, or several; the same as `set`. */
  header(field: any): this
  header(field: string, value?: string | string[]): this
  /** Values of this request, for templates and for middleware behind this one. */
  locals: ExpressResponse['locals']
  /** Part of Express's types; use `type('html')`, which sets the charset. */
  charset: ExpressResponse['charset']
  /** The Express application: settings and `locals`. */
  app: ExpressResponse['app']
}
