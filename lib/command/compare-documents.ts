/** What is read of an OpenAPI document. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [part: string]: unknown
}

/** What differs in a newer document: operations by name, `added`, `removed` or `changed`, then other parts. */
export function compareDocuments(older: ApiDocument, newer: ApiDocument): string[] {
  const before = operationsOf(older)
  const after = operationsOf(newer)
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const operations = names.flatMap((name) => {
    if (!before.has(name)) return `added: ${name}`
    if (!after.has(name)) return `removed: ${name}`
    return before.get(name) === after.get(name) ? [] : `changed: ${name}`
  })
  const parts = [...new Set([...Object.keys(older), ...Object.keys(newer)])]
    .filter((part) => part !== 'paths' && textOf(older[part]) !== textOf(newer[part]))
    .map((part) => `changed: ${part}`)
  return [...operations, ...parts]
}

/** `GET /api/notes` to the operation as text. */
function operationsOf({ paths }: ApiDocument): Map<string, string> {
  const entries = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, textOf(operation)] as const)
  )
  return new Map(entries)
}

/** The order of keys is no difference: a formatter may have sorted them. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part
  ) as string
}
