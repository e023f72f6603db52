// An application without GraphQL; then what it is told when it adds some.
import { createApp } from 'twinroute'
import { batch, bearerContext, createResultCache, graphqlRoutes } from 'twinroute/graphql'

const app = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
bearerContext({ verify: () => null })
createResultCache({ fields: {} })
try {
  await app.register(graphqlRoutes, { typeDefs: 'type Query { hello: String }' })
} catch (error) {
  console.log(error.name, error.code, error.message)
}
try {
  batch(
    () => 1,
    () => []
  )
} catch (error) {
  console.log(error.message.split('\n').slice(2).join('\n'))
}
const rest = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
console.log((await rest.inject('/api/hello')).body)
