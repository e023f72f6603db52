import { defineHandler, type Request } from 'twinroute'
import { envelope, validate, type ValidatedRequest } from 'twinroute/http'
import { wrapped } from '../../../answers.js'
import { currentUser } from '../../../auth/guards.js'
import { authorOnly } from '../../../posts/author-only.js'
import { postRecord } from '../../../posts/post-record.js'
import { replacePost, updatePost } from '../../../posts/post-rules.js'

type Path = '/api/posts/[postId]'

const validateWhole = validate(replacePost)
const validateChanges = validate(updatePost)

export const middleware = {
  PUT: [currentUser, authorOnly, validateWhole],
  PATCH: [currentUser, authorOnly, validateChanges],
  DELETE: [currentUser, authorOnly]
}

export const GET = defineHandler(
  {
    response: wrapped(postRecord),
    errors: { 404: 'No post has this id' },
    summary: 'Read a post',
    tags: ['posts']
  },
  async (request: Request<Path>) => envelope(await request.services.posts.get(request.params.postId), { request })
)

export const PUT = defineHandler(
  { response: wrapped(postRecord), summary: 'Replace a post', tags: ['posts'] },
  async (request: ValidatedRequest<typeof validateWhole, Path>) => {
    const post = await request.services.posts.write(request.params.postId, request.validatedData)
    return envelope(post, { request })
  }
)

export const PATCH = defineHandler(
  { response: wrapped(postRecord), summary: 'Change a post', tags: ['posts'] },
  async (request: ValidatedRequest<typeof validateChanges, Path>) => {
    const post = await request.services.posts.write(request.params.postId, request.validatedData)
    return envelope(post, { request })
  }
)

export const DELETE = defineHandler(
  { response: { 204: null }, summary: 'Remove a post with its comments', tags: ['posts'] },
  async (request: Request<Path>) => {
    await request.services.posts.remove(request.params.postId)
    return { status: 204 }
  }
)
