import { z } from 'zod'

/**
 * What the document of the API describes by `schema`, and a handler reads by itself: its refusals have a form of their own, or
 * it refuses nothing.
 */
export function describedBy(schema: z.ZodType) {
  return z
    .unknown()
    .optional()
    .meta(z.toJSONSchema(schema, { io: 'input' }))
}
