import type { StandardSchemaV1 } from '@standard-schema/spec'
import { fieldProblem, type FieldProblem } from '../errors/envelope.js'

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

const MAX_PROBLEMS = 100
const MAX_TEXT_LENGTH = 300

export function isSchema(given: unknown): given is Schema {
  // those of arktype are functions
  return ((typeof given === 'object' && given !== null) || typeof given === 'function') && '~standard' in given
}

/** Runs a schema. Paths of its problems start with `prefix`. */
export async function check(schema: Schema, value: unknown, prefix: readonly string[] = []): Promise<Checked> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return { value: result.value }
  const problems = result.issues.slice(0, MAX_PROBLEMS).map(({ message, path = [] }) => {
    return cut(fieldProblem({ message, path: [...prefix, ...path] }))
  })
  return { problems }
}

/** Names and messages may quote the client; it must not decide how long the answer and the log line are. */
function cut({ field, message }: FieldProblem): FieldProblem {
  return { field: field.slice(0, MAX_TEXT_LENGTH), message: message.slice(0, MAX_TEXT_LENGTH) }
}
