import { serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import type { CachedResult, ResultStore } from './result-store.js'

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
export function createMemoryStore({ maxEntries = 1000, maxBytes = 16_777_216 }: MemoryStoreOptions = {}): ResultStore {
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
