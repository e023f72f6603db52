import { unwatchFile, watchFile } from 'node:fs'

/** Milliseconds between two looks. */
const INTERVAL = 250

/**
 * Watches one file outside of the folders that are watched, also while there is none.
 * @returns ends it
 */
export function pollFile(path: string, onChange: () => void): () => void {
  watchFile(path, { interval: INTERVAL, persistent: false }, onChange)
  return () => unwatchFile(path, onChange)
}
