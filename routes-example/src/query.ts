import { z } from 'zod'
import { describedBy } from './described.js'

/** What `pagination` reads: what is no positive integer counts as not given. */
export const pageQuery = z.object({
  page: describedBy(z.int().min(1).default(1)),
  limit: describedBy(z.int().min(1).default(20).describe('Rows a page, at most 100'))
})

/** A text that `queryText` reads. */
export const text = (description: string) => describedBy(z.string().describe(description))

/** A value of the query string as text: the first one when the key is repeated. */
export function queryText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}
