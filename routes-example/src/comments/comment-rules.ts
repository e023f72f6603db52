import { z } from 'zod'

export const createComment = z.object({ content: z.string().trim().min(1).max(5000) })

export type CreateComment = z.output<typeof createComment>
