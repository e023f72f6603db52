import type { Request } from 'twinroute'
import { pagination } from 'twinroute/http'

/** The signed-in user's own posts, newest first. */
export async function GET(request: Request) {
  const { userId } = request.user
  const { data } = await request.services.posts.list({ ...pagination(request.query), authorId: userId })
  return { message: 'Your posts', user: request.user, posts: data, timestamp: new Date().toISOString() }
}
