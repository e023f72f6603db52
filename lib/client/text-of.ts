/** What a URL, a header or a field of a form carries as text. A Date is an ISO string. */
export type Scalar = string | number | boolean | bigint | Date

/** @throws TypeError naming the place, for what would be a text such as `[object Object]` */
export function textOf(value: unknown, place: string): string {
  if (value instanceof Date) return value.toISOString()
  if (['string', 'number', 'boolean', 'bigint'].includes(typeof value)) return String(value)
  throw new TypeError(`${place} is of type ${typeof value}, which cannot be sent as text`)
}

/** Calls `add` for each entry, and for each value of a list. What is undefined or null is left out. */
export function eachEntry(record: object | undefined, add: (name: string, value: unknown) => void): void {
  for (const [name, given] of Object.entries(record ?? {}))
    for (const value of Array.isArray(given) ? given : [given]) if (value != null) add(name, value)
}
