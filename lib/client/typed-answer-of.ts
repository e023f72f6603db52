import type { ByStatus, SchemaOutput } from '../contract/typed-handler.js'
import type { AsJson } from './as-json.js'
import type { BodyForm } from './read-answer.js'
import type { DefinitionOf } from './typed-call.js'

type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206
type ClientFault =
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
  | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
type ServerFault = 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511
type ErrorStatus = ClientFault | ServerFault

/** The answer to a request. Its `status`, and `ok`, tell what the body is. */
export interface Answer<Status extends number, Body> {
  /** The status is from 200 to 299. */
  readonly ok: number extends Status ? boolean : `${Status}` extends `2${string}` ? true : false
  readonly status: Status
  /** JSON parsed, text as a string, other types as bytes; undefined without a body. */
  readonly body: Body
  readonly headers: Headers
}

interface BodyByForm {
  bytes: Uint8Array
  text: string
  stream: ReadableStream<Uint8Array>
}

type Bytes = Uint8Array | Blob | ReadableStream | NodeJS.ReadableStream | AsyncIterable<unknown>

/** What a value is when it arrives. */
type Arrived<Value, Form extends BodyForm> = [Form] extends [never]
  ? unknown extends Value
    ? unknown
    : Value extends Bytes
      ? string | Uint8Array
      : AsJson<Value>
  : BodyByForm[Form]

/** Errors are read by their type, so that only a body of success has another form. */
type AnswerWith<Status extends number, Value, Form extends BodyForm> = Status extends SuccessStatus
  ? Answer<Status, Arrived<Value, Form>>
  : Answer<Status, AsJson<Value>>

type Declared<Status extends number, Schema, Form extends BodyForm> = Schema extends null
  ? Answer<Status, undefined>
  : AnswerWith<Status, SchemaOutput<Schema>, Form>

type IsStatusObject<Result> = [Exclude<keyof Result, 'status' | 'headers' | 'body'>] extends [never] ? true : false
type BodyIn<Result> = Result extends { readonly body: infer Body } ? Body : undefined

/** Of a plain handler only what it returns is known: `status: number` may be any. */
type Returned<Result, Errors, Form extends BodyForm> = unknown extends Result
  ? Answer<SuccessStatus, Arrived<unknown, Form>>
  : Result extends { readonly status: infer Status extends number }
    ? IsStatusObject<Result> extends true
      ? number extends Status
        ? Answer<SuccessStatus, Arrived<BodyIn<Result>, Form>> | Answer<ErrorStatus, AsJson<BodyIn<Result>> | Errors>
        : AnswerWith<Status, BodyIn<Result>, Form>
      : Answer<SuccessStatus, Arrived<Result, Form>>
    : Result extends undefined | void | globalThis.Response | NodeJS.WritableStream
      ? Answer<SuccessStatus, Arrived<unknown, Form>>
      : Answer<SuccessStatus, Arrived<Result, Form>>

type StatusIn<Answers> = Answers extends { readonly status: infer Status } ? Status : never
type Others<Answers, Errors> = Answers | Undeclared<Exclude<ErrorStatus, StatusIn<Answers>>, Errors>
type Undeclared<Status extends number, Errors> = [Status] extends [never] ? never : Answer<Status, Errors>

type ResultOf<Handler> = Handler extends (...given: never) => infer Result ? Awaited<Result> : unknown

/**
 * What a handler may answer, one member for each status: those that `defineHandler` declares with the bodies of their schemas
 * after JSON, else what the handler returns, and all other errors with `Errors`. The union has no name of its own, so that
 * editors show the answers and not the schemas.
 */
export type AnswerOf<Handler, Errors, Form extends BodyForm> =
  DefinitionOf<Handler> extends {
    readonly response: infer Given extends object
  }
    ? | {
          [Status in keyof ByStatus<Given> & number]: Declared<Status, ByStatus<Given>[Status], Form>
        }[keyof ByStatus<Given> & number]
      | Undeclared<Exclude<ErrorStatus, keyof ByStatus<Given>>, Errors>
    : Others<Returned<ResultOf<Handler>, Errors, Form>, Errors>
