import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema, ResponsesByStatus, RouteSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'

/** A Standard Schema; those of arktype are functions. */
export function isStandardSchema(given: unknown): given is StandardSchemaV1 {
  return ((typeof given === 'object' && given !== null) || typeof given === 'function') && '~standard' in given
}

/** An object that is no Standard Schema; whether it is a JSON Schema, its compiler says. */
export function isJsonSchema(given: unknown): given is JsonSchema {
  return isRecord(given) && !isStandardSchema(given)
}

/** The library of a Standard Schema. */
export function vendorOf(schema: RouteSchema): string | undefined {
  return isStandardSchema(schema) ? schema['~standard'].vendor : undefined
}

/** What a library that can write its schemas as JSON Schema has for it (https://standardschema.dev/json-schema). */
export function converterOf(schema: StandardSchemaV1): StandardJSONSchemaV1.Converter | undefined {
  const standard: Partial<StandardJSONSchemaV1.Props> = schema['~standard']
  return standard.jsonSchema
}

/** The schemas of a response by status: one alone is that of 200. */
export function responsesByStatus(response: RouteSchema | ResponsesByStatus): ResponsesByStatus {
  return isByStatus(response) ? response : { 200: response as RouteSchema }
}

function isByStatus(response: RouteSchema | ResponsesByStatus): response is ResponsesByStatus {
  if (isStandardSchema(response) || !isRecord(response)) return false
  const keys = Object.keys(response)
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key))
}
