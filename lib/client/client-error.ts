/**
 * A request has got no answer that could be read: the network failed, the connection broke off, or what calls itself JSON is
 * none. An answer of any status, 500 included, is no error of this kind; an aborted request rejects with the reason of its
 * signal, as `fetch` does.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The method of the request. */
  readonly method: string
  /** Its URL, as it was given to `fetch`. */
  readonly url: string

  constructor(method: string, url: string, wrong: string, cause: unknown) {
    super(`${method} ${url} ${wrong}: ${reasonOf(cause)}`, { cause })
    this.method = method
    this.url = url
  }
}

/** Node's `fetch failed` says why in its cause, and of several addresses only a code. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause, code } = thrown as Error & { code?: unknown }
  const text = message || String(code ?? thrown.name)
  return cause === undefined ? text : `${text} (${reasonOf(cause)})`
}
