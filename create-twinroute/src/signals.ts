import { constants } from 'node:os'
import { Refusal } from './refusal.js'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs what must not end half-way. A signal that comes meanwhile counts once it has run: then `undo` takes it back.
 * @throws Refusal after a signal
 */
export async function finishBeforeSignals(work: () => void, undo: () => void): Promise<void> {
  const came: (typeof ENDING)[number][] = []
  const note = (signal: NodeJS.Signals): void => void came.push(signal as (typeof ENDING)[number])
  for (const signal of ENDING) process.on(signal, note)
  try {
    work()
    await new Promise((resolve) => setImmediate(resolve)) // signals are told between two turns
    const [signal] = came
    if (signal === undefined) return
    undo()
    throw new Refusal('Nothing was made', 128 + constants.signals[signal])
  } finally {
    for (const signal of ENDING) process.off(signal, note)
  }
}
