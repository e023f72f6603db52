import { defineHandler } from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'
import { createPost } from '../../../posts/post-rules.js'

// A post being written, kept in the visitor's session: nobody has to sign in for that.

const draft = z.object({ title: z.string(), content: z.string(), category: z.string().optional() })

const validateDraft = validate(createPost, { bodyLimit: 64 * 1024 })

export const middleware = { PUT: [validateDraft] }

export const GET = defineHandler(
  { response: z.object({ data: draft.nullable() }), summary: 'Read the draft of a post', tags: ['posts'] },
  ({ session }) => ({ data: session.draft ?? null })
)

export const PUT = defineHandler(
  { response: z.object({ data: draft }), summary: 'Keep a draft of a post', tags: ['posts'] },
  ({ session, validatedData }: ValidatedRequest<typeof validateDraft>) => {
    session.draft = validatedData
    return { data: session.draft }
  }
)

export const DELETE = defineHandler(
  { response: { 204: null }, summary: 'Throw the draft away', tags: ['posts'] },
  async ({ session }) => {
    await session.destroy()
    return { status: 204 }
  }
)
