import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql'
import type { GraphqlContext } from '../contract/graphql.js'
import { logError } from '../errors/readable-error.js'
import { sendFailure, sendResult } from './answer.js'
import { checkCost, type CostRule } from './cost/cost-settings.js'
import type { Variables } from './cost/cost-arithmetic.js'
import type { Documents, PreparedOperation } from './documents/documents.js'
import { mayCompile } from './engine.js'
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
  return async function graphql(request, reply) {
    try {
      const result = await execute(endpoint, request, reply)
      return reply.sent ? reply : sendResult(reply, 200, result)
    } catch (error) {
      return reply.sent ? reply : sendFailure(reply, error, endpoint.format)
    }
  }
}

async function execute(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  const { query, operationName, variables } = readParameters(request.body)
  const prepared = endpoint.documents.prepare(query, operationName, request.server.graphql.schema)
  // without variables the engine need not check any
  const used = prepared.operation.variableDefinitions?.length ? (variables ?? {}) : undefined
  const coerced = (): Variables => coerceVariables(prepared, used ?? {}, endpoint.variables)
  if (endpoint.cost !== undefined) checkCost(prepared.cost, endpoint.cost, coerced)
  if (used !== undefined && !isSmall(request.headers)) coerced()
  const given = endpoint.createContext(request, reply)
  const context = isPromise(given) ? await given : given
  if (prepared.compilable) mayCompile(context)
  const result = await run(reply, prepared, { context, variables: used, check: coerced })
  return result.errors === undefined ? result : withErrors(result, result.errors, { reply, format: endpoint.format })
}

interface Run {
  context: GraphqlContext
  variables: Variables | undefined
  /** Throws what is wrong with the variables. */
  check: () => void
}

/** Runs an operation. What is wrong with variables is said in our words: the engine names similar fields and values. */
async function run(reply: FastifyReply, prepared: PreparedOperation, { context, variables, check }: Run) {
  const { document, operation } = prepared
  let result: ExecutionResult
  try {
    result = await (isTraced()
      ? traceOperation(operation, reply, () => reply.graphql(document, context, variables))
      : reply.graphql(document, context, variables))
  } catch (error) {
    check()
    throw error
  }
  if (result.data !== undefined) return result
  check()
  throw new RequestError(result.errors ?? [])
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
