import { z } from 'zod'

// The bodies of answers. Only what is named here is sent, in this order.

export const timestamp = z.iso.datetime()

export const pagination = z
  .object({ page: z.int(), limit: z.int(), total: z.int(), totalPages: z.int() })
  .meta({ id: 'Pagination' })

/** What `envelope` makes of `data`. */
export function wrapped<Data extends z.ZodType>(data: Data) {
  const meta = z.object({ timestamp, requestId: z.string().optional(), pagination: pagination.optional() })
  return z.object({ data, meta, message: z.string().optional() })
}

/** Data with a sentence. */
export function told<Data extends z.ZodType>(data: Data) {
  return z.object({ data, message: z.string() })
}

/** The flat form of errors. */
export const refusal = z.object({ error: z.string(), message: z.string() }).meta({ id: 'Refusal' })
