/** A value of the query string as text: the first one when the key is repeated. */
export function queryText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}
