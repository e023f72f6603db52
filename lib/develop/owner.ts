import { AsyncLocalStorage } from 'node:async_hooks'

/** The module whose evaluation has led to a call, by whatever functions, promises and timers. */
export interface Owner {
  file: string
  /** Of the reload that evaluated it. */
  generation: number
}

export const ownership = new AsyncLocalStorage<Owner>()
