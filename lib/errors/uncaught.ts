import { isMainThread } from 'node:worker_threads'

/** Milliseconds in which an error that was thrown reaches node, when nobody handles it on the way. */
const WAY = 100

const words = new WeakMap<object, () => void>()
let waiting: NodeJS.Timeout | undefined

/**
 * When nobody handles this error, the process ends as it would, but says what is given here in place of all that node can
 * print of an error. Programs that listen for uncaught errors get it as ever.
 */
export function sayIfUncaught(error: object, say: () => void): void {
  if (!isMainThread) return // the main thread gets the errors of a worker, and would miss this one
  words.set(error, say)
  if (waiting !== undefined) return void waiting.refresh()
  if (process.listenerCount('uncaughtException') > 0) return
  process.on('uncaughtException', end)
  waiting = setTimeout(stop, WAY).unref()
}

/**
 * For who listens for uncaught errors in place of node, and ends the process.
 * @returns whether there was something to say of this one
 */
export function sayUncaught(thrown: unknown): boolean {
  const say = typeof thrown === 'object' && thrown !== null ? words.get(thrown) : undefined
  say?.()
  return say !== undefined
}

function stop(): void {
  clearTimeout(waiting)
  waiting = undefined
  process.off('uncaughtException', end)
}

function end(thrown: unknown): void {
  stop()
  if (process.listenerCount('uncaughtException') > 0) return
  if (sayUncaught(thrown)) process.exit(1)
  process.nextTick(() => {
    throw thrown // another one, which node prints
  })
}
