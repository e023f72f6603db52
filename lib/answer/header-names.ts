import { isSendable } from '../errors/error-headers.js'
import { type HeaderName, kNames, type LinkedResponse } from '../link/state.js'

const NODES = new Set(['connection', 'date', 'expect', 'keep-alive', 'trailer', 'transfer-encoding'])

/** Names that applications make up from data must not stay for ever, and no long values. */
const MOST_NAMES = 1000
const LONGEST_NAME = 64
const LONGEST_VALUE = 512
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/

const known = new Map<string, HeaderName>()

/** Undefined for a name that node refuses. */
export function headerName(name: string): HeaderName | undefined {
  return known.get(name) ?? newName(name)
}

function newName(given: unknown): HeaderName | undefined {
  if (typeof given !== 'string' || !isSendable(given, '')) return undefined
  const key = keyFor(given)
  const name = { given, key, isNodes: NODES.has(key), value: undefined, line: '' }
  if (known.size < MOST_NAMES && given.length <= LONGEST_NAME) known.set(given, name)
  return name
}

/** As a key of an object has it: any other text V8 looks up in its table of all keys whenever it is used as one. */
function keyFor(name: string): string {
  const [key] = Object.keys({ [name.toLowerCase()]: 0 }) as [string]
  return key
}

/**
 * Puts a value on the line of its name, where node would send it as one line, as it is. Most headers have the same value again and
 * again, and a value that is checked when it is set is not looked at again when the head is written.
 * @returns false where node has to see the value, or would refuse it
 */
export function putIfSendable(name: HeaderName, value: unknown): boolean {
  if (value === name.value && value !== undefined) return true
  if (name.isNodes) return false
  if (typeof value === 'string' ? value.length > LONGEST_VALUE || UNSENDABLE.test(value) : typeof value !== 'number')
    return false
  putOnLine(name, value as string | number)
  return true
}

/** The same for a value that we have made ourselves. */
export function putOnLine(name: HeaderName, value: string | number): void {
  name.value = value
  name.line = `${name.given}: ${value}\r\n`
}

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
  return typeof name === 'string' ? (headerName(name)?.key ?? keyFor(name)) : ''
}

/** Objects made of it inherit nothing, and have a shape, which those of `Object.create(null)` have not. */
const NOTHING: unknown = Object.create(null)

/** Keeps the case of a name beside its header. */
export function keepCase(response: LinkedResponse, name: HeaderName): void {
  const names = (response[kNames] ??= Object.create(NOTHING as object) as Record<string, HeaderName>)
  names[name.key] = name
}

/** A name as it was set. */
export function nameOf(response: LinkedResponse, key: string): string {
  return response[kNames]?.[key]?.given ?? key
}
