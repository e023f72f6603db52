import { argumentsKey, isKeepable } from './cache-key.js'
import { checkCacheOptions } from './check-cache-options.js'
import type { CachedField, CachedRead, ResultCache, ResultCacheOptions } from '../graphql-options.js'
import { createMemoryStore, type ResultStore } from './result-store.js'
import { isPromise, thenOrNow } from '../../options/values.js'
import { SetupError } from '../setup-error.js'
import { ApiError } from '../../errors/api-error.js'

/**
 * A cache for results of root fields. Errors are not kept, nor is what holds one; equal reads that run at the same time share
 * one, which goes on when its first request ends; a read that began before a write is never kept.
 *
 * @throws TypeError naming a wrong or unknown option
 * @throws Error with code `GRAPHQL_CACHE_SCOPE_MISSING` for a private field without a scope
 */
export function createResultCache(options: ResultCacheOptions): ResultCache {
  checkCacheOptions(options)
  for (const [name, field] of Object.entries(options.fields)) {
    if (field.private !== true || field.scope !== undefined || options.scope !== undefined) continue
    throw new SetupError('GRAPHQL_CACHE_SCOPE_MISSING', `"${name}" is private: give it, or the cache, a scope`)
  }
  return new FieldCache(options)
}

class FieldCache implements ResultCache {
  readonly fields: Readonly<Record<string, CachedField>>
  readonly #options: ResultCacheOptions
  readonly #store: ResultStore
  /** Reads under way, by key. */
  readonly #running = new Map<string, Promise<unknown>>()
  /** The last key of each field, and what it was made of. */
  readonly #lastKeys = new Map<string, { generation: number; place: string; key: string }>()

  constructor(options: ResultCacheOptions) {
    this.#options = options
    this.fields = options.fields
    this.#store = options.store ?? createMemoryStore(options)
  }

  async invalidate(field: string): Promise<void> {
    if (!Object.hasOwn(this.fields, field)) {
      throw new SetupError(
        'GRAPHQL_FIELD_UNKNOWN',
        `The cache keeps no results of "${field}", only of ${Object.keys(this.fields).join(', ')}`
      )
    }
    await this.#store.bump(field)
  }

  read(field: string, read: CachedRead): unknown {
    const place = this.#placeOf(field, read)
    if (place === undefined) return read.load()
    const generation = attempt(() => this.#store.generation(field), read)
    return thenOrNow(generation, (generation) => {
      if (generation === undefined) return read.load()
      const key = this.#keyOf(field, generation, place)
      return thenOrNow(
        attempt(() => this.#store.get(key), read),
        (kept) => (kept === undefined ? this.#load({ field, generation, key }, read) : kept.value)
      )
    })
  }

  /** Mostly that of the last read, which is not put together, copied and hashed anew. */
  #keyOf(field: string, generation: number, place: string): string {
    const last = this.#lastKeys.get(field)
    if (last?.generation === generation && last.place === place) return last.key
    const key = `${field}#${generation}#${place}`
    this.#lastKeys.set(field, { generation, place, key })
    return key
  }

  /** Scope and arguments; undefined when the result has no owner, or cannot be told from others. */
  #placeOf(field: string, { args, context }: CachedRead): string | undefined {
    const owner = this.fields[field]?.scope === undefined ? this.#options : this.fields[field]
    const place = argumentsKey(args)
    if (owner?.scope === undefined || place === undefined) return place
    const scope = owner.scope(context)
    return scope === null || scope === undefined ? undefined : `${JSON.stringify(scope)}#${place}`
  }

  #load(place: Place, read: CachedRead): unknown {
    const underWay = this.#running.get(place.key)
    if (underWay !== undefined) return underWay
    const load = new CacheLoad()
    const result = read.load(load)
    if (!isPromise(result)) {
      this.#keep(place, result, read)
      return result
    }
    const loading = load
      .within(result, this.#options.loadTimeout ?? 30_000, place.field)
      .then((value) => {
        this.#keep(place, value, read)
        return value
      })
      .finally(() => this.#running.delete(place.key))
    this.#running.set(place.key, loading)
    return loading
  }

  /** Keeps a result unless it holds an error, or is outdated since its read began. */
  #keep({ field, generation, key }: Place, value: unknown, read: CachedRead): void {
    const ms = this.fields[field]?.ms ?? this.#options.ms ?? 60_000
    if (ms === 0 || !isKeepable(value)) return
    const now = attempt(() => this.#store.generation(field), read)
    void thenOrNow(now, (now) => {
      if (now === generation) return attempt(() => this.#store.set(key, { value }, ms), read)
    })
  }
}

interface Place {
  field: string
  generation: number
  key: string
}

/** Asks the store; undefined when it fails. */
function attempt<T>(ask: () => T | Promise<T>, { onStoreError }: CachedRead): T | undefined | Promise<T | undefined> {
  try {
    const answer = ask()
    if (!isPromise(answer)) return answer
    return answer.catch((error: unknown) => {
      onStoreError(error)
      return undefined
    })
  } catch (error) {
    onStoreError(error)
    return undefined
  }
}

/**
 * One run of a cached field's resolver. It belongs to the cache, since requests share it: it goes on when the client that
 * caused it leaves, and ends after its own time.
 */
class CacheLoad {
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
      const stopTimer = (): void => clearTimeout(timer)
      result.then(resolve, reject)
      result.then(stopTimer, stopTimer)
    })
  }
}
