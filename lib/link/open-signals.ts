import type { ServerResponse } from 'node:http'
import { ClosingError } from '../errors/closing-error.js'

/** The signals of requests that are not over: of those whose `signal` was read, so that others cost nothing. */
export class OpenSignals {
  readonly #open = new Set<AbortController>()

  add(abort: AbortController, response: ServerResponse): void {
    const remove = (): void => void this.#open.delete(abort)
    this.#open.add(abort)
    response.once('close', remove).once('finish', remove) // an injected response may only finish
  }

  /** The application closes: streams that end on their signal would hold it otherwise. */
  abort(): void {
    for (const abort of this.#open) abort.abort(new ClosingError())
    this.#open.clear()
  }
}
