import type { Middleware } from '../contract/middleware.js'
import { addDescription } from '../contract/middleware-description.js'
import { describeValue } from '../options/values.js'
import { checkOptions } from '../options/rules.js'
import { ERROR_FORM, answerRefusal, type ErrorForm, type Refusal } from './auth-errors.js'

export interface RequireRoleOptions {
  /** Shape of the errors; take the form of the {@link authenticate} that runs before. */
  form: ErrorForm
}

const NOT_AUTHENTICATED: Record<ErrorForm, Refusal> = {
  flat: { status: 401, code: 'AUTHENTICATION_REQUIRED', message: 'Authentication required' },
  nested: { status: 401, code: 'UNAUTHORIZED', message: 'Authentication required' }
}
const NOT_ALLOWED: Record<ErrorForm, Refusal> = {
  flat: { status: 403, code: 'INSUFFICIENT_PERMISSIONS', message: 'Insufficient permissions' },
  nested: { status: 403, code: 'FORBIDDEN', message: 'Insufficient permissions' }
}

/**
 * Middleware that lets pass users whose `role` is exactly one of `roles`. Runs after {@link authenticate}: without
 * `request.user` it answers 401, for another role 403.
 *
 * @throws TypeError when `roles` is not a list of names (a single string would match by substring), or `form` is wrong
 */
export function requireRole(roles: readonly string[], options: RequireRoleOptions): Middleware {
  if (!Array.isArray(roles) || roles.length === 0) {
    throw new TypeError(`requireRole takes a list of at least one role; it was given ${describeValue(roles)}`)
  }
  checkOptions<RequireRoleOptions>('requireRole', options, { form: ERROR_FORM })
  const { form } = options
  const allowed: ReadonlySet<unknown> = new Set(roles)
  const checkRole: Middleware = function requireRole(request, response, next) {
    if (request.user == null) answerRefusal(request, response, form, NOT_AUTHENTICATED[form])
    else if (allowed.has(request.user.role)) next()
    else answerRefusal(request, response, form, NOT_ALLOWED[form])
  }
  const responses = { 401: 'No user is signed in', 403: `The user's role is not ${roles.join(' or ')}` }
  return addDescription(checkRole, { responses, form })
}
