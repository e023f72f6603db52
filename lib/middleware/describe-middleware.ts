import type { Middleware } from '../contract/middleware.js'
import {
  addDescription,
  type DescribedResponse,
  type MiddlewareDescription,
  type SecurityScheme
} from '../contract/middleware-description.js'
import { isFunction, isText, objectOf, wrongValue, checkOptions, type OptionRules } from '../options/rules.js'
import { describeType, isRecord } from '../options/values.js'

const STATUS = /^[1-5]\d\d$/
/** https://spec.openapis.org/oas/v3.1.1#components-object */
const COMPONENT_NAME = /^[\w.-]+$/
const SCHEME_TYPES: ReadonlySet<unknown> = new Set<SecurityScheme['type']>([
  'http',
  'apiKey',
  'oauth2',
  'openIdConnect',
  'mutualTLS'
])

const RESPONSE = objectOf<DescribedResponse>({
  description: { expected: 'a string', accepts: isText, required: true },
  schema: { expected: 'a schema, or null for no body', accepts: (value) => value === null || isSchemaLike(value) }
})

const PART = { expected: 'a schema', accepts: isSchemaLike }

const RULES: OptionRules<MiddlewareDescription> = {
  security: {
    expected: "'bearer', or schemes by name such as { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } }",
    accepts: isSecurity
  },
  responses: {
    expected: "an object of status and sentence such as { 401: 'The token is missing' }",
    accepts: isResponses
  },
  form: { expected: "'flat' or 'nested'", accepts: (value) => value === 'flat' || value === 'nested' },
  request: objectOf({
    params: PART,
    query: PART,
    headers: PART,
    cookies: PART,
    body: PART,
    form: PART,
    response: { expected: 'left out: answers are in responses', accepts: () => false }
  }),
  wraps: { expected: 'a middleware, or a list of them', accepts: (value) => [value].flat().every(isFunction) }
}

/**
 * Says what the document of `twinroute/openapi` is to tell of a middleware: what a client needs to pass it, what it answers
 * itself, what it checks. The middleware of twinroute is described already; one that calls it keeps that by `wraps`.
 *
 * ```ts
 * export const signedIn = describeMiddleware(checkSession, { security: 'bearer', responses: { 401: 'Not signed in' } })
 * ```
 *
 * @returns the same function; described twice, it has both descriptions
 * @throws TypeError naming a wrong or unknown option
 */
export function describeMiddleware<Described extends Middleware>(
  middleware: Described,
  description: MiddlewareDescription
): Described {
  if (!isFunction(middleware))
    throw new TypeError(`describeMiddleware takes a middleware; it was given ${describeType(middleware)}`)
  checkOptions('describeMiddleware', description, RULES)
  return addDescription(middleware, description)
}

function isSchemaLike(value: unknown): boolean {
  return isRecord(value) || isFunction(value)
}

function isSecurity(value: unknown): boolean {
  if (value === 'bearer') return true
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([name, scheme]) => COMPONENT_NAME.test(name) && isRecord(scheme) && SCHEME_TYPES.has(scheme['type'])
  )
}

function isResponses(value: unknown): boolean {
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([status, response]) =>
      STATUS.test(status) && (isText(response) || wrongValue('', '', response, RESPONSE) === undefined)
  )
}
