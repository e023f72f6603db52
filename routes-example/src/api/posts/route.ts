import type { Request, Response } from 'twinroute'
import {
  envelope,
  pagination,
  paginationMeta,
  setPaginationHeaders,
  validate,
  type ValidatedRequest
} from 'twinroute/http'
import { currentUser } from '../../auth/guards.js'
import { createPost } from '../../posts/post-rules.js'
import { queryText } from '../../query.js'

const validatePost = validate(createPost)

export const middleware = { POST: [currentUser, validatePost] }

export async function GET(request: Request, response: Response) {
  const page = pagination(request.query)
  const { data, total } = await request.services.posts.list({
    ...page,
    sortBy: queryText(request.query.sortBy),
    sortOrder: queryText(request.query.sortOrder),
    category: queryText(request.query.category),
    authorId: queryText(request.query.authorId),
    search: queryText(request.query.search)
  })
  const meta = paginationMeta(page.page, page.limit, total)
  setPaginationHeaders(request, response, meta)
  return envelope(data, { request, pagination: meta })
}

export async function POST(request: ValidatedRequest<typeof validatePost>) {
  const post = await request.services.posts.create(request.user.id, request.validatedData)
  return {
    status: 201,
    headers: { Location: `/api/posts/${post.id}` },
    body: envelope(post, { request })
  }
}
