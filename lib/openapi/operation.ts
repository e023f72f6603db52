import { STATUS_CODES } from 'node:http'
import { INVALID_REQUEST } from '../contract/middleware-description.js'
import type { RequestPart, RouteDefinition, RouteSchema } from '../contract/typed-handler.js'
import { createInputCheck } from '../schema/check.js'
import { isBinarySchema } from '../schema/describe.js'
import { responsesByStatus } from '../schema/schema-kinds.js'
import type { Components } from './components.js'
import type { GuardParts } from './guard-parts.js'
import { namedParameters, pathParameters, type Parameter } from './parameters.js'
import type { TemplateParam } from './path-template.js'
import { Responses, type DescribedBody } from './responses.js'
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

const JSON_BODY = 'application/json'

export async function describeOperation(input: OperationInput, parts: DocumentParts): Promise<Operation> {
  const { definition, guards } = input
  const schemas: RequestSchemas = { ...guards.request }
  for (const part of ['params', 'query', 'headers', 'cookies', 'body', 'form'] as const)
    if (definition[part] !== undefined) schemas[part] = definition[part]
  const parameters = await parametersOf(schemas, input, parts)
  const requestBody = await requestBodyOf(schemas, input, parts)
  const security = Object.keys(guards.schemes)
  return {
    ...wordsOf(definition),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: await responsesOf(input, parts),
    ...(security.length > 0 && { security: [Object.fromEntries(security.map((name) => [name, []]))] })
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
  await addDeclared(responses, input, parts)
  const checks = [definition.params, definition.query, definition.headers, definition.cookies]
  if ([...checks, definition.body, definition.form].some((schema) => schema !== undefined))
    responses.add(400, INVALID_REQUEST, { type: JSON_BODY, schema: components.error(undefined) })
  for (const response of guards.responses) {
    const { status, description } = response
    const part = `responses[${status}] of a middleware`
    const body =
      response.schema === undefined
        ? { type: JSON_BODY, schema: components.error(response.form) }
        : response.schema === null
          ? undefined
          : await bodyOf(response.schema, part, input, parts)
    responses.add(status, description, body)
  }
  const described = responses.toObjects()
  return definition.response === undefined
    ? { ...described, default: { description: 'An answer without a schema' } }
    : described
}

async function addDeclared(responses: Responses, input: OperationInput, parts: DocumentParts): Promise<void> {
  const { response } = input.definition
  if (response === undefined) return
  for (const [status, schema] of Object.entries(responsesByStatus(response))) {
    const body = schema === null ? undefined : await bodyOf(schema as RouteSchema, `response[${status}]`, input, parts)
    responses.add(Number(status), STATUS_CODES[status] ?? `Status ${status}`, body)
  }
}

async function bodyOf(
  schema: RouteSchema,
  part: string,
  place: SchemaPlace,
  { components, reader }: DocumentParts
): Promise<DescribedBody | undefined> {
  const described = await reader.read(schema, 'output', place, part)
  if (described === undefined) return undefined
  const media = described['contentMediaType']
  const other = isBinarySchema(schema) ? 'application/octet-stream' : 'text/html'
  const isJson = described['type'] !== 'string'
  const type = typeof media === 'string' ? media : isJson ? JSON_BODY : other
  return { type, schema: components.place(described, 'output') }
}
