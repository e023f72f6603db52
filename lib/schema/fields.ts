import type { RouteSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'
import { describeLoosely } from './describe.js'
import { vendorOf } from './schema-kinds.js'

/** What is known of the keys of an object that a schema takes. */
export interface KnownField {
  readonly name: string
  /** It takes a list, and nothing else. */
  readonly isList: boolean
}

/** The keys that the schema of an object names; undefined where they cannot be told. */
export function fieldsOf(schema: RouteSchema): readonly KnownField[] | undefined {
  const fields = ownFields(schema) ?? describedFields(schema)
  if (!isRecord(fields)) return undefined
  return Object.entries(fields).map(([name, field]) => ({ name, isList: takesList(field) }))
}

/**
 * The schemas of the fields, where the library shows them. JSON Schema does not say it all: `z.preprocess(split, z.array(...))`
 * is described as a list and takes a text.
 */
function ownFields(schema: RouteSchema): unknown {
  if (vendorOf(schema) === 'valibot') return (schema as { entries?: unknown }).entries
  const definition = zodDefinition(schema)
  if (definition?.type === 'pipe') return ownFields(definition.in as RouteSchema)
  return definition?.shape
}

function describedFields(schema: RouteSchema): unknown {
  try {
    return describeLoosely(schema)?.['properties']
  } catch {
    return undefined // a schema that its library cannot describe is checked all the same
  }
}

interface ZodDefinition {
  readonly type: string
  readonly shape?: unknown
  readonly in?: unknown
  readonly innerType?: unknown
}

function zodDefinition(schema: unknown): ZodDefinition | undefined {
  return (schema as { _zod?: { def: ZodDefinition } } | undefined)?._zod?.def
}

/** A list of zod, of valibot or of JSON Schema, where it may be wrapped as optional. */
function takesList(field: unknown): boolean {
  if (!isRecord(field)) return false
  const { type, innerType, wrapped } = (zodDefinition(field) ?? field) as {
    [Key in 'type' | 'innerType' | 'wrapped']?: unknown
  }
  return type === 'array' || takesList(innerType ?? wrapped)
}
