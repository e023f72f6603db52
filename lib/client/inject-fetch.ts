/** What an app has for tests: `app.inject` of Fastify. */
export interface Injectable {
  inject(request: InjectedRequest): PromiseLike<InjectedResponse>
}

interface InjectedRequest {
  method: string
  url: string
  headers: Record<string, string>
  payload?: Buffer
  signal: AbortSignal
  payloadAsStream: true
}

interface InjectedResponse {
  statusCode: number
  statusMessage: string
  headers: Readonly<Record<string, number | string | readonly string[] | undefined>>
  raw: { res: { destroy(): unknown } }
  stream(): AsyncIterable<Uint8Array>
}

const BODILESS = new Set([204, 205, 304])

/**
 * A `fetch` for tests, which hands requests to an app without a server: `createClient<Routes>({ fetch: injectFetch(app) })`.
 * Node only.
 */
export function injectFetch(app: Injectable): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const request = new Request(new URL(url, 'http://localhost'), init)
    const { method, signal } = request
    const payload = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    return withReason(signal, async () => {
      const asked = { method, url: pathname + search, headers, signal, payloadAsStream: true } as const
      return toResponse(await app.inject(payload === undefined ? asked : { ...asked, payload }), signal)
    })
  }
}

/** An aborted request rejects with the reason, as that of `fetch`. */
async function withReason<Result>(signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted()
  return run().catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error
  })
}

function toResponse(answer: InjectedResponse, signal: AbortSignal): Response {
  const { statusCode, statusMessage } = answer
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(answer.headers))
    for (const one of [value].flat()) headers.append(name, String(one))
  const body = BODILESS.has(statusCode) ? null : toWebStream(answer, signal)
  return new Response(body, { status: statusCode, statusText: statusMessage, headers })
}

/** A reader that leaves closes the response, as the end of a connection does. */
function toWebStream(answer: InjectedResponse, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = answer.stream()[Symbol.asyncIterator]()
  const close = (): void => void answer.raw.res.destroy()
  signal.addEventListener('abort', close)
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await withReason(signal, () => chunks.next())
      if (done === true) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    cancel: close
  })
}
