import type { JsonSchema } from '../contract/typed-handler.js'
import { isRecord } from '../options/values.js'
import { ajvCompiler, serialiserCompiler } from './compilers.js'

/** One fault as Ajv lists it (https://ajv.js.org/api.html#error-objects). */
interface AjvFault {
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

interface Validate {
  (value: unknown): boolean
  errors?: readonly AjvFault[] | null
}

/** A fault as Standard Schema lists it. */
export interface Issue {
  readonly path: readonly string[]
  readonly message: string
}

/** The faults of a value; none when it follows the schema. What comes from a client is coerced in place, as Fastify does. */
export type JsonSchemaCheck = (value: unknown) => readonly Issue[]

type BuildValidators = ReturnType<typeof createValidatorSelector>

let sharedValidators: BuildValidators | undefined
let sharedSerialisers: ReturnType<ReturnType<typeof serialiserCompiler>['SerializerSelector']> | undefined

/** As Fastify compiles the schemas of its routes, but with all faults. */
const FROM_CLIENT = { allErrors: true }
/** An answer is checked as it is. */
const TO_CLIENT = { allErrors: true, coerceTypes: false, useDefaults: false, removeAdditional: false }

/** @throws Error of Ajv for what is no JSON Schema: unknown keywords, references that lead nowhere */
export function compileInput(schema: JsonSchema): JsonSchemaCheck {
  return checkWith(compile(schema, FROM_CLIENT))
}

/** The same for an answer; keys that it does not name are no faults, since they are not sent. */
export function compileOutput(schema: JsonSchema): JsonSchemaCheck {
  return checkWith(compile(openObjects(schema) as JsonSchema, TO_CLIENT))
}

/**
 * The JSON text of a value by a schema, as on Fastify's routes: only what the schema names, in its order. Further keys do
 * not decide which member of a union a value is, since they are dropped.
 * @throws Error for a schema that cannot be compiled
 */
export function compileSerialiser(schema: JsonSchema): (value: unknown) => string {
  sharedSerialisers ??= serialiserCompiler().SerializerSelector()
  return sharedSerialisers({}, {})({ schema: openObjects(schema), method: '', url: '', httpStatus: '' })
}

function compile(schema: JsonSchema, customOptions: object): Validate {
  // one with a name of its own may refer to itself by it, and gets a compiler in which no other one has that name
  const build = '$id' in schema ? createValidatorSelector() : (sharedValidators ??= createValidatorSelector())
  const options = '$id' in schema ? { ...customOptions, addUsedSchema: true } : customOptions
  return build({}, { customOptions: options })({ schema }) as Validate
}

function createValidatorSelector() {
  return ajvCompiler().AjvCompiler()
}

function checkWith(validate: Validate): JsonSchemaCheck {
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toIssue))
}

/** The path of a missing or needless key is that of the key. */
function toIssue({ instancePath, params, message = 'is invalid' }: AjvFault): Issue {
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  const key = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  return { path: typeof key === 'string' ? [...path, key] : path, message }
}

/** RFC 6901, section 4. */
function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Keywords whose members are schemas by any name. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold values, which only look like schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples'])
const CLOSING = new Set(['additionalProperties', 'unevaluatedProperties'])

/** The schema without what refuses further keys. */
function openObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openObjects)
  if (!isRecord(schema)) return schema
  const opened = Object.entries(schema)
    .filter(([keyword, value]) => value !== false || !CLOSING.has(keyword))
    .map(([keyword, value]) => [keyword, openKeyword(keyword, value)])
  return Object.fromEntries(opened)
}

function openKeyword(keyword: string, value: unknown): unknown {
  if (VALUES.has(keyword)) return value
  if (!MAPS.has(keyword) || !isRecord(value)) return openObjects(value)
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, openObjects(schema)]))
}
