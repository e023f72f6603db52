// The types only. The getters and setters of these members are in `lib/express/request-members.ts`.

import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
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

/** What a package of types declares for Express's request, where one of the program does; else our own type. */
type Declared<Name extends string, Own> = ExpressRequest extends { [K in Name]: infer Type } ? Type : Own

/** What twinroute adds to, or types more closely than, Express 5's request. */
export interface RequestMembers {
  /** The parsed body; undefined until a body parser has run. A plain value: `await request.body` works too. */
  body: any
  cookies: RequestCookies & Record<string, any>
  params: any
  query: any
  user: any
  session: any
  sessionID: Declared<'sessionID', string | undefined>
  authInfo: any
  cspNonce: Declared<'cspNonce', string | undefined>
  file: any
  files: any
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
}

/** The request every middleware and handler receives: Express 5's, with twinroute's members. */
export interface Request extends Omit<ExpressRequest<any, any, any, any>, keyof RequestMembers>, RequestMembers {}

/** The response every middleware and handler receives: Express 5's own. */
export interface Response extends ExpressResponse {}
