import type { RequestPart } from '../contract/typed-handler.js'
import type { RequestFormData } from '../contract/uploads.js'
import type { FieldProblem } from '../errors/field-problems.js'
import { invalidRequest } from '../errors/refusals.js'
import type { LinkedRequest } from '../link/state.js'
import { isPromise, thenOrNow } from '../options/values.js'
import { MAX_LISTED, type Checked } from '../schema/check.js'
import type { PartCheck } from '../schema/compile-definition.js'

/** Checks a request, and puts what its schemas make of it in its place. A promise only where something has to be waited for. */
export type Receive = (request: LinkedRequest) => void | Promise<void>

type Values = Record<string, unknown>

/** Where each part of a request is found. */
const READ: Readonly<Record<RequestPart, (request: LinkedRequest) => unknown>> = {
  params: (request) => request.params,
  query: (request) => request.query,
  headers: (request) => request.headers,
  cookies: (request) => request.cookies.all(),
  body: (request) => request.body as unknown,
  form: (request) => request.formData().then(valuesOf)
}

/** The check of a route's requests; undefined where no part has a schema. */
export function createReceive(parts: readonly PartCheck[]): Receive | undefined {
  if (parts.length === 0) return undefined
  return (request) => {
    const outcomes = parts.map((part) =>
      thenOrNow(READ[part.part](request), (value) => part.check(asLists(value, part)))
    )
    if (outcomes.some(isPromise))
      return Promise.all(outcomes.map(resolved)).then((checked) => accept(request, parts, checked))
    return accept(request, parts, outcomes as readonly Checked[])
  }
}

function resolved(outcome: Checked | Promise<Checked>): Promise<Checked> {
  return Promise.resolve(outcome)
}

/** @throws ApiError 400 with the first faults of all parts */
function accept(request: LinkedRequest, parts: readonly PartCheck[], outcomes: readonly Checked[]): void {
  const problems: FieldProblem[] = []
  for (const outcome of outcomes) if (outcome.problems !== undefined) problems.push(...outcome.problems)
  if (problems.length > 0) throw invalidRequest(problems.slice(0, MAX_LISTED))
  for (const [index, { part }] of parts.entries()) {
    const { value } = outcomes[index] as { value: unknown }
    if (part === 'params' || part === 'query' || part === 'body') request[part] = value as never
    else request.valid = { ...request.valid, [part]: value }
  }
}

/** A query and a form do not tell one value from a list of one. */
function asLists(value: unknown, { lists }: PartCheck): unknown {
  const single = lists.filter((name) => isSingle((value as Values)[name]))
  if (single.length === 0) return value
  return { ...(value as Values), ...Object.fromEntries(single.map((name) => [name, [(value as Values)[name]]])) }
}

function isSingle(value: unknown): boolean {
  return value !== undefined && !Array.isArray(value)
}

/** The values of a form by name; a repeated name has a list. */
function valuesOf(form: RequestFormData): Values {
  const values = Object.create(null) as Values
  for (const name of new Set(form.keys())) {
    const all = form.getAll(name)
    values[name] = all.length === 1 ? all[0] : all
  }
  return values
}
