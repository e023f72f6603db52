import { z } from 'zod'

/** A category as clients see it. */
export const categoryRecord = z
  .object({ id: z.string(), name: z.string(), createdAt: z.date() })
  .meta({ id: 'Category' })
