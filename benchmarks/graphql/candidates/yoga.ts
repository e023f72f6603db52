import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { listen } from '../../listening.js'
import { nextRequestId, resolvers, typeDefs, userOf } from '../schema.js'

export function start(): Promise<number> {
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers }),
    context: ({ request }) => ({ requestId: nextRequestId(), user: userOf(request.headers.get('authorization')) }),
    graphiql: false
  })
  return listen(createServer((request, response) => void yoga(request, response)))
}
