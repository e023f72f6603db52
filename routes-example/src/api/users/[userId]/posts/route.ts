import type { Request } from 'twinroute'
import { pagination, validate, type ValidatedRequest } from 'twinroute/http'
import { createPost } from '../../../../posts/post-rules.js'

type Path = '/api/users/[userId]/posts'

const validatePost = validate(createPost)

export const middleware = { POST: [validatePost] }

export async function GET(request: Request<Path>) {
  const { users, posts } = request.services
  const { id } = await users.get(request.params.userId)
  const { data } = await posts.list({ ...pagination(request.query), authorId: id })
  return { data, meta: { userId: id } }
}

export async function POST(request: ValidatedRequest<typeof validatePost, Path>) {
  const post = await request.services.posts.create(request.params.userId, request.validatedData)
  return {
    status: 201,
    headers: { Location: `/api/posts/${post.id}` },
    body: { data: post, message: 'Post created' }
  }
}
