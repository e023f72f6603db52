import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isStandardSchema } from '../schema/schema-kinds.js'
import { fieldProblems, type FieldProblem } from '../errors/field-problems.js'

/** Anything that follows Standard Schema: zod, valibot, arktype and others. */
export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

/** Parts of a request a schema may describe. */
export type Source = 'body' | 'query' | 'params'

export type SchemaBySource = { readonly [Part in Source]?: Schema }

/** What passes through the schema, or through each schema of a map. */
export type SchemaOutput<Given> = Given extends Schema
  ? StandardSchemaV1.InferOutput<Given>
  : { -readonly [Part in keyof Given]: Given[Part] extends Schema ? StandardSchemaV1.InferOutput<Given[Part]> : never }

export type Checked = { value: unknown; problems?: undefined } | { problems: FieldProblem[] }

export function isSchema(given: unknown): given is Schema {
  return isStandardSchema(given)
}

/** Runs a schema. Paths of its problems start with `prefix`. */
export async function check(schema: Schema, value: unknown, prefix: readonly string[] = []): Promise<Checked> {
  const result = await schema['~standard'].validate(value)
  return result.issues === undefined ? { value: result.value } : { problems: fieldProblems(result.issues, prefix) }
}
