import { eachEntry, textOf } from './text-of.js'

/** `?tag=a&tag=b`, or nothing. */
export function encodeQuery(query: object | undefined): string {
  const search = new URLSearchParams()
  eachEntry(query, (name, value) => search.append(name, textOf(value, `query.${name}`)))
  const text = search.toString()
  return text && `?${text}`
}

/** A form as it is, or made of an object: a list is a field that is repeated. */
export function encodeForm(form: object): FormData {
  if (form instanceof FormData) return form
  const data = new FormData()
  eachEntry(form, (name, value) =>
    value instanceof Blob ? data.append(name, value) : data.append(name, textOf(value, `form.${name}`))
  )
  return data
}

/** Headers in any of the ways in which `fetch` takes them; what is undefined is left out, and lists repeat. */
export type GivenHeaders = Headers | readonly (readonly [string, string])[] | Readonly<Record<string, unknown>>

export function addHeaders(headers: Headers, given: GivenHeaders | undefined): void {
  const own = given !== undefined && Symbol.iterator in given ? Object.fromEntries(given) : given
  eachEntry(own, (name, value) => headers.set(name, textOf(value, `headers.${name}`)))
}

/** What `fetch` sends as it is: texts, bytes, forms and streams. Everything else is JSON. */
export function isRawBody(body: unknown): body is string | FormData | ReadableStream {
  return (
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [FormData, URLSearchParams, Blob, ReadableStream, ArrayBuffer].some((kind) => body instanceof kind)
  )
}
