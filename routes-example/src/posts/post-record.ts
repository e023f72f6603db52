import { z } from 'zod'

/** A post as clients see it. */
export const postRecord = z
  .object({
    id: z.string(),
    title: z.string(),
    content: z.string(),
    category: z.string().nullable(),
    authorId: z.string(),
    createdAt: z.date(),
    updatedAt: z.date()
  })
  .meta({ id: 'Post' })
