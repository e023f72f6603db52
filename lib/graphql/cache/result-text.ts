import { deserialize, serialize } from 'node:v8'
import type { CachedResult } from './result-store.js'

/** At the start of every text. Another one is of another version of twinroute, or none of its texts. */
const FORMAT = 'twinroute-1:'

/**
 * A result as text: values that JSON would change (dates, maps, sets, big integers, bytes) come back as they were. Undefined
 * for what cannot be copied.
 */
export function textOf({ value }: CachedResult): string | undefined {
  try {
    return FORMAT + serialize(value).toString('base64')
  } catch {
    return undefined
  }
}

/** The result of such a text; undefined when it is none. */
export function resultOf(text: unknown): CachedResult | undefined {
  if (typeof text !== 'string' || !text.startsWith(FORMAT)) return undefined
  try {
    return { value: deserialize(Buffer.from(text.slice(FORMAT.length), 'base64')) as unknown }
  } catch {
    return undefined // of a newer version of Node, or cut off
  }
}

/** Kinds of objects that come back as they were, beside plain ones. */
const KINDS = new Set<unknown>([
  Object.prototype,
  Array.prototype,
  Date.prototype,
  Map.prototype,
  Set.prototype,
  RegExp.prototype,
  null
])

/**
 * The name of a class of which there is an instance somewhere in a value. It would come back as a plain object, without its
 * methods. Undefined when there is none.
 */
export function classIn(value: unknown): string | undefined {
  const seen = new Set<object>()
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue
    seen.add(next)
    const prototype: unknown = Object.getPrototypeOf(next)
    if (!KINDS.has(prototype)) return className(prototype)
    for (const member of membersOf(next)) left.push(member)
  }
  return undefined
}

function className(prototype: unknown): string {
  const { constructor } = prototype as object
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'
}

function membersOf(value: object): Iterable<unknown> {
  if (value instanceof Map) return [...value.keys(), ...value.values()]
  return value instanceof Set || Array.isArray(value) ? value : Object.values(value)
}
