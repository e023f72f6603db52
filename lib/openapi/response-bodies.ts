import type { JsonSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'
import type { DescribedBody } from './responses.js'

export const JSON_BODY = 'application/json'

/** What is beside the members of a union that is nothing but a union. */
const AROUND_UNIONS = new Set(['$schema', '$defs', 'definitions', 'anyOf', 'oneOf'])

/**
 * The bodies of an answer by media type. A handler that returns a text or an object sends a page or JSON: a union has a schema
 * for each media type.
 */
export function bodiesOf(described: JsonSchema): DescribedBody[] {
  const keyword =
    isRecord(described) && Object.keys(described).every((key) => AROUND_UNIONS.has(key))
      ? unionOf(described)
      : undefined
  const members = keyword === undefined ? [] : (described[keyword] as JsonSchema[])
  const types = [...new Set(members.map(mediaTypeOf))]
  if (keyword === undefined || types.length < 2) return [{ type: mediaTypeOf(described), schema: described }]
  return types.map((type) => {
    const own = members.filter((member) => mediaTypeOf(member) === type)
    const { [keyword]: _all, ...around } = described
    return { type, schema: own.length === 1 ? { ...around, ...own[0] } : { ...around, [keyword]: own } }
  })
}

function unionOf(schema: JsonSchema): 'anyOf' | 'oneOf' | undefined {
  const [first, ...more] = (['anyOf', 'oneOf'] as const).filter((keyword) => Array.isArray(schema[keyword]))
  return more.length === 0 ? first : undefined
}

function mediaTypeOf({ type, format, contentEncoding, contentMediaType }: JsonSchema): string {
  if (typeof contentMediaType === 'string') return contentMediaType
  if (type !== 'string') return JSON_BODY
  return format === 'binary' || contentEncoding === 'binary' ? 'application/octet-stream' : 'text/html'
}
