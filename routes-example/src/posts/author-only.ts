import { ApiError, type Middleware } from 'twinroute'
import { describeMiddleware } from 'twinroute/openapi'

const EDITORS: ReadonlySet<string> = new Set(['admin', 'moderator'])

/** Lets a post's author, moderators and admins pass. Runs after authentication, on paths with `[postId]`. */
export const authorOnly: Middleware = async (request, _response, next) => {
  const post = await request.services.posts.get(request.params.postId)
  if (post.authorId !== request.user.id && !EDITORS.has(request.user.role)) {
    throw new ApiError(403, 'FORBIDDEN', 'Only its author may change this post')
  }
  next()
}
describeMiddleware(authorOnly, { responses: { 403: 'The user is not its author', 404: 'No post has this id' } })
