/** What every candidate serves: users and posts, in memory, so that the engine's own work shows. */
export const typeDefs = /* GraphQL */ `
  type User {
    id: ID!
    name: String!
    email: String!
    role: String!
    createdAt: String!
  }
  type Post {
    id: ID!
    title: String!
    content: String
    authorId: String!
    published: Boolean!
    createdAt: String!
    author: User!
  }
  type Query {
    users: [User!]!
    posts: [Post!]!
  }
`

export interface User {
  id: string
  name: string
  email: string
  role: string
  createdAt: string
}

export interface Post {
  id: string
  title: string
  content: string | null
  authorId: string
  published: boolean
  createdAt: string
}

const ROWS = 20
const createdAt = new Date(0).toISOString()

export const users: readonly User[] = Array.from({ length: ROWS }, (_, index) => {
  const id = String(index + 1)
  return { id, name: `User ${id}`, email: `user${id}@example.com`, role: 'user', createdAt }
})

/** One of each user. */
export const posts: readonly Post[] = users.map(({ id }) => {
  return { id, title: `Post ${id}`, content: null, authorId: id, published: true, createdAt }
})

export const resolvers = {
  Query: { users: () => users, posts: () => posts },
  Post: { author: ({ authorId }: Post) => users[Number(authorId) - 1] }
}

/** Who asks, for the context of a request. */
export function userOf(authorization: string | null | undefined): User | null {
  return authorization == null ? null : (users[0] as User)
}

let requests = 0

/** For servers that do not number their requests. */
export function nextRequestId(): string {
  return `req-${(++requests).toString(36)}`
}
