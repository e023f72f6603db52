import { cutText } from '../../errors/cut-text.js'

const MAX_TEXT = 120
const MAX_ITEMS = 10
const MAX_LEVELS = 2

/**
 * A JSON value as GraphQL writes it in messages. Not by its own function: that writes a value to its end, for every error
 * anew, and the value is as long as the client likes.
 */
export function inspectValue(value: unknown): string {
  return cutText(write(value, 0), MAX_TEXT)
}

function write(value: unknown, level: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_TEXT))
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? writeList(value, level) : writeObject(value, level)
}

function writeList(list: readonly unknown[], level: number): string {
  if (list.length === 0) return '[]'
  if (level === MAX_LEVELS) return '[Array]'
  const items = list.slice(0, MAX_ITEMS).map((item) => write(item, level + 1))
  const left = list.length - items.length
  if (left > 0) items.push(`... ${left} more item${left === 1 ? '' : 's'}`)
  return `[${items.join(', ')}]`
}

function writeObject(object: object, level: number): string {
  let text = ''
  for (const name in object) {
    if (level === MAX_LEVELS) return '[Object]'
    text += `${text === '' ? '{ ' : ', '}${name}: ${write(Reflect.get(object, name), level + 1)}`
    if (text.length > MAX_TEXT) return text
  }
  return text === '' ? '{}' : `${text} }`
}
