import { z } from 'zod'

/** A comment as clients see it. */
export const commentRecord = z
  .object({ id: z.string(), content: z.string(), postId: z.string(), authorId: z.string(), createdAt: z.date() })
  .meta({ id: 'Comment' })
