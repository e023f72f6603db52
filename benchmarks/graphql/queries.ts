import type { Work } from '../workload.js'
import { posts, users } from './schema.js'

/** A query whose answer, `data`, is known. */
function ask(name: string, query: string, data: object): Work {
  return {
    name,
    title: query,
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer token' },
    body: JSON.stringify({ query }),
    status: 200,
    answer: JSON.stringify({ data })
  }
}

/** A flat list, and one with a resolver for each of its rows. */
export const QUERIES: readonly Work[] = [
  ask('users', '{ users { id name } }', { users: users.map(({ id, name }) => ({ id, name })) }),
  // the n-th post is by the n-th user
  ask('posts', '{ posts { author { name } } }', { posts: posts.map(({ id }) => ({ author: { name: `User ${id}` } })) })
]
