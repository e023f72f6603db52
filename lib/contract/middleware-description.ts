import type { Middleware } from './middleware.js'
import type { RouteSchema, RouteSchemas } from './typed-handler.js'

/** Of the answer 400 to what breaks a schema. */
export const INVALID_REQUEST = 'The request is not valid'

/** How a client shows who it is: a Security Scheme Object of OpenAPI, such as `{ type: 'http', scheme: 'bearer' }`. */
export interface SecurityScheme {
  readonly type: 'http' | 'apiKey' | 'oauth2' | 'openIdConnect' | 'mutualTLS'
  readonly [field: string]: unknown
}

/** Shape of an error that a middleware answers itself: `{ error, message }`, or the envelope of `errorHandler`. */
export type DescribedErrorForm = 'flat' | 'nested'

/** An answer of a middleware. */
export interface DescribedResponse {
  /** A sentence: when it is answered. */
  readonly description: string
  /** The schema of its body; `null` for none. Default: an error in the form of the description. */
  readonly schema?: RouteSchema | null
}

/** What the document of an API says of a middleware. */
export interface MiddlewareDescription {
  /**
   * What a client needs to pass: `'bearer'` for a bearer token, or schemes by name, all of which are needed.
   */
  readonly security?: 'bearer' | Readonly<Record<string, SecurityScheme>>
  /** What it may answer itself, by status: a sentence, or a sentence with a schema. */
  readonly responses?: Readonly<Record<number, string | DescribedResponse>>
  /** The shape of its errors. Default: that of errors which are thrown. */
  readonly form?: DescribedErrorForm
  /** What it checks of a request, as in `defineHandler`. */
  readonly request?: RouteSchemas
  /** Middleware that it calls: what is said of that holds for it, too. */
  readonly wraps?: Middleware | readonly Middleware[]
}

/** Under which key a middleware keeps its descriptions. The same in every copy of this package. */
const kDescriptions: unique symbol = Symbol.for('twinroute.descriptions') as typeof kDescriptions

interface DescribedMiddleware {
  [kDescriptions]?: readonly MiddlewareDescription[]
}

/** All that is said of a middleware; of what it wraps, first. */
export function descriptionsOf(middleware: Middleware): readonly MiddlewareDescription[] {
  return (middleware as DescribedMiddleware)[kDescriptions] ?? []
}

/** Says something of a middleware, which stays the same function, so that it costs a request nothing. */
export function addDescription<Described extends Middleware>(
  middleware: Described,
  description: MiddlewareDescription
): Described {
  const wrapped = [description.wraps ?? []].flat().flatMap(descriptionsOf)
  const all = [...descriptionsOf(middleware), ...wrapped, description]
  Object.defineProperty(middleware, kDescriptions, { value: all, configurable: true })
  return middleware
}
