import { defineHandler } from 'twinroute'
import { pagination } from 'twinroute/http'
import { z } from 'zod'
import { timestamp } from '../../answers.js'
import { tokenUser } from '../../auth/token-user.js'
import { postRecord } from '../../posts/post-record.js'
import { pageQuery } from '../../query.js'

export const GET = defineHandler(
  {
    query: pageQuery,
    response: z.object({ message: z.string(), user: tokenUser, posts: z.array(postRecord), timestamp }),
    summary: 'Your own posts, the newest first',
    tags: ['accounts']
  },
  async ({ services, user, query }) => {
    const { data } = await services.posts.list({ ...pagination(query), authorId: user.userId })
    return { message: 'Your posts', user, posts: data, timestamp: new Date().toISOString() }
  }
)
