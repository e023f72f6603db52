import { setTimeout as wait } from 'node:timers/promises'

/** Waits until something is so; for what takes longer than an answer. */
export async function until(isReached: () => boolean, patience = 60_000): Promise<void> {
  const end = Date.now() + patience
  while (!isReached()) {
    if (Date.now() > end) throw new Error(`that was waited for in vain: ${isReached.toString()}`)
    await wait(20)
  }
}
