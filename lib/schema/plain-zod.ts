/** The parts of a zod 4 schema that say what it does (https://zod.dev/packages/core). */
interface ZodSchema {
  readonly _zod: { readonly def: ZodDefinition }
}

interface ZodDefinition {
  readonly type: string
  readonly check?: string
  readonly format?: string
  readonly coerce?: boolean
  readonly checks?: readonly { readonly _zod: { readonly def: { readonly check: string; readonly format?: string } } }[]
  readonly shape?: Readonly<Record<string, ZodSchema>>
  readonly catchall?: ZodSchema
  readonly element?: ZodSchema
  readonly innerType?: ZodSchema
  readonly values?: readonly unknown[]
  readonly entries?: Readonly<Record<string, unknown>>
}

/** Checks that look at a value and leave it as it is; a refinement may do otherwise. */
const PURE_CHECKS = new Set(['min_length', 'max_length', 'length_equals', 'less_than', 'greater_than', 'multiple_of'])
/** Formats of texts and numbers of which the same holds; `url` trims. */
const PURE_FORMATS = new Set(
  [
    'email uuid guid nanoid cuid cuid2 ulid xid ksuid jwt e164 ipv4 base64 base64url emoji',
    'datetime date time duration',
    'regex lowercase uppercase includes starts_with ends_with',
    'safeint int32 uint32 float32 float64'
  ].flatMap((names) => names.split(' '))
)

/**
 * Whether zod's parse leaves all values of a schema as they are, but for keys that it does not name, and JSON Schema says all
 * of it: objects, lists and scalars without transforms, defaults, refinements, unions or recursion.
 */
export function isPlainZod(schema: object): boolean {
  return '_zod' in schema && isPlain(schema as ZodSchema, new Set())
}

function isPlain(schema: ZodSchema, around: ReadonlySet<ZodSchema>): boolean {
  const { def } = schema._zod
  if (around.has(schema) || def.coerce === true || !isPure(def)) return false
  const within = new Set(around).add(schema)
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'date':
      return true
    case 'literal':
      return isOneKind(def.values ?? [])
    case 'enum':
      return isOneKind(Object.values(def.entries ?? {}))
    case 'array':
      return def.element !== undefined && isPlain(def.element, within)
    case 'object':
      return (
        isClosed(def) && Object.entries(def.shape ?? {}).every(([name, field]) => isPlainField(name, field, within))
      )
    default:
      return false
  }
}

function isPlainField(name: string, field: ZodSchema, around: ReadonlySet<ZodSchema>): boolean {
  const { type, innerType } = field._zod.def
  if (name === '__proto__') return false
  return isPlain(type === 'optional' && innerType !== undefined ? innerType : field, around)
}

function isClosed({ catchall }: ZodDefinition): boolean {
  return catchall === undefined || catchall._zod.def.type === 'never'
}

function isPure({ check, format, checks = [] }: ZodDefinition): boolean {
  if (check !== undefined && !isPureCheck({ check, ...(format && { format }) })) return false
  return checks.every(({ _zod }) => isPureCheck(_zod.def))
}

function isPureCheck({ check, format = '' }: { check: string; format?: string }): boolean {
  if (check === 'string_format' || check === 'number_format') return PURE_FORMATS.has(format)
  return PURE_CHECKS.has(check)
}

/** Texts only, or numbers only: JSON Schema then says the type. */
function isOneKind(values: readonly unknown[]): boolean {
  const [first] = values
  return (
    (typeof first === 'string' || typeof first === 'number') && values.every((value) => typeof value === typeof first)
  )
}
