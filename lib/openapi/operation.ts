import { STATUS_CODES } from 'node:http'
import { INVALID_REQUEST, type DescribedErrorForm } from '../contract/middleware-description.js'
import type { RequestPart, RouteDefinition, RouteSchema } from '../contract/typed-handler.js'
import { createInputCheck } from '../schema/check.js'
import { responsesByStatus } from '../schema/schema-kinds.js'
import type { Components } from './components.js'
import type { GuardParts } from './guard-parts.js'
import { namedParameters, pathParameters, type Parameter } from './parameters.js'
import type { TemplateParam } from './path-template.js'
import { bodiesOf, JSON_BODY } from './response-bodies.js'
import { Responses, type DescribedBody, type ResponseKey } from './responses.js'
import type { SchemaPlace, SchemaReader } from './schema-reader.js'

/** What the operations of a document are made with. */
export interface DocumentParts {
  readonly components: Components
  readonly reader: SchemaReader
}

export interface OperationInput extends SchemaPlace {
  readonly definition: RouteDefinition
  readonly guards: GuardParts
  readonly params: readonly TemplateParam[]
}

/** An Operation Object of OpenAPI. */
export type Operation = Record<string, unknown>

type RequestSchemas = Partial<Record<RequestPart, RouteSchema>>

const REQUEST_PARTS = ['params', 'query', 'headers', 'cookies', 'body', 'form'] as const

/** What any route may answer beside what is said of it: `ApiError` takes these statuses. */
const OTHER_ERRORS = [
  ['4XX', 'The request was refused'],
  ['5XX', 'The server failed']
] as const

export async function describeOperation(input: OperationInput, parts: DocumentParts): Promise<Operation> {
  const { definition, guards } = input
  const schemas: RequestSchemas = { ...guards.request }
  for (const part of REQUEST_PARTS) if (definition[part] !== undefined) schemas[part] = definition[part]
  const parameters = await parametersOf(schemas, input, parts)
  const requestBody = await requestBodyOf(schemas, input, parts)
  return {
    ...wordsOf(definition),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: await responsesOf(input, parts),
    ...(guards.security !== undefined && { security: guards.security })
  }
}

function wordsOf({ summary, description, tags, operationId, deprecated }: RouteDefinition): Operation {
  return {
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(operationId !== undefined && { operationId }),
    ...(deprecated === true && { deprecated })
  }
}

async function parametersOf(
  schemas: RequestSchemas,
  input: OperationInput,
  { components, reader }: DocumentParts
): Promise<Parameter[]> {
  const { params: ofPath } = input
  const params = schemas.params && (await reader.read(schemas.params, 'input', input, 'params'))
  const parameters = pathParameters(ofPath, params, components)
  const kinds = { query: 'query', headers: 'header', cookies: 'cookie' } as const
  for (const part of ['query', 'headers', 'cookies'] as const) {
    const schema = schemas[part] && (await reader.read(schemas[part], 'input', input, part))
    if (schema !== undefined) parameters.push(...namedParameters(kinds[part], schema, components))
  }
  return parameters
}

async function requestBodyOf(
  { body, form }: RequestSchemas,
  input: OperationInput,
  { components, reader }: DocumentParts
): Promise<object | undefined> {
  const part = form === undefined ? 'body' : 'form'
  const given = form ?? body
  const described = given && (await reader.read(given, 'input', input, part))
  if (given === undefined || described === undefined) return undefined
  const isText = described['type'] === 'string'
  const type = part === 'form' ? 'multipart/form-data' : isText ? 'text/plain' : JSON_BODY
  const isRequired = part === 'form' || !(await takesNothing(given))
  return {
    ...(isRequired && { required: true }),
    content: { [type]: { schema: components.place(described, 'input') } }
  }
}

/** Whether a request may come without a body. */
async function takesNothing(schema: RouteSchema): Promise<boolean> {
  try {
    const checked = await createInputCheck(schema, 'body')(undefined)
    return checked.problems === undefined
  } catch {
    return false
  }
}

async function responsesOf(input: OperationInput, parts: DocumentParts): Promise<object> {
  const { definition, guards } = input
  const { components } = parts
  const responses = new Responses()
  const addError = (status: ResponseKey, description: string, form?: DescribedErrorForm): void =>
    responses.add(status, description, [{ type: JSON_BODY, schema: components.error(form) }])
  await addDeclared(responses, input, parts)
  if (REQUEST_PARTS.some((part) => definition[part] !== undefined)) addError(400, INVALID_REQUEST)
  for (const [status, description] of Object.entries(definition.errors ?? {})) addError(Number(status), description)
  for (const { status, description, schema, form } of guards.responses) {
    const part = `responses[${status}] of a middleware`
    if (schema === undefined) addError(status, description, form)
    else responses.add(status, description, await placedBodies(schema, part, input, parts))
  }
  if (definition.response !== undefined) for (const [status, text] of OTHER_ERRORS) addError(status, text)
  const described = responses.toObjects()
  return definition.response === undefined
    ? { ...described, default: { description: 'An answer without a schema' } }
    : described
}

async function addDeclared(responses: Responses, input: OperationInput, parts: DocumentParts): Promise<void> {
  const { response } = input.definition
  if (response === undefined) return
  for (const [status, schema] of Object.entries(responsesByStatus(response))) {
    const bodies = await placedBodies(schema as RouteSchema | null, `response[${status}]`, input, parts)
    responses.add(Number(status), STATUS_CODES[status] ?? `Status ${status}`, bodies)
  }
}

async function placedBodies(
  schema: RouteSchema | null,
  part: string,
  place: SchemaPlace,
  { components, reader }: DocumentParts
): Promise<DescribedBody[]> {
  const described = schema === null ? undefined : await reader.read(schema, 'output', place, part)
  if (described === undefined) return []
  return bodiesOf(described).map(({ type, schema }) => ({ type, schema: components.place(schema, 'output') }))
}
