import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { NextFunction } from './middleware.js'
import type { OpenRequest, Response } from './request.js'

/** A JSON Schema as an object: written by hand, or by TypeBox, whose objects also carry their type. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Any Standard Schema (zod, valibot, arktype and others: https://standardschema.dev), or a JSON Schema object. */
export type RouteSchema = StandardSchemaV1 | JsonSchema

/** Schemas of the answers by status. `null` is an answer without a body. */
export interface ResponsesByStatus {
  readonly [status: number]: RouteSchema | null
}

/** The parts of a request that a schema may describe. */
export type RequestPart = 'params' | 'query' | 'headers' | 'cookies' | 'body' | 'form'

/** The schemas of a route. */
export interface RouteSchemas {
  /** The parameters of the path. Its names are those of the folders: another one is a boot problem. */
  readonly params?: RouteSchema | undefined
  /** The query: texts, or lists of texts where a key is repeated. A list in the schema takes a single value, too. */
  readonly query?: RouteSchema | undefined
  /** The headers, by lower-case name. What the schema makes of them is `request.valid.headers`. */
  readonly headers?: RouteSchema | undefined
  /** The cookies by name. What the schema makes of them is `request.valid.cookies`. */
  readonly cookies?: RouteSchema | undefined
  /** The parsed body; undefined where the request has none. Not with GET and HEAD, nor beside `form`. */
  readonly body?: RouteSchema | undefined
  /**
   * A multipart or urlencoded form, read by `request.formData()`: texts and files by name, lists where a name is repeated.
   * What the schema makes of them is `request.valid.form`.
   */
  readonly form?: RouteSchema | undefined
  /** What is answered: one schema for status 200, or schemas by status, `null` for no body. Default: anything. */
  readonly response?: RouteSchema | ResponsesByStatus | undefined
}

/** What the document of an API says of a route. */
export interface RouteWords {
  /** A few words. */
  readonly summary?: string | undefined
  /** Any length, CommonMark. */
  readonly description?: string | undefined
  readonly tags?: readonly string[] | undefined
  /** The name of the operation in generated clients; one of its own in the whole API. Default: made of method and path. */
  readonly operationId?: string | undefined
  readonly deprecated?: boolean | undefined
  /** Left out of the document. */
  readonly hidden?: boolean | undefined
  /**
   * The errors that the handler and its middleware throw, by status from 400 to 599, each with a sentence: `{ 404: 'No such
   * note' }`. Their body is that of the error handler.
   */
  readonly errors?: Readonly<Record<number, string>> | undefined
}

/** All that `defineHandler` is told of a route: its schemas, and the words of the document. */
export interface RouteDefinition extends RouteSchemas, RouteWords {}

/** The same with the type of each schema, as `defineHandler` infers it: the declarations of your route files name it. */
export interface DefinedRoute<Params, Query, Headers, Cookies, Body, Form> extends RouteWords {
  readonly params?: Params
  readonly query?: Query
  readonly headers?: Headers
  readonly cookies?: Cookies
  readonly body?: Body
  readonly form?: Form
}

/** Under which key a handler of `defineHandler` keeps its definition. The same in every copy of this package. */
export const kDefinition: unique symbol = Symbol.for('twinroute.definition') as typeof kDefinition

/**
 * What `defineHandler` returns: a handler that remembers its definition. Called directly, it runs without any check, as a
 * unit test wants it.
 */
export interface TypedHandler<Definition extends RouteDefinition = RouteDefinition, Result = unknown> {
  (request: OpenRequest, response: Response, next: NextFunction): Result
  readonly [kDefinition]: Definition
}

/** The definition of a handler; undefined for a plain function. */
export function definitionOf(handler: object): RouteDefinition | undefined {
  return (handler as Partial<TypedHandler>)[kDefinition]
}

/** What goes into a schema: of an answer, what the handler returns. */
export type SchemaInput<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : Schema extends { readonly static: infer Static }
    ? Static
    : unknown

/** What a schema makes of it: of a request, what the handler sees. */
export type SchemaOutput<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends { readonly static: infer Static }
    ? Static
    : unknown

/** What is only read may be readonly. */
export type DeepReadonly<Type> = Type extends readonly (infer Entry)[]
  ? readonly DeepReadonly<Entry>[]
  : Type extends Date | Blob | Uint8Array | ((...given: never) => unknown)
    ? Type
    : Type extends object
      ? { readonly [Key in keyof Type]: DeepReadonly<Type[Key]> }
      : Type

/** `{ 200: Schema }` for one schema. */
export type ByStatus<Given> = [keyof Given & number] extends [never] ? { readonly 200: Given } : Given
