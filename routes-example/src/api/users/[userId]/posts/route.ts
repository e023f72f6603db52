import { defineHandler, type Request } from 'twinroute'
import { pagination, validate, type ValidatedRequest } from 'twinroute/http'
import { z } from 'zod'
import { told } from '../../../../answers.js'
import { postRecord } from '../../../../posts/post-record.js'
import { createPost } from '../../../../posts/post-rules.js'
import { pageQuery } from '../../../../query.js'
import { bothVersions } from '../../../../users/versions.js'

type Path = '/api/users/[userId]/posts'

const NO_USER = 'No user has this id'

const validatePost = validate(createPost)

export const middleware = { POST: [validatePost] }

export const GET = defineHandler(
  {
    query: pageQuery,
    response: bothVersions(z.object({ data: z.array(postRecord), meta: z.object({ userId: z.string() }) })),
    errors: { 404: NO_USER },
    summary: 'List the posts of a user, the newest first',
    tags: ['users', 'posts']
  },
  async ({ services, params, query }: Request<Path>) => {
    const { users, posts } = services
    const { id } = await users.get(params.userId)
    const { data } = await posts.list({ ...pagination(query), authorId: id })
    return { data, meta: { userId: id } }
  }
)

export const POST = defineHandler(
  {
    response: { 201: bothVersions(told(postRecord)) },
    errors: { 404: NO_USER },
    summary: 'Write a post for a user',
    tags: ['users', 'posts']
  },
  async ({ services, params, validatedData }: ValidatedRequest<typeof validatePost, Path>) => {
    const post = await services.posts.create(params.userId, validatedData)
    return {
      status: 201,
      headers: { Location: `/api/posts/${post.id}` },
      body: { data: post, message: 'Post created' }
    }
  }
)
