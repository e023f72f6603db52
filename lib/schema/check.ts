import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema, RouteSchema } from '../contract/typed-handler.js'
import { fieldProblems, type FieldProblem } from '../errors/field-problems.js'
import { thenOrNow } from '../options/values.js'
import { compileInput, compileOutput } from './json-schema.js'
import { isStandardSchema, vendorOf } from './schema-kinds.js'

/** How many faults are listed of all. */
export const MAX_LISTED = 10

/** What a schema makes of a value, or the first of its faults. */
export type Checked = { value: unknown; problems?: undefined } | { problems: readonly FieldProblem[] }

/** A promise only where the schema is asynchronous. */
export type Check = (value: unknown) => Checked | Promise<Checked>

/**
 * The check of what a client sends.
 * @param part comes first in the names of fields
 * @throws Error for a JSON Schema that cannot be compiled
 */
export function createInputCheck(schema: RouteSchema, part: string): Check {
  return isStandardSchema(schema) ? standardCheck(schema, [part]) : jsonInputCheck(schema, part)
}

/**
 * The check of what is answered, which drops what the schema does not name. A value under a JSON Schema stays as it is: its
 * serialiser drops it.
 */
export function createOutputCheck(schema: RouteSchema): Check {
  if (isStandardSchema(schema)) return standardCheck(deletingUndeclared(schema), [])
  const findIssues = compileOutput(schema)
  return (value) => listed(value, findIssues(asJson(value)), [])
}

function standardCheck(schema: StandardSchemaV1, prefix: readonly string[]): Check {
  const standard = schema['~standard']
  const toChecked = (result: StandardSchemaV1.Result<unknown>): Checked =>
    result.issues === undefined ? { value: result.value } : listed(undefined, result.issues, prefix)
  return (value) => thenOrNow(standard.validate(value), toChecked)
}

function jsonInputCheck(schema: JsonSchema, part: string): Check {
  const findIssues = compileInput(schema)
  const isOptional = optionalOf(schema) || findIssues(null).length === 0
  return (value) => {
    if (value === undefined && isOptional) return { value }
    const own = part === 'body' ? value : { ...(value as object) } // it is coerced in place
    return listed(own, findIssues(own), [part])
  }
}

/** TypeBox marks what may be missing by a symbol. */
function optionalOf(schema: JsonSchema): boolean {
  return Symbol.for('TypeBox.Optional') in schema
}

function listed(value: unknown, issues: readonly unknown[], prefix: readonly string[]): Checked {
  return issues.length === 0 ? { value } : { problems: fieldProblems(issues.slice(0, MAX_LISTED), prefix) }
}

/** A type of arktype lets keys pass that it does not name, unless it is told to delete them. */
function deletingUndeclared(schema: StandardSchemaV1): StandardSchemaV1 {
  const { onDeepUndeclaredKey } = schema as { onDeepUndeclaredKey?: unknown }
  if (vendorOf(schema) !== 'arktype' || typeof onDeepUndeclaredKey !== 'function') return schema
  return Reflect.apply(onDeepUndeclaredKey, schema, ['delete']) as StandardSchemaV1
}

/** What JSON makes of a value: a Date is a text. */
function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined ? undefined : JSON.parse(text)
}
