import type { OpenapiOptions } from 'twinroute/openapi'

/** What the document of the API says of the whole. */
export const apiDocument: OpenapiOptions = {
  info: {
    title: 'Posts and users',
    version: '1.0.0',
    description: 'A small blog: users, posts, comments and categories. Log in, and send the token with each request.',
    license: { name: 'MIT', identifier: 'MIT' }
  },
  servers: [{ url: '/', description: 'This server' }],
  tags: [
    { name: 'accounts', description: 'Registration, tokens and what belongs to the user who is logged in' },
    { name: 'users', description: 'Users; with the header `x-api-version: v2`, answers have an envelope' },
    { name: 'posts', description: 'Posts, their comments and categories' },
    { name: 'admin', description: 'For admins' },
    { name: 'service', description: 'The service itself' }
  ]
}
