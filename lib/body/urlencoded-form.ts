import type { UploadSettings } from '../contract/uploads.js'
import { abortedBody, tooLarge } from '../errors/refusals.js'
import { readBody } from './stream.js'
import { isDroppedName } from './form-file.js'
import type { LinkedRequest } from '../link/state.js'

type TextEntry = readonly [name: string, value: string]

/** Reads a urlencoded body as the web does (https://url.spec.whatwg.org/#urlencoded-parsing). */
export async function readUrlencoded(request: LinkedRequest, limits: UploadSettings): Promise<TextEntry[]> {
  const bytes = await readAll(request, limits.fieldSize)
  const entries = [...new URLSearchParams(bytes.toString())]
  if (entries.length > limits.fields) throw tooLarge(`Form has more than ${limits.fields} text fields`)
  return entries.filter(([name]) => !isDroppedName(name))
}

function readAll(request: LinkedRequest, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(abortedBody())
    readBody(request, limit, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })
}

/**
 * The form of a urlencoded body that a parser has read: names with one text or a list of texts. undefined for what has
 * another form, as the nested objects of `express.urlencoded({ extended: true })`.
 */
export function entriesOfBody(body: unknown): TextEntry[] | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const entries: TextEntry[] = []
  for (const [name, value] of Object.entries(body as Record<string, unknown>)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof text !== 'string') return undefined
      if (!isDroppedName(name)) entries.push([name, text])
    }
  }
  return entries
}
