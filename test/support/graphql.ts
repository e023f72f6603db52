import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { GraphQLError } from 'graphql'
import { graphqlRoutes, type GraphqlContext, type GraphqlRoutesOptions, type Resolvers } from 'twinroute/graphql'

/** The part of tap that ends what a test has started. */
interface Test {
  teardown(end: () => unknown): void
}

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
    user(id: ID!): User
    posts: [Post!]!
    post(id: ID!): Post
  }
  type Mutation {
    createUser(name: String!, email: String!): User!
    createPost(title: String!, content: String, authorId: String!): Post!
  }
`

export interface StoredUser {
  id: string
  name: string
  email: string
  role: string
  createdAt: string
}

const createdAt = '2026-01-02T03:04:05.678Z'

/** Resolvers over records of their own: `users` users, each with one post. */
export function createResolvers({ users = 2 }: { users?: number } = {}): Resolvers {
  const people: StoredUser[] = Array.from({ length: users }, (_, index) => newUser(index, `User ${index + 1}`))
  const posts = people.map(({ id, name }) => ({
    id,
    title: `Post of ${name}`,
    content: '',
    authorId: id,
    published: true,
    createdAt
  }))
  return {
    Query: {
      users: () => people,
      user: (_: unknown, { id }: { id: string }) => found(people, id, 'User'),
      posts: () => posts,
      post: (_: unknown, { id }: { id: string }) => found(posts, id, 'Post')
    },
    Mutation: {
      createUser(_: unknown, { name }: { name: string }) {
        const user = newUser(people.length, name)
        people.push(user)
        return user
      },
      createPost(_: unknown, { title, authorId }: { title: string; authorId: string }, { user }: GraphqlContext) {
        if (user === null) throw new GraphQLError('UNAUTHENTICATED', { extensions: { code: 'UNAUTHENTICATED' } })
        const post = { id: String(posts.length + 1), title, content: '', authorId, published: true, createdAt }
        posts.push(post)
        return post
      }
    },
    Post: { author: ({ authorId }: { authorId: string }) => found(people, authorId, 'User') }
  }
}

function newUser(index: number, name: string): StoredUser {
  return { id: String(index + 1), name, email: `user${index + 1}@example.com`, role: 'user', createdAt }
}

function found<T extends { id: string }>(records: readonly T[], id: string, kind: string): T {
  const record = records.find((one) => one.id === id)
  if (record === undefined) throw new Error(`${kind} with ID ${id} not found`)
  return record
}

type EndpointOptions = Partial<GraphqlRoutesOptions> & { fastify?: FastifyServerOptions }

/** A plain Fastify instance with a GraphQL endpoint, in development unless told otherwise. */
export async function endpoint(t: Test, { fastify = {}, ...options }: EndpointOptions = {}): Promise<FastifyInstance> {
  const app = Fastify(fastify)
  t.teardown(() => app.close())
  const schema = options.schema || options.typeDefs ? {} : { typeDefs, resolvers: createResolvers() }
  await app.register(graphqlRoutes, { mode: 'development', ...schema, ...options })
  return app
}

export interface Answer {
  status: number
  headers: Record<string, any>
  body: any
}

/** Sends a GraphQL request: a query, or the whole of what a body holds. */
export async function ask(
  app: FastifyInstance,
  request: string | Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<Answer> {
  const payload = typeof request === 'string' ? { query: request } : request
  return post(app, JSON.stringify(payload), { 'content-type': 'application/json', ...headers })
}

/** Sends any body. */
export async function post(app: FastifyInstance, payload: string | Buffer, headers: Record<string, string>) {
  const {
    statusCode,
    headers: answered,
    body
  } = await app.inject({ method: 'POST', url: '/graphql', payload, headers })
  return { status: statusCode, headers: answered, body: JSON.parse(body) }
}
