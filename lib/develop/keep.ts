/** One value, with what ends it. */
interface Kept {
  value: unknown
  close: ((value: never) => unknown) | undefined
}

// By name, because modules that keep something and the command that closes it may have two copies of this package.
const KEPT = Symbol.for('twinroute.kept')

function keptValues(): Map<string, Kept> {
  const known = Reflect.get(globalThis, KEPT) as Map<string, Kept> | undefined
  if (known !== undefined) return known
  const created = new Map<string, Kept>()
  Object.defineProperty(globalThis, KEPT, { value: created })
  return created
}

/**
 * A value that outlives changes of the file that creates it, such as a pool of database connections: the first call with a
 * key creates it, later ones get the same value. Under `twinroute dev` it is closed when the process ends or is replaced;
 * in production nothing closes it: use the hook `onClose` of the application for that.
 *
 * A promise that rejects is not kept: the next call tries again.
 *
 * @param key unique in the process
 * @param create makes the value, or a promise of it; what it throws is thrown on
 * @param close ends it, under `twinroute dev`; default: nothing
 */
export function keep<Value>(key: string, create: () => Value, close?: (value: Awaited<Value>) => unknown): Value {
  const all = keptValues()
  const known = all.get(key)
  if (known !== undefined) {
    known.close = close
    return known.value as Value
  }
  const value = create()
  all.set(key, { value, close })
  if (value instanceof Promise) value.catch(() => all.delete(key))
  return value
}

/** Closes all, the last one first. What fails is told and does not hold the others. */
export async function closeKept(tell: (error: unknown) => void): Promise<void> {
  const all = keptValues()
  for (const [key, { value, close }] of [...all].toReversed()) {
    all.delete(key)
    try {
      await close?.((await value) as never)
    } catch (error) {
      tell(error)
    }
  }
}
