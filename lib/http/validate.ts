import type { Middleware } from '../contract/middleware.js'
import { addDescription, INVALID_REQUEST } from '../contract/middleware-description.js'
import type { Request, RequestShape } from '../contract/request.js'
import { ValidationError } from '../errors/api-error.js'
import { checkOptions, isWhole, objectOf, checkValue, type OptionRule, type OptionRules } from '../options/rules.js'
import { isRecord } from '../options/values.js'
import { problemsThatFit } from '../errors/field-problems.js'
import {
  check,
  isSchema,
  type Checked,
  type Schema,
  type SchemaBySource,
  type SchemaOutput,
  type Source
} from './standard-schema.js'
import { awaitBody } from '../body/await-body.js'
import { refusingRouteOf } from '../link/refusal.js'
import { kReply, type LinkedRequest, type LinkedResponse } from '../link/state.js'
import { fileRouteOf } from '../contract/instance-state.js'
import { BODY_LIMIT } from '../options/defaults.js'

export interface ValidateOptions {
  /** Largest body in bytes, when this middleware is the one that reads it. Default, and most, that of the route file; else 1 MiB. */
  bodyLimit?: number
}

/** What {@link validate} returns: middleware that remembers its schema, for {@link ValidatedRequest}. */
export interface ValidationMiddleware<Given extends Schema | SchemaBySource> extends Middleware {
  readonly schema: Given
}

/**
 * The request behind a validation: `validatedData` has the type of what the schema lets through. Takes the type of the
 * middleware, of a schema, or of a map of schemas; then what `Request` takes: `ValidatedRequest<typeof check, '/users/[id]'>`.
 */
export type ValidatedRequest<Given, Shape extends RequestShape | string = object> = Request<Shape> & {
  validatedData: SchemaOutput<Given extends ValidationMiddleware<infer Inner> ? Inner : Given>
}

const RULES: OptionRules<ValidateOptions> = {
  bodyLimit: { expected: 'a positive number of bytes', accepts: isWhole(1) }
}
const SCHEMA: OptionRule = { expected: 'a Standard Schema', accepts: isSchema }
/** What `validate` is given. Other names in a map are refused: a part under a misspelt name would never be checked. */
const GIVEN: OptionRule = {
  expected: 'a Standard Schema, or an object with body, query and params',
  accepts: (value) => isSchema(value) || isRecord(value),
  required: true
}
const BY_SOURCE = objectOf<SchemaBySource>({ body: SCHEMA, query: SCHEMA, params: SCHEMA })
const SOURCES: readonly Source[] = ['params', 'query', 'body']

/**
 * Middleware that checks the body, or each part named in a map `{ body, query, params }`, and sets
 * `request.validatedData` to what the schema makes of it (for a map: an object with the same keys). A failure goes to
 * `next` as a 400 `VALIDATION_ERROR` "Request validation failed" whose details list `{ field, message }`.
 * If no middleware has parsed the body, this one reads it: JSON (also `+json` types), urlencoded forms and plain text, as for a
 * handler.
 *
 * @param given a Standard Schema for the body, or a map of them
 * @throws TypeError naming a wrong or unknown option, or what is no schema or no part of a request
 */
export function validate<Given extends Schema | SchemaBySource>(
  given: Given,
  options: ValidateOptions = {}
): ValidationMiddleware<Given> {
  checkValue('validate', 'schema', given, isSchema(given) ? GIVEN : { ...BY_SOURCE, ...GIVEN })
  checkOptions('validate', options, RULES)
  const readsBody = isSchema(given) || given.body !== undefined
  const validateRequest: Middleware = async function validate(request, _response, next) {
    try {
      if (readsBody) await readRequestBody(request, options.bodyLimit)
      const checked = isSchema(given) ? await check(given, request.body) : await checkSources(given, request)
      if (checked.problems !== undefined) throw new ValidationError('Request validation failed', checked.problems)
      request.validatedData = checked.value
    } catch (error) {
      next(error)
      return
    }
    next()
  }
  addDescription(validateRequest, {
    request: isSchema(given) ? { body: given } : given,
    responses: { 400: INVALID_REQUEST }
  })
  return Object.assign(validateRequest, { schema: given })
}

async function checkSources(schemas: SchemaBySource, request: Request): Promise<Checked> {
  const value: Partial<Record<Source, unknown>> = {}
  const problems = []
  for (const source of SOURCES) {
    const schema = schemas[source]
    if (schema === undefined) continue
    const checked = await check(schema, request[source], [source])
    if (checked.problems === undefined) value[source] = checked.value
    else problems.push(...checked.problems)
  }
  return problems.length === 0 ? { value } : { problems: problemsThatFit(problems) }
}

/**
 * Reads the body as the body step of a route file does, unless a middleware has: the same types, the same limits, and the stream
 * can be read again afterwards. Also for requests of any other Express application.
 *
 * @param given the caller's limit in bytes; a route file's own is never exceeded
 */
function readRequestBody(request: Request, given: number | undefined): Promise<void> {
  const limit = Math.min(given ?? Number.POSITIVE_INFINITY, routeLimit(request) ?? given ?? BODY_LIMIT)
  return new Promise((resolve, reject) => {
    awaitBody(request as LinkedRequest, limit, (error) => {
      if (error === undefined) resolve()
      else reject(error)
    })
  })
}

/** The limit of the route file that will get the request; undefined where there is none. */
function routeLimit(request: Request): number | undefined {
  const routed = (request.res as LinkedResponse | undefined)?.[kReply]?.request
  if (routed === undefined) return undefined
  const { routeOptions } = routed
  return fileRouteOf(routeOptions) === undefined ? refusingRouteOf(routed)?.bodyLimit : routeOptions.bodyLimit
}
