// A schema object of the application's own copy of graphql, which must be the one that twinroute uses.
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createApp } from 'twinroute'
import { batch, graphqlRoutes, type GraphqlContext } from 'twinroute/graphql'

const lengths = batch(
  () => 'twinroute',
  (words: readonly string[]) => words.map((word) => `${word}: ${word.length}`)
)
const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, GraphqlContext>({
    name: 'Query',
    fields: { length: { type: GraphQLString, resolve: lengths } }
  })
})
const app = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
await app.register(graphqlRoutes, { schema })
const answer = await app.inject({ method: 'POST', url: '/graphql', payload: { query: '{ length }' } })
process.stdout.write(`${(await app.inject('/api/hello')).body} ${answer.body}`)
await app.close()
