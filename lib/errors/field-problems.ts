import { cutText, firstThatFit } from './cut-text.js'
import { readProperty } from './read-property.js'

/** What `details` of a validation error lists. */
export interface FieldProblem {
  /** Dotted path; empty for the value itself. */
  field: string
  message: string
}

const MAX_PROBLEMS = 100
/** Characters of JSON of one entry of an app's own list. */
const MAX_ENTRY = 1000

/** Issues of a schema library (zod and others that follow Standard Schema) or of Fastify's own validation. */
export function validationIssues(thrown: unknown): FieldProblem[] | undefined {
  const issues = readProperty(thrown, 'issues')
  if (Array.isArray(issues)) return fieldProblems(issues)
  const validation = readProperty(thrown, 'validation')
  if (!Array.isArray(validation)) return undefined
  return firstThatFit(validation.slice(0, MAX_PROBLEMS).map(pointedProblem), MAX_PROBLEMS)
}

/** The first issues of a schema, as many as an answer has room for. Names and messages may quote the client. */
export function fieldProblems(issues: readonly unknown[], prefix: readonly string[] = []): FieldProblem[] {
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => fieldProblem(issue, prefix))
  return problemsThatFit(problems)
}

export function problemsThatFit(problems: readonly FieldProblem[]): FieldProblem[] {
  return firstThatFit(problems, MAX_PROBLEMS)
}

/**
 * The list of a ValidationError that an app has made, perhaps of all issues of a schema: entries as they are, long ones as
 * {@link FieldProblem}.
 */
export function listedProblems(list: readonly unknown[]): unknown[] {
  return firstThatFit(list.slice(0, MAX_PROBLEMS).map(shortEntry), MAX_PROBLEMS)
}

function shortEntry(entry: unknown): unknown {
  if (typeof entry === 'string') return cutText(entry)
  return (JSON.stringify(entry) ?? '').length > MAX_ENTRY ? fieldProblem(entry, []) : entry
}

/** Path entries may be keys or, in Standard Schema, objects that hold one. */
function fieldProblem(issue: unknown, prefix: readonly string[]): FieldProblem {
  const path = readProperty(issue, 'path') ?? readProperty(issue, 'field')
  const keys = Array.isArray(path) ? path : typeof path === 'string' ? [path] : []
  return { field: dotted([...prefix, ...keys.slice(0, MAX_PROBLEMS)]), message: problemMessage(issue) }
}

function dotted(keys: readonly unknown[]): string {
  return cutText(keys.map((key) => cutText(keyText(readProperty(key, 'key') ?? key))).join('.'))
}

/** A key may be anything that a schema of no library put there. */
function keyText(key: unknown): string {
  return typeof key === 'object' || typeof key === 'function' ? '' : String(key)
}

function problemMessage(issue: unknown): string {
  const message = readProperty(issue, 'message')
  return typeof message === 'string' ? cutText(message) : 'is invalid'
}

/** Fastify says where by a JSON pointer. */
function pointedProblem(entry: unknown): FieldProblem {
  const pointer = readProperty(entry, 'instancePath')
  const keys = typeof pointer === 'string' ? pointer.split('/') : []
  return { field: dotted(keys[0] === '' ? keys.slice(1) : keys), message: problemMessage(entry) }
}
