import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { GraphQLSchema } from 'graphql'
import mercurius, { type MercuriusOptions } from 'mercurius'
import type { Resolvers } from '../../contract/graphql.js'
import { isProduction, modeOn } from '../../contract/mode.js'
import { installCache } from './cached-fields.js'
import { createCostRule } from './complexity.js'
import { createContextFactory } from './context.js'
import { Documents } from './documents.js'
import type { Endpoint } from './execute.js'
import { type Limits, resolveLimits } from './limits.js'
import type { GraphqlRoutesOptions } from './options.js'
import { addRoutes, type RouteSettings } from './routes.js'
import { loadSchema } from './schema.js'
import { SetupError } from './setup-error.js'

/**
 * A GraphQL endpoint for any Fastify 5 instance: POST and OPTIONS `/graphql`, a query tool at GET (404 in production),
 * GET `/graphql/health`, and `app.graphql()` for calling it from other routes. Registered on a twinroute app, middleware
 * of the map guards it like any route, and the context holds the Express objects.
 *
 * Rejects at boot with an Error whose `code` begins with `GRAPHQL_`: see `docs/graphql.md`.
 */
export const graphqlRoutes = fp(registerGraphql, { fastify: '5.x', name: 'twinroute-graphql' })

async function registerGraphql(app: FastifyInstance, options: GraphqlRoutesOptions): Promise<void> {
  const settings = routeSettings(app, options)
  const schema = loadSchema(options)
  const limits = resolveLimits(options.limits)
  const endpoint = createEndpoint(app, { schema, limits, options })
  await app.register(mercurius, engineOptions(schema, limits, options))
  if (options.cache !== undefined) installCache(options.cache, app.graphql.schema, app.graphql)
  await app.register(async (scope) => addRoutes(scope, endpoint, settings), prefixOf(options))
}

interface EndpointParts {
  schema: GraphQLSchema
  limits: Limits
  options: GraphqlRoutesOptions
}

function createEndpoint(app: FastifyInstance, { schema, limits, options }: EndpointParts): Endpoint {
  const mode = modeOn(app, options.mode)
  const hide = isProduction(mode)
  const cost = createCostRule(schema, { complexity: options.complexity, hideActual: hide })
  const introspection = options.introspection ?? !hide
  return {
    cost,
    documents: new Documents({ limits, cost, introspection, hideSuggestions: hide }),
    createContext: createContextFactory(options.context, mode),
    format: { mode, mask: options.maskErrors ?? false }
  }
}

function routeSettings(app: FastifyInstance, options: GraphqlRoutesOptions): RouteSettings {
  const { path = '/graphql', playground = true, health = true } = options
  if (!/^\/[^?#]*$/.test(path)) {
    throw new SetupError('GRAPHQL_PATH_INVALID', `The path of graphqlRoutes must begin with a slash: "${path}"`)
  }
  return {
    path,
    bodyLimit: resolveLimits(options.limits).body,
    playground: playground && !isProduction(modeOn(app, options.mode)),
    health: health === false ? undefined : health === true ? {} : health
  }
}

function engineOptions(schema: GraphQLSchema, limits: Limits, options: GraphqlRoutesOptions): MercuriusOptions {
  const { resolvers = {}, jit = false } = options
  return {
    schema,
    resolvers: ownResolvers(resolvers),
    routes: false,
    // as many as we keep: more would hold on to documents that nobody asks for any more
    cache: limits.documents,
    ...(jit === false ? {} : { jit: jit === true ? 1 : jit }),
    // errors are formatted where they are sent
    errorFormatter: (execution) => ({ statusCode: 200, response: execution })
  }
}

type EngineResolvers = NonNullable<MercuriusOptions['resolvers']>

/** The engine takes things out of the resolvers it is given; another app may be made of the same. */
function ownResolvers(resolvers: Resolvers): EngineResolvers {
  const copies = Object.entries(resolvers).map(([type, fields]) => [type, Object.assign({}, fields)] as const)
  return Object.fromEntries(copies) as EngineResolvers
}

function prefixOf({ prefix }: GraphqlRoutesOptions): { prefix?: string } {
  return prefix === undefined ? {} : { prefix }
}
