const MAX_WRITTEN = 60

/** The type of a value for a message: `null`, `an array`, `a string`. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** A value for a message about options, as one would write it; long ones and what JSON cannot hold by their type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'number') return String(value) // JSON writes NaN as null
  const text = typeof value === 'function' ? undefined : writtenOut(value)
  return text === undefined || text.length > MAX_WRITTEN ? describeType(value) : text
}

function writtenOut(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined
  } catch {
    return undefined // a BigInt or a circle
  }
}
