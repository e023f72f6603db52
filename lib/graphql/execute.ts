import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql'
import type { GraphqlContext } from '../contract/graphql.js'
import { logError } from '../errors/readable-error.js'
import { sendFailure, sendResult } from './answer.js'
import { checkCost, type CostRule } from './cost/cost-settings.js'
import type { Variables } from './cost/cost-arithmetic.js'
import type { Documents, PreparedOperation } from './documents/documents.js'
import { type ErrorFormat, formatResolverError, isDeliberate, RequestError } from './errors.js'
import { readParameters } from './body.js'
import { isTraced, traceOperation } from './trace-operation.js'
import { isPromise } from '../options/values.js'
import { coerceVariables, isSmall, type VariableRules } from './documents/variables.js'

export interface Endpoint {
  documents: Documents
  /** Undefined when costs are not limited. */
  cost: CostRule | undefined
  variables: VariableRules
  createContext: (request: FastifyRequest, reply: FastifyReply) => GraphqlContext | Promise<GraphqlContext>
  format: ErrorFormat
}

/**
 * Handles POST: reads the request, checks that it may run, runs it, answers. We pass the parsed document of the requested
 * operation to the engine, never its text: the engine would also try a text as other things than GraphQL, and it
 * caches documents by text alone, ignoring the operation name.
 */
export function createPostHandler(
  endpoint: Endpoint
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const { createContext, format } = endpoint
  // one async function for all of it: a request whose resolvers are synchronous would pay for a promise at each step
  return async function graphql(request, reply) {
    let atEngine: Operation | undefined
    try {
      const operation = readOperation(endpoint, request)
      const given = createContext(request, reply)
      const context = isPromise(given) ? await given : given
      atEngine = operation
      const result = await run(reply, operation, context)
      if (result.data === undefined) throw new RequestError(result.errors ?? []) // the variables, which are looked at below
      atEngine = undefined
      const body = result.errors === undefined ? result : withErrors(result, result.errors, { reply, format })
      return reply.sent ? reply : sendResult(reply, 200, body)
    } catch (error) {
      const fault = atEngine === undefined ? error : faultOf(atEngine, error)
      return reply.sent ? reply : sendFailure(reply, fault, format)
    }
  }
}

/** What a request asks for, which may run. */
interface Operation {
  prepared: PreparedOperation
  /** Undefined when the operation has none, so that the engine need not check any. */
  variables: Variables | undefined
  /** The variables as resolvers get them. Throws what is wrong with them. */
  coerced: () => Variables
}

function readOperation({ documents, cost, variables: rules }: Endpoint, request: FastifyRequest): Operation {
  const { query, operationName, variables: given } = readParameters(request.body)
  const prepared = documents.prepare(query, operationName, request.server.graphql.schema)
  const variables = prepared.operation.variableDefinitions?.length ? (given ?? {}) : undefined
  const coerced = (): Variables => coerceVariables(prepared, variables ?? {}, rules)
  if (cost !== undefined) checkCost(prepared.cost, cost, coerced)
  if (variables !== undefined && !isSmall(request.headers)) coerced()
  return { prepared, variables, coerced }
}

function run(
  reply: FastifyReply,
  { prepared, variables }: Operation,
  context: GraphqlContext
): Promise<ExecutionResult> {
  const { document, operation } = prepared
  if (!isTraced()) return reply.graphql(document, context, variables)
  return traceOperation(operation, reply, () => reply.graphql(document, context, variables))
}

/** Why the engine has not run an operation. What is wrong with variables is said in our words: the engine's name similar fields and values. */
function faultOf({ coerced }: Operation, thrown: unknown): unknown {
  try {
    coerced()
    return thrown
  } catch (fault) {
    return fault
  }
}

function withErrors(
  { data, extensions }: ExecutionResult,
  errors: readonly GraphQLError[],
  { reply, format }: { reply: FastifyReply; format: ErrorFormat }
): object {
  const formatted: GraphQLFormattedError[] = []
  for (const error of errors) {
    if (!isDeliberate(error))
      logError(reply.log, { err: error.originalError ?? error, path: error.path }, error.message)
    formatted.push(formatResolverError(error, format))
  }
  return extensions === undefined ? { errors: formatted, data } : { errors: formatted, data, extensions }
}
