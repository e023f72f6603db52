/** Reads from anything, also from what throws when it is read: any value can be thrown. */
export function readProperty(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return (value as Record<string, unknown>)[name]
  } catch {
    return undefined // a hostile getter or revoked proxy is as good as nothing
  }
}
