export const typeDefs = /* GraphQL */ `
  type User {
    id: ID!
    name: String!
    email: String!
    role: String!
    "ISO 8601."
    createdAt: String!
  }

  type Post {
    id: ID!
    title: String!
    content: String
    authorId: String!
    published: Boolean!
    "ISO 8601."
    createdAt: String!
    author: User!
  }

  type Query {
    users: [User!]!
    "Raises an error when there is no such user."
    user(id: ID!): User
    "Published posts."
    posts: [Post!]!
    "Raises an error when there is no such post."
    post(id: ID!): Post
  }

  type Mutation {
    createUser(name: String!, email: String!): User!
    createPost(title: String!, content: String, authorId: String!): Post!
    "The title changes when it is not empty, the content whenever it is given."
    updatePost(id: ID!, title: String, content: String): Post!
  }
`
