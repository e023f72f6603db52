import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { DocumentNode, GraphQLSchema } from 'graphql'
import mercurius, { type MercuriusOptions } from 'mercurius'
import type { Resolvers } from '../contract/graphql.js'
import type { Limits } from './limits.js'
import type { GraphqlRoutesOptions } from './graphql-options.js'

export interface EngineParts {
  schema: GraphQLSchema
  limits: Limits
  options: GraphqlRoutesOptions
}

/** Adds the engine, Mercurius, without routes of its own: `app.graphql()` and `reply.graphql()`. */
export async function registerEngine(app: FastifyInstance, { schema, limits, options }: EngineParts): Promise<void> {
  await app.register(mercurius, {
    schema,
    resolvers: ownResolvers(options.resolvers ?? {}),
    routes: false,
    // as many as we keep: more would be documents that no request finds any more
    cache: limits.documents,
    ...jitOption(options),
    // errors are formatted where they are sent
    errorFormatter: (execution) => ({ statusCode: 200, response: execution })
  })
  if (isJit(options)) interpretByDefault(app)
}

export function isJit({ jit }: GraphqlRoutesOptions): boolean {
  return jit !== undefined && jit !== false && jit !== 0
}

function jitOption({ jit = false }: GraphqlRoutesOptions): Pick<MercuriusOptions, 'jit'> {
  if (jit === false) return {}
  return { jit: jit === true ? 1 : jit }
}

/**
 * The name of a member of documents that the compiler may have. A name that nobody can guess, since the engine also takes a document
 * written as JSON; no symbol, since it works on a structured clone, which has none.
 */
const COMPILABLE = `twinroute.${randomUUID()}`

/** Lets the engine compile a document. */
export function markCompilable(document: DocumentNode): void {
  Object.assign(document, { [COMPILABLE]: true })
}

/**
 * Keeps all other documents from the compiler. Texts given to `app.graphql()` are among them: compiled, they would be
 * kept by text alone, so that of a document with two operations always the first one asked for would run.
 */
function interpretByDefault(app: FastifyInstance): void {
  app.graphql.addHook('preExecution', (_schema, document) => (COMPILABLE in document ? undefined : { document }))
}

type EngineResolvers = NonNullable<MercuriusOptions['resolvers']>

/** The engine takes things out of the resolvers it is given; another app may be made of the same. */
function ownResolvers(resolvers: Resolvers): EngineResolvers {
  const copies = Object.entries(resolvers).map(([type, fields]) => [type, Object.assign({}, fields)] as const)
  return Object.fromEntries(copies) as EngineResolvers
}
