import { isSendable } from '../errors/error-headers.js'
import { kNames, type LinkedResponse } from '../link/state.js'

/** By name as it was given, the name as the reply keeps it. All of these are names that node accepts. */
export const knownKeys = new Map<string, string>(
  ['Content-Type', 'Content-Length', 'Transfer-Encoding', 'ETag'].flatMap((name) =>
    [name, name.toLowerCase()].map((given) => [given, keyFor(name)])
  )
)
/** Names that applications make up from data must not stay for ever. */
const MOST_KEYS = 1000
const LONGEST_KEPT = 64

/**
 * A name as the reply keeps it; what is no text is left for node to refuse. Those that are asked for with every answer are
 * compared, which costs a tenth of `toLowerCase`; the others are remembered.
 */
export function keyOf(name: unknown): string {
  switch (name) {
    case 'content-type':
    case 'content-length':
    case 'transfer-encoding':
    case 'etag':
      return name
    case 'Content-Type':
      return 'content-type'
  }
  return typeof name === 'string' ? (knownKeys.get(name) ?? keyOfNew(name)) : ''
}

/** As a key of an object has it: any other text V8 looks up in its table of all keys whenever it is used as one. */
function keyFor(name: string): string {
  const [key] = Object.keys({ [name.toLowerCase()]: 0 }) as [string]
  return key
}

function keyOfNew(name: string): string {
  const key = keyFor(name)
  if (knownKeys.size < MOST_KEYS && name.length <= LONGEST_KEPT && isSendable(name, '')) knownKeys.set(name, key)
  return key
}

/** Objects made of it inherit nothing, and have a shape, which those of `Object.create(null)` have not. */
const NOTHING: unknown = Object.create(null)

/** Keeps the case of a name beside its header. */
export function keepCase(response: LinkedResponse, key: string, name: string): void {
  const names = (response[kNames] ??= Object.create(NOTHING as object) as Record<string, string>)
  names[key] = name
}

/** A name as it was set. */
export function nameOf(response: LinkedResponse, key: string): string {
  return response[kNames]?.[key] ?? key
}
