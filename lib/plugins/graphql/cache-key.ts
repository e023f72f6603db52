/**
 * Arguments as text: equal texts for equal arguments, undefined where that cannot be told. The engine lists arguments and
 * input fields in the order of the schema, so order needs no care; values of custom scalars may be anything.
 */
export function argumentsKey(args: object): string | undefined {
  let exact = true
  const text = JSON.stringify(args, function (this: Record<string, unknown>, name, value: unknown) {
    // `this` has the value as it was before a toJSON of its own changed it
    if (isExact(this[name])) return value
    exact = false
    return undefined
  })
  return exact ? text : undefined
}

function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return false
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
