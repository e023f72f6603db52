/** A kept result: an object around it, since null is a result like any other. */
export interface CachedResult {
  value: unknown
}

/**
 * Where results are kept. A shared store, such as one on Redis, lets several processes keep and invalidate together: then
 * values pass through JSON. Every method may be asynchronous. A store that fails is passed over, and logged.
 */
export interface ResultStore {
  get(key: string): CachedResult | undefined | Promise<CachedResult | undefined>
  /** Keeps a result for so many milliseconds at most. */
  set(key: string, result: CachedResult, ms: number): void | Promise<void>
  /** How often the field of that name was invalidated. Part of every key, so a bump outdates all its results at once. */
  generation(name: string): number | Promise<number>
  bump(name: string): void | Promise<void>
}
