// Child process: serves the two queries with one kind of server and tells the driver what CPU time it has used.
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { createResultCache, graphqlRoutes } from 'twinroute/graphql'

const typeDefs = /* GraphQL */ `
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

const createdAt = new Date(0).toISOString()
const users = Array.from({ length: 20 }, (_, index) => {
  const id = String(index + 1)
  return { id, name: `User ${id}`, email: `user${id}@example.com`, role: 'user', createdAt }
})
const posts = users.map(({ id }) => {
  return { id, title: `Post ${id}`, content: '', authorId: id, published: true, createdAt }
})
const resolvers = {
  Query: { users: () => users, posts: () => posts },
  Post: { author: ({ authorId }) => users[Number(authorId) - 1] }
}

// The context of all: who asks, read from a header, and the id of the request.
const context = ({ id, headers }) => ({ requestId: id, user: headers.authorization === undefined ? null : { id: '1' } })

const KINDS = {
  mercurius: (app) => app.register(mercurius, { schema: typeDefs, resolvers, context }),
  'mercurius (again)': (app) => app.register(mercurius, { schema: typeDefs, resolvers, context }),
  'mercurius, jit': (app) => app.register(mercurius, { schema: typeDefs, resolvers, context, jit: 1 }),
  twinroute: (app) => app.register(graphqlRoutes, { typeDefs, resolvers, context }),
  'twinroute, jit': (app) => app.register(graphqlRoutes, { typeDefs, resolvers, context, jit: true }),
  'twinroute, jit, results kept': (app) => {
    const cache = createResultCache({ fields: { 'Query.users': {}, 'Query.posts': {} } })
    return app.register(graphqlRoutes, { typeDefs, resolvers, context, cache, jit: true })
  }
}

const kind = process.argv[2]
if (kind === undefined) {
  process.stdout.write(`${Object.keys(KINDS).join('\n')}\n`)
} else {
  const app = Fastify()
  await KINDS[kind](app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send(user + system)
  })
  process.send(app.server.address().port)
}
