import type { FastifyReply } from 'fastify'
import { isProduction, type Mode } from '../contract/mode.js'
import type { FieldProblem } from '../errors/field-problems.js'

/** Where an answer comes from, for messages. */
export interface TypedRoute {
  readonly method: string
  /** `/api/users/[userId]` */
  readonly pattern: string
}

/** An answer of a typed route. */
export interface TypedStatus extends TypedRoute {
  readonly status: number
}

/** A body that its schema refuses: 500. What is wrong with it stays in the log in production. */
export function breaksSchema(
  mode: Mode,
  { problems, ...answer }: TypedStatus & { readonly problems: readonly FieldProblem[] }
): Error {
  const said = `${nameOf(answer)} breaks its schema`
  const found = problems.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ')
  return Object.assign(new Error(isProduction(mode) ? said : `${said}: ${found}`), { problems })
}

/** An answer that its author has said nothing of. */
export function isUndeclared(answer: TypedStatus, declared: readonly number[]): Error {
  return new Error(`${nameOf(answer)} is not declared: response has schemas for ${declared.join(', ') || 'no status'}`)
}

/** A body where the definition says null. */
export function hasNeedlessBody(answer: TypedStatus): Error {
  return new Error(`${nameOf(answer)} has a body, and response[${answer.status}] is null`)
}

const told = new WeakMap<object, Set<string>>()

/** In production an undeclared answer is sent, and logged once for each status of a route. */
export function tellUndeclared(reply: FastifyReply, answer: TypedStatus): void {
  const statuses = told.get(reply.server) ?? new Set()
  const said = `${nameOf(answer)} is not declared`
  if (statuses.has(said)) return
  told.set(reply.server, statuses.add(said))
  reply.log.warn({ route: answer.pattern, status: answer.status }, `${said}; it is sent without any check`)
}

function nameOf({ method, pattern, status }: TypedStatus): string {
  return `The answer of ${method} ${pattern} with status ${status}`
}
