import type { RouteMethod } from '../contract/route-module.js'
import { ClientError } from './client-error.js'
import { addHeaders, encodeForm, encodeQuery, isRawBody, type GivenHeaders } from './encode-request.js'
import { fillPath } from './fill-path.js'
import { readBody, type BodyForm } from './read-answer.js'
import type { Answer, AnswerOf } from './typed-answer-of.js'
import type { Ask, HandlerOf, Nothing } from './typed-call.js'

/** How requests are sent. */
export interface ClientOptions {
  /** The URL of the server, such as `https://api.example.com`. Default: none, which is the origin of the page. */
  readonly baseUrl?: string | URL | undefined
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Sent with every request; a function is called before each. */
  readonly headers?: GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>) | undefined
}

/** The second argument, which may be left out where nothing in it is required. */
type Given<Asked> = [Asked] extends [never] ? [ask?: never] : Nothing extends Asked ? [ask?: Asked] : [ask: Asked]

/** The type of no path. Where a path is wrong, compilers go on with the whole constraint: this type in it tells so. */
type Wrong = 0

/**
 * The constraint has no name of its own: compilers then list the paths where one is wrong. The second argument may be left out
 * there, or they would count the arguments and say nothing of the path. HEAD is answered by GET.
 */
interface Call<Routes, Method extends string, Errors> {
  <
    Path extends
      | Wrong
      | ({
          [Path in keyof Routes]: (Method extends 'HEAD' ? 'HEAD' | 'GET' : Method) & keyof Routes[Path] extends never
            ? never
            : Path
        }[keyof Routes] &
          string),
    Form extends BodyForm = never
  >(
    path: Path & string,
    ...given: Given<[Path] extends [string] ? Ask<Routes, Path & keyof Routes, Method, Form> : never>
  ): Promise<AnswerTo<Routes, Path & keyof Routes, Method, Errors, Form>>
}

/** What a route answers to a method: `AnswerTo<Routes, '/api/notes', 'GET'>`. */
export type AnswerTo<
  Routes,
  Path extends keyof Routes,
  Method extends string,
  Errors = unknown,
  Form extends BodyForm = never
> = Method extends 'HEAD' ? Answer<number, undefined> : AnswerOf<HandlerOf<Routes[Path], Method>, Errors, Form>

/** A method for each method of the routes: `client.GET('/api/notes', { query })`. */
export type Client<Routes, Errors = unknown> = { readonly [Method in RouteMethod]: Call<Routes, Method, Errors> }

const METHODS: readonly RouteMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Makes a client for the routes of an application, on `fetch`: in browsers, in Node, and in tests by `injectFetch(app)`.
 *
 * ```ts
 * const client = createClient<Routes>({ baseUrl: 'https://api.example.com' })
 * const answer = await client.POST('/api/teams/[team]/notes', { params: { team: 'blue' }, body: { title: 'First' } })
 * if (answer.status === 201) console.log(answer.body.id)
 * ```
 *
 * `Routes` is written by `twinroute types`; a second type is that of the errors that no route declares: `ErrorEnvelope` where
 * the application has twinroute's `errorHandler`. Each call resolves with `{ ok, status, body, headers }` whatever the
 * status is.
 *
 * It rejects with {@link ClientError} where there is no answer that can be read, with the reason of the signal where the
 * request was aborted, and with a TypeError for a parameter that cannot be sent.
 */
export function createClient<Routes extends object, Errors = unknown>(
  options: ClientOptions = {}
): Client<Routes, Errors> {
  const calls = METHODS.map((method) => [method, (path: string, ask?: AnyAsk) => send(options, method, path, ask)])
  return Object.fromEntries(calls) as Client<Routes, Errors>
}

/** What a call says, without the types of its route. */
interface AnyAsk {
  params?: Record<string, unknown>
  query?: object
  body?: unknown
  form?: object
  headers?: GivenHeaders
  signal?: AbortSignal
  as?: BodyForm
}

async function send(
  options: ClientOptions,
  method: string,
  path: string,
  ask: AnyAsk = {}
): Promise<Answer<number, unknown>> {
  const { baseUrl = '', fetch = globalThis.fetch, headers: common } = options
  const url = String(baseUrl).replace(/\/$/, '') + fillPath(path, ask.params) + encodeQuery(ask.query)
  const headers = new Headers()
  addHeaders(headers, typeof common === 'function' ? await common() : common)
  addHeaders(headers, ask.headers)
  const init = { method, headers, ...bodyOf(ask, headers), ...(ask.signal && { signal: ask.signal }) }
  let wrong = 'got no answer'
  try {
    const response = await fetch(url, init)
    const { ok, status } = response
    wrong = `got ${status}, whose body cannot be read`
    return { ok, status, body: await readBody(response, ask.as), headers: response.headers }
  } catch (error) {
    if (ask.signal?.aborted) throw error
    throw new ClientError(method, url, wrong, error)
  }
}

/** The type of what is sent as it is, `fetch` knows. */
function bodyOf({ form, body }: AnyAsk, headers: Headers): RequestInit {
  const given = form === undefined ? body : encodeForm(form)
  if (given === undefined) return {}
  if (isRawBody(given)) return given instanceof ReadableStream ? { body: given, duplex: 'half' } : { body: given }
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return { body: JSON.stringify(given) }
}
