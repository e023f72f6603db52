import type { JsonSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'
import type { Components } from './components.js'
import type { TemplateParam } from './path-template.js'
import { definitionsOf } from './schema-references.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required?: true
  readonly description?: string
  readonly deprecated?: true
  readonly schema: JsonSchema
}

/** One key of an object schema. */
interface Field {
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

const REST_NOTE = 'The rest of the path: it may hold slashes.'
/** OpenAPI describes them elsewhere, and ignores parameters of these names. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization'])

/** The parameters of a path. One without a schema is a text; the rest of a path is one text on the wire. */
export function pathParameters(
  params: readonly TemplateParam[],
  schema: JsonSchema | undefined,
  components: Components
): Parameter[] {
  const fields = schema === undefined ? new Map<string, Field>() : fieldsOf(schema)
  return params.map(({ name, isRest }) => {
    const field = fields.get(name)?.schema
    if (isRest) {
      const description = [field?.['description'], REST_NOTE].filter((text) => text !== undefined).join(' ')
      return { name, in: 'path', required: true, description, schema: { type: 'string' } }
    }
    const placed = components.place(field ?? { type: 'string' }, 'input')
    return { name, in: 'path', required: true, ...annotated(placed) }
  })
}

/** The keys of an object schema as parameters of one kind. */
export function namedParameters(
  kind: 'query' | 'header' | 'cookie',
  schema: JsonSchema,
  components: Components
): Parameter[] {
  return [...fieldsOf(schema)]
    .filter(([name]) => kind !== 'header' || !IGNORED_HEADERS.has(name.toLowerCase()))
    .map(([name, { schema: field, isRequired }]) => ({
      name,
      in: kind,
      ...(isRequired && { required: true }),
      ...annotated(components.place(field, 'input'))
    }))
}

/** What is said of a value is said of its parameter. */
function annotated({
  description,
  deprecated,
  ...schema
}: JsonSchema): Pick<Parameter, 'description' | 'deprecated' | 'schema'> {
  return {
    ...(typeof description === 'string' && { description }),
    ...(deprecated === true && { deprecated }),
    schema
  }
}

/** The keys that an object schema names, alone, by `allOf`, or in one of several variants. */
function fieldsOf(schema: JsonSchema, definitions = definitionsOf(schema)): Map<string, Field> {
  const reference = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(schema['$ref']))
  const target = reference === null ? undefined : definitions[reference[1] as string]
  if (target !== undefined) return fieldsOf(target, definitions)
  const fields = new Map<string, Field>()
  const required = new Set(listOf(schema['required']))
  for (const [name, field] of Object.entries(isRecord(schema['properties']) ? schema['properties'] : {})) {
    if (!isRecord(field)) continue
    // with the definitions of the whole, which its references lead to
    const own = Object.keys(definitions).length === 0 ? field : { ...field, $defs: definitions }
    fields.set(name, { schema: own, isRequired: required.has(name) })
  }
  for (const part of listOf(schema['allOf']).filter(isRecord)) join(fields, fieldsOf(part, definitions), 'as they are')
  for (const keyword of ['anyOf', 'oneOf'])
    for (const part of listOf(schema[keyword]).filter(isRecord)) join(fields, fieldsOf(part, definitions), 'optional')
  return fields
}

function join(fields: Map<string, Field>, more: Map<string, Field>, as: 'as they are' | 'optional'): void {
  for (const [name, field] of more)
    if (!fields.has(name)) fields.set(name, as === 'optional' ? { ...field, isRequired: false } : field)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
