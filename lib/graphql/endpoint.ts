import type { FastifyInstance } from 'fastify'
import { isProduction } from '../contract/mode.js'
import { modeOn } from '../contract/instance-state.js'
import { installCache } from './cache/cached-fields.js'
import { checkGraphqlOptions } from './check-options.js'
import { createCostRule } from './cost/cost-settings.js'
import { createContextFactory } from './context.js'
import { Documents } from './documents/documents.js'
import { type EngineParts, isJit, registerEngine } from './engine.js'
import type { Endpoint } from './execute.js'
import { resolveLimits } from './limits.js'
import type { GraphqlRoutesOptions } from './graphql-options.js'
import { addRoutes, type RouteSettings } from './routes.js'
import { loadSchema } from './schema.js'
import { SetupError } from './setup-error.js'

/** The parts of `graphqlRoutes` that need Mercurius and graphql, so that its other parts load without them. */
export async function addEndpoint(app: FastifyInstance, options: GraphqlRoutesOptions): Promise<void> {
  checkGraphqlOptions(options)
  const settings = routeSettings(app, options)
  const schema = loadSchema(options)
  const limits = resolveLimits(options.limits)
  const endpoint = createEndpoint(app, { schema, limits, options })
  await registerEngine(app, { schema, limits, options })
  if (options.cache !== undefined) installCache(options.cache, app.graphql.schema, app.graphql)
  await app.register(async (scope) => addRoutes(scope, endpoint, settings), prefixOf(options))
}

function createEndpoint(app: FastifyInstance, { schema, limits, options }: EngineParts): Endpoint {
  const mode = modeOn(app, options.mode)
  const hide = isProduction(mode)
  const cost = createCostRule(schema, { complexity: options.complexity, hideActual: hide })
  const introspection = options.introspection ?? !hide
  return {
    cost,
    variables: { maxErrors: limits.validationErrors, hideSuggestions: hide },
    documents: new Documents({ limits, cost, introspection, hideSuggestions: hide, jit: isJit(options) }),
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

function prefixOf({ prefix }: GraphqlRoutesOptions): { prefix?: string } {
  return prefix === undefined ? {} : { prefix }
}
