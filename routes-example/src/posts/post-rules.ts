import { z } from 'zod'

const title = z.string().trim().min(1).max(200)
const content = z.string().max(100_000)
const category = z.string().trim().min(1).max(50)

export const createPost = z.object({ title, content: content.default(''), category: category.optional() })

/** A whole post: what is left out is emptied. */
export const replacePost = createPost.extend({
  category: category.nullish().transform((name) => name ?? null)
})

export const updatePost = z.object({
  title: title.optional(),
  content: content.optional(),
  category: category.nullable().optional()
})

export type CreatePost = z.output<typeof createPost>
export type ReplacePost = z.output<typeof replacePost>
export type UpdatePost = z.output<typeof updatePost>
