import { defineHandler } from 'twinroute'
import {
  envelope,
  pagination,
  paginationMeta,
  setPaginationHeaders,
  validate,
  type ValidatedRequest
} from 'twinroute/http'
import { z } from 'zod'
import { wrapped } from '../../answers.js'
import { currentUser } from '../../auth/guards.js'
import { describedBy } from '../../described.js'
import { postRecord } from '../../posts/post-record.js'
import { createPost } from '../../posts/post-rules.js'
import { pageQuery, queryText, text } from '../../query.js'

const validatePost = validate(createPost)

export const middleware = { POST: [currentUser, validatePost] }

const postsQuery = pageQuery.extend({
  sortBy: describedBy(z.enum(['createdAt', 'updatedAt', 'title']).default('createdAt')),
  sortOrder: describedBy(z.enum(['asc', 'desc']).default('desc')),
  category: text('The whole name'),
  authorId: text('The id of a user'),
  search: text('Part of the title or the content')
})

export const GET = defineHandler(
  { query: postsQuery, response: wrapped(z.array(postRecord)), summary: 'List posts', tags: ['posts'] },
  async (request, response) => {
    const { query } = request
    const page = pagination(query)
    const { data, total } = await request.services.posts.list({
      ...page,
      sortBy: queryText(query.sortBy),
      sortOrder: queryText(query.sortOrder),
      category: queryText(query.category),
      authorId: queryText(query.authorId),
      search: queryText(query.search)
    })
    const meta = paginationMeta(page.page, page.limit, total)
    setPaginationHeaders(request, response, meta)
    return envelope(data, { request, pagination: meta })
  }
)

export const POST = defineHandler(
  { response: { 201: wrapped(postRecord) }, summary: 'Write a post', tags: ['posts'] },
  async (request: ValidatedRequest<typeof validatePost>) => {
    const post = await request.services.posts.create(request.user.id, request.validatedData)
    return {
      status: 201,
      headers: { Location: `/api/posts/${post.id}` },
      body: envelope(post, { request })
    }
  }
)
