import type { RequestPart } from '../contract/typed-handler.js'
import type { RequestFormData } from '../contract/uploads.js'
import type { FieldProblem } from '../errors/field-problems.js'
import { invalidRequest } from '../errors/refusals.js'
import type { LinkedRequest } from '../link/state.js'
import { isPromise } from '../options/values.js'
import { MAX_LISTED, type Checked } from '../schema/check.js'
import type { PartCheck } from '../schema/compile-definition.js'

/** Checks a request, and puts what its schemas make of it in its place. A promise only where something has to be waited for. */
export type Receive = (request: LinkedRequest) => void | Promise<void>

type Values = Record<string, unknown>

/** Where each part of a request is found; the form has to be waited for. */
const READ: Readonly<Record<Exclude<RequestPart, 'form'>, (request: LinkedRequest) => unknown>> = {
  params: (request) => request.params,
  query: (request) => request.query,
  headers: (request) => request.headers,
  cookies: (request) => request.cookies.all(),
  body: (request) => request.body as unknown
}

/** The check of a route's requests; undefined where no part has a schema. */
export function createReceive(parts: readonly PartCheck[]): Receive | undefined {
  const [first] = parts
  if (first === undefined) return undefined
  if (parts.length === 1) return receiveOne(first)
  const names = parts.map(({ part }) => part)
  const steps = parts.map(createStep)
  return (request) => {
    const outcomes = steps.map((step) => step(request))
    if (outcomes.some(isPromise)) return Promise.all(outcomes.map(resolved)).then((all) => accept(request, names, all))
    return accept(request, names, outcomes as readonly Checked[])
  }
}

/** Most routes have a schema for one part: it takes no lists. */
function receiveOne(check: PartCheck): Receive {
  const step = createStep(check)
  const accept = (request: LinkedRequest, { value, problems }: Checked & { value?: unknown }): void => {
    if (problems !== undefined) throw invalidRequest(problems.slice(0, MAX_LISTED))
    put(request, check.part, value)
  }
  return (request) => {
    const outcome = step(request)
    return isPromise(outcome) ? outcome.then((checked) => accept(request, checked)) : accept(request, outcome)
  }
}

/** Decided at boot, so that a request pays for what its part needs. */
function createStep({ part, check, lists }: PartCheck): (request: LinkedRequest) => Checked | Promise<Checked> {
  if (part === 'form') return async (request) => check(asLists(valuesOf(await request.formData()), lists))
  const read = READ[part]
  return lists.length === 0 ? (request) => check(read(request)) : (request) => check(asLists(read(request), lists))
}

function resolved(outcome: Checked | Promise<Checked>): Promise<Checked> {
  return Promise.resolve(outcome)
}

/** @throws ApiError 400 with the first faults of all parts */
function accept(request: LinkedRequest, parts: readonly RequestPart[], outcomes: readonly Checked[]): void {
  if (outcomes.some(isRefused)) throw invalidRequest(outcomes.flatMap(problemsOf).slice(0, MAX_LISTED))
  for (const [index, part] of parts.entries()) put(request, part, (outcomes[index] as { value: unknown }).value)
}

function put(request: LinkedRequest, part: RequestPart, value: unknown): void {
  if (part === 'params' || part === 'query' || part === 'body') request[part] = value as never
  else request.valid = { ...request.valid, [part]: value }
}

function isRefused({ problems }: Checked): boolean {
  return problems !== undefined
}

function problemsOf({ problems = [] }: Checked): readonly FieldProblem[] {
  return problems
}

/** A query and a form do not tell one value from a list of one. */
function asLists(value: unknown, lists: readonly string[]): unknown {
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
