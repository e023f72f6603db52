import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { GraphqlRoutesOptions } from './graphql-options.js'
import { importEndpoint } from './peers.js'

/**
 * A GraphQL endpoint for any Fastify 5 instance: POST and OPTIONS `/graphql`, a query tool at GET (404 in production),
 * GET `/graphql/health`, and `app.graphql()` for calling it from other routes. Registered on a twinroute app, middleware
 * of the map guards it like any route, and the context holds the Express objects.
 *
 * Needs the packages `mercurius` and `graphql`, which are optional peers: `npm install mercurius@16 graphql@16`.
 *
 * Rejects at boot with an Error whose `code` begins with `GRAPHQL_`: see `docs/graphql.md`; with a BootError that says what
 * to install when one of the packages is missing.
 */
export const graphqlRoutes = fp(registerGraphql, { fastify: '5.x', name: 'twinroute-graphql' })

async function registerGraphql(app: FastifyInstance, options: GraphqlRoutesOptions): Promise<void> {
  const { addEndpoint } = await importEndpoint()
  await addEndpoint(app, options)
}
