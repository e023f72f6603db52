import type { NextFunction } from '../contract/middleware.js'
import type { Request, RequestShape, Response } from '../contract/request.js'
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

/** What middleware adds to the requests of some routes: the user, the session. */
export type AddedMembers = Omit<RequestShape, 'params' | 'query' | 'body' | 'valid'>

/** The request that a handler sees behind its schemas. */
type CheckedRequest<Added, Params, Query, Headers, Cookies, Body, Form> = Request<
  Flat<
    Added &
      Part<'params', Params> &
      Part<'query', Query> &
      Part<'body', Body> & {
        valid: Flat<Part<'headers', Headers> & Part<'cookies', Cookies> & Part<'form', Form>>
      }
  >
>

type IsAny<Type> = 0 extends 1 & Type ? true : false

/**
 * A method's parameters are compared both ways, so that a handler may say more of its request than the schemas do: what
 * middleware adds, as `ValidatedRequest<typeof check>` does.
 */
type Run<Checked, Result> = { run(request: Checked, response: Response, next: NextFunction): Result }['run']

/** The parts of a request that have schemas with types, of which the type that a handler gives to its request says nothing. */
type Unsaid<Asked, Schemas> = {
  [Part in keyof Schemas & keyof Asked]: Schemas[Part] extends RouteSchema
    ? [IsAny<Asked[Part]>, unknown extends SchemaOutput<Schemas[Part]> ? true : false] extends [true, false]
      ? Part
      : never
    : never
}[keyof Schemas & keyof Asked]

/**
 * What must hold of the type that a handler gives to its request. `any` fits everything, so that a handler which leaves the body open
 * would lose what the schema makes of it.
 */
type Says<Asked, Checked, Schemas> =
  IsAny<Asked> extends true
    ? unknown
    : [Unsaid<Asked, Schemas>] extends [never]
      ? [Asked] extends [Checked]
        ? unknown
        : Run<Checked, unknown>
      : { 'the type of this request does not say what a schema makes of its': Unsaid<Asked, Schemas> }

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

/** What a handler may return; without `response` anything. */
type Allowed<Responses> = [Responses] extends [RouteSchema | ResponsesByStatus]
  ? ResultOf<ByStatus<Responses>> | Promise<ResultOf<ByStatus<Responses>>>
  : unknown

/** {@link defineHandler}, for handlers whose requests have more members: {@link defineHandlerFor}. */
export interface DefineHandler<Added extends AddedMembers = object> {
  <
    const Responses extends RouteSchema | ResponsesByStatus,
    const Result extends ResultOf<ByStatus<Responses>>,
    const Params extends Optional = undefined,
    const Query extends Optional = undefined,
    const Headers extends Optional = undefined,
    const Cookies extends Optional = undefined,
    const Body extends Optional = undefined,
    const Form extends Optional = undefined,
    Asked = CheckedRequest<Added, Params, Query, Headers, Cookies, Body, Form>
  >(
    definition: DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response: Responses },
    handler: Run<Asked, Result | Promise<Result>> &
      Says<
        Asked,
        CheckedRequest<Added, Params, Query, Headers, Cookies, Body, Form>,
        { params: Params; query: Query; body: Body }
      >
  ): TypedHandler<
    DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response: Responses },
    Result | Promise<Result>
  >
  // Reached without `response`, and by mistakes, of which the compiler may tell only what the last signature says.
  <
    Responses extends RouteSchema | ResponsesByStatus | undefined,
    Result extends Allowed<Responses>,
    const Params extends Optional = undefined,
    const Query extends Optional = undefined,
    const Headers extends Optional = undefined,
    const Cookies extends Optional = undefined,
    const Body extends Optional = undefined,
    const Form extends Optional = undefined,
    Asked = CheckedRequest<Added, Params, Query, Headers, Cookies, Body, Form>
  >(
    definition: DefinedRoute<Params, Query, Headers, Cookies, Body, Form> & { readonly response?: Responses },
    handler: Run<Asked, Result> &
      Says<
        Asked,
        CheckedRequest<Added, Params, Query, Headers, Cookies, Body, Form>,
        { params: Params; query: Query; body: Body }
      >
  ): TypedHandler<DefinedRoute<Params, Query, Headers, Cookies, Body, Form>, Result>
}

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
export const defineHandler = ((definition: RouteDefinition, handler: Run<never, unknown>): TypedHandler => {
  if (typeof definition !== 'object' || definition === null || typeof handler !== 'function')
    throw new TypeError('defineHandler takes an object with schemas, and a handler')
  const run = handler as TypedHandler
  const defined = (...given: Parameters<TypedHandler>): unknown => run(...given)
  return Object.assign(defined, { [kDefinition]: definition })
}) as DefineHandler

/**
 * {@link defineHandler} for routes whose middleware adds to the request: behind `authenticate`, `request.user` has the type of
 * your users beside what the schemas make of the other parts. Nothing is checked at run time.
 *
 * ```ts
 * export const defineUserHandler = defineHandlerFor<{ user: User }>()
 * ```
 */
export function defineHandlerFor<Added extends AddedMembers>(): DefineHandler<Added> {
  return defineHandler as DefineHandler<Added>
}
