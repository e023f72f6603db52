import { batch, type GraphqlContext, type Resolvers } from 'twinroute/graphql'
import type { GraphqlPost, GraphqlRecords, PostChanges } from './graphql-records.js'
import type { PostPermission } from './post-permission.js'

interface CreatePost {
  title: string
  content?: string | null
  authorId: string
}

interface UpdatePost {
  id: string
  title?: string | null
  content?: string | null
}

interface Dated {
  createdAt: Date
}

const createdAt = (record: Dated) => record.createdAt.toISOString()

export function createResolvers(records: GraphqlRecords, mayPost: PostPermission): Resolvers {
  return {
    Query: {
      users: () => records.users(),
      user: (_root: unknown, { id }: { id: string }) => records.user(id),
      posts: () => records.posts(),
      post: (_root: unknown, { id }: { id: string }) => records.post(id)
    },
    Mutation: {
      createUser: (_root: unknown, { name, email }: { name: string; email: string }) =>
        records.createUser({ name, email }),
      createPost: (_root: unknown, { title, content, authorId }: CreatePost, { user }: GraphqlContext) => {
        mayPost(user, authorId)
        return records.createPost({ title, content: content ?? '', authorId })
      },
      updatePost: (_root: unknown, { id, ...given }: UpdatePost) => records.updatePost(id, changesOf(given))
    },
    User: { createdAt },
    Post: {
      createdAt,
      // One query for the authors of all posts of an answer.
      author: batch(
        (post: GraphqlPost) => post.authorId,
        async (ids) => new Map((await records.usersById(ids)).map((user) => [user.id, user]))
      )
    }
  }
}

function changesOf({ title, content }: Omit<UpdatePost, 'id'>): PostChanges {
  return { ...(title && { title }), ...(content !== undefined && { content }) }
}
