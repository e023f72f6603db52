import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isRecord } from '../options/values.js'
import type { Side } from '../schema/describe.js'
import { isStandardSchema } from '../schema/schema-kinds.js'

/** What takes the place of a Standard Schema. */
export type Replace = (schema: StandardSchemaV1, side: Side, part: string) => unknown

/** The parts of a Fastify route's `schema` that are checked before its handler. */
export const INPUTS: readonly string[] = ['body', 'querystring', 'query', 'params', 'headers']

/** The `schema` of a Fastify route, in which other things stand for its Standard Schemas. */
export function replaceStandardSchemas(schema: object, replace: Replace): object {
  const entries = Object.entries(schema).map(([part, value]: [string, unknown]) => {
    if (INPUTS.includes(part)) return [part, replaceIn(value, (found) => replace(found, 'input', part))] as const
    return [part, part === 'response' ? replaceInResponses(value, replace) : value] as const
  })
  return Object.fromEntries(entries)
}

function replaceInResponses(responses: unknown, replace: Replace): unknown {
  if (!isRecord(responses)) return responses
  const entries = Object.entries(responses).map(([status, response]) => {
    return [status, replaceIn(response, (found) => replace(found, 'output', `response[${status}]`))] as const
  })
  return Object.fromEntries(entries)
}

/** Alone, or in `content` by media type. */
function replaceIn(value: unknown, replace: (schema: StandardSchemaV1) => unknown): unknown {
  if (isStandardSchema(value)) return replace(value)
  if (!isRecord(value) || !isRecord(value['content'])) return value
  const content = Object.entries(value['content']).map(([type, media]) => {
    const isReplaced = isRecord(media) && isStandardSchema(media['schema'])
    return [type, isReplaced ? { ...media, schema: replaceIn(media['schema'], replace) } : media] as const
  })
  return { ...value, content: Object.fromEntries(content) }
}
