import type { IncomingHttpHeaders } from 'node:http'
import {
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
  type VariableDefinitionNode
} from 'graphql'
import { cutText } from '../../errors/cut-text.js'
import type { Variables } from '../cost/cost-arithmetic.js'
import { RequestError } from '../errors.js'

/** What is said of wrong variables. */
export interface VariableRules {
  maxErrors: number
  /** Name no similar fields or values, which would tell the schema piece by piece. */
  hideSuggestions: boolean
}

interface Operation {
  operation: OperationDefinitionNode
  schema: GraphQLSchema
}

/** Bytes of a request whose variables the engine may check first: its messages repeat them up to fifty times. */
const SMALL = 1024

/** Whether what a request holds is known to be small; one without a length, or compressed, may hold anything. */
export function isSmall(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length']) <= SMALL && headers['content-encoding'] === undefined
}

/**
 * The variables as resolvers get them, with the messages of GraphQL for those that are wrong, but no more work for many
 * errors than for a few: it stops at the limit, and a message quotes the beginning of a value.
 *
 * @throws RequestError for variables that do not have the types the operation declares
 */
export function coerceVariables({ operation, schema }: Operation, given: Variables, rules: VariableRules): Variables {
  const errors: GraphQLError[] = []
  const report = (error: GraphQLError): void => {
    if (errors.push(error) >= rules.maxErrors) throw new RequestError(errors)
  }
  const coerced: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const node of operation.variableDefinitions ?? []) {
    const name = node.variable.name.value
    const type = typeFromAST(schema, node.type)
    if (!isInputType(type)) continue // documents are validated
    const fault = Object.hasOwn(given, name) ? faultOfNull(given[name], type) : faultOfNothing(node, type)
    if (fault !== undefined) report(new GraphQLError(`Variable "$${name}" ${fault}`, { nodes: node }))
    else if (Object.hasOwn(given, name)) coerced[name] = coerce(given[name], { node, type, report, rules })
    else if (node.defaultValue !== undefined) coerced[name] = valueFromAST(node.defaultValue, type)
  }
  if (errors.length > 0) throw new RequestError(errors)
  return coerced
}

function faultOfNothing({ defaultValue }: VariableDefinitionNode, type: GraphQLInputType): string | undefined {
  const isMissing = defaultValue === undefined && isNonNullType(type)
  return isMissing ? `of required type "${String(type)}" was not provided.` : undefined
}

function faultOfNull(value: unknown, type: GraphQLInputType): string | undefined {
  return value === null && isNonNullType(type) ? `of non-null type "${String(type)}" must not be null.` : undefined
}

interface Coercion {
  node: VariableDefinitionNode
  type: GraphQLInputType
  report: (error: GraphQLError) => void
  rules: VariableRules
}

function coerce(value: unknown, { node, type, report, rules }: Coercion): unknown {
  const name = node.variable.name.value
  let quoted: { value: unknown; text: string } | undefined
  const onError = (path: readonly (string | number)[], wrong: unknown, error: GraphQLError): void => {
    // each unknown key of an object quotes the object, and all its keys are listed before the first can be written
    if (quoted === undefined || quoted.value !== wrong) quoted = { value: wrong, text: inspectValue(wrong) }
    const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
    const where = place === '' ? '' : ` at "${name}${place}"`
    const message = `Variable "$${name}" got invalid value ${quoted.text}${where}; ${cutText(error.message)}`
    report(new GraphQLError(message, { nodes: node, originalError: error }))
  }
  return coerceInputValue(value, type, onError, rules.hideSuggestions)
}

const MAX_TEXT = 120
const MAX_ITEMS = 10
const MAX_LEVELS = 2

/**
 * A JSON value as GraphQL writes it in messages. Not by its own function: that writes a value to its end, for every error
 * anew, and the value is as long as the client likes.
 */
function inspectValue(value: unknown): string {
  return cutText(write(value, 0), MAX_TEXT)
}

function write(value: unknown, level: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_TEXT))
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? writeList(value, level) : writeObject(value, level)
}

function writeList(list: readonly unknown[], level: number): string {
  if (list.length === 0) return '[]'
  if (level === MAX_LEVELS) return '[Array]'
  const items = list.slice(0, MAX_ITEMS).map((item) => write(item, level + 1))
  const left = list.length - items.length
  if (left > 0) items.push(`... ${left} more item${left === 1 ? '' : 's'}`)
  return `[${items.join(', ')}]`
}

function writeObject(object: object, level: number): string {
  let text = ''
  for (const name in object) {
    if (level === MAX_LEVELS) return '[Object]'
    text += `${text === '' ? '{ ' : ', '}${name}: ${write(Reflect.get(object, name), level + 1)}`
    if (text.length > MAX_TEXT) return text
  }
  return text === '' ? '{}' : `${text} }`
}
