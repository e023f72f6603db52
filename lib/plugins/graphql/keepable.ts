/**
 * Whether a result says the same the next time it is used. An Error anywhere in it fails a field once, promises and functions
 * are gone when they are stored as text, and what cannot be looked at cannot be told.
 */
export function isKeepable(result: unknown): boolean {
  const seen = new Set<object>()
  const left = [result]
  try {
    while (left.length > 0) {
      const value = left.pop()
      if (typeof value === 'function') return false
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) continue
      if (value instanceof Error || value instanceof Promise) return false
      seen.add(value)
      for (const member of membersOf(value)) left.push(member)
    }
  } catch {
    return false
  }
  return true
}

function membersOf(value: object): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value
  return value instanceof Map ? [...value.keys(), ...value.values()] : Object.values(value)
}
