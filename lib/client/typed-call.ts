import type { PathParams } from '../contract/path-params.js'
import type { DeepReadonly, kDefinition, RequestPart, SchemaInput } from '../contract/typed-handler.js'
import type { BodyForm } from './read-answer.js'
import type { Scalar } from './text-of.js'

/** The empty object: assignable where nothing is required. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- that is what it is for
export type Nothing = Record<never, never>

/** What `defineHandler` was told; nothing of a plain function. */
export type DefinitionOf<Handler> = Handler extends { readonly [kDefinition]: infer Definition } ? Definition : object

type SchemaOf<Definition, Part> = Part extends keyof Definition ? Exclude<Definition[Part], undefined> : never

/** What goes into a schema; unknown without one, as of a JSON Schema that carries no type. */
type InputOf<Definition, Part extends RequestPart> = [SchemaOf<Definition, Part>] extends [never]
  ? unknown
  : SchemaInput<SchemaOf<Definition, Part>>

/** A schema that coerces takes anything: of that, what can be sent. */
type Sendable<Given, Open> = unknown extends Given ? Open : DeepReadonly<Given>

/** Values that are sent as text; an optional one may be undefined. */
type Fields<Given, Open> = {
  readonly [Name in keyof Given]: Sendable<Given[Name], Open> | (Nothing extends Pick<Given, Name> ? undefined : never)
}

type OpenValue = Scalar | readonly Scalar[]
type OpenFields<Value> = Readonly<Record<string, Value | null | undefined>>

/** `[[...path]]` may be left out. */
type FolderParams<Path extends string> = Path extends `${infer Before}[[...${infer Name}]]`
  ? FolderParams<Before> & { readonly [K in Name]?: readonly Scalar[] | undefined }
  : { readonly [Name in keyof PathParams<Path>]: PathParams<Path>[Name] extends string ? Scalar : readonly Scalar[] }

type ParamsOf<Definition, Path extends string> =
  unknown extends InputOf<Definition, 'params'> ? FolderParams<Path> : Fields<InputOf<Definition, 'params'>, Scalar>

type QueryOf<Definition> =
  unknown extends InputOf<Definition, 'query'> ? OpenFields<OpenValue> : Fields<InputOf<Definition, 'query'>, OpenValue>

/** None is required, since `createClient` may send it with every request. */
type HeadersOf<Definition> =
  | Headers
  | (Partial<Fields<InputOf<Definition, 'headers'>, Scalar>> & { readonly [name: string]: OpenValue | undefined })

type FormField = Scalar | Blob
type FormOf<Given> =
  | FormData
  | (unknown extends Given ? OpenFields<FormField | readonly FormField[]> : FormFields<Given>)
type FormFields<Given> = {
  readonly [Name in keyof Given]: FormValue<Given[Name]> | (Nothing extends Pick<Given, Name> ? undefined : never)
}
type FormValue<Given> = unknown extends Given
  ? FormField | readonly FormField[]
  : Given extends readonly (infer Entry)[]
    ? readonly FormValue<Entry>[]
    : Given extends Blob
      ? Blob
      : Given

type Optional<Name extends string, Value> = { readonly [K in Name]?: Value | undefined }
type Required<Name extends string, Value> = { readonly [K in Name]: Value }

/** Required where something in it is. */
type Part<Name extends string, Value> = Nothing extends Value ? Optional<Name, Value> : Required<Name, Value>

type BodyPart<Definition> = [SchemaOf<Definition, 'form'>] extends [never]
  ? [SchemaOf<Definition, 'body'>] extends [never]
    ? Optional<'body', unknown> & Optional<'form', FormOf<unknown>>
    : BodyOf<InputOf<Definition, 'body'>>
  : Part<'form', FormOf<InputOf<Definition, 'form'>>>

type BodyOf<Given> = undefined extends Given
  ? Optional<'body', Sendable<Given, unknown>>
  : Required<'body', DeepReadonly<Given>>

type ParamsPart<Definition, Path extends string> = [keyof PathParams<Path>] extends [never]
  ? unknown
  : Part<'params', ParamsOf<Definition, Path>>

/** What any call may say. */
interface AnyAsk<Definition, Form> {
  /** For this request, in place of those of `createClient`. */
  readonly headers?: HeadersOf<Definition> | undefined
  /** Aborts the request: the call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Reads the body of a successful answer as bytes, text or a stream, whatever its type is. */
  readonly as?: Form | undefined
}

/** The handler of a method; HEAD is answered by GET. */
export type HandlerOf<Module, Method> = Method extends keyof Module ? Module[Method] : Module['GET' & keyof Module]

type AskOf<Definition, Path extends string, Method extends string, Form> = AnyAsk<Definition, Form> &
  ParamsPart<Definition, Path> &
  Part<'query', QueryOf<Definition>> &
  (Method extends 'GET' | 'HEAD' ? unknown : BodyPart<Definition>)

/**
 * What a call says of its request: `params`, `query`, `body`, `form`, `headers`, `signal`, `as`. A part is required where its
 * schema requires something of it.
 */
export type Ask<Routes, Path extends keyof Routes & string, Method extends string, Form = BodyForm> = AskOf<
  DefinitionOf<HandlerOf<Routes[Path], Method>>,
  Path,
  Method,
  Form
>
