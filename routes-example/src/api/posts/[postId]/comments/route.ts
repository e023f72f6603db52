import { defineHandler, type Request } from 'twinroute'
import { envelope, pagination, paginationMeta, validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'
import { wrapped } from '../../../../answers.js'
import { currentUser } from '../../../../auth/guards.js'
import { commentRecord } from '../../../../comments/comment-record.js'
import { createComment } from '../../../../comments/comment-rules.js'
import { pageQuery } from '../../../../query.js'

type Path = '/api/posts/[postId]/comments'

const NO_POST = 'No post has this id'

const validateComment = validate(createComment)

export const middleware = { POST: [currentUser, validateComment] }

export const GET = defineHandler(
  {
    query: pageQuery,
    response: wrapped(z.array(commentRecord)),
    errors: { 404: NO_POST },
    summary: 'List the comments of a post, the oldest first',
    tags: ['posts']
  },
  async (request: Request<Path>) => {
    const { posts, comments } = request.services
    const { id } = await posts.get(request.params.postId)
    const page = pagination(request.query)
    const { data, total } = await comments.list(id, page)
    return envelope(data, { request, pagination: paginationMeta(page.page, page.limit, total) })
  }
)

export const POST = defineHandler(
  {
    response: { 201: wrapped(commentRecord) },
    errors: { 404: NO_POST },
    summary: 'Write a comment',
    tags: ['posts']
  },
  async (request: ValidatedRequest<typeof validateComment, Path>) => {
    const { comments } = request.services
    const comment = await comments.create(request.params.postId, request.user.id, request.validatedData)
    return { status: 201, body: envelope(comment, { request }) }
  }
)
