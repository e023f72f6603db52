// An application without GraphQL, OpenAPI and metrics; then what it is told when it adds some.
import { createApp } from 'twinroute'
import { batch, bearerContext, createResultCache, graphqlRoutes } from 'twinroute/graphql'
import { observe } from 'twinroute/observe'
import { describeMiddleware, openapi } from 'twinroute/openapi'

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
describeMiddleware(() => {}, { security: 'bearer' })
const documented = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
try {
  await documented.register(openapi)
} catch (error) {
  console.log(error.message.split('\n').slice(2).join('\n'))
}
const observed = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
try {
  await observed.register(observe, { shedding: true })
} catch (error) {
  console.log(error.message.split('\n').slice(2).join('\n'))
}
const rest = await createApp({ apiDir: new URL('./api', import.meta.url), mode: 'test' })
await rest.register(observe, { metrics: false })
console.log((await rest.inject('/readyz')).body)
console.log((await rest.inject('/api/hello')).body)
