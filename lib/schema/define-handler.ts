import type { NextFunction } from '../contract/middleware.js'
import type { Request, Response } from '../contract/request.js'
import {
  kDefinition,
  type ByStatus,
  type DeepReadonly,
  type DefinedRoute,
  type ResponsesByStatus,
  type RouteDefinition,
  type RouteSchema,
  type SchemaInput,
  type SchemaOutput,
  type TypedHandler
} from '../contract/typed-handler.js'

type Optional = RouteSchema | undefined
type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** One member of a shape; none without a schema, so that the request keeps the type it has. */
type Part<Name extends string, Schema> = Schema extends RouteSchema ? { [K in Name]: SchemaOutput<Schema> } : unknown

/** The request that a handler sees behind its schemas. */
type CheckedRequest<Params, Query, Headers, Cookies, Body, Form> = Request<
  Flat<
    Part<'params', Params> &
      Part<'query', Query> &
      Part<'body', Body> & {
        valid: Flat<Part<'headers', Headers> & Part<'cookies', Cookies> & Part<'form', Form>>
      }
  >
>

/**
 * A method's parameters are compared both ways, so that a handler may say more of its request than the schemas do: what
 * middleware adds, as `ValidatedRequest<typeof check>` does.
 */
type Run<Checked, Result> = { run(request: Checked, response: Response, next: NextFunction): Result }['run']

/** What is sent as bytes, where a schema says binary. */
type Binary = Uint8Array | Blob | ReadableStream | NodeJS.ReadableStream | AsyncIterable<Uint8Array | string>

type BodyOf<Schema> =
  | DeepReadonly<SchemaInput<Schema>>
  | (SchemaInput<Schema> extends Blob | Uint8Array ? Binary : never)

type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>

type StatusObjectOf<Status, Schema> = Schema extends null
  ? { readonly status: Status; readonly headers?: AnswerHeaders; readonly body?: null | undefined }
  : { readonly status: Status; readonly headers?: AnswerHeaders; readonly body: BodyOf<Schema> }

/** What a handler may return: a status object of a declared status, what is answered with 200, nothing, the response itself. */
type ResultOf<Responses> =
  | { [Status in keyof Responses & number]: StatusObjectOf<Status, Responses[Status]> }[keyof Responses & number]
  | (Responses extends { readonly 200: infer Schema } ? (Schema extends null ? never : BodyOf<Schema>) : never)
  | Response
  | globalThis.Response
  | void

/**
 * Makes a handler with schemas: what it gets of the request is parsed and typed, what it answers is checked.
 *
 * ```ts
 * export const POST = defineHandler(
 *   { params: z.object({ team: z.string() }), body: NewNote, response: { 201: Note, 409: Problem }, summary: 'Add a note' },
 *   async (request) => ({ status: 201, body: await notes.add(request.params.team, request.body) })
 * )
 * ```
 *
 * A schema is any Standard Schema (zod, valibot, arktype and others) or a JSON Schema object (TypeBox, or by hand). After the
 * middleware and before the handler each part of the request that has a schema is checked. All faults together are one 400
 * `VALIDATION_ERROR`, whose details list the first ten as `{ field, message }`. What the schemas make of `params`, `query` and
 * `body` takes the place of these members; of `headers`, `cookies` and `form` it is in `request.valid`.
 *
 * Of an answer only what its schema names is sent. A body that breaks its schema is 500. In development and test everything is
 * checked, and a status without a schema is 500, too; in production it is sent and logged once.
 *
 * @param definition the schemas, and the words of the document: `summary`, `description`, `tags`, `operationId`,
 * `deprecated`, `hidden`, `errors`
 * @param handler as any handler of a route file
 */
export function defineHandler<
  const Responses extends RouteSchema | ResponsesByStatus,
  const Result extends ResultOf<ByStatus<Responses>>,
  const Params extends Optional = undefined,
  const Query extends Optional = undefined,
  const Headers extends Optional = undefined,
  const Cookies extends Optional = undefined,
  const Body extends Optional = undefined,
  const Form extends Optional = undefined
>(
  definition: DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response: Responses },
  handler: Run<CheckedRequest<Params, Query, Headers, Cookies, Body, Form>, Result | Promise<Result>>
): TypedHandler<
  DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response: Responses },
  Result | Promise<Result>
>
export function defineHandler<
  Result,
  const Params extends Optional = undefined,
  const Query extends Optional = undefined,
  const Headers extends Optional = undefined,
  const Cookies extends Optional = undefined,
  const Body extends Optional = undefined,
  const Form extends Optional = undefined
>(
  definition: DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response?: undefined },
  handler: Run<CheckedRequest<Params, Query, Headers, Cookies, Body, Form>, Result>
): TypedHandler<DefinedRoute<Params, Query, Headers, Cookies, Body, Form>, Result>
export function defineHandler(definition: RouteDefinition, handler: Run<never, unknown>): TypedHandler {
  if (typeof definition !== 'object' || definition === null || typeof handler !== 'function')
    throw new TypeError('defineHandler takes an object with schemas, and a handler')
  const run = handler as TypedHandler
  const defined = (...given: Parameters<TypedHandler>): unknown => run(...given)
  return Object.assign(defined, { [kDefinition]: definition })
}
