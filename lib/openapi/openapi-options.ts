import type { Mode } from '../contract/mode.js'
import type { RouteSchema } from '../contract/typed-handler.js'

/** An Info Object of OpenAPI (https://spec.openapis.org/oas/v3.1.0#info-object). */
export interface DocumentInfo {
  title: string
  /** Of the API, not of OpenAPI. */
  version: string
  /** A sentence. */
  summary?: string
  /** Any length, CommonMark. */
  description?: string
  termsOfService?: string
  contact?: { name?: string; url?: string; email?: string }
  license?: { name: string; identifier?: string; url?: string }
}

/** Where the API is found. */
export interface DocumentServer {
  /** Absolute, or relative to the document. */
  url: string
  description?: string
}

/** What is said of a tag. */
export interface DocumentTag {
  name: string
  /** CommonMark. */
  description?: string
}

export interface OpenapiOptions {
  /** Default: title "API", version "1.0.0". */
  info?: DocumentInfo
  /** Default: the server that the document comes from. */
  servers?: readonly DocumentServer[]
  /** What is said of tags, in the order in which they are shown. */
  tags?: readonly DocumentTag[]
  /** Where the page is; the document is at `<path>/openapi.json`. Default `/docs`. */
  path?: string
  /** Put before `path`, as by Fastify's own `register`. */
  prefix?: string
  /** Serve the document and the page. Default: outside of production. */
  enabled?: boolean
  /** Serve the page. Default true. */
  page?: boolean
  /** The body of errors that the error handler answers. Default: the envelope of `errorHandler`. */
  errorSchema?: RouteSchema
  /** Default: the app's, then `NODE_ENV`, then `development`. */
  mode?: Mode
}
