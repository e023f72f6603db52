import { serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { MEBIBYTE } from '../../options/defaults.js'

/** A kept result: an object around it, since null is a result like any other. */
export interface CachedResult {
  value: unknown
}

/**
 * Where results are kept. A shared store, such as `createRedisStore`, lets several processes keep and invalidate together.
 * Every method may be asynchronous. A failure of the store is logged, and the field is loaded.
 */
export interface ResultStore {
  get(key: string): CachedResult | undefined | Promise<CachedResult | undefined>
  /** Keeps a result for so many milliseconds at most. */
  set(key: string, result: CachedResult, ms: number): void | Promise<void>
  /** How often the field of that name was invalidated. Part of every key, so a bump outdates all its results at once. */
  generation(name: string): number | Promise<number>
  bump(name: string): void | Promise<void>
}

export interface MemoryStoreOptions {
  /** Results kept at a time. Default 1 000. */
  maxEntries?: number
  /** Bytes all kept results may take, as they are serialized. Default 16 MiB. */
  maxBytes?: number
}

/**
 * Keeps results in this process: the least recently used go first. Results are shared between requests as they are, so
 * resolvers must not change them. What cannot be serialized (promises, functions) has no known size and is not kept.
 */
export function createMemoryStore({
  maxEntries = 1000,
  maxBytes = 16 * MEBIBYTE
}: MemoryStoreOptions = {}): ResultStore {
  const results = new LRUCache<string, CachedResult>({ max: maxEntries, maxSize: maxBytes, ttlResolution: 0 })
  const generations = new Map<string, number>()
  const generation = (name: string): number => generations.get(name) ?? 0
  return {
    get: (key) => results.get(key),
    set(key, result, ms) {
      const size = sizeOf(result)
      if (size !== undefined) results.set(key, result, { ttl: ms, size: size + key.length })
    },
    generation,
    bump(name) {
      generations.set(name, generation(name) + 1)
    }
  }
}

function sizeOf(result: CachedResult): number | undefined {
  try {
    return serialize(result.value).byteLength + 1
  } catch {
    return undefined // holds what cannot be cloned
  }
}
