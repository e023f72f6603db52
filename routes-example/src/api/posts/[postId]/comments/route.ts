import type { Request } from 'twinroute'
import { envelope, pagination, paginationMeta, validate, type ValidatedRequest } from 'twinroute/http'
import { currentUser } from '../../../../auth/guards.js'
import { createComment } from '../../../../comments/comment-rules.js'

type Path = '/api/posts/[postId]/comments'

const validateComment = validate(createComment)

export const middleware = { POST: [currentUser, validateComment] }

export async function GET(request: Request<Path>) {
  const { posts, comments } = request.services
  const { id } = await posts.get(request.params.postId)
  const page = pagination(request.query)
  const { data, total } = await comments.list(id, page)
  return envelope(data, { request, pagination: paginationMeta(page.page, page.limit, total) })
}

export async function POST(request: ValidatedRequest<typeof validateComment, Path>) {
  const { comments } = request.services
  const comment = await comments.create(request.params.postId, request.user.id, request.validatedData)
  return { status: 201, body: envelope(comment, { request }) }
}
