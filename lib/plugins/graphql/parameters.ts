import { refuseWith } from './request-error.js'

/** What a POST body asks for. */
export interface GraphqlParameters {
  query: string
  operationName: string | undefined
  variables: Record<string, unknown> | undefined
}

/**
 * Reads the body of a request as the GraphQL-over-HTTP specification has it: `query`, and perhaps `operationName`,
 * `variables` and `extensions`, each of its type or null. Other keys are passed over.
 *
 * @throws RequestError 400 for anything else, lists of requests among it
 */
export function readParameters(body: unknown): GraphqlParameters {
  if (!isMap(body)) return refuseWith(400, 'The body must be a JSON object')
  const { query, operationName, variables, extensions } = body
  if (typeof query !== 'string') return refuseWith(400, '"query" must be a string')
  if (operationName != null && typeof operationName !== 'string') refuseWith(400, '"operationName" must be a string')
  if (extensions != null && !isMap(extensions)) refuseWith(400, '"extensions" must be an object')
  if (variables != null && !isMap(variables)) return refuseWith(400, '"variables" must be an object')
  return { query, operationName: operationName || undefined, variables: variables ?? undefined }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
