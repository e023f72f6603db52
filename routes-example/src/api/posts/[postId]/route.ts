import type { Request } from 'twinroute'
import { envelope, validate, type ValidatedRequest } from 'twinroute/http'
import { currentUser } from '../../../auth/guards.js'
import { authorOnly } from '../../../posts/author-only.js'
import { replacePost, updatePost } from '../../../posts/post-rules.js'

type Path = '/api/posts/[postId]'

const validateWhole = validate(replacePost)
const validateChanges = validate(updatePost)

export const middleware = {
  PUT: [currentUser, authorOnly, validateWhole],
  PATCH: [currentUser, authorOnly, validateChanges],
  DELETE: [currentUser, authorOnly]
}

export async function GET(request: Request<Path>) {
  return envelope(await request.services.posts.get(request.params.postId), { request })
}

export async function PUT(request: ValidatedRequest<typeof validateWhole, Path>) {
  const post = await request.services.posts.write(request.params.postId, request.validatedData)
  return envelope(post, { request })
}

export async function PATCH(request: ValidatedRequest<typeof validateChanges, Path>) {
  const post = await request.services.posts.write(request.params.postId, request.validatedData)
  return envelope(post, { request })
}

export async function DELETE(request: Request<Path>) {
  await request.services.posts.remove(request.params.postId)
  return { status: 204 }
}
