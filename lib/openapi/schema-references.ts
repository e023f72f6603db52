import type { JsonSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'

/** Where the references of a schema lead in the document. */
export interface Rewriting {
  /** Names of components by the keys of `$defs`. */
  readonly names: ReadonlyMap<string, string>
  /** Names of components by `$id`. */
  readonly ids: Map<string, string>
  /** Name of the component that the whole schema is. */
  root: string | undefined
}

/** Keywords whose members are schemas by any name. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas'])
/** Keywords that hold values, which only look like schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'example'])
const DEFINITIONS = ['$defs', 'definitions']

export function definitionsOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return Object.assign({}, ...DEFINITIONS.map((key) => schema[key])) as Record<string, JsonSchema>
}

/** A definition with all that it refers to, as text: what two schemas of one name are compared by. */
export function closureOf(key: string, definitions: Readonly<Record<string, JsonSchema>>): string {
  const found = new Map<string, string>()
  const add = (name: string): void => {
    if (found.has(name)) return
    const text = JSON.stringify(definitions[name] ?? null)
    found.set(name, text)
    for (const other of Object.keys(definitions)) if (refersTo(text, other)) add(other)
  }
  add(key)
  return [...found].map((entry) => entry.join(' ')).join('\n')
}

function refersTo(text: string, name: string): boolean {
  return DEFINITIONS.some((keyword) => text.includes(JSON.stringify(`#/${keyword}/${escapePointer(name)}`)))
}

/** Whether a part of it is the whole again. */
export function refersToItself(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes('"$ref":"#"')
}

/** All schemas with an `$id`, as TypeBox writes recursive ones. */
export function idsIn(schema: unknown): { id: string; schema: JsonSchema }[] {
  if (Array.isArray(schema)) return schema.flatMap(idsIn)
  if (!isRecord(schema)) return []
  const id = schema['$id']
  const own = typeof id === 'string' ? [{ id, schema }] : []
  return [...own, ...Object.entries(schema).flatMap(([key, value]) => (VALUES.has(key) ? [] : idsIn(value)))]
}

/**
 * A schema with references that lead to components.
 * @param place a root is written out, even if it has a name
 */
export function rewriteSchema(schema: JsonSchema, rewriting: Rewriting, place: 'root' | 'inner' = 'inner'): JsonSchema {
  const id = rewriting.ids.get(String(schema['$id']))
  if (id !== undefined && place === 'inner') return { $ref: `#/components/schemas/${id}` }
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === '$schema' || key === '$id' || key === 'nullable' || DEFINITIONS.includes(key)) return []
    if (key === 'id' && place === 'root' && typeof value === 'string') return []
    if (key === '$ref' && typeof value === 'string') return [[key, referenceOf(value, rewriting)]]
    return [[key, rewriteValue(key, value, rewriting)]]
  })
  return withNull(schema, Object.fromEntries(entries))
}

/** `nullable` of OpenAPI 3.0, which Fastify's compilers know, too. */
function withNull(schema: JsonSchema, rewritten: JsonSchema): JsonSchema {
  const { type } = rewritten
  return schema['nullable'] === true && typeof type === 'string' ? { ...rewritten, type: [type, 'null'] } : rewritten
}

function rewriteValue(key: string, value: unknown, rewriting: Rewriting): unknown {
  if (VALUES.has(key)) return value
  if (Array.isArray(value)) return value.map((entry) => rewriteInner(entry, rewriting))
  if (!MAPS.has(key) || !isRecord(value)) return rewriteInner(value, rewriting)
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, rewriteInner(schema, rewriting)]))
}

function rewriteInner(value: unknown, rewriting: Rewriting): unknown {
  return isRecord(value) ? rewriteSchema(value, rewriting) : value
}

function referenceOf(reference: string, { names, ids, root }: Rewriting): string {
  const [, keyword = '', key = ''] = /^#\/(\$defs|definitions)\/([^/]*)$/.exec(reference) ?? []
  const name = reference === '#' ? root : keyword === '' ? ids.get(reference) : names.get(unescapePointer(key))
  return name === undefined ? reference : `#/components/schemas/${name}`
}

/** RFC 6901, section 4. */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescapePointer(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
}
