import { ApiError } from '../../errors/api-error.js'

/**
 * One run of a cached field's resolver. It belongs to the cache, since requests share it: it goes on when the client that
 * caused it leaves, and ends after its own time.
 */
export class CacheLoad {
  #abort: AbortController | undefined
  #expired: ApiError | undefined

  /** Aborts when the load has taken too long. Made when it is asked for: most resolvers ask for none. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#expired !== undefined) this.#abort.abort(this.#expired)
    }
    return this.#abort.signal
  }

  /** The result, or an error when it has not come within so many milliseconds; 0 for any time. */
  within<T>(result: Promise<T>, milliseconds: number, field: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const expire = (): void => {
        this.#expired = new ApiError(503, 'SERVICE_UNAVAILABLE', `${field} was not loaded within ${milliseconds} ms`)
        reject(this.#expired)
        this.#abort?.abort(this.#expired)
      }
      const timer = milliseconds === 0 ? undefined : setTimeout(expire, milliseconds)
      const settle = (): void => clearTimeout(timer)
      result.then(resolve, reject)
      result.then(settle, settle)
    })
  }
}
