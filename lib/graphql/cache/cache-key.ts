/**
 * Arguments as text: equal texts for equal arguments in whatever order the engine lists them, undefined where equality
 * cannot be told, as with objects of custom scalars.
 */
export function argumentsKey(args: object): string | undefined {
  if (isEmpty(args)) return '{}' // most fields; the engine makes them plain objects
  let exact = true
  const text = JSON.stringify(args, function (this: Record<string, unknown>, name, value: unknown) {
    // `this` has the value as it was before a toJSON of its own changed it
    const before = this[name]
    if (!isExact(before)) exact = false
    return exact ? withSortedKeys(value) : undefined
  })
  return exact ? text : undefined
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return true
}

function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Whether a result says the same the next time it is used. An Error anywhere in it fails a field once, promises and functions
 * are gone when they are stored as text, and a value that throws when it is read cannot be compared.
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
      for (const member of valuesIn(value)) left.push(member)
    }
  } catch {
    return false
  }
  return true
}

function valuesIn(value: object): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value
  return value instanceof Map ? [...value.keys(), ...value.values()] : Object.values(value)
}
