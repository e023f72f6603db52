import { textOf } from './text-of.js'

const REST = /^\[(\[?)\.\.\.([^\]]+)\]/
const PART = /\[([^\]]+)\]|[^[]+/g

/**
 * `/teams/[team]/files/[...path]` with its parameters, each value encoded as one segment.
 * @param params by name; a list for `[...path]`
 * @throws TypeError for a parameter that is missing or empty, and for `.` and `..`, which no URL can hold as a segment
 */
export function fillPath(path: string, params: Readonly<Record<string, unknown>> = {}): string {
  const fill = (name: string, value: unknown): string => {
    if (value == null || value === '')
      throw new TypeError(`params.${name} is ${value === '' ? 'empty' : 'missing'} (${path})`)
    return encodeURIComponent(textOf(value, `params.${name}`))
  }
  const segments = path.split('/').flatMap((segment) => {
    const [, isOptional, rest] = REST.exec(segment) ?? []
    if (rest === undefined)
      return segment.replaceAll(PART, (text, name?: string) => (name ? fill(name, params[name]) : encodeURI(text)))
    const values = params[rest] ?? []
    if (!Array.isArray(values)) throw new TypeError(`params.${rest} is no list (${path})`)
    if (values.length === 0 && isOptional === '') fill(rest, undefined)
    return values.map((value) => fill(rest, value))
  })
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new TypeError(`A parameter makes a segment of dots only, which a URL cannot hold (${path})`)
  return segments.join('/') || '/'
}
