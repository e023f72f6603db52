import type { Request } from 'twinroute'
import { validate, type ValidatedRequest } from 'twinroute/http'
import { createPost } from '../../../posts/post-rules.js'

// A post being written, kept in the visitor's session: nobody has to sign in for that.

const validateDraft = validate(createPost, { bodyLimit: 64 * 1024 })

export const middleware = { PUT: [validateDraft] }

export function GET(request: Request) {
  return { data: request.session.draft ?? null }
}

export function PUT(request: ValidatedRequest<typeof validateDraft>) {
  request.session.draft = request.validatedData
  return { data: request.session.draft }
}

export async function DELETE(request: Request) {
  await request.session.destroy()
  return { status: 204 }
}
