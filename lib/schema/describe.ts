import type { JsonSchema, RouteSchema } from '../contract/typed-handler.js'
import { converterOf, isStandardSchema, vendorOf } from './schema-kinds.js'

/** What goes into a schema, or what it makes of it. */
export type Side = 'input' | 'output'

/** `draft-2020-12` is that of OpenAPI 3.1; Fastify's serialiser knows `draft-07`. */
export type Draft = 'draft-2020-12' | 'draft-07'

export interface DescribeOptions {
  side: Side
  /** Default `draft-2020-12`. */
  draft?: Draft
}

/**
 * A schema as JSON Schema: a JSON Schema itself, what the library of a Standard Schema writes of it (zod 4.2 and arktype do it
 * themselves, valibot by the package @valibot/to-json-schema). A date is a text of the format `date-time`.
 *
 * @throws Error that says what cannot be described: a transform on its output side, a bigint, a schema of a library that does
 * not write JSON Schema
 */
export async function describeSchema(schema: RouteSchema, options: DescribeOptions): Promise<JsonSchema> {
  if (vendorOf(schema) !== 'valibot' || hasConverter(schema)) return describeNow(schema, options)
  const { toJsonSchema } = await importValibotConverter()
  return toJsonSchema(schema, {
    typeMode: options.side,
    target: options.draft ?? 'draft-2020-12',
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'date' ? DATE_TIME : undefined)
  })
}

/** The same without waiting: a valibot schema needs the converter of its own. */
export function describeNow(schema: RouteSchema, { side, draft = 'draft-2020-12' }: DescribeOptions): JsonSchema {
  if (!isStandardSchema(schema)) return schema
  const converter = converterOf(schema)
  if (converter === undefined)
    throw new Error(`Schemas of ${vendorOf(schema)} are not described as JSON Schema by this version of the package`)
  return converter[side]({ target: draft, libraryOptions: SETTINGS[vendorOf(schema) ?? ''] })
}

const DATE_TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** What `override` of zod's converter is given. */
interface ZodPlace {
  zodSchema: { _zod: { def: { type: string } } }
  jsonSchema: Record<string, unknown>
  path: readonly unknown[]
}

/** By library: a date is described, nothing else that JSON cannot hold. */
const SETTINGS: Readonly<Record<string, Record<string, unknown>>> = {
  zod: { unrepresentable: 'any', override: describeZodPlace },
  arktype: { fallback: { date: () => ({ ...DATE_TIME }), default: describeArktypePlace } }
}

/** What a fallback of arktype's converter is given: what it could say so far. */
interface ArktypePlace {
  code: string
  base: JsonSchema
}

/** A check of one's own narrows what is described; what is not described at all is refused. */
function describeArktypePlace({ code, base }: ArktypePlace): JsonSchema {
  if (Object.keys(base).length > 0) return base
  throw new Error(`A type of arktype cannot be described as JSON Schema (${code})`)
}

/** Kinds of zod that its converter would leave open. */
const ZOD_OPEN = new Set([
  'bigint',
  'symbol',
  'undefined',
  'void',
  'map',
  'set',
  'transform',
  'nan',
  'custom',
  'function'
])

function describeZodPlace({ zodSchema, jsonSchema, path }: ZodPlace): void {
  const { type } = zodSchema._zod.def
  if (type === 'date') Object.assign(jsonSchema, DATE_TIME)
  else if (ZOD_OPEN.has(type) && Object.keys(jsonSchema).length === 0)
    throw new Error(`z.${type}() cannot be described as JSON Schema (at ${path.join('.') || 'the top'})`)
}

function hasConverter(schema: RouteSchema): boolean {
  return isStandardSchema(schema) && converterOf(schema) !== undefined
}

interface ValibotSettings {
  typeMode: Side
  target: Draft
  overrideSchema: (place: { valibotSchema: { type: string } }) => JsonSchema | undefined
}

interface ValibotConverter {
  toJsonSchema(schema: RouteSchema, settings: ValibotSettings): JsonSchema
}

/** By a name that the compiler does not look for: the package is optional. */
const VALIBOT_CONVERTER: string = '@valibot/to-json-schema'

async function importValibotConverter(): Promise<ValibotConverter> {
  try {
    return (await import(VALIBOT_CONVERTER)) as ValibotConverter
  } catch (cause) {
    const message = `Schemas of valibot are described by a package of its own: npm install ${VALIBOT_CONVERTER}`
    throw new Error(message, { cause })
  }
}

/** With an open place for what JSON cannot hold. */
export function describeLoosely(schema: RouteSchema): JsonSchema | undefined {
  const libraryOptions = vendorOf(schema) === 'zod' ? { unrepresentable: 'any' } : { fallback: () => ({}) }
  return isStandardSchema(schema) ? converterOf(schema)?.input({ target: 'draft-07', libraryOptions }) : schema
}

/** Whether a schema says that its value is bytes: `format: 'binary'`, or `contentEncoding` or `contentMediaType` of another kind. */
export function isBinarySchema(schema: RouteSchema): boolean {
  try {
    const described = isStandardSchema(schema) ? describeLoosely(schema) : schema
    if (described?.['format'] === 'binary' || described?.['contentEncoding'] === 'binary') return true
    const type = described?.['contentMediaType']
    return typeof type === 'string' && !type.includes('json')
  } catch {
    return false
  }
}
