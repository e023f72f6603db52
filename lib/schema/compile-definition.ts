import type { RequestPart, ResponsesByStatus, RouteDefinition, RouteSchema } from '../contract/typed-handler.js'
import { describeType, isRecord } from '../options/values.js'
import { AnswerSchema } from './answer-schema.js'
import { createInputCheck, type Check } from './check.js'
import { fieldsOf } from './fields.js'
import { isJsonSchema, isStandardSchema, responsesByStatus } from './schema-kinds.js'

/** One part of a request with its schema. */
export interface PartCheck {
  readonly part: RequestPart
  readonly check: Check
  /** The keys that take a list: a single value becomes one. */
  readonly lists: readonly string[]
}

/** A definition as requests need it. */
export interface CompiledDefinition {
  /** The form is the last: its files are read when all else has been asked for. */
  readonly parts: readonly PartCheck[]
  /** undefined where any answer is right; null under a status for no body. */
  readonly answers: ReadonlyMap<number, AnswerSchema | null> | undefined
}

/** The second half of a sentence about a route file, and what to do. */
export interface WrongDefinition {
  readonly message: string
  readonly fix: string
  readonly cause?: unknown
}

const PARTS: readonly RequestPart[] = ['params', 'query', 'headers', 'cookies', 'body', 'form']
const TEXTS = new Set(['summary', 'description', 'operationId'])
const FLAGS = new Set(['deprecated', 'hidden'])
const ERROR_STATUS = /^[45]\d\d$/
const KNOWN: readonly string[] = [...PARTS, 'response', 'errors', 'tags', ...TEXTS, ...FLAGS]
const ANY_SCHEMA = 'Give a Standard Schema (zod, valibot, arktype) or a JSON Schema object'

const compiled = new WeakMap<RouteDefinition, CompiledDefinition>()

/** What {@link compileDefinition} has made of a definition at boot. */
export function compiledOf(definition: RouteDefinition): CompiledDefinition {
  return compiled.get(definition) ?? compileDefinition(definition, [])
}

/**
 * Compiles all schemas of a definition.
 * @param wrong gets all that is wrong with it
 */
export function compileDefinition(definition: RouteDefinition, wrong: WrongDefinition[]): CompiledDefinition {
  checkWords(definition, wrong)
  const parts = PARTS.flatMap((part) => compilePart(part, definition[part], wrong) ?? [])
  const made = { parts, answers: compileAnswers(definition.response, wrong) }
  compiled.set(definition, made)
  return made
}

function checkWords(definition: RouteDefinition, wrong: WrongDefinition[]): void {
  for (const [key, value] of Object.entries(definition) as [string, unknown][]) {
    if (!KNOWN.includes(key))
      wrong.push({ message: `has ${key}, which does not exist`, fix: `Use ${KNOWN.join(', ')}` })
    else if (value !== undefined && !isWord(key, value))
      wrong.push({ message: `has ${key} as ${describeType(value)}`, fix: `Give ${wordOf(key)}` })
  }
}

function isWord(key: string, value: unknown): boolean {
  if (TEXTS.has(key)) return typeof value === 'string'
  if (FLAGS.has(key)) return typeof value === 'boolean'
  if (key === 'errors') return isErrors(value)
  return key !== 'tags' || (Array.isArray(value) && value.every((tag) => typeof tag === 'string'))
}

function isErrors(value: unknown): boolean {
  if (!isRecord(value)) return false
  return Object.entries(value).every(([status, text]) => ERROR_STATUS.test(status) && typeof text === 'string')
}

function wordOf(key: string): string {
  if (TEXTS.has(key)) return 'a string'
  if (key === 'errors') return "statuses from 400 to 599 with a sentence each: { 404: 'No such note' }"
  return FLAGS.has(key) ? 'true or false' : 'an array of strings'
}

function compilePart(
  part: RequestPart,
  schema: RouteSchema | undefined,
  wrong: WrongDefinition[]
): PartCheck | undefined {
  if (schema === undefined) return undefined
  return attempt(part, schema, wrong, () => ({
    part,
    check: createInputCheck(schema, part),
    lists: part === 'query' || part === 'form' ? listsOf(schema) : []
  }))
}

function listsOf(schema: RouteSchema): readonly string[] {
  return (fieldsOf(schema) ?? []).filter(({ isList }) => isList).map(({ name }) => name)
}

function compileAnswers(
  response: RouteSchema | ResponsesByStatus | undefined,
  wrong: WrongDefinition[]
): CompiledDefinition['answers'] {
  if (response === undefined) return undefined
  const answers = new Map<number, AnswerSchema | null>()
  for (const [key, schema] of Object.entries(responsesByStatus(response))) {
    const status = Number(key)
    if (status < 200 || status > 599) {
      wrong.push({ message: `has response[${key}], which is no status`, fix: 'Use statuses from 200 to 599' })
    } else if (schema === null) answers.set(status, null)
    else {
      const answer = attempt(`response[${key}]`, schema, wrong, () => new AnswerSchema(schema))
      if (answer !== undefined) answers.set(status, answer)
    }
  }
  return answers
}

function attempt<Made>(name: string, schema: unknown, wrong: WrongDefinition[], make: () => Made): Made | undefined {
  if (!isStandardSchema(schema) && !isJsonSchema(schema)) {
    wrong.push({ message: `has ${name} as ${describeType(schema)}, which is no schema`, fix: ANY_SCHEMA })
    return undefined
  }
  try {
    return make()
  } catch (cause) {
    wrong.push({ message: `has ${name}, which cannot be compiled`, fix: adviseSchema(schema), cause })
    return undefined
  }
}

/** `{ name: z.string() }` without `z.object()` around it. */
function adviseSchema(schema: object): string {
  const isBare = isRecord(schema) && !isStandardSchema(schema) && Object.values(schema).some(isStandardSchema)
  return isBare ? 'Put an object schema around the fields: z.object({ ... })' : ANY_SCHEMA
}
